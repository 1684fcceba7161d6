//! The language of commands: text to orders.
//!
//! ```text
//! # a shop
//! assert host foo.test
//! post /home/prod http://foo.test/products
//! post welcome.html http://foo.test/ --as-index
//! post cert chain.pem key.pem foo.test 192.0.2.1:443
//! assert access foo.test /staff/ networks 10.0.0.0/8
//! retract redirect foo.test /old
//! apply owner tree:web1 {
//!   host bar.test
//! }
//! commit
//! ```
//!
//! A command ends with its line. A word may stand in quotes. Nothing here reads what is asserted: what an order says that
//! is about the present is carried out by `level2`.

use hence_ledger::{Command, Fault, Key, Keys, Value};
use hence_model::diagnostic::{Diagnostic, similar};
use hence_model::source::{FileId, Sources, Span};

use crate::address::{Endpoint, Name, Url, endpoint};
use crate::media::Media;
use crate::words::{FORM, Said, Subject, Words, under};

/// What somebody wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Order {
    /// Writes that do not read.
    Write(Vec<Command>),
    /// A file or directory is to be at a URL, as it is now.
    Post(Post),
    /// A certificate and its key are to be those of a host at an endpoint, as they are now.
    PostCert(PostCert),
    /// What was posted at a URL is to be posted again.
    Refresh(Name, Url),
    /// What one host has, another is to have.
    Copy(Name, Name),
    /// A directory is to be a whole site.
    Become(Name, String),
    /// The site that a host became is to go.
    Retire(Name),
    /// What is pending is to be served.
    Commit,
}

/// A file or directory at a URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Post {
    /// Where it is.
    pub from: String,
    /// At which host it is to be.
    pub host: Name,
    /// At which URL.
    pub url: Url,
    /// Whether it is what a directory answers.
    pub as_index: bool,
    /// Of which type it is, if that is said.
    pub media: Option<Media>,
}

/// A certificate for a host at an endpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PostCert {
    /// Where it and those are that lead to it.
    pub chain: String,
    /// Where its key is.
    pub key: String,
    /// Which host it is for.
    pub host: Name,
    /// Where it is to be shown.
    pub endpoint: Endpoint,
}

/// An order and where it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    /// The order.
    pub order: Order,
    /// Where it is written.
    pub span: Span,
}

/// The orders in a text, or all that is wrong with them. What is asserted outside of any `apply` is asserted by `owner`.
pub fn parse(sources: &Sources, file: FileId, owner: &str) -> Result<Vec<Placed>, Vec<Diagnostic>> {
    let span = sources.span(file);
    let text = sources.slice(span);
    let mut troubles = Vec::new();
    let mut orders = Vec::new();
    let mut layer: Option<Layer> = None;
    let mut start = span.start;
    for line in text.split_inclusive('\n') {
        let words = split(line, start, &mut troubles);
        start += line.len() as u32;
        let Some(words) = words.filter(|words| !words.is_empty()) else {
            continue;
        };
        let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
        let here = words[0].span.to(words[words.len() - 1].span);
        match (&mut layer, texts.as_slice()) {
            (Some(_), ["}"]) => {
                let Layer { owner, set, begun } = layer.take().expect("it is open");
                let order = Order::Write(vec![Command::apply(owner, set, &Words)]);
                orders.push(Placed {
                    order,
                    span: begun.to(here),
                });
            }
            (Some(layer), _) => match asserted(&words) {
                Ok(assertion) => layer.set.push(assertion),
                Err(trouble) => troubles.push(*trouble),
            },
            (None, ["apply", "owner", owner, "{"]) => {
                let owner = (*owner).to_owned();
                layer = Some(Layer {
                    owner,
                    set: Vec::new(),
                    begun: here,
                });
            }
            (None, texts) => match order(texts, owner) {
                Ok(order) => orders.push(Placed { order, span: here }),
                Err(fault) => troubles.push(fault.at(&words)),
            },
        }
    }
    if let Some(layer) = layer {
        let trouble = Diagnostic::error(FORM, "this `{` is not closed").at(layer.begun);
        troubles.push(trouble.help("a `}` on a line of its own ends what the owner asserts"));
    }
    match troubles.is_empty() {
        true => Ok(orders),
        false => Err(troubles),
    }
}

