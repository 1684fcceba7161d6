//! Content for which there is no room is refused before it is written.

use std::path::Path;

use hence_closure::closure::{self, Published};
use hence_closure::content::{NO_ROOM, Unfit};
use hence_closure::host::Host;
use hence_closure::server::Server;
use hence_store::Refused;

use crate::certificates::open;
use crate::disk::{Disk, ROOT};
use crate::real;

/// So much is left free in any case.
const RESERVE: u64 = 64 << 20;

#[test]
fn what_does_not_fit_is_not_staged() {
    let disk = Disk::new(false);
    closure::init(&disk, Path::new(ROOT), Server::Nginx).unwrap();
    for name in ["a", "b"] {
        let directory = Path::new("/www");
        disk.make_directory(directory, 0o755).unwrap();
        disk.write(&directory.join(name), name.repeat(600).as_bytes(), 0o644)
            .unwrap();
    }
    let objects = || disk.list(&Path::new(ROOT).join("object")).unwrap();
    let closure = open(&disk);
    disk.room.set(RESERVE + 1000);
    let staged = closure.content().stage(Path::new("/www"));
    let Err(Unfit::Failed(_, error)) = staged else {
        panic!("{staged:?}");
    };
    assert_eq!(error.kind(), std::io::ErrorKind::StorageFull);
    assert!(
        objects().is_empty(),
        "nothing is left of it: {:?}",
        objects()
    );
    disk.room.set(RESERVE + 10_000);
    closure.content().stage(Path::new("/www")).unwrap();
    // What is there already needs no room.
    disk.room.set(RESERVE);
    closure.content().stage(Path::new("/www")).unwrap();
}

#[test]
fn what_could_not_be_served_is_refused() {
    let disk = Disk::new(false);
    closure::init(&disk, Path::new(ROOT), Server::Nginx).unwrap();
    let mut closure = open(&disk);
    let blob = closure.content().stage_bytes(&[b'x'; 2000]).unwrap();
    let everything = real::all(&["host foo.test", &format!("file foo.test /x blob:{blob}")]);
    disk.room.set(RESERVE + 1999);
    let refused = real::commit(&mut closure, std::slice::from_ref(&everything));
    let Err(Refused::Because(troubles)) = refused else {
        panic!("it was not refused");
    };
    assert_eq!(troubles[0].code, NO_ROOM);
    assert_eq!(troubles[0].path.as_deref(), Some("host foo.test"));
    assert!(disk.list(&Path::new(ROOT).join("file")).unwrap().is_empty());
    disk.room.set(RESERVE + 2000);
    real::commit(&mut closure, &[everything]).unwrap();
}

#[test]
fn where_there_is_no_room_for_the_server_nothing_is_switched_to() {
    let disk = Disk::new(false);
    closure::init(&disk, Path::new(ROOT), Server::Nginx).unwrap();
    let mut closure = open(&disk);
    disk.room.set(100_000);
    let host = real::all(&["host foo.test"]);
    let refused = real::commit(&mut closure, std::slice::from_ref(&host));
    let Err(Refused::Because(troubles)) = refused else {
        panic!("it was not refused");
    };
    assert_eq!(troubles[0].code, NO_ROOM);
    assert_eq!(closure.current().unwrap(), Some(0));
    // To change nothing needs no room.
    let nothing = real::commit(&mut closure, &[real::all(&[])]).unwrap();
    assert_eq!(nothing, Published::Nothing);
    disk.room.set(2 << 20);
    real::commit(&mut closure, &[host]).unwrap();
}
