//! What can be asserted about an HTTP service, and the keys for it.
//!
//! ```text
//! listen ADDRESS:PORT [tls]                     listen/A:P                 where the server listens, and whether it speaks TLS there
//! default ADDRESS:PORT H                        default/A:P                whose certificate is shown to who names nobody
//! host H [on ADDRESS:PORT …]                    host/H                     a name that is served; retracting it retracts all of it
//! alias H NAME                                  host/H/alias/NAME          another name of it
//! cert H ADDRESS:PORT cert:HASH                 host/H/cert/A:P            its certificate there, and the key of that
//! tree H /u/ tree:HASH                          host/H/tree/…              all below /u/ is that snapshot; the longest /u/ counts
//! file H /u blob:HASH                           host/H/file/…              exactly that URL
//! index H /u/ blob:HASH TYPE                    host/H/index/…             the answer for the directory, whatever is in it
//! listing H /u/                                 host/H/listing/…           the directory may be listed
//! type H /u TYPE                                host/H/type/…              the type of this one URL
//! redirect H /u STATUS TARGET                   host/H/redirect/…          exactly that URL
//! access H /u/ all|none|networks N …|users U …  host/H/access/…            who may read; the longest /u/ counts
//! user H NAME SUM                               host/H/user/NAME           a password's sum, as `htpasswd` makes it
//! proxy H /u/ http://ADDRESS:PORT/ [probe /p]   host/H/proxy/…             all below /u/ is answered by another server
//! quota H SIZE                                  host/H/quota               how much content it may have
//! waive H /u CHECK REASON                       host/H/waive/CHECK/…       a failed check of content is accepted
//! hold H REASON                                 host/H/hold                it is not served, for that reason
//! feature compression [TYPE …]                  feature/compression        text, and these types, are sent compressed to who wants it
//! names warn|refuse|hold                        names                      what becomes of hosts whose names lead elsewhere
//! right WHO H /u/                               right/WHO/H/…              WHO commands there, and nowhere else but where so named
//! ```
//!
//! In a key the names of a URL follow each other, and `.` stands behind those of a directory. So what is below a URL is
//! below its key.

use std::borrow::Cow;
use std::fmt;
use std::net::IpAddr;

use ecow::EcoString;
use hence_ledger::rights::Rights;
use hence_ledger::vocabulary::Reach;
use hence_ledger::{Command, Fault, Hash, Key, Keys, State, Value, Vocabulary};
use hence_model::diagnostic::{Code, similar};

use crate::address::{Endpoint, Name, Url, encode, endpoint};
use crate::checks::WAIVABLE;
use crate::language::joined;
use crate::media::Media;

/// Something is not written as it must be.
pub const FORM: Code = Code::new("http.form");

/// So many bytes a URL and what is said about it alone may have.
const LONGEST: usize = 900;
/// So many bytes a URL may have, as it is when it is decoded: nginx counts them in one byte.
const LONGEST_URL: usize = 255;

/// The vocabulary of an HTTP service.
#[derive(Clone, Copy, Debug, Default)]
pub struct Words;

/// What an assertion is about.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Subject {
    /// Where the server listens.
    Listen(Endpoint),
    /// Whose certificate is shown there to who names no host that is served.
    Default(Endpoint),
    /// A name that is served.
    Host(Name),
    /// Another name of a host.
    Alias(Name, Name),
    /// The certificate of a host at an endpoint.
    Cert(Name, Endpoint),
    /// That a host is not served for now.
    Hold(Name),
    /// What becomes of hosts whose names lead elsewhere.
    Names,
    /// Something that the server does for all hosts.
    Feature(Feature),
    /// How much content a host may have.
    Quota(Name),
    /// Somebody with a password.
    User(Name, EcoString),
    /// Something about a URL of a host.
    At(Name, Aspect, Url),
    /// A failed check of a URL's content that is accepted.
    Waive(Name, EcoString, Url),
    /// Where somebody may command.
    Right(EcoString, Name, Url),
}

/// What can be said about a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Aspect {
    /// Which snapshot is below it.
    Tree,
    /// What it answers.
    File,
    /// What the directory answers.
    Index,
    /// That the directory may be listed.
    Listing,
    /// Of which type its content is.
    Type,
    /// Where it leads.
    Redirect,
    /// Who may read what is below it.
    Access,
    /// Who answers what is below it.
    Proxy,
}

impl Aspect {
    /// All of them.
    pub const ALL: [Aspect; 8] = [
        Aspect::Tree,
        Aspect::File,
        Aspect::Index,
        Aspect::Listing,
        Aspect::Type,
        Aspect::Redirect,
        Aspect::Access,
        Aspect::Proxy,
    ];

