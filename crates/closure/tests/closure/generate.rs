//! Random services: few hosts, few URLs, so that they meet.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;

use hence_closure::address::{Name, Url};
use hence_closure::certificate::Certificate;
use hence_closure::content::{File, Tree};
use hence_closure::words::{self, Aspect, Subject, Words};
use hence_ledger::{Command, Hash, Keys, Value};

/// Numbers that look random, the same for the same seed.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as usize % limit
    }

    pub fn one<'t, T>(&mut self, of: &'t [T]) -> &'t T {
        &of[self.below(of.len())]
    }

    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for at in (1..items.len()).rev() {
            items.swap(at, self.below(at + 1));
        }
    }
}

/// So many cases, or as many as the environment wants.
pub fn cases(usual: usize) -> usize {
    let wanted = std::env::var("HENCE_CASES").ok();
    wanted.and_then(|cases| cases.parse().ok()).unwrap_or(usual)
}

pub const HOSTS: [&str; 3] = ["foo.test", "bar.test", "www.foo.test"];
pub const DIRECTORIES: [&str; 8] = [
    "/",
    "/a/",
    "/a/b/",
    "/p/",
    "/a%20b/",
    "/x.html/",
    "/empty/",
    // Apache puts variables of the environment into its configuration.
    "/%24%7BPATH%7D/",
];
pub const FILES: [&str; 14] = [
    "/a",
    "/x.html",
    "/a/x.html",
    "/a/b",
    "/a/b/y.txt",
    "/p",
    "/p/odd.dat",
    "/a%20b/z.PNG",
    "/caf%C3%A9.html",
    "/q%22uote$1.txt",
    "/semi;colon%3F%23.txt",
    "/%25%7BHTTP_HOST%7D%5C1.txt",
    "/%24%7BPATH%7D/x.html",
    "/%20server%20%7B",
];
/// Names of files that one of the servers could take for something else.
pub const ODD: [&str; 16] = [
    ".hidden",
    "..hidden",
    ".h",
    "..h",
    ".html",
    ".htaccess",
    "x.html~",
    "#x.html#",
    "x.html.bak",
    "X.Html.",
    "x.bak.html",
    "x.html.gz",
    "x.html,v",
    "README",
    "x.cgi",
    "semi;colon.css",
];
/// URLs that are asked for besides those about which something may be said.
const OTHERS: [&str; 22] = [
    "/none",
    "/none/",
    "/a/x.html/",
    "/a/none",
    "/sub",
    "/sub/",
    "/sub/deep/k.css",
    "/a/sub/deep",
    "/.hidden",
    "/a/..hidden",
    "/.html",
    "/.htaccess",
    "/x.html~",
    "/%23x.html%23",
    "/x.html.bak",
    "/X.Html.",
    "/x.bak.html",
    "/x.html.gz",
    "/x.html,v",
    "/README",
    "/x.cgi",
    "/semi;colon.css",
];
const MEDIA: [&str; 4] = [
    "text/html",
    "text/plain;charset=utf-8",
    "application/x-odd",
    "image/png",
];
pub const OWNERS: [&str; 2] = ["site", "the \"shop\" #2"];

/// A certificate for some names, for ever.
pub fn certificate(names: &[&str]) -> Certificate {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let made = rcgen::generate_simple_self_signed(names).unwrap();
    let key = made.signing_key.serialize_pem();
    Certificate::read(made.cert.pem().as_bytes(), key.as_bytes()).unwrap()
}

/// The contents that are served.
pub struct Pool {
    pub blobs: Vec<Vec<u8>>,
    pub trees: Vec<Tree>,
    pub hashes: Vec<Hash>,
    pub by_hash: HashMap<Hash, Arc<Tree>>,
    pub endpoints: Vec<SocketAddr>,
    /// Each is for all hosts.
    pub certificates: Vec<Certificate>,
}

