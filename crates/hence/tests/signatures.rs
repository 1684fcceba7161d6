//! Signed files and signed results, with real keys and the real `gpg`.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A directory with two keys of its own, and files that are signed with them.
struct Site {
    directory: PathBuf,
}

impl Site {
    fn new() -> Self {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        // The sockets of gpg's agent lie in it, and their paths must be short.
        let name = format!("hence-gpg-{}-{number}", std::process::id());
        let site = Self {
            directory: std::env::temp_dir().join(name),
        };
        fs::create_dir_all(site.directory.join("keys")).unwrap();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let private = fs::Permissions::from_mode(0o700);
            fs::set_permissions(site.directory.join("keys"), private).unwrap();
        }
        site.key("web@example.org", "never", &[]);
        site.key("mail@example.org", "never", &[]);
        site.write(
            "plain.cf2",
            "Port => 80\n// - a dash\nList => [\n- 1\n- 2\n]\n",
        );
        site.sign("plain.cf2", "signed.cf2", "web@example.org", &[]);
        site
    }

    fn gpg(&self, arguments: &[&str]) -> Output {
        let output = Command::new("gpg")
            .current_dir(&self.directory)
            .args(["--homedir", "keys", "--batch", "--yes", "--quiet"])
            .args(arguments)
            .output()
            .expect("gpg is installed: apt-get install gnupg");
        let words = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "gpg {arguments:?}: {words}");
        output
    }

    fn key(&self, user: &str, expires: &str, more: &[&str]) {
        let mut arguments = more.to_vec();
        arguments.extend([
            "--passphrase",
            "",
            "--quick-gen-key",
            user,
            "ed25519",
            "sign",
        ]);
        arguments.push(expires);
        self.gpg(&arguments);
    }

    fn sign(&self, file: &str, signed: &str, user: &str, more: &[&str]) {
        let mut arguments = more.to_vec();
        arguments.extend([
            "--local-user",
            user,
            "--output",
            signed,
            "--clearsign",
            file,
        ]);
        self.gpg(&arguments);
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.directory.join(name), text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.directory.join(name)).unwrap()
    }

    /// Compiles a text, and gives what is printed and what is said.
    fn compile(&self, text: &str, options: &[&str]) -> (bool, String, String) {
        self.write("main.cf2", text);
        let output = Command::new(env!("CARGO_BIN_EXE_hence"))
            .current_dir(&self.directory)
            .args(["compile", "main.cf2", "--format", "native"])
            .args(options)
            .output()
            .unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (data, words) = (text(&output.stdout), text(&output.stderr));
        (output.status.success(), data, words)
    }

    /// Holds a text against a policy, and gives what is said.
    fn check(&self, text: &str, policy: &str) -> (bool, String) {
        self.write("main.cf2", text);
        self.write("test.policy", policy);
        let output = Command::new(env!("CARGO_BIN_EXE_hence"))
            .current_dir(&self.directory)
            .args(["check", "main.cf2", "--policy", "test.policy"])
            .args(KEYS)
            .output()
            .unwrap();
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.success(), words)
    }

    /// Compiles a text that is fine.
    fn compiles(&self, text: &str, options: &[&str]) -> String {
        let (success, data, words) = self.compile(text, options);
        assert!(success, "{text}\n{words}");
        assert_eq!(words, "", "{text}");
        data
    }

    /// Compiles a text that is refused for a reason.
    fn refuses(&self, text: &str, options: &[&str], reason: &str) {
        let (success, data, words) = self.compile(text, options);
        assert!(!success && data.is_empty(), "{text}\n{data}");
        assert!(words.contains("error[cf2.signature]"), "{text}\n{words}");
        assert!(words.contains(reason), "{text}\n{words}");
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        let _ = Command::new("gpgconf")
            .current_dir(&self.directory)
            .args(["--homedir", "keys", "--kill", "all"])
            .status();
        let _ = fs::remove_dir_all(&self.directory);
    }
}

const KEYS: &[&str] = &["--gpghome", "keys"];
const SIGNED: &str = "Port => 80\nList => [-1,-2]\n";