    /// Its word in commands and keys.
    pub fn word(self) -> &'static str {
        match self {
            Aspect::Tree => "tree",
            Aspect::File => "file",
            Aspect::Index => "index",
            Aspect::Listing => "listing",
            Aspect::Type => "type",
            Aspect::Redirect => "redirect",
            Aspect::Access => "access",
            Aspect::Proxy => "proxy",
        }
    }

    /// The aspect with this word.
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|aspect| aspect.word() == word)
    }

    /// What kind of URL it is about.
    fn about(self) -> About {
        match self {
            Aspect::File | Aspect::Type => About::File,
            Aspect::Redirect => About::Either,
            _ => About::Directory,
        }
    }

    /// The key of a URL in this aspect.
    fn key(self, host: &Name, url: &Url) -> Key {
        at(&["host", host.as_str(), self.word()], url)
    }
}

enum About {
    File,
    Directory,
    Either,
}

/// What is said about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    /// That it is so.
    So,
    /// TLS is spoken.
    Tls,
    /// That of this host.
    Of(Name),
    /// Only on these endpoints.
    On(Vec<Endpoint>),
    /// This certificate, with its key.
    Cert(Hash),
    /// This snapshot.
    Tree(Hash),
    /// This content.
    Blob(Hash),
    /// This content, of this type.
    Typed(Hash, Media),
    /// This type.
    Type(Media),
    /// It leads there.
    Redirect(u16, Target),
    /// These may read.
    Access(Who),
    /// That server answers.
    Proxy(Upstream),
    /// So many bytes.
    Quota(u64),
    /// This is done about names.
    Names(Policy),
    /// These types.
    Types(Vec<Media>),
    /// This text.
    Text(EcoString),
}

/// What becomes of a host whose names lead elsewhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Policy {
    /// It is served, and that is told.
    #[default]
    Warn,
    /// It cannot be asserted.
    Refuse,
    /// It is not served until they lead here.
    Hold,
}

impl Policy {
    /// All of them.
    pub const ALL: [Policy; 3] = [Policy::Warn, Policy::Refuse, Policy::Hold];

    /// Its word in commands.
    pub fn word(self) -> &'static str {
        match self {
            Policy::Warn => "warn",
            Policy::Refuse => "refuse",
            Policy::Hold => "hold",
        }
    }

    /// The policy with this word.
    pub fn read(word: &str) -> Result<Self, Fault> {
        let mut all = Self::ALL.into_iter();
        all.find(|policy| policy.word() == word).ok_or_else(|| {
            let fault = Fault::new(format!("`{word}` says nothing about names")).code(FORM);
            fault.help("`warn` tells that a name leads elsewhere, `refuse` refuses it, `hold` waits until it leads here")
        })
    }
}

/// Something that a server can do for all hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Feature {
    /// Answers are smaller for whoever can unpack them.
    Compression,
}

impl Feature {
    /// All of them.
    pub const ALL: [Feature; 1] = [Feature::Compression];

    /// Its word in commands and keys.
    pub fn word(self) -> &'static str {
        match self {
            Feature::Compression => "compression",
        }
    }

    fn read(word: &str) -> Result<Self, Fault> {
        let mut all = Self::ALL.into_iter();
        all.find(|feature| feature.word() == word).ok_or_else(|| {
            let known = Self::ALL.map(|feature| format!("`{}`", feature.word()));
            let fault = Fault::new(format!("there is no feature `{word}`")).code(FORM);
            fault.help(format!("there is {}", known.join(", ")))
        })
    }
}

/// Where a redirect leads: a path of the same host, or any address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target(EcoString);

impl Target {
    /// As it stands in the answer.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Who may read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Who {
    /// Everybody.
    All,
    /// Nobody.
    None,
    /// Whoever asks from one of these networks.
    Networks(Vec<Network>),
    /// Whoever knows the password of one of these users.
    Users(Vec<EcoString>),
}

/// Some addresses: those that begin like this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Network {
    address: IpAddr,
    length: u8,
}

impl Network {
    fn read(text: &str) -> Option<Self> {
        let (address, length) = match text.split_once('/') {
            Some((address, length)) => (address, Some(length)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().ok()?;
        let bits = if address.is_ipv4() { 32 } else { 128 };
        let length = match length {
            Some(length) => length.parse().ok().filter(|length| *length <= bits)?,
            None => bits,
        };
        let network = Self { address, length };
        // What is behind the length says nothing, so it is nothing.
        (network.prefix(address) == network.raw(address)).then_some(network)
    }

    /// Whether an address is one of them.
    pub fn contains(self, address: IpAddr) -> bool {
        address.is_ipv4() == self.address.is_ipv4()
            && self.prefix(address) == self.prefix(self.address)
    }

    fn raw(self, address: IpAddr) -> u128 {
        match address {
            IpAddr::V4(address) => u128::from(u32::from(address)) << 96,
            IpAddr::V6(address) => u128::from(address),
        }
    }

    fn prefix(self, address: IpAddr) -> u128 {
        let hidden = 128 - u32::from(self.length);
        let raw = self.raw(address);
        raw.checked_shr(hidden).map_or(0, |kept| kept << hidden)
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.length)
    }
}

/// Another server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upstream {
    /// Where it listens.
    pub endpoint: Endpoint,
    /// The directory there that is asked.
    pub path: Url,
    /// The path there that must answer, if it is to be tried.
    pub probe: Option<Url>,
}

