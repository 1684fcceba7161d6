//! A file that is not what was written: read right, or refused; never a panic, and never less than was there.

use std::collections::BTreeMap;
use std::fs;

use hence_ledger::Hash;
use redb::Database;

use super::storage::Disk;
use super::{Directory, Random, assert, commit, request, retract, undo};
use crate::embedded::lay_out;
use crate::{DAMAGED, Error, FORMAT, Redb, Repository, Store};

/// All that a store keeps.
#[derive(Clone, Debug, Default, PartialEq)]
struct Content {
    entries: Vec<Vec<u8>>,
    objects: BTreeMap<Hash, Vec<u8>>,
    reports: Vec<(String, Vec<u8>)>,
}

fn content(store: Redb) -> Result<Content, Error> {
    let mut content = Content::default();
    store.check()?;
    let repository = Repository::open(Box::new(store))?;
    repository.check()?;
    for version in 1..=repository.version() {
        content.entries.extend(repository.store().entry(version)?);
    }
    for hash in repository.store().hashes()? {
        let object = repository.object(hash)?.expect("it was listed");
        content.objects.insert(hash, object);
    }
    content.reports = repository.store().reports()?;
    Ok(content)
}

fn open(disk: Disk) -> Result<Redb, Error> {
    Redb::on(disk, "store.redb".into(), None)
}

/// A store with a little of everything, as it is on the disk when it is closed, or not.
fn images() -> (Content, Vec<u8>, Vec<u8>) {
    let disk = Disk::default();
    let database = Database::builder()
        .create_with_backend(disk.clone())
        .unwrap();
    lay_out(&database).unwrap();
    drop(database);
    let store = open(disk.clone()).unwrap();
    for node in ["one", "two", "three"] {
        store
            .report(node, format!("{node} is well").as_bytes())
            .unwrap();
    }
    let mut repository = Repository::open(Box::new(store)).unwrap();
    for number in 0..60 {
        let commands = [assert(&format!("k{}", number % 40), number)];
        commit(&mut repository, &request(), &commands).unwrap();
    }
    commit(&mut repository, &request(), &[retract("k3")]).unwrap();
    undo(&mut repository, None).unwrap();
    repository.store().report("one", b"one is better").unwrap();
    commit(&mut repository, &request(), &[assert("last", 1)]).unwrap();
    let killed = disk.now();
    drop(repository);
    let closed = disk.now();
    let content = content(open(Disk::with(closed.clone())).unwrap()).unwrap();
    assert_eq!(content.entries.len(), 63);
    (content, closed, killed)
}

/// Opens what is left of a store, and says whether all of it is there.
fn is_right(expected: &Content, bytes: Vec<u8>, what: &str) -> bool {
    match open(Disk::with(bytes)).and_then(content) {
        Ok(found) => {
            assert!(found == *expected, "{what}: other content");
            true
        }
        Err(error) => {
            assert!([DAMAGED, FORMAT].contains(&error.code), "{what}: {error}");
            assert!(error.message.contains("`store.redb`"), "{what}: {error}");
            assert!(!error.help.is_empty(), "{what}: {error}");
            false
        }
    }
}

const PAGE: usize = 4096;

/// The pages that are not empty; the first has the header.
fn used(image: &[u8]) -> Vec<usize> {
    let pages = image.chunks(PAGE).enumerate();
    let used = pages.filter(|(_, page)| page.iter().any(|byte| *byte != 0));
    used.map(|(number, _)| number).collect()
}

#[test]
fn a_flipped_bit_is_seen_or_does_not_matter() {
    let (expected, closed, killed) = images();
    for (image, seed) in [(closed, 11), (killed, 12)] {
        let mut random = Random(seed);
        let used = used(&image);
        let mut right = 0;
        for _ in 0..700 {
            let page = used[random.below(used.len() as u64) as usize];
            let place = page * PAGE + random.below(PAGE as u64) as usize;
            let mut bytes = image.clone();
            bytes[place] ^= 1 << random.below(8);
            right += u32::from(is_right(&expected, bytes, &format!("a bit of {place}")));
        }
        assert!((1..700).contains(&right), "{right} of 700 were right");
    }
}

