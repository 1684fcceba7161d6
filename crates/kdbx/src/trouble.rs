//! Why a database does not open, for the person who can fix it.

use std::fmt::{self, Display, Formatter};

/// Why a database does not open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// The bytes are something else.
    NotADatabase,
    /// The password does not open it. Some damage looks the same, as does a key file that is needed too.
    WrongPassword,
    /// It was damaged, or made to deceive.
    Corrupt(&'static str),
    /// It may be good, but it needs what is not known here.
    Unsupported(String),
    /// It asks for more than the limits allow.
    Excessive(String),
    /// Two things in one block would have the same key.
    Duplicate(Box<Duplicate>),
}

/// Two things in one block that would have the same key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Duplicate {
    /// The key both would have.
    pub key: String,
    /// The names of the groups that lead to the block; of two fields, the title of their entry too.
    pub path: Vec<String>,
    /// The one that stands first.
    pub first: Named,
    /// The other one.
    pub second: Named,
}

/// Something in a database, by the name it has there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// What it is.
    pub kind: Kind,
    /// Its name, as it is written.
    pub name: String,
}

/// What has a name in a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A group.
    Group,
    /// An entry, named by its title.
    Entry,
    /// A field of an entry.
    Field,
}

impl std::error::Error for Trouble {}

impl Display for Trouble {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Trouble::NotADatabase => write!(f, "this is not a KeePass database"),
            Trouble::WrongPassword => write!(
                f,
                "the password does not open this database; \
                 if it is right, the database needs a key file too, or was damaged"
            ),
            Trouble::Corrupt(how) => write!(f, "this KeePass database is damaged: {how}"),
            Trouble::Unsupported(what) => write!(f, "this KeePass database cannot be read: {what}"),
            Trouble::Excessive(what) => {
                write!(f, "this KeePass database asks for too much: {what}")
            }
            Trouble::Duplicate(duplicate) => duplicate.fmt(f),
        }
    }
}

impl Display for Duplicate {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Duplicate {
            key,
            path,
            first,
            second,
        } = self;
        write!(f, "{first} and {second} ")?;
        if path.is_empty() {
            write!(f, "at the top of the KeePass database")?;
        } else {
            let path: Vec<String> = path.iter().map(|name| printable(name)).collect();
            write!(f, "in `{}` of the KeePass database", path.join("/"))?;
        }
        write!(f, " would both be called `{key}`; rename one of them")
    }
}

impl Display for Named {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            Kind::Group => "group",
            Kind::Entry => "entry",
            Kind::Field => "field",
        };
        match printable(&self.name) {
            name if name.is_empty() => write!(f, "{kind} without a name"),
            name => write!(f, "{kind} `{name}`"),
        }
    }
}

// A name may hold what a terminal would obey.
fn printable(name: &str) -> String {
    name.replace(char::is_control, "\u{FFFD}")
}
