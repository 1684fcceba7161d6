//! Real databases of every format, and the tree each gives.

use std::fmt::Write;

use hence_kdbx::{Group, Member, open};

use crate::hostile;

#[test]
fn every_format_gives_the_same_tree() {
    let databases = [
        ("aes-3.1", database!("aes-3.1.kdbx")),
        ("twofish-3.1", database!("twofish-3.1.kdbx")),
        ("keepassxc-3.1", database!("keepassxc-3.1.kdbx")),
        ("aes-4.1", database!("aes-4.1.kdbx")),
        ("argon2d-aes-4.0", database!("argon2d-aes-4.0.kdbx")),
        (
            "argon2id-chacha20-4.1",
            database!("argon2id-chacha20-4.1.kdbx"),
        ),
        (
            "argon2id-twofish-4.0",
            database!("argon2id-twofish-4.0.kdbx"),
        ),
        ("keepassxc-4.0", database!("keepassxc-4.0.kdbx")),
    ];
    let expected = r#"
entry★1
  Title "entry-1"
  Password "secret"
  UserName "mary"
  URL ""
  Notes ""
  MyCustom "my value"
★nd★★entry★★★★★more★
  Title "2nd <entry> & \"more\""
  Password "<&>\"' ★"
  UserName ""
  URL "{REF:U@T:entry-1}"
  Notes "one\ntwo"
  Alpha "first"
  zeta★field "last"
★
  Title ""
  Password ""
  UserName ""
  URL ""
  Notes ""
Web★servers
  größe★世界★🔑
    Title "größe 世界 🔑"
    Password "pässwörd"
    UserName "ümit"
    URL ""
    Notes ""
  Inner
    deep
      Title "deep"
      Password "deeper"
      UserName ""
      URL ""
      Notes ""
Empty
"#;
    for (name, bytes) in databases {
        let tree =
            open(bytes, "correct horse").unwrap_or_else(|trouble| panic!("{name}: {trouble}"));
        assert_eq!(shown(&tree), expected, "{name}");
    }
}

#[test]
fn the_example_of_the_paper_opens_with_a_password_that_is_not_ascii() {
    let databases = [
        database!("paper-3.1.kdbx"),
        database!("paper-4.0.kdbx"),
        database!("pykeepass-3.1.kdbx"),
        database!("pykeepass-4.0.kdbx"),
    ];
    for bytes in databases {
        let tree = open(bytes, "Grüße 世界 🔑").unwrap();
        let [(key, Member::Entry(entry))] = &tree.members[..] else {
            panic!("{tree:?}")
        };
        assert_eq!(key, "entry★1");
        let fields: Vec<_> = entry.fields().collect();
        let expected = [
            ("Title", "entry-1"),
            ("Password", "secret"),
            ("UserName", "mary"),
            ("URL", ""),
            ("Notes", ""),
            ("MyCustom", "my value"),
        ];
        assert_eq!(fields, expected);
    }
}

#[test]
fn a_recycle_bin_that_is_disabled_is_a_group() {
    let tree = open(database!("recycle-bin-disabled.kdbx"), "correct horse").unwrap();
    assert!(
        shown(&tree).starts_with("\nRecycle★Bin\n  kept\n"),
        "{tree:?}"
    );
}

#[test]
fn a_recycle_bin_is_enabled_unless_the_database_says_otherwise() {
    let meta = "<Meta><RecycleBinUUID>BwcHBwcHBwcHBwcHBwcHBw==</RecycleBinUUID></Meta>";
    assert_eq!(keys(meta), ["zero", "none"]);
    assert_eq!(
        keys("<Meta><RecycleBinUUID/></Meta>"),
        ["bin", "zero", "none"]
    );
    let meta = "<Meta><RecycleBinUUID>AAAAAAAAAAAAAAAAAAAAAA==</RecycleBinUUID></Meta>";
    assert_eq!(keys(meta), ["bin", "zero", "none"]);
}

/// The keys of three groups: two with a UUID, of which one is all zeros, and one without. What says
/// which is the recycle bin stands after them.
fn keys(meta: &str) -> Vec<String> {
    let document = format!(
        "\u{FEFF}<KeePassFile><Root><Group>
        <Group><UUID>BwcHBwcHBwcHBwcHBwcHBw==</UUID><Name>bin</Name></Group>
        <Group><UUID>AAAAAAAAAAAAAAAAAAAAAA==</UUID><Name>zero</Name></Group>
        <Group><Name>none</Name></Group>
        </Group></Root>{meta}</KeePassFile>"
    );
    let bytes = hostile::holding(&hostile::content(&document), 0);
    let tree = open(&bytes, hostile::PASSWORD).unwrap();
    tree.members.into_iter().map(|(key, _)| key).collect()
}

#[test]
fn debugging_shows_keys_but_no_values() {
    let tree = open(database!("aes-4.1.kdbx"), "correct horse").unwrap();
    let debug = format!("{tree:?}");
    assert!(debug.contains("MyCustom"), "{debug}");
    for value in ["secret", "mary", "my value", "first", "deeper"] {
        assert!(!debug.contains(value), "{debug}");
    }
}

fn shown(tree: &Group) -> String {
    fn show(group: &Group, indent: usize, out: &mut String) {
        for (key, member) in &group.members {
            writeln!(out, "{:indent$}{key}", "").unwrap();
            match member {
                Member::Group(inner) => show(inner, indent + 2, out),
                Member::Entry(entry) => {
                    for (key, value) in entry.fields() {
                        writeln!(out, "{:indent$}  {key} {value:?}", "").unwrap();
                    }
                }
            }
        }
    }
    let mut out = "\n".to_owned();
    show(tree, 0, &mut out);
    out
}
