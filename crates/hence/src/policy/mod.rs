//! Security over provenance: which values may depend on which files, authors and signers, and where secrets may
//! be. A policy is a text with a rule on each line:
//!
//! ```text
//! # nothing under RootUsers may depend on what is delegated
//! RootUsers.**       not from file delegated.cf2
//! users.**           only from file site.cf2, signer admin@example.org
//! File[*].content    value only from author ops@example.org
//! **                 no secret
//! web.password       may be secret
//! ```
//!
//! pattern  what `*` and `**` stand for
//! judge    which values keep to the rules, and what is told of those that do not

pub mod judge;
pub mod pattern;

use hence_model::diagnostic::{Code, Diagnostic, similar};
use hence_model::source::{Files, Span};
use hence_model::unit::{Limits, Unit};

use pattern::{Pattern, Subject};

/// A line of a policy is not a rule.
pub const SYNTAX: Code = Code::new("policy.syntax");

/// A policy, as it was read.
pub struct Policy {
    /// The file's name, as it was given.
    pub name: String,
    /// The text, and what is wrong with it.
    pub unit: Unit,
    /// The rules, in order.
    pub rules: Vec<Rule>,
}

/// A rule: what is demanded of some values.
#[derive(Clone, Debug)]
pub struct Rule {
    /// The values that it is about.
    pub values: Pattern,
    /// What is demanded of them.
    pub demand: Demand,
    /// Where the values are named.
    pub subject: Span,
    /// Where the rule is written.
    pub span: Span,
}

/// What is demanded of values.
#[derive(Clone, Debug)]
pub enum Demand {
    /// They depend on nothing else.
    Only(Count, Vec<Source>),
    /// They do not depend on it.
    Not(Count, Vec<Source>),
    /// No secret is in them.
    NoSecret,
    /// No secret is in them that the catalog does not mark as one.
    NoPlainSecret,
    /// A secret may be in them.
    MayBeSecret,
}

/// Which dependences count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    /// All.
    All,
    /// Those on what the value is, or is computed from.
    Values,
}

/// Something that a value may come from, or may not.
#[derive(Clone, Debug)]
pub struct Source {
    /// What it is.
    pub kind: SourceKind,
    /// Its name, or a pattern of names.
    pub pattern: Pattern,
    /// The same, as it is written.
    pub text: String,
    /// Where that is.
    pub span: Span,
}

/// What values come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceKind {
    /// A file.
    File,
    /// Somebody who wrote a line, as git knows.
    Author,
    /// Somebody who signed a file.
    Signer,
}

impl SourceKind {
    const ALL: [SourceKind; 3] = [SourceKind::File, SourceKind::Author, SourceKind::Signer];

    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            SourceKind::File => "file",
            SourceKind::Author => "author",
            SourceKind::Signer => "signer",
        }
    }
}

impl Policy {
    /// Reads a policy. What is wrong with it is in its unit.
    pub fn read(files: &dyn Files, name: &str, limits: Limits) -> Self {
        let mut unit = Unit::with_limits(limits);
        let mut rules = Vec::new();
        match unit.load(files, name) {
            Ok(file) => {
                let whole = unit.sources.span(file);
                let text = unit.sources.slice(whole).to_owned();
                let mut parser = Parser {
                    words: words(&text, whole.start, &mut unit),
                    at: 0,
                };
                while !parser.is_at_end() {
                    match parser.rule() {
                        Ok(rule) => rules.push(rule),
                        Err(mistake) => {
                            unit.report(*mistake);
                            parser.skip_line();
                        }
                    }
                }
            }
            Err(trouble) => unit.report(*trouble),
        }
        Self {
            name: name.to_owned(),
            unit,
            rules,
        }
    }

    /// The text.
    pub fn text(&self) -> &str {
        let file = self.unit.sources.files().next();
        file.map_or("", |file| {
            self.unit.sources.slice(self.unit.sources.span(file))
        })
    }
}