#[test]
fn a_file_is_imported_if_somebody_signed_it_who_may() {
    let site = Site::new();
    let one = "import(signed, 'web@example.org')";
    assert_eq!(site.compiles(one, KEYS), SIGNED);
    let list = "private Who => ['mail@example.org', 'Web@Example.ORG']\nimport(signed, $Who)";
    assert_eq!(site.compiles(list, KEYS), SIGNED);
    let value = "X => import(signed, ['web@example.org']).Port";
    assert_eq!(site.compiles(value, KEYS), "X => 80\n");

    // Places are those of the signed file, whose text begins on its fourth line.
    site.write("wrong.cf2", "A => 1\nB => 1 + x\n");
    site.sign("wrong.cf2", "signed-wrong.cf2", "web@example.org", &[]);
    let (_, _, words) = site.compile("import('signed-wrong', 'web@example.org')", KEYS);
    assert!(words.contains("signed-wrong.cf2:5:6"), "{words}");
}

#[test]
fn anything_else_is_refused() {
    let site = Site::new();
    let who = "'web@example.org'";
    site.refuses(&format!("import(plain, {who})"), KEYS, "it is not signed");
    let other = "import(signed, ['mail@example.org'])";
    site.refuses(other, KEYS, "it is signed by web@example.org");
    site.refuses("import(signed, [])", KEYS, "it is signed by");

    let text = site.read("signed.cf2");
    let import = |name: &str| format!("import({name}, {who})");
    site.write("tampered.cf2", &text.replace("Port => 80", "Port => 81"));
    site.refuses(&import("tampered"), KEYS, "the text was changed");
    site.write("before.cf2", &format!("Port => 81\n{text}"));
    site.refuses(&import("before"), KEYS, "there is text before");
    site.write("behind.cf2", &format!("{text}Port => 81\n"));
    site.refuses(&import("behind"), KEYS, "there is text behind");
    site.write("twice.cf2", &format!("{text}{text}"));
    site.refuses(&import("twice"), KEYS, "there is text behind");
    let header = text.replacen("Hash:", "Comment: Port => 81\nHash:", 1);
    site.write("header.cf2", &header);
    site.refuses(&import("header"), KEYS, "refused");
    let cut = &text[..text.find("-----END").unwrap()];
    site.write("cut.cf2", cut);
    site.refuses(&import("cut"), KEYS, "has no end");

    // Another directory has no keys.
    let empty = site.directory.join("empty");
    fs::create_dir(&empty).unwrap();
    site.refuses(
        &import("signed"),
        &["--gpghome", "empty"],
        "is not known here",
    );
}

#[test]
fn a_key_that_has_expired_signs_nothing() {
    let site = Site::new();
    let then = &["--faked-system-time", "20200101T000000"];
    site.key("old@example.org", "1d", then);
    site.sign("plain.cf2", "old.cf2", "old@example.org", then);
    site.refuses("import(old, 'old@example.org')", KEYS, "has expired");
}

#[test]
fn keys_may_be_in_a_file() {
    let site = Site::new();
    site.gpg(&["--output", "web.gpg", "--export", "web@example.org"]);
    fs::create_dir(site.directory.join("empty")).unwrap();
    let keyring = &["--gpghome", "empty", "--keyring", "web.gpg"];
    let import = "import(signed, 'web@example.org')";
    assert_eq!(site.compiles(import, keyring), SIGNED);
}

#[test]
fn a_signature_that_nobody_checks_is_worth_a_warning() {
    let site = Site::new();
    let (success, data, words) = site.compile("import(signed)", KEYS);
    assert!(success && data == SIGNED);
    assert!(
        words.contains("warning[cf2.unchecked-signature]"),
        "{words}"
    );
}