impl Subject {
    /// Its key.
    pub fn key(&self) -> Key {
        match self {
            Subject::Listen(endpoint) => Key::new(["listen", &endpoint.to_string()]),
            Subject::Default(endpoint) => Key::new(["default", &endpoint.to_string()]),
            Subject::Host(host) => Key::new(["host", host.as_str()]),
            Subject::Alias(host, name) => Key::new(["host", host.as_str(), "alias", name.as_str()]),
            Subject::Cert(host, endpoint) => {
                Key::new(["host", host.as_str(), "cert", &endpoint.to_string()])
            }
            Subject::Hold(host) => Key::new(["host", host.as_str(), "hold"]),
            Subject::Names => Key::new(["names"]),
            Subject::Feature(feature) => Key::new(["feature", feature.word()]),
            Subject::Quota(host) => Key::new(["host", host.as_str(), "quota"]),
            Subject::User(host, name) => Key::new(["host", host.as_str(), "user", name]),
            Subject::At(host, aspect, url) => aspect.key(host, url),
            Subject::Waive(host, check, url) => at(&["host", host.as_str(), "waive", check], url),
            Subject::Right(who, host, url) => at(&["right", who, host.as_str()], url),
        }
    }

    /// What a key is about.
    pub fn of(key: &Key) -> Option<Self> {
        let names: Vec<Cow<'_, str>> = key.names().collect();
        let names: Vec<&str> = names.iter().map(|name| &**name).collect();
        Self::read_names(&names).ok()
    }

    fn read_names(names: &[&str]) -> Result<Self, Fault> {
        let subject = match names {
            ["listen", at] => Self::Listen(endpoint(at)?),
            ["default", at] => Self::Default(endpoint(at)?),
            ["host", host] => Self::Host(Name::read(host)?),
            ["host", host, "alias", name] => Self::Alias(Name::read(host)?, Name::read(name)?),
            ["host", host, "cert", at] => Self::Cert(Name::read(host)?, endpoint(at)?),
            ["host", host, "hold"] => Self::Hold(Name::read(host)?),
            ["names"] => Self::Names,
            ["feature", feature] => Self::Feature(Feature::read(feature)?),
            ["host", host, "quota"] => Self::Quota(Name::read(host)?),
            ["host", host, "user", name] => Self::User(Name::read(host)?, (*name).into()),
            ["host", host, "waive", check, url @ ..] => {
                Self::Waive(Name::read(host)?, (*check).into(), url_of(url)?)
            }
            ["host", host, aspect, url @ ..] if Aspect::of(aspect).is_some() => {
                let aspect = Aspect::of(aspect).expect("it was looked at");
                Self::At(Name::read(host)?, aspect, url_of(url)?)
            }
            ["right", who, host, url @ ..] => {
                Self::Right((*who).into(), Name::read(host)?, url_of(url)?)
            }
            _ => return Err(no_key(&names.join("/"))),
        };
        subject.fits()
    }