/// A word of a policy.
#[derive(Clone, Debug)]
struct Word {
    kind: WordKind,
    span: Span,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum WordKind {
    /// A word, without its quotes.
    Word(String),
    Comma,
    /// The end of a line with words in it.
    End,
}

/// Splits a text into words. A word ends at a space, a comma or the end of the line that is not in quotes or
/// brackets.
fn words(text: &str, start: u32, unit: &mut Unit) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    let mut offset = start;
    for line in text.split_inclusive('\n') {
        let first = words.len();
        line_words(
            line.trim_end_matches(['\n', '\r']),
            offset,
            &mut words,
            unit,
        );
        offset += line.len() as u32;
        // A list whose line ends with a comma goes on in the next.
        let goes_on = words
            .last()
            .is_some_and(|last| last.kind == WordKind::Comma);
        if words.len() > first && !goes_on {
            let end = words.last().map_or(offset, |last| last.span.end);
            let (kind, span) = (WordKind::End, Span::at(end));
            words.push(Word { kind, span });
        }
    }
    if words
        .last()
        .is_some_and(|last| last.kind == WordKind::Comma)
    {
        let end = words.last().map_or(offset, |last| last.span.end);
        let (kind, span) = (WordKind::End, Span::at(end));
        words.push(Word { kind, span });
    }
    words
}

fn line_words(line: &str, offset: u32, words: &mut Vec<Word>, unit: &mut Unit) {
    let first = words.len();
    let place = |from: usize, to: usize| Span::new(offset + from as u32, offset + to as u32);
    let mut characters = line.char_indices().peekable();
    while let Some(&(at, character)) = characters.peek() {
        match character {
            '#' => return,
            ',' => {
                characters.next();
                let (kind, span) = (WordKind::Comma, place(at, at + 1));
                words.push(Word { kind, span });
            }
            character if character.is_whitespace() => {
                characters.next();
            }
            _ => {
                let mut word = String::new();
                let mut quote: Option<(usize, char)> = None;
                let mut brackets: Vec<usize> = Vec::new();
                let mut end = line.len();
                while let Some(&(at, character)) = characters.peek() {
                    let ends = character.is_whitespace() || character == ',';
                    if ends && quote.is_none() && brackets.is_empty() {
                        end = at;
                        break;
                    }
                    characters.next();
                    match (character, quote) {
                        (close, Some((_, open))) if close == open => quote = None,
                        ('\'' | '"', None) => quote = Some((at, character)),
                        (character, _) => {
                            match (character, quote) {
                                ('[', None) => brackets.push(at),
                                (']', None) => drop(brackets.pop()),
                                _ => {}
                            }
                            word.push(character);
                        }
                    }
                }
                let open = quote.map(|(at, _)| at).or(brackets.first().copied());
                if let Some(open) = open {
                    let what = match quote {
                        Some(_) => "this quote is not closed",
                        None => "this bracket is not closed",
                    };
                    unit.report(
                        Diagnostic::error(SYNTAX, what)
                            .at(place(open, open + 1))
                            .help("a word ends with its line; quotes are for names with spaces and brackets"),
                    );
                    words.truncate(first);
                    return;
                }
                let (kind, span) = (WordKind::Word(word), place(at, end));
                words.push(Word { kind, span });
            }
        }
    }
}

type Parsed<T> = Result<T, Box<Diagnostic>>;

struct Parser {
    words: Vec<Word>,
    at: usize,
}

/// What a rule may demand, for whoever wrote something else.
const DEMANDS: &str = "a rule is `PATH not from …`, `PATH only from …`, `PATH no secret`, `PATH no plain secret` \
                       or `PATH may be secret`";

impl Parser {
    fn is_at_end(&self) -> bool {
        self.at == self.words.len()
    }

    fn skip_line(&mut self) {
        while let Some(word) = self.words.get(self.at) {
            self.at += 1;
            if word.kind == WordKind::End {
                return;
            }
        }
    }

    fn rule(&mut self) -> Parsed<Rule> {
        let (values, subject) = self.word("a rule begins with the path of values")?;
        let demand = self.demand()?;
        let last = &self.words[self.at - 1];
        let span = subject.to(last.span);
        self.end()?;
        Ok(Rule {
            values: Pattern::new(&values, Subject::Path),
            demand,
            subject,
            span,
        })
    }