#[test]
fn a_result_is_signed_so_that_gpg_verifies_it() {
    let site = Site::new();
    let sign = ["-S", "--gpguser", "mail@example.org", "--gpghome", "keys"];
    let signed = site.compiles("Port => 80\nName => web", &sign);
    site.write("result.cf2", &signed);
    site.gpg(&["--verify", "result.cf2"]);
    let imported = site.compiles("import(result, 'mail@example.org')", KEYS);
    assert_eq!(imported, "Port => 80\nName => web\n");

    let mut to_file = sign.to_vec();
    to_file.extend(["--out", "out.cf2"]);
    site.compiles("Port => 81", &to_file);
    site.gpg(&["--verify", "out.cf2"]);

    let nobody = ["-S", "--gpguser", "nobody@example.org", "--gpghome", "keys"];
    let (success, data, words) = site.compile("Port => 80", &nobody);
    assert!(!success && data.is_empty());
    assert!(
        words.contains("no secret key of nobody@example.org"),
        "{words}"
    );
}

#[test]
fn the_pass_phrase_of_a_key_comes_from_a_file() {
    let site = Site::new();
    let key = ["--passphrase", "open sesame", "--pinentry-mode", "loopback"];
    let mut make = key.to_vec();
    make.extend([
        "--quick-gen-key",
        "safe@example.org",
        "ed25519",
        "sign",
        "never",
    ]);
    site.gpg(&make);
    site.write("phrase", "open sesame\n");
    site.write("wrong", "close sesame\n");
    // The agent would remember the phrase that the key was made with.
    let reload = Command::new("gpgconf")
        .current_dir(&site.directory)
        .args(["--homedir", "keys", "--kill", "gpg-agent"])
        .status();
    assert!(reload.unwrap().success());
    let sign = ["-S", "--gpguser", "safe@example.org", "--gpghome", "keys"];
    let mut wrong = sign.to_vec();
    wrong.extend(["--gpgpass-file", "wrong"]);
    let (success, _, words) = site.compile("Port => 80", &wrong);
    assert!(!success && !words.contains("sesame"), "{words}");
    let mut right = sign.to_vec();
    right.extend(["--gpgpass-file", "phrase"]);
    assert!(
        site.compiles("Port => 80", &right)
            .contains("BEGIN PGP SIGNATURE")
    );
}

#[test]
fn a_policy_counts_the_signatures_that_were_checked() {
    let site = Site::new();
    let text = "import(signed, ['mail@example.org', 'web@example.org'])\nOwn => $Port + 1\n";
    let fine = [
        "Port value only from signer web@example.org",
        "Port only from file main.cf2, signer Web@Example.org",
        "List.** only from signer *@example.org, file main.cf2",
        "** not from signer mail@example.org",
        "Own only from file main.cf2, signer web@example.org",
    ];
    for policy in fine {
        let (good, words) = site.check(text, policy);
        assert!(good && words.is_empty(), "{policy}: {words}");
    }
    let against = [
        (
            "Port only from signer web@example.org",
            "and depends on `main.cf2`, whose signature nobody checked",
        ),
        (
            "Port value only from signer mail@example.org",
            "and depends on `signed.cf2`, signed by web@example.org",
        ),
        (
            "Own value only from signer web@example.org",
            "and depends on `main.cf2`, whose signature nobody checked",
        ),
        (
            "List.** value not from signer web@example.org",
            "`List[0]` may not depend on `signed.cf2`, signed by web@example.org",
        ),
    ];
    for (policy, why) in against {
        let (good, words) = site.check(text, policy);
        assert!(!good && words.contains(why), "{policy}: {words}");
        assert!(
            words.contains("error[policy.violation]"),
            "{policy}: {words}"
        );
    }
}

#[test]
fn what_is_written_in_a_signed_file_can_be_asked_about() {
    let site = Site::new();
    site.write(
        "main.cf2",
        "import(signed, 'web@example.org')\nOwn => $Port + 1\n",
    );
    // The signed text begins on the fourth line; its name may be written in any way.
    for place in ["signed.cf2:4:9", "./keys/../signed.cf2:4:1"] {
        let output = Command::new(env!("CARGO_BIN_EXE_hence"))
            .current_dir(&site.directory)
            .args(["impact", place, "--in", "main.cf2"])
            .args(KEYS)
            .output()
            .unwrap();
        let words = String::from_utf8_lossy(&output.stderr);
        assert!(words.contains("2 values depend"), "{place}: {words}");
    }
}