    /// What somebody means by these words, and the words behind it.
    pub fn read<'w, 't>(words: &'w [&'t str]) -> Result<(Self, &'w [&'t str]), Fault> {
        let (kind, rest) = words
            .split_first()
            .ok_or_else(|| nothing("what is asserted"))?;
        let mut rest = rest;
        let mut next = |what: &str| match rest.split_first() {
            Some((word, after)) => {
                rest = after;
                Ok(*word)
            }
            None => Err(nothing(what).help(usage(kind))),
        };
        let subject = match *kind {
            "listen" => Self::Listen(endpoint(next("an endpoint")?)?),
            "default" => Self::Default(endpoint(next("an endpoint")?)?),
            "host" => Self::Host(Name::read(next("the name of a host")?)?),
            "alias" => {
                let host = Name::read(next("the name of a host")?)?;
                Self::Alias(host, Name::read(next("its other name")?)?)
            }
            "cert" => {
                let host = Name::read(next("the name of a host")?)?;
                Self::Cert(host, endpoint(next("an endpoint")?)?)
            }
            "hold" => Self::Hold(Name::read(next("the name of a host")?)?),
            "names" => Self::Names,
            "feature" => Self::Feature(Feature::read(next("the name of a feature")?)?),
            "quota" => Self::Quota(Name::read(next("the name of a host")?)?),
            "user" => {
                let host = Name::read(next("the name of a host")?)?;
                Self::User(host, user(next("the name of a user")?)?)
            }
            "waive" => {
                let host = Name::read(next("the name of a host")?)?;
                let url = Url::read(next("the path of a URL")?)?;
                Self::Waive(host, next("the name of a check")?.into(), url)
            }
            "right" => {
                let who = next("whose right it is")?.into();
                let host = Name::read(next("the name of a host")?)?;
                Self::Right(who, host, Url::read(next("the path of a URL")?)?)
            }
            kind => match Aspect::of(kind) {
                Some(aspect) => {
                    let host = Name::read(next("the name of a host")?)?;
                    Self::At(host, aspect, Url::read(next("the path of a URL")?)?)
                }
                None => return Err(no_key(kind)),
            },
        };
        Ok((subject.fits()?, rest))
    }

    /// Refuses a directory where a file is meant, and the other way round.
    fn fits(self) -> Result<Self, Fault> {
        let (about, word, url) = match &self {
            Self::At(_, aspect, url) => (aspect.about(), aspect.word(), url),
            Self::Right(_, _, url) => (About::Directory, "right", url),
            _ => return Ok(self),
        };
        let form = |message: String| Fault::new(message).code(FORM);
        match (about, url.is_directory()) {
            (About::File, true) => Err(form(format!(
                "`{url}` is a directory, and `{word}` is about a file"
            ))
            .help("what a directory answers is its `index`")),
            (About::Directory, false) => Err(form(format!(
                "`{url}` is no directory, and `{word}` is about one"
            ))
            .help(format!(
                "a directory ends with `/`: `{}`",
                url.as_directory()
            ))),
            _ => Ok(self),
        }
    }

    /// The host that it is about.
    pub fn host(&self) -> Option<&Name> {
        match self {
            Self::Listen(_) | Self::Default(_) | Self::Names | Self::Feature(_) => None,
            Self::Host(host)
            | Self::Alias(host, _)
            | Self::Cert(host, _)
            | Self::Hold(host)
            | Self::Quota(host)
            | Self::User(host, _)
            | Self::At(host, ..)
            | Self::Waive(host, ..)
            | Self::Right(_, host, _) => Some(host),
        }
    }

    /// What is said about it by these words.
    pub fn said(&self, words: &[&str]) -> Result<Said, Fault> {
        let form = |message: String| Fault::new(message).code(FORM).help(usage(self.word()));
        let one = |what: &str| match words {
            [word] => Ok(*word),
            [] => Err(nothing(what).help(usage(self.word()))),
            [_, more, ..] => Err(form(format!("nothing goes on with `{more}` here"))),
        };
        if let Self::Waive(_, name, _) = self {
            check(name)?;
        }
        let said = match self {
            Self::Listen(_) if words == ["tls"] => Said::Tls,
            Self::Default(_) => Said::Of(Name::read(one("the name of a host")?)?),
            Self::Cert(..) => Said::Cert(object("cert", one("a certificate")?)?),
            Self::Alias(host, name) if host == name => {
                let fault = Fault::new(format!("`{name}` is the name of the host itself"));
                let help = "an alias is another name of it: `assert host` alone serves this one";
                return Err(fault.code(FORM).help(help));
            }
            Self::Listen(_)
            | Self::Alias(..)
            | Self::Right(..)
            | Self::At(_, Aspect::Listing, _) => match words {
                [] => Said::So,
                [more, ..] => return Err(form(format!("nothing goes on with `{more}` here"))),
            },
            Self::Host(_) => match words {
                [] => Said::So,
                ["on", endpoints @ ..] if !endpoints.is_empty() => {
                    let read: Result<Vec<_>, _> = endpoints.iter().map(|at| endpoint(at)).collect();
                    let mut endpoints = read?;
                    endpoints.sort();
                    endpoints.dedup();
                    Said::On(endpoints)
                }
                [more, ..] => return Err(form(format!("nothing goes on with `{more}` here"))),
            },
            Self::Quota(_) => Said::Quota(size(one("a size")?).ok_or_else(|| {
                form(format!("`{}` is no size", words[0])).help("such as `500M` or `2G`")
            })?),
            Self::User(..) => Said::Text(sum(one("the sum of a password")?)?.into()),
            Self::Feature(Feature::Compression) => {
                let mut types = Vec::new();
                for word in words {
                    let media = Media::read(word)?;
                    if media.essence() != *word {
                        return Err(form(format!("`{word}` is a type and more")));
                    }
                    types.push(media);
                }
                types.sort();
                types.dedup();
                match types.is_empty() {
                    true => Said::So,
                    false => Said::Types(types),
                }
            }
            Self::Names => Said::Names(Policy::read(one("what is done about names")?)?),
            Self::Waive(..) | Self::Hold(_) => match words {
                [] => return Err(nothing("a reason").help(usage(self.word()))),
                words => Said::Text(words.join(" ").into()),
            },
            Self::At(_, aspect, url) => match aspect {
                Aspect::Tree => Said::Tree(object("tree", one("a snapshot")?)?),
                Aspect::File => Said::Blob(object("blob", one("content")?)?),
                Aspect::Index => match words {
                    [blob, media] => Said::Typed(object("blob", blob)?, Media::read(media)?),
                    [_, _, more, ..] => {
                        return Err(form(format!("nothing goes on with `{more}` here")));
                    }
                    _ => return Err(nothing("content and its type").help(usage("index"))),
                },
                Aspect::Type => Said::Type(Media::read(one("a type")?)?),
                Aspect::Redirect => match words {
                    [status, target] => {
                        let target = leads(target)?;
                        if Url::requested(target.as_str()).as_ref() == Some(url) {
                            let fault = Fault::new(format!("`{url}` would lead to itself"));
                            return Err(fault.code(FORM).help("name the URL where it is now"));
                        }
                        Said::Redirect(redirection(status)?, target)
                    }
                    [_, _, more, ..] => {
                        return Err(form(format!("nothing goes on with `{more}` here")));
                    }
                    _ => return Err(nothing("a status and a target").help(usage("redirect"))),
                },
                Aspect::Access => Said::Access(who(words)?),
                Aspect::Proxy => Said::Proxy(upstream(words)?),
                Aspect::Listing => Said::So,
            },
        };
        self.is_short(&said)?;
        Ok(said)
    }

    /// Refuses a URL that is longer than nginx finds one, and what is longer than Apache reads a line of a map.
    fn is_short(&self, said: &Said) -> Result<(), Fault> {
        let (Self::At(_, _, url) | Self::Waive(_, _, url) | Self::Right(_, _, url)) = self else {
            return Ok(());
        };
        let form = |message: String| Fault::new(message).code(FORM);
        let length = url.as_str().len();
        if length > LONGEST_URL {
            let fault = form(format!("this URL is too long: {length} bytes"));
            return Err(fault.help(format!("it has at most {LONGEST_URL}, on both servers")));
        }
        let length = url.to_string().len() + said.to_string().len();
        let is_mapped = matches!(
            self,
            Self::At(
                _,
                Aspect::File | Aspect::Index | Aspect::Type | Aspect::Redirect,
                _
            )
        );
        match is_mapped && length > LONGEST {
            false => Ok(()),
            true => {
                let fault = form(format!("this {} is too long: {length} bytes", self.word()));
                Err(fault.help(format!(
                    "a URL and what is said about it have at most {LONGEST} bytes"
                )))
            }
        }
    }

    fn word(&self) -> &'static str {
        match self {
            Self::Listen(_) => "listen",
            Self::Default(_) => "default",
            Self::Host(_) => "host",
            Self::Alias(..) => "alias",
            Self::Cert(..) => "cert",
            Self::Hold(_) => "hold",
            Self::Names => "names",
            Self::Feature(_) => "feature",
            Self::Quota(_) => "quota",
            Self::User(..) => "user",
            Self::At(_, aspect, _) => aspect.word(),
            Self::Waive(..) => "waive",
            Self::Right(..) => "right",
        }
    }

    /// The commands that retract it: all of it, if it is a host.
    pub fn retracted(&self) -> Command {
        match self {
            Self::Host(_) => Command::Retract(Keys::Under(self.key())),
            _ => Command::Retract(Keys::Only(self.key())),
        }
    }
}

