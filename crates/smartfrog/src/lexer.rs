//! Text to tokens.
//!
//! The core language and the production language share their tokens but for two things: what a word
//! may hold, and which words are reserved. A token is only a kind and a span; what it says is read
//! from the source by whoever needs it.

use hence_model::diagnostic::{Code, Diagnostic};
use hence_model::source::Span;
use hence_model::work;

/// A character that no token begins with.
pub const STRAY_CHARACTER: Code = Code::new("sf.stray-character");
/// A string without its closing quote.
pub const UNTERMINATED_STRING: Code = Code::new("sf.unterminated-string");
/// A comment without its end.
pub const UNTERMINATED_COMMENT: Code = Code::new("sf.unterminated-comment");

/// Which words there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// The language of the paper.
    Core,
    /// The language of the production compiler.
    Production,
}

/// A kind of token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Token {
    /// A name.
    Word,
    /// A reserved word.
    Keyword(Keyword),
    /// `"…"`; `escaped` if there is a backslash in it.
    Text {
        /// Whether it must be decoded.
        escaped: bool,
    },
    /// `##…#`.
    LongText,
    /// `#HEX#…#` and the like.
    Bytes,
    /// `-12`, `12L`.
    Integer,
    /// `1.5`, `2e3`, `.5f`.
    Float,
    /// `#include`.
    Include,
    /// `#include?`.
    IncludeIfThere,
    /// `:`
    Colon,
    /// `;`
    Semicolon,
    /// `,`
    Comma,
    /// `{`
    OpenBrace,
    /// `}`
    CloseBrace,
    /// `[`
    OpenBracket,
    /// `]`
    CloseBracket,
    /// `[|`
    OpenPlain,
    /// `|]`
    ClosePlain,
    /// `(`
    OpenParenthesis,
    /// `)`
    CloseParenthesis,
    /// `--`
    Fresh,
    /// An operator.
    Operator(Operator),
    /// The end of the file.
    End,
    /// Something that is no token; it was reported.
    Invalid,
}

macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($variant:ident $text:literal)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(missing_docs)]
        pub enum $name { $($variant),* }

        impl $name {
            /// How it is written.
            pub fn text(self) -> &'static str {
                match self { $(Self::$variant => $text),* }
            }

            /// What is written so.
            pub fn from_text(text: &str) -> Option<Self> {
                match text { $($text => Some(Self::$variant),)* _ => None }
            }
        }
    };
}

words! {
    /// The reserved words.
    Keyword {
        Extends "extends" Data "DATA" Null "NULL" True "true" False "false"
        Apply "APPLY" Assert "ASSERT" Attrib "ATTRIB" Constant "CONSTANT" Else "ELSE"
        EndSwitch "ENDSWITCH" EnvProperty "ENVPROPERTY" Fi "FI" Here "HERE" Host "HOST"
        IEnvProperty "IENVPROPERTY" If "IF" IProperty "IPROPERTY" Lazy "LAZY" Optional "OPTIONAL"
        Parent "PARENT" Process "PROCESS" Property "PROPERTY" Root "ROOT" Switch "SWITCH" Tbd "TBD"
        Then "THEN" This "THIS" Var "VAR"
    }
}

words! {
    /// The operators of the production language, and the `<` of order constraints.
    Operator {
        Plus "+" Minus "-" Times "*" Divide "/" Remainder "%" Concatenate "++" Append "<>"
        Equal "==" Unequal "!=" AtLeast ">=" AtMost "<=" Greater ">" Less "<"
        And "&&" Or "||" Xor "x|" Not "!" Implies "->"
    }
}

/// The ASCII characters that a word may hold.
const IN_WORD: [bool; 256] = table(b"");
/// The same in the production language.
const IN_PRODUCTION_WORD: [bool; 256] = table(b".-+@#~$%^&");

const fn table(special: &[u8]) -> [bool; 256] {
    let mut table = [false; 256];
    let mut byte = 0u8;
    while byte < 128 {
        table[byte as usize] = byte.is_ascii_alphanumeric() || byte == b'_';
        byte += 1;
    }
    let mut i = 0;
    while i < special.len() {
        table[special[i] as usize] = true;
        i += 1;
    }
    table
}

/// The words that the core language reserves.
#[inline]
fn core_keyword(word: &str) -> Option<Keyword> {
    match word {
        "extends" => Some(Keyword::Extends),
        "true" => Some(Keyword::True),
        "false" => Some(Keyword::False),
        "NULL" => Some(Keyword::Null),
        "DATA" => Some(Keyword::Data),
        _ => None,
    }
}