#[test]
fn a_flipped_bit_of_the_header_is_seen_or_does_not_matter() {
    let (expected, closed, killed) = images();
    for (image, is_closed) in [(closed, true), (killed, false)] {
        for place in 0..320 {
            let bits = if place < 64 { 0..8 } else { 0..1 };
            for bit in bits {
                // The one bit that cannot be seen: after a crash it names the commit before the last, as if the last had
                // not been finished.
                if (place, bit, is_closed) == (9, 0, false) {
                    continue;
                }
                let mut bytes = image.clone();
                bytes[place] ^= 1 << bit;
                is_right(&expected, bytes, &format!("bit {bit} of {place}"));
            }
        }
    }
}

#[test]
fn a_page_that_is_gone_or_another_is_seen_or_does_not_matter() {
    let (expected, closed, killed) = images();
    for (image, seed) in [(closed, 21), (killed, 22)] {
        let mut random = Random(seed);
        let used = used(&image);
        for page in &used {
            let range = page * PAGE..(page + 1) * PAGE;
            for fill in [0, 255] {
                let mut bytes = image.clone();
                bytes[range.clone()].fill(fill);
                is_right(&expected, bytes, &format!("page {page} of {fill}"));
            }
            let other = used[random.below(used.len() as u64) as usize];
            let mut bytes = image.clone();
            bytes.copy_within(other * PAGE..(other + 1) * PAGE, range.start);
            is_right(
                &expected,
                bytes,
                &format!("page {other} in the place of {page}"),
            );
        }
    }
}

#[test]
fn a_shorter_file_is_refused_and_so_is_a_longer_one() {
    let (expected, closed, killed) = images();
    for image in [closed, killed] {
        let mut random = Random(31);
        for _ in 0..150 {
            let length = random.below(image.len() as u64) as usize;
            let what = format!("{length} bytes");
            assert!(
                !is_right(&expected, image[..length].to_vec(), &what),
                "{what}"
            );
        }
        let mut longer = image.clone();
        longer.extend_from_slice(b"and more");
        assert!(!is_right(&expected, longer, "more bytes"));
    }
}

#[test]
fn a_file_that_is_no_store_is_refused() {
    let directory = Directory::new("foreign");
    let file = directory.path().join("store.redb");
    let database = {
        let other = directory.path().join("other.redb");
        drop(Database::create(&other).unwrap());
        fs::read(&other).unwrap()
    };
    let foreign: [&[u8]; 5] = [b"", b"redb", b"SQLite format 3\0", &[0; 5000], &database];
    for bytes in foreign {
        fs::write(&file, bytes).unwrap();
        let error = Redb::open(directory.path()).unwrap_err();
        assert!(error.message.contains("store.redb"), "{error}");
        assert!([DAMAGED, FORMAT].contains(&error.code), "{error}");
        assert!(fs::metadata(&file).unwrap().len() >= bytes.len() as u64);
    }
}

#[test]
fn a_store_of_another_release_is_refused() {
    let directory = std::env::temp_dir().join(format!("hence-format-{}", std::process::id()));
    drop(Redb::open(&directory).unwrap());
    let meta = redb::TableDefinition::<&str, u64>::new("meta");
    let database = redb::Database::open(directory.join("store.redb")).unwrap();
    let write = database.begin_write().unwrap();
    let newer = crate::embedded::FORMAT_NUMBER + 1;
    write
        .open_table(meta)
        .unwrap()
        .insert("format", newer)
        .unwrap();
    write.commit().unwrap();
    drop(database);
    let error = Redb::open(&directory).unwrap_err();
    std::fs::remove_dir_all(&directory).unwrap();
    assert_eq!(error.code, FORMAT);
    assert!(error.message.contains("format 2"), "{error}");
    assert!(error.help.contains("release"), "{error}");
}