impl Pool {
    pub fn new(endpoints: Vec<SocketAddr>) -> Self {
        let blobs: Vec<Vec<u8>> = (0..6)
            .map(|n| format!("<p>blob {n}{}", " and more".repeat(40 * (n % 2))).into_bytes())
            .collect();
        let file = |n: usize| File {
            hash: Hash::of(&blobs[n]),
            size: blobs[n].len() as u64,
        };
        let mut trees = vec![Tree::default(); 4];
        trees[1].add_file("x.html", file(0));
        trees[1].add_file("sub/deep/k.css", file(1));
        trees[1].add_directory("empty");
        trees[1].add_file("sub/<odd> & \"%41\" name.txt", file(1));
        trees[2].add_file("a/x.html", file(2));
        trees[2].add_file("a/b/y.txt", file(3));
        trees[2].add_file("p/odd.dat", file(4));
        trees[2].add_file("café.html", file(5));
        trees[3].add_file("a", file(1));
        trees[3].add_file("b", file(2));
        trees[3].add_file("odd.dat", file(3));
        trees[3].add_file("y.txt", file(0));
        trees[3].add_file("a b/z.PNG", file(4));
        trees[3].add_file("index.html", file(5));
        for (number, name) in ODD.into_iter().enumerate() {
            trees[3].add_file(name, file(number % 6));
        }
        trees[3].add_directory(".dotted");
        let by_hash = trees
            .iter()
            .map(|tree| (tree.hash(), Arc::new(tree.clone())));
        Self {
            by_hash: by_hash.collect(),
            hashes: trees.iter().map(Tree::hash).collect(),
            blobs,
            trees,
            endpoints,
            certificates: (0..3).map(|_| certificate(&HOSTS)).collect(),
        }
    }

    /// Something to say, and who says it.
    pub fn assertion(&self, random: &mut Random) -> Command {
        let words = self.words(random);
        let words: Vec<&str> = words.split(' ').collect();
        let (subject, rest) = Subject::read(&words).unwrap();
        let said = subject.said(rest).unwrap();
        Command::Assert {
            owner: (*random.one(&OWNERS)).into(),
            key: subject.key(),
            value: Value::from(&said),
        }
    }

    fn words(&self, random: &mut Random) -> String {
        let blob: &Vec<u8> = random.one(&self.blobs);
        let blob = Hash::of(blob);
        let host = *random.one(&HOSTS[..2]);
        let directory = *random.one(&DIRECTORIES);
        let file = *random.one(&FILES);
        let media = *random.one(&MEDIA);
        let endpoint = random.one(&self.endpoints);
        let cert = random.one(&self.certificates).hash();
        match random.below(34) {
            31 => "feature compression".to_owned(),
            32 => format!(
                "feature compression {}",
                random.one(&["image/png", "text/plain"])
            ),
            30 => format!("hold {host} ticket #42 says  \"so\" \\"),
            0 => format!("listen {endpoint}"),
            24 | 25 => format!("listen {endpoint} tls"),
            26..=28 => format!("cert {host} {endpoint} cert:{cert}"),
            29 => format!("default {endpoint} {host}"),
            1 | 2 => format!("host {host}"),
            3 => format!("host {host} on {endpoint}"),
            4 => {
                let others: Vec<&str> = HOSTS.into_iter().filter(|name| *name != host).collect();
                format!("alias {host} {}", random.one(&others))
            }
            5..=8 => format!("tree {host} {directory} tree:{}", random.one(&self.hashes)),
            9..=11 => format!("file {host} {file} blob:{blob}"),
            12..=14 => format!("index {host} {directory} blob:{blob} {media}"),
            15 | 16 => format!("listing {host} {directory}"),
            17 | 18 => format!("type {host} {file} {media}"),
            19 => format!("redirect {host} {file} 301 /a/"),
            20 | 33 => format!("redirect {host} {directory} 302 http://example.org/x?y=1&z"),
            21 => format!("access {host} {directory} none"),
            22 => format!("access {host} {directory} {}", random.one(&ACCESS)),
            _ => format!("quota {host} 1G"),
        }
    }