/// All that an owner is to assert, one assertion on each line of a text; or all that is wrong with them.
pub fn parse_set(sources: &Sources, file: FileId, owner: &str) -> Result<Placed, Vec<Diagnostic>> {
    let span = sources.span(file);
    let mut troubles = Vec::new();
    let mut set = Vec::new();
    let mut start = span.start;
    for line in sources.slice(span).split_inclusive('\n') {
        let words = split(line, start, &mut troubles);
        start += line.len() as u32;
        match words
            .filter(|words| !words.is_empty())
            .as_deref()
            .map(asserted)
        {
            Some(Ok(assertion)) => set.push(assertion),
            Some(Err(trouble)) => troubles.push(*trouble),
            None => {}
        }
    }
    let order = Order::Write(vec![Command::apply(owner, set, &Words)]);
    match troubles.is_empty() {
        true => Ok(Placed { order, span }),
        false => Err(troubles),
    }
}

/// What a line of an owner's set asserts, whether or not it says `assert`.
fn asserted(words: &[Word]) -> Result<(Key, Value), Box<Diagnostic>> {
    let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
    let said = texts.strip_prefix(&["assert"]).unwrap_or(&texts);
    let skipped = texts.len() - said.len();
    let wrong = |fault: Misread| Box::new(fault.at(&words[skipped.min(words.len() - 1)..]));
    assertion(said).map_err(wrong)
}

struct Layer {
    owner: String,
    set: Vec<(Key, Value)>,
    begun: Span,
}

/// What is wrong, and with which word.
struct Misread {
    fault: Fault,
    /// The word, if one is there; else the place behind the last.
    word: Option<String>,
}

impl Misread {
    fn at(self, words: &[Word]) -> Diagnostic {
        let wrong = self
            .word
            .and_then(|wrong| words.iter().find(|word| word.text == wrong));
        let all = words[0].span.to(words[words.len() - 1].span);
        let span = wrong.map_or(all, |word| word.span);
        Diagnostic::from(self.fault).at(span)
    }
}

impl From<Fault> for Misread {
    /// What a fault is about stands in quotes in its message.
    fn from(fault: Fault) -> Self {
        let word = fault.message.split('`').nth(1).map(str::to_owned);
        Self { fault, word }
    }
}

/// The words that commands begin with.
pub const VERBS: [&str; 10] = [
    "assert",
    "retract",
    "retract-under",
    "apply",
    "post",
    "refresh",
    "copy",
    "become",
    "retire",
    "commit",
];

fn order(words: &[&str], owner: &str) -> Result<Order, Misread> {
    let form = |message: String| Misread::from(Fault::new(message).code(FORM));
    let order = match words {
        ["assert", said @ ..] => {
            let (key, value) = assertion(said)?;
            let owner = owner.into();
            Order::Write(vec![Command::Assert { owner, key, value }])
        }
        ["retract", said @ ..] => Order::Write(retracted(said)?),
        ["retract-under", host, url] => {
            let (host, url) = (Name::read(host)?, Url::read(url)?);
            let commands = under(&host, &url).into_iter().map(Command::Retract);
            Order::Write(commands.collect())
        }
        // What is below a URL, one kind at a time: so the history says it.
        ["retract-keys", key] => match Key::read(key) {
            Some(key) => Order::Write(vec![Command::Retract(Keys::Under(key))]),
            None => return Err(form(format!("`{key}` is no key"))),
        },
        ["retract-under", ..] => return Err(usage("`retract-under HOST /PATH`")),
        ["apply", ..] => {
            return Err(usage(
                "`apply owner NAME {`, what is asserted, and `}`, each on its line",
            ));
        }
        ["post", "cert", chain, key, host, at] => Order::PostCert(PostCert {
            chain: (*chain).to_owned(),
            key: (*key).to_owned(),
            host: Name::read(host)?,
            endpoint: endpoint(at)?,
        }),
        ["post", "cert", second, ..] if !second.contains("://") => {
            return Err(usage("`post cert CHAIN KEY HOST ADDRESS:PORT`"));
        }
        ["post", rest @ ..] => Order::Post(post(rest)?),
        ["refresh", address] => {
            let (host, url) = located(address)?;
            Order::Refresh(host, url)
        }
        ["refresh", ..] => return Err(usage("`refresh http://HOST/PATH`")),
        ["copy", "host", from, "to", to] => Order::Copy(Name::read(from)?, Name::read(to)?),
        ["copy", ..] => return Err(usage("`copy host HOST to HOST`")),
        ["become", "web-server", host, "--from", from] => {
            Order::Become(Name::read(host)?, (*from).to_owned())
        }
        ["become", ..] => return Err(usage("`become web-server HOST --from DIRECTORY`")),
        ["retire", host] => Order::Retire(Name::read(host)?),
        ["retire", ..] => return Err(usage("`retire HOST`")),
        ["commit"] => Order::Commit,
        ["commit", ..] => return Err(usage("`commit`, and nothing behind it in a script")),
        [verb, ..] => {
            let fault = Fault::new(format!("there is no command `{verb}`")).code(FORM);
            return Err(match similar(verb, VERBS).first() {
                Some(near) => fault.help(format!("did you mean `{near}`?")).into(),
                None => fault
                    .help(format!("commands are `{}`", VERBS.join("`, `")))
                    .into(),
            });
        }
        [] => return Err(form("a command is expected".to_owned())),
    };
    Ok(order)
}

