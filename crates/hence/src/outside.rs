//! All that a compilation may ask the world for: files, passwords, signatures, functions of the user.

use std::collections::HashMap;
use std::fs;
use std::io::ErrorKind;
use std::process::Command;
use std::sync::{Arc, Mutex};

use hence_cf2::World;
use hence_cf2::world::{Custom, Fault, Signed};
use hence_kdbx::{Group, Member};
use hence_model::source::{Files, ReadError};
use hence_model::value::{Map, Value};

use crate::Exit;
use crate::disk::Disk;
use crate::gpg::Gpg;

/// What lies outside of a compilation.
pub struct Outside {
    disk: Disk,
    gpg: Gpg,
    password: Password,
    /// The directories in which functions of the user are searched.
    functions: Vec<String>,
    known_passwords: Arc<Mutex<HashMap<String, Result<String, String>>>>,
    known_functions: Mutex<HashMap<String, Option<Known>>>,
}

/// A function of the user, or why it cannot be read.
type Known = Result<Arc<Custom>, String>;

/// Where the passwords of databases come from.
#[derive(Clone, Debug, Default)]
pub enum Password {
    /// Nobody said.
    #[default]
    Unknown,
    /// The user is asked.
    Asked,
    /// The first line of a file.
    File(String),
    /// The first line that a command prints.
    Command(String),
}

impl Outside {
    /// What a compilation may ask for.
    pub fn new(disk: Disk, gpg: Gpg, password: Password, functions: Vec<String>) -> Self {
        Self {
            disk,
            gpg,
            password,
            functions,
            known_passwords: Arc::default(),
            known_functions: Mutex::default(),
        }
    }

    /// The same with other files. A password that is known need not be asked for again.
    pub fn on(&self, disk: Disk) -> Self {
        Self {
            disk,
            gpg: self.gpg.clone(),
            password: self.password.clone(),
            functions: self.functions.clone(),
            known_passwords: Arc::clone(&self.known_passwords),
            known_functions: Mutex::default(),
        }
    }

    /// The first of the directories for functions that is not there.
    pub fn missing_directory(&self) -> Option<&str> {
        let mut directories = self.functions.iter();
        let missing = directories.find(|directory| !self.has_directory(directory));
        missing.map(String::as_str)
    }

    /// Whose fault it is that there is no result.
    pub fn blame(&self) -> Exit {
        self.disk.blame()
    }

    /// Whether there is a directory of that name.
    pub fn has_directory(&self, name: &str) -> bool {
        self.disk.names_in(name).is_ok()
    }

    /// Signs a text.
    pub fn sign(&self, text: &str, user: Option<&str>) -> Result<String, String> {
        self.gpg.sign(text, user)
    }

    /// The password of a database. Each is asked for once.
    fn password(&self, name: &str) -> Result<String, String> {
        let mut known = self.known_passwords.lock().expect("nobody panics with it");
        if let Some(password) = known.get(name) {
            return password.clone();
        }
        let password = self.find_password(name);
        known.insert(name.to_owned(), password.clone());
        password
    }

    fn find_password(&self, name: &str) -> Result<String, String> {
        let first_line = |text: String| text.lines().next().unwrap_or("").to_owned();
        match &self.password {
            Password::Unknown => Err("it needs a password: give `-P` to be asked for it, \
                 `--password-file`, or `--password-command`"
                .into()),
            Password::Asked => rpassword::prompt_password(format!("password of {name}: "))
                .map_err(|error| format!("its password cannot be asked for: {error}")),
            Password::File(file) => match fs::read_to_string(self.disk.path(file)) {
                Ok(text) => Ok(first_line(text)),
                Err(error) => Err(format!("`{file}` cannot be read: {error}")),
            },
            Password::Command(line) => {
                let words =
                    shell_words::split(line).map_err(|error| format!("`{line}`: {error}"))?;
                let (program, arguments) = words
                    .split_first()
                    .ok_or("the command for its password is empty")?;
                let output = Command::new(program)
                    .args(arguments)
                    .current_dir(self.disk.path("."))
                    .stderr(std::process::Stdio::inherit())
                    .output()
                    .map_err(|error| format!("`{program}` cannot be run: {error}"))?;
                match output.status.success() {
                    true => Ok(first_line(
                        String::from_utf8_lossy(&output.stdout).into_owned(),
                    )),
                    false => Err(format!("`{program}` failed: {}", output.status)),
                }
            }
        }
    }

    fn load_function(&self, name: &str) -> Option<Known> {
        for directory in &self.functions {
            let path = format!("{}/{name}.rhai", directory.trim_end_matches('/'));
            let mut text = String::new();
            return Some(match self.disk.read(&path, &mut text) {
                Ok(()) => Ok(Arc::new(custom(path, text))),
                Err(ReadError::Missing) => continue,
                Err(error) => Err(format!("`{path}` cannot be read: {error}")),
            });
        }
        None
    }
}

impl Files for Outside {
    fn read(&self, name: &str, text: &mut String) -> Result<(), ReadError> {
        self.disk.read(name, text)
    }
}

impl hence_puppet::World for Outside {
    fn list(&self, directory: &str) -> Vec<String> {
        self.disk.names_in(directory).unwrap_or_default()
    }

    fn directory(&self) -> Option<String> {
        self.disk.directory()
    }
}

impl World for Outside {
    fn list(&self, directory: &str) -> Option<Vec<String>> {
        match self.disk.names_in(directory) {
            Ok(names) => Some(names),
            Err(error) if error.kind() == ErrorKind::NotFound => Some(Vec::new()),
            Err(_) => None,
        }
    }

    fn verify(&self, _: &str, text: &str) -> Result<Signed, String> {
        self.gpg.verify(text)
    }

    fn database(&self, name: &str) -> Option<Result<Value, String>> {
        let bytes = match self.disk.bytes(name) {
            Ok(bytes) => bytes,
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) =>
            {
                return None;
            }
            Err(error) => return Some(Err(error.to_string())),
        };
        let opened = self.password(name).and_then(|password| {
            hence_kdbx::open(&bytes, &password).map_err(|trouble| trouble.to_string())
        });
        Some(opened.map(|group| block(&group)))
    }

    fn function(&self, name: &str) -> Option<Known> {
        let mut known = self.known_functions.lock().expect("nobody panics with it");
        if let Some(function) = known.get(name) {
            return function.clone();
        }
        let function = self.load_function(name);
        known.insert(name.to_owned(), function.clone());
        function
    }
}

/// A function as it is written in a file.
fn custom(path: String, text: String) -> Custom {
    let function = match hence_functions::Script::load(&text) {
        Ok(script) => Ok(Box::new(script) as _),
        Err(mistakes) => {
            let faults = mistakes.into_iter().map(|mistake| Fault {
                message: mistake.message,
                help: mistake.help,
                place: mistake.place,
            });
            Err(faults.collect())
        }
    };
    Custom {
        path,
        text,
        function,
    }
}

/// A group of a database as a block.
fn block(group: &Group) -> Value {
    let mut map = Map::default();
    for (key, member) in &group.members {
        let value = match member {
            Member::Group(group) => block(group),
            Member::Entry(entry) => {
                let mut fields = Map::default();
                for (key, value) in entry.fields() {
                    fields.insert(key.to_owned(), Value::Text(value.to_owned()));
                }
                Value::Map(fields)
            }
        };
        map.insert(key.clone(), value);
    }
    Value::Map(map)
}
