//! Signatures, made and checked by the user's own `gpg`: it has their keys, and knows which have expired.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use hence_cf2::world::Signed;

/// Which keys to use.
#[derive(Clone, Debug, Default)]
pub struct Gpg {
    /// The directory of gpg; its own default if none.
    pub home: Option<PathBuf>,
    /// A file of public keys to use instead of those in the directory.
    pub keyring: Option<PathBuf>,
    /// A file with the pass phrase of the key that signs.
    pub passphrase: Option<PathBuf>,
}

/// What each line begins with that gpg says to programs.
const STATUS: &str = "[GNUPG:] ";

impl Gpg {
    fn command(&self) -> Command {
        let mut command = Command::new("gpg");
        command.args(["--batch", "--no-tty", "--status-fd", "2"]);
        if let Some(home) = &self.home {
            command.arg("--homedir").arg(home);
        }
        if let Some(keyring) = &self.keyring {
            command.arg("--no-default-keyring");
            command.arg("--keyring").arg(keyring);
        }
        command
    }

    /// Checks all signatures of a clear-signed text.
    pub fn verify(&self, text: &str) -> Result<Signed, String> {
        let mut command = self.command();
        command.args(["--output", "-", "--decrypt"]);
        let output = run(command, text).map_err(|error| not_run(&error))?;
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        let said = words.lines().filter_map(|line| line.strip_prefix(STATUS));
        let mut keys = Vec::new();
        for line in said {
            let mut words = line.split(' ');
            let word = words.next().unwrap_or("");
            match word {
                // The last word is the key that the signing one belongs to.
                "VALIDSIG" => keys.extend(words.next_back().map(str::to_owned)),
                "BADSIG" => return Err("its signature is not good: the text was changed".into()),
                "EXPKEYSIG" => return Err("the key that signed it has expired".into()),
                "REVKEYSIG" => return Err("the key that signed it was revoked".into()),
                "EXPSIG" => return Err("its signature has expired".into()),
                "ERRSIG" => {
                    let key = words.next().unwrap_or("").to_owned();
                    return Err(format!(
                        "the public key {key} that signed it is not known here"
                    ));
                }
                _ => {}
            }
        }
        if keys.is_empty() || !output.status.success() {
            let last = words.lines().rfind(|line| !line.starts_with(STATUS));
            let last = last.unwrap_or("gpg finds no signature in it");
            return Err(format!("its signature cannot be read: {last}"));
        }
        let mut signers = Vec::new();
        for key in keys {
            signers.extend(self.addresses(&key).map_err(|error| not_run(&error))?);
        }
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        Ok(Signed { text, signers })
    }

    /// The mail addresses of a key that are in force.
    fn addresses(&self, key: &str) -> io::Result<Vec<String>> {
        let mut command = self.command();
        command.args(["--with-colons", "--list-keys", key]);
        let output = run(command, "")?;
        let listed = String::from_utf8_lossy(&output.stdout).into_owned();
        let mut addresses = Vec::new();
        for line in listed.lines() {
            let fields: Vec<&str> = line.split(':').collect();
            let is_good = |validity: &str| !matches!(validity, "r" | "e" | "d" | "i");
            if let ["uid", validity, ..] = fields[..]
                && is_good(validity)
                && let Some(user) = fields.get(9)
            {
                let address = match user.rsplit_once('<') {
                    Some((_, rest)) => rest.trim_end_matches('>'),
                    None => user,
                };
                addresses.push(address.to_owned());
            }
        }
        Ok(addresses)
    }

    /// Signs a text in clear, as a user or as gpg's default one.
    pub fn sign(&self, text: &str, user: Option<&str>) -> Result<String, String> {
        let mut command = self.command();
        if let Some(user) = user {
            command.args(["--local-user", user]);
        }
        if let Some(passphrase) = &self.passphrase {
            command.args(["--pinentry-mode", "loopback", "--passphrase-file"]);
            command.arg(passphrase);
        }
        command.args(["--output", "-", "--clearsign"]);
        let output = run(command, text).map_err(|error| not_run(&error))?;
        if !output.status.success() {
            let words = String::from_utf8_lossy(&output.stderr).into_owned();
            if words.contains("[GNUPG:] INV_SGNR ") {
                let user = user.unwrap_or("the default user");
                return Err(format!("there is no secret key of {user}"));
            }
            let said = words.lines().filter(|line| !line.starts_with(STATUS));
            return Err(said.collect::<Vec<&str>>().join("; "));
        }
        String::from_utf8(output.stdout).map_err(|_| "gpg answered with something else".into())
    }
}

fn not_run(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "`gpg` is not installed".into(),
        _ => format!("`gpg` cannot be run: {error}"),
    }
}

/// Runs a command with a text as its input.
pub fn run(mut command: Command, input: &str) -> io::Result<Output> {
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .env("LC_ALL", "C");
    let mut child = command.spawn()?;
    let mut stdin = child.stdin.take().expect("it was piped");
    std::thread::scope(|scope| {
        // It may answer before it has read everything. If it stops reading, its answer says why.
        scope.spawn(move || drop(stdin.write_all(input.as_bytes())));
        child.wait_with_output()
    })
}