impl fmt::Display for Subject {
    /// In the words of commands.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Listen(endpoint) => write!(f, "listen {endpoint}"),
            Self::Default(endpoint) => write!(f, "default {endpoint}"),
            Self::Host(host) => write!(f, "host {host}"),
            Self::Alias(host, name) => write!(f, "alias {host} {name}"),
            Self::Cert(host, endpoint) => write!(f, "cert {host} {endpoint}"),
            Self::Hold(host) => write!(f, "hold {host}"),
            Self::Names => f.write_str("names"),
            Self::Feature(feature) => write!(f, "feature {}", feature.word()),
            Self::Quota(host) => write!(f, "quota {host}"),
            Self::User(host, name) => write!(f, "user {host} {name}"),
            Self::At(host, aspect, url) => write!(f, "{} {host} {url}", aspect.word()),
            Self::Waive(host, check, url) => write!(f, "waive {host} {url} {check}"),
            Self::Right(who, host, url) => {
                let who = joined(&[who.to_string()]);
                write!(f, "right {who} {host} {url}")
            }
        }
    }
}

impl fmt::Display for Said {
    /// In the words of commands.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Said::So => Ok(()),
            Said::Tls => f.write_str("tls"),
            Said::Of(host) => write!(f, "{host}"),
            Said::Cert(hash) => write!(f, "cert:{hash}"),
            Said::On(endpoints) => {
                f.write_str("on")?;
                endpoints.iter().try_for_each(|at| write!(f, " {at}"))
            }
            Said::Tree(hash) => write!(f, "tree:{hash}"),
            Said::Blob(hash) => write!(f, "blob:{hash}"),
            Said::Typed(hash, media) => write!(f, "blob:{hash} {media}"),
            Said::Type(media) => write!(f, "{media}"),
            Said::Redirect(status, target) => write!(f, "{status} {}", target.as_str()),
            Said::Access(Who::All) => f.write_str("all"),
            Said::Access(Who::None) => f.write_str("none"),
            Said::Access(Who::Networks(networks)) => {
                f.write_str("networks")?;
                networks
                    .iter()
                    .try_for_each(|network| write!(f, " {network}"))
            }
            Said::Access(Who::Users(users)) => {
                f.write_str("users")?;
                users.iter().try_for_each(|user| write!(f, " {user}"))
            }
            Said::Proxy(upstream) => {
                write!(f, "http://{}{}", upstream.endpoint, upstream.path)?;
                match &upstream.probe {
                    Some(probe) => write!(f, " probe {probe}"),
                    None => Ok(()),
                }
            }
            Said::Quota(bytes) => write!(f, "{bytes}"),
            Said::Names(policy) => f.write_str(policy.word()),
            Said::Types(types) => {
                let types: Vec<&str> = types.iter().map(Media::as_str).collect();
                f.write_str(&types.join(" "))
            }
            Said::Text(text) => f.write_str(text),
        }
    }
}