/// Reads tokens from a stretch of text, one at a time.
#[derive(Clone, Copy, Debug)]
pub struct Lexer {
    /// Where the next token begins, blanks aside.
    pub position: u32,
    /// Where the file ends.
    pub end: u32,
    /// Which words there are.
    pub dialect: Dialect,
}

impl Lexer {
    /// Reads the next token of `text`, the buffer with all sources. Trouble goes to `report`.
    #[inline]
    pub fn next(&mut self, text: &str, report: &mut Vec<Diagnostic>) -> (Token, Span) {
        work::step();
        let bytes = &text.as_bytes()[..self.end as usize];
        self.skip_blanks(bytes, report);
        let start = self.position as usize;
        let Some(&first) = bytes.get(start) else {
            return (Token::End, Span::at(self.end));
        };
        let token = match first {
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => self.word(text, start),
            b'"' => self.text(bytes, start, report),
            b'0'..=b'9' => self.number(bytes, start),
            b';' => self.symbol(1, Token::Semicolon),
            b':' => self.symbol(1, Token::Colon),
            b',' => self.symbol(1, Token::Comma),
            b'{' => self.symbol(1, Token::OpenBrace),
            b'}' => self.symbol(1, Token::CloseBrace),
            b'[' if bytes.get(start + 1) == Some(&b'|') => self.symbol(2, Token::OpenPlain),
            b'[' => self.symbol(1, Token::OpenBracket),
            b']' => self.symbol(1, Token::CloseBracket),
            b'(' => self.symbol(1, Token::OpenParenthesis),
            b')' => self.symbol(1, Token::CloseParenthesis),
            b'-' if bytes.get(start + 1).is_some_and(u8::is_ascii_digit) => {
                self.number(bytes, start)
            }
            b'.' | b'-' if self.is_short_number(bytes, start) => self.number(bytes, start),
            b'#' => self.hash(bytes, start, report),
            b'$' if self.dialect == Dialect::Production => self.word(text, start),
            128.. if text[start..].starts_with(char::is_alphabetic) => self.word(text, start),
            _ => self.operator(text, start, report),
        };
        (token, Span::new(start as u32, self.position))
    }

    fn symbol(&mut self, length: u32, token: Token) -> Token {
        self.position += length;
        token
    }

    #[inline]
    fn skip_blanks(&mut self, bytes: &[u8], report: &mut Vec<Diagnostic>) {
        let mut at = self.position as usize;
        let mut is_told = false;
        while let Some(&byte) = bytes.get(at) {
            match byte {
                b' ' | b'\n' => at += 1,
                b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => break,
                b'\t' | b'\r' | 0x0b | 0x0c => at += 1,
                b'/' if bytes.get(at + 1) == Some(&b'/') => {
                    at += bytes[at..]
                        .iter()
                        .take_while(|&&byte| byte != b'\n')
                        .count();
                }
                b'/' if bytes.get(at + 1) == Some(&b'*') => {
                    let inner = &bytes[at + 2..];
                    match inner.windows(2).position(|pair| pair == b"*/") {
                        Some(length) => at += length + 4,
                        None => {
                            let start = Span::new(at as u32, at as u32 + 2);
                            report.push(
                                Diagnostic::error(UNTERMINATED_COMMENT, "this comment has no end")
                                    .at(start)
                                    .help("end it with `*/`; comments do not nest"),
                            );
                            at = bytes.len();
                        }
                    }
                }
                b'#' if self.is_foreign_comment(&bytes[at..]) => {
                    let line = bytes[at..].iter().take_while(|&&byte| byte != b'\n');
                    let end = at + line.count();
                    // The comments of several lines are one mistake.
                    if !std::mem::replace(&mut is_told, true) {
                        let sign = Span::new(at as u32, at as u32 + 1);
                        let message = "`#` begins no comment here";
                        let help = "comments begin with `//`, or stand between `/*` and `*/`";
                        tell(
                            report,
                            Diagnostic::error(STRAY_CHARACTER, message)
                                .at(sign)
                                .help(help),
                        );
                    }
                    at = end;
                }
                // A byte order mark at the start of a file.
                0xef if bytes[at..].starts_with(b"\xef\xbb\xbf") => at += 3,
                _ => break,
            }
        }
        self.position = at as u32;
    }