fn usage(form: &str) -> Misread {
    let fault = Fault::new("this command is not complete, or too long").code(FORM);
    Misread {
        fault: fault.help(form.to_owned()),
        word: None,
    }
}

/// What is asserted. `foo.test` alone is a host, as in the first version of the language.
fn assertion(words: &[&str]) -> Result<(Key, Value), Misread> {
    if let [host] = words
        && host.contains('.')
        && let Ok(host) = Name::read(host)
    {
        return Ok((Subject::Host(host).key(), Value::from(&Said::So)));
    }
    let (subject, rest) = Subject::read(words)?;
    let said = subject.said(rest)?;
    Ok((subject.key(), Value::from(&said)))
}

/// What is retracted. In the first version of the language a host or a URL stands alone; what is below it goes with it.
fn retracted(words: &[&str]) -> Result<Vec<Command>, Misread> {
    if let [address] = words {
        if address.starts_with("http://") || address.starts_with("https://") {
            let (host, url) = located(address)?;
            return Ok(under(&host, &url)
                .into_iter()
                .map(Command::Retract)
                .collect());
        }
        if address.contains('.')
            && let Ok(host) = Name::read(address)
        {
            return Ok(vec![Subject::Host(host).retracted()]);
        }
    }
    let (subject, rest) = Subject::read(words)?;
    if let Some(more) = rest.first() {
        let fault = Fault::new(format!("nothing goes on with `{more}` here")).code(FORM);
        let help = "what is retracted is named, and not what is said about it";
        return Err(fault.help(help).into());
    }
    Ok(vec![subject.retracted()])
}

fn post(words: &[&str]) -> Result<Post, Misread> {
    const FORMS: &str = "`post FILE|DIRECTORY http://HOST/PATH [--as-index] [--type TYPE]`";
    let (from, address, options) = match words {
        // So the paper writes it in places.
        [from, "to", address, options @ ..] | [from, address, options @ ..] => {
            (from, address, options)
        }
        _ => return Err(usage(FORMS)),
    };
    let (host, url) = located(address)?;
    let mut post = Post {
        from: (*from).to_owned(),
        host,
        url,
        as_index: false,
        media: None,
    };
    let mut options = options;
    loop {
        options = match options {
            [] => return Ok(post),
            ["--as-index", rest @ ..] | ["as", "index", rest @ ..] | ["index", rest @ ..] => {
                post.as_index = true;
                post.url = post.url.as_directory();
                rest
            }
            ["--type", media, rest @ ..] => {
                post.media = Some(Media::read(media)?);
                rest
            }
            _ => return Err(usage(FORMS)),
        };
    }
}

/// An address as people write it: what of a host, and by which way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// Whether it says that TLS is spoken.
    pub is_secured: bool,
    /// The port, if it names one.
    pub port: Option<u16>,
    /// The host.
    pub host: Name,
    /// The path.
    pub url: Url,
}

impl Address {
    /// The address that is written so.
    pub fn read(address: &str) -> Result<Self, Fault> {
        let is_secured = address.starts_with("https://");
        let rest = address
            .strip_prefix("http://")
            .or_else(|| address.strip_prefix("https://"));
        let rest = rest.ok_or_else(|| {
            let fault = Fault::new(format!("`{address}` does not begin with `http://`")).code(FORM);
            fault.help("such as `http://www.example.org/products/`")
        })?;
        let (host, path) = match rest.find('/') {
            Some(at) => rest.split_at(at),
            None => (rest, "/"),
        };
        if host.contains('@') {
            let fault = Fault::new("this address says who asks").code(FORM);
            return Err(fault.help("what stands before `@` is no part of it here"));
        }
        let (host, port) = match host.rsplit_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (host, None),
        };
        let port = port.map(|port| {
            let fault = Fault::new(format!("`{port}` is no port")).code(FORM);
            port.parse().map_err(|_| fault)
        });
        Ok(Self {
            is_secured,
            port: port.transpose()?,
            host: Name::read(host)?,
            url: Url::read(path)?,
        })
    }

    /// What somebody asks a server for: what is behind `?` and `#` decides nothing here.
    pub fn asked(address: &str) -> Result<Self, Fault> {
        let end = address.find(['?', '#']).unwrap_or(address.len());
        Self::read(&address[..end])
    }

    /// Whether an endpoint is meant: any that is not excluded.
    pub fn may_be(&self, endpoint: Endpoint, is_secured: bool) -> bool {
        let is_port = self.port.is_none_or(|port| port == endpoint.port());
        is_port && (is_secured || !self.is_secured)
    }
}