impl From<&Said> for Value {
    fn from(said: &Said) -> Self {
        match said {
            Said::So => Value::Nothing,
            said => Value::text(said.to_string()),
        }
    }
}

/// What an assertion says, if it is one of this service.
pub fn read(key: &Key, value: &Value) -> Option<(Subject, Said)> {
    let subject = Subject::of(key)?;
    let words: Vec<&str> = value.as_text().unwrap_or("").split(' ').collect();
    let words = if words == [""] { &[][..] } else { &words };
    let said = subject.said(words).ok()?;
    Some((subject, said))
}

/// All that is said about a URL and what is below it.
pub fn under(host: &Name, url: &Url) -> Vec<Keys> {
    let mut tops = Vec::new();
    for aspect in Aspect::ALL {
        tops.push(Keys::Under(above(
            &["host", host.as_str(), aspect.word()],
            url,
        )));
    }
    tops
}

/// Who may command where, as a state says it.
pub fn rights(state: &State) -> Rights {
    let mut rights = Rights::default();
    for (key, _) in state.among(Keys::Under(Key::new(["right"]))) {
        if let Some(Subject::Right(who, host, url)) = Subject::of(key) {
            if url == Url::root() {
                rights.confine(who.clone(), Keys::Under(Key::new(["host", host.as_str()])));
            }
            for keys in under(&host, &url) {
                rights.confine(who.clone(), keys);
            }
        }
    }
    rights
}

impl Vocabulary for Words {
    fn assertion(&self, names: &[String], value: Value) -> Result<(Key, Value), Fault> {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let subject = Subject::read_names(&names)?;
        let words: Vec<&str> = value.as_text().unwrap_or("").split_whitespace().collect();
        let said = subject.said(&words)?;
        Ok((subject.key(), Value::from(&said)))
    }

    fn key(&self, names: &[String]) -> Result<Key, Fault> {
        Ok(Key::new(names.iter().map(String::as_str)))
    }

    /// One URL gives one answer; the rest is decided by which is longer.
    fn conflicts(&self, key: &Key) -> Vec<Keys> {
        let Some(Subject::At(host, aspect, url)) = Subject::of(key) else {
            return Vec::new();
        };
        let others: &[Aspect] = match aspect {
            Aspect::Tree => &[Aspect::Redirect, Aspect::Proxy],
            Aspect::File => &[Aspect::Redirect],
            Aspect::Index => &[Aspect::Redirect, Aspect::Listing],
            Aspect::Listing => &[Aspect::Redirect, Aspect::Index],
            Aspect::Redirect => &[
                Aspect::Tree,
                Aspect::File,
                Aspect::Index,
                Aspect::Listing,
                Aspect::Proxy,
            ],
            Aspect::Proxy => &[Aspect::Redirect, Aspect::Tree],
            Aspect::Type | Aspect::Access => &[],
        };
        let can_be = |other: &&Aspect| match other.about() {
            About::File => !url.is_directory(),
            About::Directory => url.is_directory(),
            About::Either => true,
        };
        let others = others.iter().filter(can_be);
        let keys = others.map(|other| Keys::Only(other.key(&host, &url)));
        keys.collect()
    }