    fn demand(&mut self) -> Parsed<Demand> {
        let expected = "expected what is demanded of these values";
        let (word, span) = self.word(expected)?;
        Ok(match word.as_str() {
            "value" => {
                let (word, span) = self.word("expected `only from` or `not from`")?;
                match word.as_str() {
                    "only" => Demand::Only(Count::Values, self.sources()?),
                    "not" => Demand::Not(Count::Values, self.sources()?),
                    word => return Err(unknown(word, span, &["only", "not"]).into()),
                }
            }
            "only" => Demand::Only(Count::All, self.sources()?),
            "not" => Demand::Not(Count::All, self.sources()?),
            "no" => {
                let (word, span) = self.word("expected `secret` or `plain secret`")?;
                match word.as_str() {
                    "secret" => Demand::NoSecret,
                    "plain" => {
                        self.fixed("secret")?;
                        Demand::NoPlainSecret
                    }
                    word => return Err(unknown(word, span, &["secret", "plain"]).into()),
                }
            }
            "may" => {
                self.fixed("be")?;
                self.fixed("secret")?;
                Demand::MayBeSecret
            }
            word => {
                let known = ["value", "only", "not", "no", "may"];
                return Err(unknown(word, span, &known).help(DEMANDS).into());
            }
        })
    }

    /// `from file a, b, author c`
    fn sources(&mut self) -> Parsed<Vec<Source>> {
        self.fixed("from")?;
        let mut kind = None;
        let mut sources = Vec::new();
        loop {
            let expected = "expected `file`, `author` or `signer`, and a name";
            let (mut text, mut span) = self.word(expected)?;
            let named = SourceKind::ALL.into_iter().find(|kind| kind.word() == text);
            match (named, kind) {
                (Some(named), _) => {
                    kind = Some(named);
                    (text, span) = self.word(&format!("expected the name of a {text}"))?;
                }
                (None, None) => {
                    let kinds = SourceKind::ALL.map(SourceKind::word);
                    return Err(unknown(&text, span, &kinds).into());
                }
                (None, Some(_)) => {}
            }
            let kind = kind.expect("the first was named");
            let subject = match kind {
                SourceKind::File => Subject::File,
                SourceKind::Author | SourceKind::Signer => Subject::Person,
            };
            let name = text.strip_prefix("./").unwrap_or(&text);
            sources.push(Source {
                kind,
                pattern: Pattern::new(name, subject),
                text,
                span,
            });
            match self.words.get(self.at).map(|word| &word.kind) {
                Some(WordKind::Comma) => self.at += 1,
                _ => return Ok(sources),
            }
        }
    }

    /// The next word of the line.
    fn word(&mut self, expected: &str) -> Parsed<(String, Span)> {
        let word = &self.words[self.at];
        match &word.kind {
            WordKind::Word(text) => {
                self.at += 1;
                Ok((text.clone(), word.span))
            }
            WordKind::Comma | WordKind::End => {
                let mistake = Diagnostic::error(SYNTAX, expected).at(word.span);
                Err(Box::new(mistake.help(DEMANDS)))
            }
        }
    }

    fn fixed(&mut self, wanted: &str) -> Parsed<()> {
        let (word, span) = self.word(&format!("expected `{wanted}`"))?;
        match word == wanted {
            true => Ok(()),
            false => Err(unknown(&word, span, &[wanted]).into()),
        }
    }

    fn end(&mut self) -> Parsed<()> {
        let word = &self.words[self.at];
        if word.kind == WordKind::End {
            self.at += 1;
            return Ok(());
        }
        let mistake = Diagnostic::error(SYNTAX, "the rule ends before this").at(word.span);
        Err(Box::new(mistake.help(
            "names are parted by commas: `only from file a.cf2, b.cf2`; a name with spaces stands in quotes",
        )))
    }
}

/// A word that cannot stand where it does.
fn unknown(word: &str, span: Span, known: &[&str]) -> Diagnostic {
    let listed: Vec<String> = known.iter().map(|word| format!("`{word}`")).collect();
    let listed = match listed.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        _ => listed.join(""),
    };
    let mistake = Diagnostic::error(SYNTAX, format!("expected {listed}, not `{word}`")).at(span);
    match similar(word, known.iter().copied()).first() {
        Some(near) => mistake.help(format!("did you mean `{near}`?")),
        None => mistake,
    }
}