    /// Whether a `#` begins a comment, in the languages that have such ones.
    fn is_foreign_comment(&self, rest: &[u8]) -> bool {
        let is_heading = matches!(rest, [_, b'#', b' ' | b'#', ..]);
        match self.dialect {
            Dialect::Core if is_heading => true,
            _ => !rest.starts_with(b"#include") && opening(rest).is_none(),
        }
    }

    fn word(&mut self, text: &str, start: usize) -> Token {
        let production = self.dialect == Dialect::Production;
        let bytes = &text.as_bytes()[..self.end as usize];
        let in_word = match production {
            true => &IN_PRODUCTION_WORD,
            false => &IN_WORD,
        };
        let mut at = start;
        while let Some(&byte) = bytes.get(at) {
            if in_word[byte as usize] {
                at += 1;
            } else if byte >= 128
                && let Some(c) = text[at..].chars().next()
                && c.is_alphanumeric()
            {
                at += c.len_utf8();
            } else {
                break;
            }
        }
        self.position = at as u32;
        let word = &text[start..at];
        if production && word == "x" && bytes.get(at) == Some(&b'|') {
            return self.symbol(1, Token::Operator(Operator::Xor));
        }
        let keyword = match production {
            true => Keyword::from_text(word),
            false => core_keyword(word),
        };
        keyword.map_or(Token::Word, Token::Keyword)
    }

    fn text(&mut self, bytes: &[u8], start: usize, report: &mut Vec<Diagnostic>) -> Token {
        let mut escaped = false;
        let mut at = start + 1;
        loop {
            match bytes.get(at) {
                Some(b'"') => {
                    self.position = at as u32 + 1;
                    return Token::Text { escaped };
                }
                Some(b'\\') => {
                    escaped = true;
                    at += 1;
                    // The escaped character, unless the line ends here.
                    if bytes.get(at).is_some_and(|&byte| byte != b'\n') {
                        at += 1;
                    }
                }
                Some(b'\n') | None => {
                    report.push(unterminated_string(start as u32, at as u32));
                    self.position = end_behind_line(bytes, at) as u32;
                    return Token::Invalid;
                }
                Some(_) => at += 1,
            }
        }
    }

    /// `.5` or `-.5`, which only the production language has.
    fn is_short_number(&self, bytes: &[u8], start: usize) -> bool {
        let digits = match bytes[start] {
            b'-' if bytes.get(start + 1) == Some(&b'.') => start + 2,
            b'.' => start + 1,
            _ => return false,
        };
        self.dialect == Dialect::Production && bytes.get(digits).is_some_and(u8::is_ascii_digit)
    }

    fn number(&mut self, bytes: &[u8], start: usize) -> Token {
        let production = self.dialect == Dialect::Production;
        let digits = |mut at: usize| {
            while bytes.get(at).is_some_and(u8::is_ascii_digit) {
                at += 1;
            }
            at
        };
        let mut token = Token::Integer;
        let mut at = digits(start + usize::from(bytes[start] == b'-'));
        if bytes.get(at) == Some(&b'.') && (production || digits(at + 1) > at + 1) {
            token = Token::Float;
            at = digits(at + 1);
        }
        if matches!(bytes.get(at), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
            let end = digits(at + 1 + sign);
            if end > at + 1 + sign {
                token = Token::Float;
                at = end;
            }
        }
        if production {
            match bytes.get(at) {
                Some(b'l' | b'L') if token == Token::Integer => at += 1,
                Some(b'f' | b'F' | b'd' | b'D') => {
                    token = Token::Float;
                    at += 1;
                }
                _ => {}
            }
        }
        self.position = at as u32;
        token
    }

    /// `#include`, `##…#`, `#HEX#…#`.
    fn hash(&mut self, bytes: &[u8], start: usize, report: &mut Vec<Diagnostic>) -> Token {
        let rest = &bytes[start..];
        if rest.starts_with(b"#include?") {
            return self.symbol(9, Token::IncludeIfThere);
        }
        if rest.starts_with(b"#include") {
            return self.symbol(8, Token::Include);
        }
        let (opening, token) = opening(rest).expect("what else begins with `#` was skipped");
        let mut at = opening;
        loop {
            match rest.get(at) {
                Some(b'#') => {
                    self.position = (start + at + 1) as u32;
                    return token;
                }
                Some(b'\\') => at += 2,
                Some(_) => at += 1,
                None => {
                    self.position = self.end;
                    let span = Span::new(start as u32, (start + opening) as u32);
                    report.push(
                        Diagnostic::error(UNTERMINATED_STRING, "this text has no end")
                            .at(span)
                            .help("end it with `#`"),
                    );
                    return Token::Invalid;
                }
            }
        }
    }