    fn supports(&self, key: &Key) -> Vec<Key> {
        match Subject::of(key) {
            Some(
                Subject::Listen(_)
                | Subject::Host(_)
                | Subject::Names
                | Subject::Feature(_)
                | Subject::Right(..),
            )
            | None => Vec::new(),
            Some(Subject::Default(endpoint)) => vec![Subject::Listen(endpoint).key()],
            Some(Subject::Cert(host, endpoint)) => {
                vec![Subject::Host(host).key(), Subject::Listen(endpoint).key()]
            }
            Some(subject) => {
                let host = subject.host().expect("the rest is about hosts");
                vec![Key::new(["host", host.as_str()])]
            }
        }
    }

    fn reach(&self, key: &Key) -> Reach {
        match Subject::of(key) {
            Some(Subject::Host(_)) => Reach::Below,
            Some(Subject::Listen(_)) => Reach::Anywhere,
            _ => Reach::Nowhere,
        }
    }
}

fn at(tops: &[&str], url: &Url) -> Key {
    let key = above(tops, url);
    match url.is_directory() {
        true => key.child("."),
        false => key,
    }
}

/// What the key of a URL and of all below it is under.
fn above(tops: &[&str], url: &Url) -> Key {
    Key::new(tops.iter().copied().chain(url.segments()))
}

fn url_of(names: &[&str]) -> Result<Url, Fault> {
    let (names, is_directory) = match names {
        [names @ .., "."] => (names, true),
        names => (names, false),
    };
    if names.is_empty() && !is_directory {
        return Err(no_key("this"));
    }
    let url = Url::of(names, is_directory);
    Url::read(&encode(url.as_str()))
}

fn object(kind: &str, word: &str) -> Result<Hash, Fault> {
    let hash = word
        .strip_prefix(kind)
        .and_then(|rest| rest.strip_prefix(':'));
    hash.and_then(Hash::from_hex).ok_or_else(|| {
        let help = match kind {
            "tree" => "`post DIRECTORY URL` stages a directory, and asserts its snapshot",
            "cert" => {
                "`post cert CHAIN KEY HOST ADDRESS:PORT` stages a certificate, and asserts it"
            }
            _ => "`post FILE URL` stages a file, and asserts its content",
        };
        let message = format!("`{word}` is not `{kind}:` and 64 hexadecimal digits");
        Fault::new(message).code(FORM).help(help)
    })
}

fn redirection(word: &str) -> Result<u16, Fault> {
    let statuses = [301, 302, 303, 307, 308];
    let status = word.parse().ok().filter(|status| statuses.contains(status));
    status.ok_or_else(|| {
        Fault::new(format!("`{word}` is no status of a redirect"))
            .code(FORM)
            .help("301 and 308 are for ever, 302, 303 and 307 for now")
    })
}

fn leads(word: &str) -> Result<Target, Fault> {
    let fault = || {
        Fault::new(format!("`{word}` is no target of a redirect"))
            .code(FORM)
            .help("a path such as `/new/`, or an address such as `https://example.org/`")
    };
    let plain = |c: char| c.is_ascii_alphanumeric() || "-._~:/?#[]@!&*+,;=%".contains(c);
    if word.starts_with('/') {
        let (path, more) = word.split_at(word.find(['?', '#']).unwrap_or(word.len()));
        let path = Url::read(path)?;
        return match more.chars().all(plain) {
            true => Ok(Target(format!("{path}{more}").into())),
            false => Err(fault()),
        };
    }
    let rest = word
        .strip_prefix("http://")
        .or_else(|| word.strip_prefix("https://"));
    let (authority, _) = rest
        .map(|rest| rest.split_once('/').unwrap_or((rest, "")))
        .ok_or_else(fault)?;
    match !authority.is_empty() && word.chars().all(plain) {
        true => Ok(Target(word.into())),
        false => Err(fault()),
    }
}

fn who(words: &[&str]) -> Result<Who, Fault> {
    let form = |message: String| Fault::new(message).code(FORM).help(usage("access"));
    match words {
        ["all"] => Ok(Who::All),
        ["none"] => Ok(Who::None),
        ["networks", networks @ ..] if !networks.is_empty() => {
            let mut read = Vec::new();
            for network in networks {
                read.push(Network::read(network).ok_or_else(|| {
                    form(format!("`{network}` is no network")).help("such as `10.0.0.0/8` or `::1`")
                })?);
            }
            read.sort();
            read.dedup();
            Ok(Who::Networks(read))
        }
        ["users", users @ ..] if !users.is_empty() => {
            let read: Result<Vec<_>, _> = users.iter().map(|name| user(name)).collect();
            let mut users = read?;
            users.sort();
            users.dedup();
            Ok(Who::Users(users))
        }
        [] => Err(nothing("who may read").help(usage("access"))),
        [word, ..] => Err(form(format!("`{word}` does not say who may read"))),
    }
}

fn user(word: &str) -> Result<EcoString, Fault> {
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b'@');
    match !word.is_empty() && word.bytes().all(plain) {
        true => Ok(word.into()),
        false => Err(Fault::new(format!("`{word}` is no name of a user"))
            .code(FORM)
            .help("letters, digits, `-`, `_`, `.` and `@`")),
    }
}

