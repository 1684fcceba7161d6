//! Several closures with one set of assertions are one service.

use hence_closure::closure::Closure;
use hence_closure::host::Machine;
use hence_closure::part::Part;
use hence_closure::probe;
use hence_closure::server::Server;
use hence_ledger::{Command, Hash};

use crate::generate::{Pool, Random};
use crate::real::{self, Root};

#[test]
fn a_closure_that_was_down_catches_up_by_the_last_set_alone() {
    let roots = [Server::Apache, Server::Nginx, Server::Nginx].map(Root::new);
    let endpoints = real::free_endpoints(3);
    let pool = Pool::new(endpoints.clone());
    let mut closures: Vec<Closure<'_>> = roots.iter().map(Root::open).collect();
    for (closure, endpoint) in closures.iter_mut().zip(&endpoints) {
        real::stage(closure, &pool);
        // Where each listens is its own affair.
        let (key, value) = real::says(&format!("listen {endpoint}"));
        let owner = "machine".into();
        real::commit(closure, &[Command::Assert { owner, key, value }]).unwrap();
        closure.start().unwrap();
    }
    let trees = &pool.hashes;
    let sets = [1, 2, 3].map(|number| {
        let tree = format!("tree foo.test / tree:{}", trees[number]);
        let blob = Hash::of(&pool.blobs[number]);
        let index = format!("index foo.test /a/ blob:{blob} text/html");
        let redirect = format!("redirect foo.test /old{number} 301 /a/");
        real::all(&["host foo.test", &tree, &index, &redirect])
    });
    for (number, set) in sets.iter().enumerate() {
        for (which, closure) in closures.iter_mut().enumerate() {
            // The last one is down until the last set.
            if which < 2 || number == 2 {
                real::commit(closure, std::slice::from_ref(set)).unwrap();
            }
        }
    }
    let promised =
        |closure: &Closure<'_>| Part::of(closure.repository().state(), "site").identity();
    assert_eq!(promised(&closures[0]), promised(&closures[1]));
    assert_eq!(promised(&closures[0]), promised(&closures[2]));
    let mut random = Random::new(3);
    for _ in 0..100 {
        let (host, path) = pool.probe(&mut random);
        let answers = [0, 1, 2].map(|which| {
            let answer = probe::ask(&Machine, endpoints[which], host, &path).unwrap();
            let content = (answer.status == 200).then(|| Hash::of(&answer.body));
            (
                answer.status,
                content,
                answer
                    .header("content-type")
                    .filter(|_| answer.status == 200)
                    .map(str::to_owned),
            )
        });
        assert_eq!(answers[0], answers[1], "{host} {path}");
        assert_eq!(answers[0], answers[2], "{host} {path}");
    }
}