    fn operator(&mut self, text: &str, start: usize, report: &mut Vec<Diagnostic>) -> Token {
        let rest = &text[start..self.end as usize];
        if rest.starts_with("|]") {
            return self.symbol(2, Token::ClosePlain);
        }
        if rest.starts_with("--") {
            return self.symbol(2, Token::Fresh);
        }
        if rest.starts_with("*/") {
            let span = Span::new(self.position, self.position + 2);
            report.push(
                Diagnostic::error(STRAY_CHARACTER, "this `*/` ends no comment")
                    .at(span)
                    .help("comments do not nest: the first `*/` ends them"),
            );
            return self.symbol(2, Token::Invalid);
        }
        for length in [2, 1] {
            let operator = rest.get(..length).and_then(Operator::from_text);
            if let Some(operator) = operator {
                return self.symbol(length as u32, Token::Operator(operator));
            }
        }
        let character = rest.chars().next().expect("there is a character left");
        let length = match character {
            // A text as other languages write it, if it ends on its line.
            '\'' => match rest[1..].find(['\'', '\n']) {
                Some(inner) if rest[1 + inner..].starts_with('\'') => inner + 2,
                _ => 1,
            },
            '=' => {
                let signs = rest.bytes().take_while(|&byte| byte == b'=').count();
                signs + usize::from(rest[signs..].starts_with('>'))
            }
            other => other.len_utf8(),
        };
        self.stray(character, length as u32, report)
    }

    fn stray(&mut self, character: char, length: u32, report: &mut Vec<Diagnostic>) -> Token {
        let span = Span::new(self.position, self.position + length);
        self.position += length;
        let shown = match character {
            '\'' => "'".to_owned(),
            character => character.escape_debug().to_string(),
        };
        let message = format!("`{shown}` does not belong here");
        let diagnostic = Diagnostic::error(STRAY_CHARACTER, message).at(span);
        let told = match character {
            '\'' => diagnostic.help("texts stand in double quotes"),
            '=' if self.dialect == Dialect::Production => diagnostic
                .help("a name and its value stand side by side: `port 80;`; `==` compares values"),
            '=' => diagnostic.help("a name and its value stand side by side: `port 80;`"),
            '$' => diagnostic.help("a reference is the name alone: `admin port;`"),
            '.' => diagnostic.help(
                "a number has digits on both sides of its point; \
                 only the production language has names with `.`",
            ),
            _ => diagnostic,
        };
        tell(report, told);
        Token::Invalid
    }
}

/// Reports what may be wrong at every character; nobody reads all of it.
fn tell(report: &mut Vec<Diagnostic>, diagnostic: Diagnostic) {
    const MOST: usize = 1000;
    if report.len() < MOST {
        report.push(diagnostic);
    }
}

/// What a `#` opens that ends with another one, and the length of its opening.
fn opening(rest: &[u8]) -> Option<(usize, Token)> {
    match rest {
        [b'#', b'#', ..] => Some((2, Token::LongText)),
        [b'#', b'H', b'E', b'X', b'#', ..]
        | [b'#', b'D', b'E', b'C', b'#', ..]
        | [b'#', b'O', b'C', b'T', b'#', ..]
        | [b'#', b'B', b'I', b'N', b'#', ..] => Some((5, Token::Bytes)),
        _ => None,
    }
}

/// Where a text ends that goes on behind the end of its line: at the next quote if that can only end one, and if not
/// with the line.
fn end_behind_line(bytes: &[u8], end_of_line: usize) -> usize {
    let rest = &bytes[end_of_line..];
    let Some(quote) = rest.iter().position(|&byte| byte == b'"') else {
        return end_of_line;
    };
    let mut behind = rest[quote + 1..].iter();
    let ends = match behind.find(|byte| !matches!(byte, b' ' | b'\t' | b'\r')) {
        Some(byte) => b";,]})\n".contains(byte),
        None => true,
    };
    match ends {
        true => end_of_line + quote + 1,
        false => end_of_line,
    }
}

fn unterminated_string(start: u32, end: u32) -> Diagnostic {
    Diagnostic::error(
        UNTERMINATED_STRING,
        "this text has no closing quote on its line",
    )
    .at(Span::new(start, end))
    .help("close it with `\"`; a line break inside a text is written `\\n`")
}