fn check(word: &str) -> Result<(), Fault> {
    if WAIVABLE.contains(&word) {
        return Ok(());
    }
    let fault = Fault::new(format!("there is no check `{word}` that could be waived")).code(FORM);
    let all = format!("checks are `{}`", WAIVABLE.join("`, `"));
    Err(match similar(word, WAIVABLE).first() {
        Some(near) => fault.help(format!("did you mean `{near}`? {all}")),
        None => fault.help(all),
    })
}

/// A sum that both servers can check.
fn sum(word: &str) -> Result<&str, Fault> {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"$./{}+=".contains(&b);
    let known = ["$apr1$", "{SHA}", "$2y$", "$5$", "$6$"];
    match known.iter().any(|form| word.starts_with(form)) && word.bytes().all(plain) {
        true => Ok(word),
        false => Err(Fault::new("this is not the sum of a password")
            .code(FORM)
            .help("`htpasswd -nB NAME` prints one behind the name")),
    }
}

fn upstream(words: &[&str]) -> Result<Upstream, Fault> {
    let form = |message: String| Fault::new(message).code(FORM).help(usage("proxy"));
    let (address, probe) = match words {
        [address] => (*address, None),
        [address, "probe", probe] => (*address, Some(Url::read(probe)?)),
        _ => return Err(nothing("the address of another server").help(usage("proxy"))),
    };
    let rest = address.strip_prefix("http://");
    let rest = rest.ok_or_else(|| form(format!("`{address}` does not begin with `http://`")))?;
    let (authority, path) = match rest.find('/') {
        Some(at) => rest.split_at(at),
        None => (rest, "/"),
    };
    let path = Url::read(path)?;
    if !path.is_directory() {
        return Err(form(format!("`{path}` is no directory: it ends with `/`")));
    }
    // Others would have to be written in one way for one server, and in another for the other.
    if path.to_string() != path.as_str() {
        let fault = Fault::new(format!("`{path}` cannot be passed on")).code(FORM);
        return Err(fault.help("letters, digits and `-._~+=@:,!` can"));
    }
    let endpoint = endpoint(authority)?;
    Ok(Upstream {
        endpoint,
        path,
        probe,
    })
}

fn size(word: &str) -> Option<u64> {
    let digits = word.trim_end_matches(['k', 'K', 'M', 'G', 'T']);
    let unit = match &word[digits.len()..] {
        "" => 1,
        "k" | "K" => 1 << 10,
        "M" => 1 << 20,
        "G" => 1 << 30,
        "T" => 1u64 << 40,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(unit)
}

/// The forms of assertions, by their first words.
const FORMS: [(&str, &str); 20] = [
    ("listen", "ADDRESS:PORT [tls]"),
    ("default", "ADDRESS:PORT HOST"),
    ("host", "HOST [on ADDRESS:PORT …]"),
    ("alias", "HOST NAME"),
    ("cert", "HOST ADDRESS:PORT cert:HASH"),
    ("tree", "HOST /DIRECTORY/ tree:HASH"),
    ("file", "HOST /PATH blob:HASH"),
    ("index", "HOST /DIRECTORY/ blob:HASH TYPE"),
    ("listing", "HOST /DIRECTORY/"),
    ("type", "HOST /PATH TYPE"),
    ("redirect", "HOST /PATH STATUS TARGET"),
    (
        "access",
        "HOST /DIRECTORY/ all|none|networks NETWORK …|users NAME …",
    ),
    ("user", "HOST NAME SUM"),
    (
        "proxy",
        "HOST /DIRECTORY/ http://ADDRESS:PORT/ [probe /PATH]",
    ),
    ("quota", "HOST SIZE"),
    ("waive", "HOST /PATH CHECK REASON"),
    ("hold", "HOST REASON"),
    ("names", "warn|refuse|hold"),
    ("feature", "compression [TYPE …]"),
    ("right", "WHO HOST /DIRECTORY/"),
];

/// The form of an assertion that begins so.
pub fn usage(kind: &str) -> String {
    match FORMS.iter().find(|(word, _)| *word == kind) {
        Some((word, rest)) => format!("`{word} {rest}`"),
        None => format!("there are `{}`", FORMS.map(|(word, _)| word).join("`, `")),
    }
}

fn no_key(word: &str) -> Fault {
    let fault = Fault::new(format!("`{word}` is nothing that can be asserted")).code(FORM);
    match similar(word, FORMS.map(|(word, _)| word)).first() {
        Some(near) => fault.help(format!("did you mean {}?", usage(near))),
        None => fault.help(usage("")),
    }
}

fn nothing(what: &str) -> Fault {
    Fault::new(format!("{what} is expected")).code(FORM)
}