    /// A command.
    pub fn command(&self, random: &mut Random) -> Command {
        let host = Name::read(random.one::<&str>(&HOSTS[..2])).unwrap();
        match random.below(10) {
            0 => {
                let Command::Assert { key, .. } = self.assertion(random) else {
                    unreachable!("it is an assertion");
                };
                Subject::of(&key).unwrap().retracted()
            }
            1 => Subject::Host(host).retracted(),
            2 => {
                let url = Url::read(random.one::<&str>(&DIRECTORIES)).unwrap();
                let under = words::under(&host, &url);
                Command::Retract(random.one(&under).clone())
            }
            3 => {
                let mut set = Vec::new();
                for _ in 0..random.below(4) {
                    if let Command::Assert { key, value, .. } = self.assertion(random) {
                        set.push((key, value));
                    }
                }
                Command::apply(*random.one(&OWNERS), set, &Words)
            }
            _ => self.assertion(random),
        }
    }

    /// Commands one after another.
    pub fn sequence(&self, random: &mut Random, most: usize) -> Vec<Command> {
        (0..=random.below(most))
            .map(|_| self.command(random))
            .collect()
    }

    /// What somebody names before a certificate is shown: mostly the host that is meant.
    pub fn named(&self, random: &mut Random, host: &'static str) -> Option<&'static str> {
        match random.below(6) {
            0 => None,
            1 => Some(*random.one(&HOSTS)),
            _ => Some(host),
        }
    }

    /// Something to ask for: host and path, in some spelling.
    pub fn probe(&self, random: &mut Random) -> (&'static str, String) {
        let host = match random.below(12) {
            0 => "unknown.test",
            _ => random.one::<&str>(&HOSTS),
        };
        let path = match random.below(3) {
            0 => random.one::<&str>(&DIRECTORIES),
            1 => random.one::<&str>(&FILES),
            _ => random.one::<&str>(&OTHERS),
        };
        let long = match random.below(10) {
            0 => random
                .one(&["x".repeat(300), "x/".repeat(1600), "x".repeat(255)])
                .clone(),
            _ => String::new(),
        };
        (host, spelled(random, path) + &long)
    }
}

/// A path as somebody may write it: with escapes that need not be, slashes that count once, dots, and a query.
fn spelled(random: &mut Random, path: &str) -> String {
    if random.below(2) == 0 {
        return path.to_owned();
    }
    let mut spelled = String::from("/");
    let mut characters = path.chars().skip(1);
    while let Some(character) = characters.next() {
        match random.below(6) {
            _ if character == '%' => {
                spelled.push(character);
                spelled.extend(characters.by_ref().take(2));
            }
            0 => spelled.push_str(&format!("%{:02X}", character as u32)),
            1 => spelled.push_str(&format!("%{:02x}", character as u32)),
            _ => spelled.push(character),
        }
        // Apache goes up before it takes an escaped slash for one, nginx after it.
        if spelled.ends_with('/') {
            let way = ["", "", "", "/", "./", "%2E/", "x/../", "x%2f%2e%2E/"];
            spelled.push_str(random.one::<&str>(&way));
        }
    }
    spelled + random.one::<&str>(&["", "", "?", "?a=/b%2F", "?%3F"])
}

const ACCESS: [&str; 4] = [
    "all",
    "networks 127.0.0.0/8",
    "networks 10.0.0.0/8 ::1/128",
    "none",
];

/// Whether two commands have nothing to do with each other: they write other keys, and no whole layers.
pub fn are_apart(one: &Command, other: &Command) -> bool {
    let is_layer = |command: &Command| matches!(command, Command::Apply { .. });
    let writes = other.writes(&Words);
    let meets = |keys: &Keys| {
        writes
            .iter()
            .any(|more| keys.includes(more) || more.includes(keys))
    };
    !is_layer(one) && !is_layer(other) && !one.writes(&Words).iter().any(meets)
}

/// The aspects are all there, so that none is forgotten here.
#[test]
fn every_aspect_is_asserted_by_chance() {
    let pool = Pool::new(vec!["127.0.0.1:8080".parse().unwrap()]);
    let mut random = Random::new(1);
    let mut seen = std::collections::BTreeSet::new();
    for _ in 0..2000 {
        if let Command::Assert { key, .. } = pool.assertion(&mut random)
            && let Some(Subject::At(_, aspect, _)) = Subject::of(&key)
        {
            seen.insert(aspect);
        }
    }
    let mut all: std::collections::BTreeSet<Aspect> = Aspect::ALL.into();
    // Another server must be there before it can be asked.
    all.remove(&Aspect::Proxy);
    assert_eq!(seen, all);
}