/// The host and path of an address. Which endpoint answers is not what is said.
fn located(address: &str) -> Result<(Name, Url), Fault> {
    let address = Address::read(address)?;
    Ok((address.host, address.url))
}

/// Writes in the words of the language.
pub fn written(commands: &[Command]) -> String {
    let mut text = String::new();
    for command in commands {
        match command {
            Command::Assert { key, value, .. } => {
                text.push_str(&format!("assert {}\n", said(key, value)));
            }
            Command::Retract(Keys::Only(key)) => {
                let subject = Subject::of(key).map(|subject| subject.to_string());
                let subject = subject.unwrap_or_else(|| key.to_string());
                text.push_str(&format!("retract {subject}\n"));
            }
            Command::Retract(Keys::Under(key)) => match Subject::of(key) {
                Some(host @ Subject::Host(_)) => text.push_str(&format!("retract {host}\n")),
                _ => text.push_str(&format!("retract-keys {key}\n")),
            },
            Command::Apply { owner, set } => {
                let owner = joined(&[owner.to_string()]);
                text.push_str(&format!("apply owner {owner} {{\n"));
                for (key, value) in set {
                    text.push_str(&format!("  assert {}\n", said(key, value)));
                }
                text.push_str("}\n");
            }
        }
    }
    text
}

/// An assertion in the words of the language.
pub fn said(key: &Key, value: &Value) -> String {
    match crate::words::read(key, value) {
        Some((subject, Said::So)) => subject.to_string(),
        Some((subject, Said::Text(text))) => format!("{subject} {}", whole(&text)),
        Some((subject, said)) => format!("{subject} {said}"),
        None => format!("{key}{value}"),
    }
}

/// A text as it can stand at the end of a command: as it is, if its words come to it again.
fn whole(text: &str) -> String {
    let mut troubles = Vec::new();
    let words = split(text, 0, &mut troubles).unwrap_or_default();
    let words: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
    match words.join(" ") == text && !text.contains('"') {
        true => text.to_owned(),
        false => joined(&[text.to_owned()]),
    }
}

/// The words of one line, or what is wrong with it.
pub fn words(sources: &Sources, file: FileId) -> Result<Vec<String>, Vec<Diagnostic>> {
    let span = sources.span(file);
    let mut troubles = Vec::new();
    let words = split(sources.slice(span), span.start, &mut troubles);
    match words {
        Some(words) => Ok(words.into_iter().map(|word| word.text).collect()),
        None => Err(troubles),
    }
}

struct Word {
    text: String,
    span: Span,
}

/// The words of a line; `None` if a quote is not closed.
fn split(line: &str, start: u32, troubles: &mut Vec<Diagnostic>) -> Option<Vec<Word>> {
    let mut words = Vec::new();
    let mut rest = line.char_indices().peekable();
    while let Some((at, first)) = rest.next() {
        let mut text = String::new();
        let mut end = at + first.len_utf8();
        match first {
            first if first.is_whitespace() => continue,
            '#' => break,
            '"' => loop {
                match rest.next() {
                    Some((at, '"')) => {
                        end = at + 1;
                        break;
                    }
                    Some((_, '\\')) => text.extend(rest.next().map(|(_, next)| next)),
                    Some((_, next)) if next != '\n' => text.push(next),
                    _ => {
                        let span =
                            Span::new(start + at as u32, start + line.trim_end().len() as u32);
                        let trouble = Diagnostic::error(FORM, "this text has no closing quote");
                        troubles.push(trouble.at(span));
                        return None;
                    }
                }
            },
            first => {
                text.push(first);
                while let Some((at, next)) = rest.next_if(|(_, next)| !next.is_whitespace()) {
                    text.push(next);
                    end = at + next.len_utf8();
                }
            }
        }
        let span = Span::new(start + at as u32, start + end as u32);
        words.push(Word { text, span });
    }
    Some(words)
}

/// Words as one line that is read as these words.
pub fn joined(words: &[String]) -> String {
    let quoted = |word: &String| match word.is_empty()
        || word.contains(|c: char| c.is_whitespace() || "\"#\\".contains(c))
    {
        true => format!("\"{}\"", word.replace('\\', "\\\\").replace('"', "\\\"")),
        false => word.clone(),
    };
    let words: Vec<String> = words.iter().map(quoted).collect();
    words.join(" ")
}
