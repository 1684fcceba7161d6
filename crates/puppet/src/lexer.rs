//! Text to tokens.
//!
//! The parser asks for one token at a time, because what a character means depends on what was read: a `/`
//! begins a pattern or divides, a `"` begins pieces of text between which there is code, and in a template
//! there is text between the code. The inside of a string is read by the parser, piece by piece, with
//! [`Lexer::piece`].

use hence_model::diagnostic::{Code, Diagnostic};
use hence_model::source::Span;
use hence_model::work;

use crate::escapes::Escapes;
use crate::syntax::{Arrow, Operator};

/// A character that no token begins with.
pub const STRAY_CHARACTER: Code = Code::new("puppet.stray-character");
/// A string, a pattern, a comment or a tag without its end.
pub const UNTERMINATED: Code = Code::new("puppet.unterminated");
/// A heredoc that is written wrongly, or has no end.
pub const HEREDOC: Code = Code::new("puppet.heredoc");
/// Digits that are no number.
pub const NUMBER: Code = Code::new("puppet.number");
/// A name that nothing can have.
pub const NAME: Code = Code::new("puppet.name");

/// A kind of token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Token {
    /// `present`, `apache::vhost`
    Name,
    /// A bare word that is no name: `foo-bar`, `_x`.
    Word,
    /// `File`, `Apache::Vhost`
    Reference,
    /// `$x`
    Variable,
    /// `12`, `0x1f`, `4.5`
    Number,
    /// `'…'`
    Text {
        /// Whether there is a backslash in it.
        escaped: bool,
    },
    /// `"`, the beginning of text: what follows is read as pieces.
    Quote,
    /// `@(END)`: [`Lexer::heredoc`] tells where its text is.
    Heredoc,
    /// `/…/`
    Pattern,
    /// A word with a meaning of its own.
    Keyword(Keyword),
    /// A sign that stands between two values, or may.
    Operator(Operator),
    /// `->` and the like.
    Arrow(Arrow),
    /// `=`
    Equals,
    /// `+=`
    Append,
    /// `-=`
    Delete,
    /// `=>`
    FatArrow,
    /// `+>`
    PlusArrow,
    /// `<|`
    Collect,
    /// `|>`
    CollectEnd,
    /// `<<|`
    CollectExported,
    /// `|>>`
    CollectExportedEnd,
    /// `!`
    Not,
    /// `.`
    Dot,
    /// `|`
    Pipe,
    /// `@`
    At,
    /// `@@`
    AtAt,
    /// `:`
    Colon,
    /// `,`
    Comma,
    /// `;`
    Semicolon,
    /// `?`
    Question,
    /// `[` behind something: an access.
    OpenBracket,
    /// `[` with a blank before it: a list.
    OpenList,
    /// `]`
    CloseBracket,
    /// `{`
    OpenBrace,
    /// `}`
    CloseBrace,
    /// `(`
    OpenParenthesis,
    /// `(` that is the first of its line: not the arguments of a call.
    OpenLine,
    /// `)`
    CloseParenthesis,
    /// Text of a template.
    Fragment {
        /// Whether blanks and a newline at its beginning are dropped.
        trim: bool,
    },
    /// `<%=`
    Render,
    /// `%>` behind `<%=`
    RenderEnd,
    /// The end of the file.
    End,
    /// Something that is no token; it was reported.
    Invalid,
}

/// A word with a meaning of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Keyword {
    And,
    Attr,
    Case,
    Class,
    Default,
    Define,
    Else,
    Elsif,
    False,
    Function,
    If,
    In,
    Inherits,
    Node,
    Or,
    Private,
    True,
    Type,
    Undef,
    Unless,
}

/// A token in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lexeme {
    /// What it is.
    pub token: Token,
    /// Where it is.
    pub span: Span,
    /// Whether a line ended between the token before and this one.
    pub starts_line: bool,
}

/// Where the text of a heredoc is, and how it is to be read.
#[derive(Clone, Copy, Debug)]
pub struct Heredoc {
    /// The text, as far as it counts.
    pub body: Span,
    /// The blanks that are dropped from the beginning of each line.
    pub margin: Span,
    /// The name of the syntax of the text; empty if there is none.
    pub syntax: Span,
    /// What a backslash may stand before.
    pub escapes: Escapes,
    /// Whether there may be code in it.
    pub interpolates: bool,
}

/// What ends a piece of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PieceEnd {
    /// `${`
    Code,
    /// `$` before the name of a variable, which lies here.
    Variable(Span),
    /// The closing quote, or the end of a heredoc.
    Text,
    /// The end of the file.
    File,
}

/// Where a template is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// In no template.
    Manifest,
    /// Before text.
    Text { trim: bool },
    /// Between the text and the code that `<%=` begins.
    Opening,
    /// In `<% … %>`, which began here.
    Code { open: u32 },
    /// In `<%= … %>`, which began here.
    Render { open: u32 },
}

/// Reads tokens, one after another.
#[derive(Clone, Copy, Debug)]
pub struct Lexer {
    at: u32,
    end: u32,
    /// Where the line begins, as far as code goes.
    line: u32,
    /// Where code goes on after this line, if there are heredocs in between.
    jump: Option<u32>,
    /// The last token.
    after: Token,
    mode: Mode,
    /// The last heredoc.
    heredoc: Heredoc,
}

type Report<'r> = &'r mut dyn FnMut(Diagnostic);

impl Lexer {
    /// A lexer of a stretch of code.
    pub fn new(span: Span) -> Self {
        Self {
            at: span.start,
            end: span.end,
            line: span.start,
            jump: None,
            after: Token::Invalid,
            mode: Mode::Manifest,
            heredoc: Heredoc {
                body: Span::at(span.start),
                margin: Span::at(span.start),
                syntax: Span::at(span.start),
                escapes: Escapes::NONE,
                interpolates: false,
            },
        }
    }

    /// A lexer of a template.
    pub fn of_template(span: Span) -> Self {
        Self {
            mode: Mode::Text { trim: false },
            ..Self::new(span)
        }
    }

    /// The heredoc that the last token began.
    pub fn heredoc(&self) -> Heredoc {
        self.heredoc
    }

    /// Where the last token ended.
    pub fn at(&self) -> u32 {
        self.at
    }

    /// Skips everything that is left.
    pub fn finish(&mut self) {
        self.at = self.end;
        self.mode = Mode::Manifest;
    }

    /// Skips to the end of the line.
    pub fn skip_line(&mut self, text: &str) {
        let rest = &text[self.at as usize..self.end as usize];
        self.at += rest.find('\n').unwrap_or(rest.len()) as u32;
    }

    /// The next token, of `text`, the whole buffer that offsets index into.
    pub fn next(&mut self, text: &str, report: Report<'_>) -> Lexeme {
        work::step();
        let before = self.line;
        let first = self.at;
        let token = self.token(text, report);
        self.after = token.0;
        Lexeme {
            token: token.0,
            span: Span::new(token.1, self.at),
            starts_line: self.line != before || first == before,
        }
    }

    /// Reads a token; tells what it is and where it begins.
    fn token(&mut self, text: &str, report: Report<'_>) -> (Token, u32) {
        let bytes = &text.as_bytes()[..self.end as usize];
        loop {
            match self.mode {
                Mode::Text { trim } => {
                    let start = self.at;
                    if self.template_text(text, trim, report) {
                        return (Token::Fragment { trim }, start);
                    }
                    continue;
                }
                Mode::Opening => {
                    let open = self.at;
                    self.at += "<%=".len() as u32;
                    self.mode = Mode::Render { open };
                    return (Token::Render, open);
                }
                _ => {}
            }
            if !self.skip(bytes, report) {
                return (Token::Invalid, self.at);
            }
            let start = self.at as usize;
            let rest = &bytes[start..];
            let template = self.mode != Mode::Manifest;
            let (token, length) = match *rest {
                [] => {
                    self.unclosed_tag(report);
                    (Token::End, 0)
                }
                [b'%', b'>', ..] if template => match self.close_tag(false, 2) {
                    Some(token) => (token, 0),
                    None => continue,
                },
                [b'-', b'%', b'>', ..] if template => match self.close_tag(true, 3) {
                    Some(token) => (token, 0),
                    None => continue,
                },
                [b'\'', ..] => self.single(rest, report),
                [b'"', ..] => (Token::Quote, 1),
                [b'$', ..] => (Token::Variable, 1 + variable_length(&rest[1..])),
                [b'/', ..] => self.slash(rest, report),
                [b'@', b'(', ..] => self.heredoc_tag(text, report),
                [b'[', ..] => (self.bracket(text), 1),
                [b'(', ..] => (self.parenthesis(bytes), 1),
                [b':', b':', ..] => self.qualified(rest, report),
                [first, ..] => match CLASSES[first as usize] {
                    Class::Lower => word(rest),
                    Class::Upper => self.reference(rest, report),
                    Class::Digit => self.number(rest, report),
                    Class::Other => match punctuation(rest) {
                        Some(found) => found,
                        None => self.stray(text, report),
                    },
                },
            };
            self.at += length as u32;
            return (token, start as u32);
        }
    }

    /// Skips blanks, comments and the text of heredocs; false if a comment has no end.
    fn skip(&mut self, bytes: &[u8], report: Report<'_>) -> bool {
        let mut at = self.at as usize;
        while let Some(&byte) = bytes.get(at) {
            match byte {
                b' ' | b'\t' | b'\r' => at += 1,
                b'\n' => {
                    // A string or a pattern may reach beyond the text of the heredoc.
                    let jump = self.jump.take().map_or(0, |jump| jump as usize);
                    at = jump.max(at + 1);
                    self.line = at as u32;
                }
                b'#' => {
                    let rest = &bytes[at..];
                    let end = rest.iter().position(|&byte| byte == b'\n');
                    at += end.unwrap_or(rest.len());
                }
                b'/' if bytes.get(at + 1) == Some(&b'*') => {
                    let Some(end) = find(&bytes[at + 2..], b"*/") else {
                        self.at = at as u32;
                        self.unterminated(2, "this comment has no end", "end it with `*/`", report);
                        return false;
                    };
                    at += end + 4;
                }
                0x80.. => match blank_length(&bytes[at..]) {
                    0 => break,
                    length => at += length,
                },
                _ => break,
            }
        }
        self.at = at as u32;
        true
    }

    /// Reports that what begins here has no end, and skips the rest of the file, which is part of it.
    fn unterminated(&mut self, length: u32, message: &str, help: &str, report: Report<'_>) {
        report(
            Diagnostic::error(UNTERMINATED, message)
                .label(Span::new(self.at, self.at + length), "it begins here")
                .help(help),
        );
        self.at = self.end;
        self.mode = Mode::Manifest;
    }

    fn single(&mut self, rest: &[u8], report: Report<'_>) -> (Token, usize) {
        let mut escaped = false;
        let mut at = 1 + usize::from(is_doubled(&rest[1..], b"'"));
        while let Some(&byte) = rest.get(at) {
            match byte {
                b'\'' => return (Token::Text { escaped }, at + 1),
                b'\\' => {
                    escaped = true;
                    at += 2;
                }
                _ => at += 1,
            }
        }
        let help = "end it with `'`; a quote inside it is written `\\'`";
        self.unterminated(1, "this string has no end", help, report);
        (Token::Invalid, 0)
    }

    /// Reads text up to what ends it; the piece and what ended it. In text behind a `"`, `quoted`, a
    /// backslash protects what follows; in a heredoc only if it may stand before a `$`.
    pub fn piece(&mut self, text: &str, quoted: bool, escapes: Escapes) -> (Span, PieceEnd) {
        let bytes = &text.as_bytes()[..self.end as usize];
        let start = self.at;
        let protects = quoted || escapes.contains(b'$');
        let mut at = start as usize;
        let doubled = |at: usize| usize::from(quoted && is_doubled(&bytes[at..], b"\"$"));
        at += doubled(at);
        let end = loop {
            match bytes.get(at) {
                None if quoted => break (PieceEnd::File, 0),
                None => break (PieceEnd::Text, 0),
                Some(b'"') if quoted => break (PieceEnd::Text, 1),
                Some(b'\\') if protects => at = (at + 2).min(bytes.len()),
                Some(b'$') if bytes.get(at + 1) == Some(&b'{') => break (PieceEnd::Code, 2),
                Some(b'$') => match variable_length(&bytes[at + 1..]) {
                    0 => at += 1 + doubled(at + 1),
                    length => {
                        let name = Span::new(at as u32, (at + 1 + length) as u32);
                        break (PieceEnd::Variable(name), 1 + length);
                    }
                },
                Some(_) => at += 1,
            }
        };
        self.at = at as u32 + end.1 as u32;
        self.after = match end.0 {
            PieceEnd::Code => Token::Invalid,
            _ => Token::Quote,
        };
        (Span::new(start, at as u32), end.0)
    }

    /// A `/` begins a pattern where a value can begin, if there is another one behind it.
    fn slash(&mut self, rest: &[u8], report: Report<'_>) -> (Token, usize) {
        let divides = matches!(
            self.after,
            Token::CloseParenthesis
                | Token::CloseBracket
                | Token::CollectEnd
                | Token::CollectExportedEnd
                | Token::Name
                | Token::Reference
                | Token::Number
                | Token::Text { .. }
                | Token::Quote
                | Token::Heredoc
                | Token::Pattern
                | Token::Variable
                | Token::Word
                | Token::Keyword(Keyword::True | Keyword::False)
        );
        if divides {
            return (Token::Operator(Operator::Divide), 1);
        }
        let mut at = 1;
        while let Some(&byte) = rest.get(at) {
            match byte {
                b'/' => return (Token::Pattern, at + 1),
                b'\\' => at += 2,
                _ => at += 1,
            }
        }
        if rest[1..].contains(&b'/') {
            let help = "end it with `/`; a slash inside it is written `\\/`";
            self.unterminated(1, "this pattern has no end", help, report);
            return (Token::Invalid, 0);
        }
        (Token::Operator(Operator::Divide), 1)
    }

    /// A `[` behind a blank begins a list.
    fn bracket(&self, text: &str) -> Token {
        let before = text[..self.at as usize].chars().next_back();
        match before {
            None | Some(' ' | '\t' | '\r' | '\n') => Token::OpenList,
            Some(other) if !other.is_ascii() && is_blank(other) => Token::OpenList,
            // Files lie behind each other, each with a newline at its end.
            _ => Token::OpenBracket,
        }
    }

    fn parenthesis(&self, bytes: &[u8]) -> Token {
        let before = &bytes[self.line as usize..self.at as usize];
        let is_first = before
            .iter()
            .all(|byte| matches!(byte, b' ' | b'\t' | b'\r'));
        match is_first {
            true => Token::OpenLine,
            false => Token::OpenParenthesis,
        }
    }

    /// `::name`, `::Name`
    fn qualified(&mut self, rest: &[u8], report: Report<'_>) -> (Token, usize) {
        match rest.get(2).map(|&byte| CLASSES[byte as usize]) {
            Some(Class::Upper) => self.reference(rest, report),
            Some(Class::Lower) => {
                let (token, length) = word_behind(rest, 2);
                (token, length)
            }
            _ => {
                let message = "expected a name behind `::`";
                report(Diagnostic::error(NAME, message).at(Span::new(self.at, self.at + 2)));
                (Token::Invalid, 2)
            }
        }
    }

    /// `Name::Name`
    fn reference(&mut self, rest: &[u8], report: Report<'_>) -> (Token, usize) {
        let mut at = if rest[0] == b':' { 2 } else { 0 };
        loop {
            at += plain_length(&rest[at..]);
            match rest[at..] {
                [b':', b':', next, ..] if next.is_ascii_uppercase() => at += 2,
                _ => break,
            }
        }
        if !rest[at..].starts_with(b"::") {
            return (Token::Reference, at);
        }
        let name = String::from_utf8_lossy(&rest[..at]);
        let message = format!("expected a capital letter behind `{name}::`");
        report(
            Diagnostic::error(NAME, message)
                .at(Span::new(self.at, self.at + at as u32 + 2))
                .help("each part of the name of a type begins with a capital: `Apache::Vhost`"),
        );
        let length = at + 2 + plain_length(&rest[at + 2..]);
        (Token::Invalid, length)
    }

    fn number(&mut self, rest: &[u8], report: Report<'_>) -> (Token, usize) {
        let found = number_length(rest);
        let digits = &rest[..found];
        let is_octal = digits.len() > 1 && digits[0] == b'0' && digits[1] != b'.';
        let is_hexadecimal = digits.len() > 2 && digits[1] | 0x20 == b'x';
        let is_good =
            !is_octal || is_hexadecimal || digits.iter().all(|d| (b'0'..=b'7').contains(d));
        if found > 0 && is_good {
            return (Token::Number, found);
        }
        let mut length = plain_length(rest);
        if let [b'.', next, ..] = rest[length..]
            && next.is_ascii_digit()
        {
            length += 1 + plain_length(&rest[length + 1..]);
        }
        let written = String::from_utf8_lossy(&rest[..length]);
        let (message, help) = match rest {
            [b'0', b'x' | b'X', ..] => (
                format!("`{written}` is not a hexadecimal number"),
                "behind `0x` there are digits and the letters from a to f".to_owned(),
            ),
            [b'0', b'0'..=b'9' | b'e' | b'E', ..] => (
                format!("`{written}` is not an octal number"),
                "a number that begins with 0 has digits from 0 to 7 only".to_owned(),
            ),
            _ => (
                format!("`{written}` is neither a number nor a name"),
                format!("as text, write '{written}'"),
            ),
        };
        let span = Span::new(self.at, self.at + length as u32);
        report(Diagnostic::error(NUMBER, message).at(span).help(help));
        (Token::Invalid, length)
    }

    fn stray(&mut self, text: &str, report: Report<'_>) -> (Token, usize) {
        let character = text[self.at as usize..]
            .chars()
            .next()
            .expect("there is a character");
        let length = character.len_utf8();
        let help = match character {
            '&' => "write `and`",
            '~' => "write `~>` for a relationship, `=~` to match",
            '\u{feff}' => "save the file without a byte order mark",
            '`' | '\u{2018}' | '\u{2019}' | '\u{201c}' | '\u{201d}' => {
                "text stands in straight quotes: 'text'"
            }
            _ => "text stands in quotes: 'text'",
        };
        let shown = match character.is_control() || character == '\u{feff}' {
            true => character.escape_default().to_string(),
            false => character.to_string(),
        };
        report(
            Diagnostic::error(STRAY_CHARACTER, format!("`{shown}` means nothing here"))
                .at(Span::new(self.at, self.at + length as u32))
                .help(help),
        );
        (Token::Invalid, length)
    }

    /// `@(END)`, `@("END":syntax/escapes)`
    fn heredoc_tag(&mut self, text: &str, report: Report<'_>) -> (Token, usize) {
        match self.find_heredoc(text) {
            Ok((heredoc, behind, length)) => {
                self.heredoc = heredoc;
                self.jump = Some(behind);
                (Token::Heredoc, length)
            }
            Err((message, help, length)) => {
                let span = Span::new(self.at, self.at + length as u32);
                report(Diagnostic::error(HEREDOC, message).at(span).help(help));
                // The text of it is not code: whatever follows would only be misread.
                self.at = self.end;
                self.mode = Mode::Manifest;
                (Token::Invalid, 0)
            }
        }
    }

    /// The heredoc that begins here, where the line behind it begins, and the length of its tag.
    fn find_heredoc(&self, text: &str) -> Result<(Heredoc, u32, usize), (String, String, usize)> {
        let text = &text[..self.end as usize];
        let start = self.at as usize;
        let form =
            "a heredoc is written `@(END)`, `@(\"END\")`, `@(END:syntax)` or `@(END/escapes)`";
        let wrong = |message: &str, length| (message.to_owned(), form.to_owned(), length);
        let length = match text[start..].find([')', '\n']) {
            Some(at) if text.as_bytes()[start + at] == b')' => at + 1,
            _ => return Err(wrong("expected `)` behind the name of the heredoc", 2)),
        };
        let inner = &text[start + 2..start + length - 1];
        let (name, options) = inner.split_at(inner.find([':', '/']).unwrap_or(inner.len()));
        let (syntax, escapes) = match options.strip_prefix(':') {
            Some(rest) => {
                let (syntax, escapes) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
                let syntax = trim_blanks(syntax);
                let mut letters = syntax.bytes();
                let is_syntax = letters.next().is_some_and(|byte| byte.is_ascii_lowercase())
                    && syntax.len() > 1
                    && letters.all(|byte| IN_WORD[byte as usize] || byte == b'+');
                if !is_syntax {
                    return Err(wrong("expected the name of a syntax behind `:`", length));
                }
                (syntax, escapes)
            }
            None => ("", options),
        };
        let escapes = match escapes.strip_prefix('/') {
            Some(letters) => Escapes::of_heredoc(trim_blanks(letters)).map_err(|message| {
                let help = "the escapes are any of the letters `t`, `r`, `n`, `s`, `u`, `L` and `$`, each once";
                (message, help.to_owned(), length)
            })?,
            None => Escapes::NONE,
        };
        let name = name.trim();
        let quoted = match name.strip_prefix('"') {
            Some(rest) => rest.strip_suffix('"'),
            None => None,
        };
        let tag = quoted.map_or(name, str::trim);
        if tag.is_empty() {
            return Err(wrong("expected the name of the heredoc", length));
        }
        let from = match self.jump {
            Some(jump) => jump as usize,
            None => match text[start + length..].find('\n') {
                Some(at) => start + length + at + 1,
                None => return Err(wrong("this heredoc has no text", length)),
            },
        };
        let mut line = from;
        while line < text.len() {
            let end = text[line..]
                .find('\n')
                .map_or(text.len(), |at| line + at + 1);
            if let Some((before, has_margin, trims)) = end_of_heredoc(&text[line..end], tag) {
                let mut body = Span::new(from as u32, line as u32);
                if trims && let Some(rest) = text[from..line].strip_suffix('\n') {
                    let rest = rest.strip_suffix('\r').unwrap_or(rest);
                    body.end = (from + rest.len()) as u32;
                }
                let margin = match has_margin {
                    true => Span::new((line + before.start) as u32, (line + before.end) as u32),
                    false => Span::at(line as u32),
                };
                let base = text.as_ptr() as usize;
                let syntax_start = match syntax.is_empty() {
                    true => start,
                    false => syntax.as_ptr() as usize - base,
                };
                let heredoc = Heredoc {
                    body,
                    margin,
                    syntax: Span::new(syntax_start as u32, (syntax_start + syntax.len()) as u32),
                    escapes,
                    interpolates: quoted.is_some(),
                };
                return Ok((heredoc, end as u32, length));
            }
            line = end;
        }
        let help = format!(
            "end it with a line that is `{tag}`, or `| {tag}` below the margin of the text"
        );
        Err(("this heredoc has no end".to_owned(), help, length))
    }

    /// Goes on with the text behind a tag; what the parser is told of it.
    fn close_tag(&mut self, trim: bool, length: u32) -> Option<Token> {
        let renders = matches!(self.mode, Mode::Render { .. });
        self.at += length;
        self.mode = Mode::Text { trim };
        renders.then_some(Token::RenderEnd)
    }

    fn unclosed_tag(&mut self, report: Report<'_>) {
        let (Mode::Code { open } | Mode::Render { open }) = self.mode else {
            return;
        };
        self.mode = Mode::Manifest;
        report(
            Diagnostic::error(UNTERMINATED, "this tag has no end")
                .label(Span::new(open, open + 2), "it begins here")
                .help("end it with `%>`"),
        );
    }

    /// Reads text of a template up to code, and tells whether there is any.
    fn template_text(&mut self, text: &str, trim: bool, report: Report<'_>) -> bool {
        let span = Span::new(self.at, self.end);
        let fragment = fragment(text, span, trim);
        let mut has_text = !fragment.text.is_empty();
        match fragment.end {
            FragmentEnd::File { ends_with_tag } => {
                // What stands before it is not the last statement even if all of it is trimmed.
                has_text |= !ends_with_tag;
                self.at = self.end;
                self.mode = Mode::Manifest;
            }
            FragmentEnd::Code(length) => {
                self.at = fragment.span.end + length;
                self.mode = Mode::Code {
                    open: fragment.span.end,
                };
            }
            FragmentEnd::Render => {
                self.at = fragment.span.end;
                self.mode = Mode::Opening;
            }
            FragmentEnd::Unclosed(open, message) => {
                report(
                    Diagnostic::error(UNTERMINATED, message)
                        .label(Span::new(open, open + 2), "it begins here")
                        .help("end it with `%>`; `<%%` stands for the text `<%`"),
                );
                self.at = self.end;
                self.mode = Mode::Manifest;
            }
        }
        has_text
    }
}

/// A stretch of text in a template.
pub struct Fragment {
    /// What it says.
    pub text: String,
    /// Where it stands, up to the tag that ends it.
    pub span: Span,
    end: FragmentEnd,
}

enum FragmentEnd {
    /// The end of the file, perhaps directly behind a tag.
    File {
        ends_with_tag: bool,
    },
    /// A tag of this length.
    Code(u32),
    Render,
    /// A tag that begins here and has no end.
    Unclosed(u32, &'static str),
}

/// The text of a template at the beginning of `span`, up to code.
pub fn fragment(text: &str, span: Span, trim: bool) -> Fragment {
    let whole = &text[..span.end as usize];
    let bytes = whole.as_bytes();
    let mut said = String::new();
    let mut trim = trim;
    let mut at = span.start as usize;
    let done = |text: String, end: usize, kind| Fragment {
        text,
        span: Span::new(span.start, end as u32),
        end: kind,
    };
    while at < bytes.len() {
        let tag = whole[at..].find("<%").map(|found| at + found);
        let mut part = &whole[at..tag.unwrap_or(bytes.len())];
        if std::mem::take(&mut trim) {
            part = part.trim_start_matches([' ', '\t']);
            // The line ends here only if the tag does not stand in it.
            part = part.strip_prefix('\r').unwrap_or(part);
            part = part.strip_prefix('\n').unwrap_or(part);
        }
        said.push_str(&part.replace("%%>", "%>"));
        let Some(tag) = tag else {
            let ends_with_tag = false;
            return done(said, bytes.len(), FragmentEnd::File { ends_with_tag });
        };
        at = tag + 2;
        match bytes.get(at) {
            None => {
                let message = "this tag has no end";
                return done(
                    said,
                    bytes.len(),
                    FragmentEnd::Unclosed(tag as u32, message),
                );
            }
            Some(b'-') => {
                said.truncate(said.trim_end_matches([' ', '\t']).len());
                return done(said, tag, FragmentEnd::Code(3));
            }
            Some(b'=') => return done(said, tag, FragmentEnd::Render),
            Some(b'%') => {
                said.push_str("<%");
                at += 1;
            }
            Some(b'#') => {
                let mut from = at + 1;
                let end = loop {
                    match find(&bytes[from..], b"%>") {
                        Some(found) if bytes[from + found - 1] == b'%' => from += found + 1,
                        Some(found) => break from + found + 2,
                        None => {
                            let message = "this comment has no end";
                            let kind = FragmentEnd::Unclosed(tag as u32, message);
                            return done(said, bytes.len(), kind);
                        }
                    }
                };
                if bytes[at + 1] == b'-' {
                    said.truncate(said.trim_end_matches([' ', '\t']).len());
                }
                trim = bytes[..end].ends_with(b"-%>");
                at = end;
            }
            Some(_) => return done(said, tag, FragmentEnd::Code(2)),
        }
    }
    // Text that a comment or `<%%` ends, with nothing behind it, is lost in the real one, too.
    let ends_with_tag = true;
    done(
        String::new(),
        bytes.len(),
        FragmentEnd::File { ends_with_tag },
    )
}

/// Whether a line ends the heredoc `tag`: the blanks before the mark, whether there is a margin, and whether
/// the last newline is dropped. What stands before all that is of no interest to the real one.
fn end_of_heredoc(line: &str, tag: &str) -> Option<(std::ops::Range<usize>, bool, bool)> {
    let line = line.strip_suffix('\n').unwrap_or(line);
    let line = line.strip_suffix('\r').unwrap_or(line);
    let before = line.trim_end_matches(is_blank).strip_suffix(tag)?;
    let mut before = before.trim_end_matches(is_blank);
    let mut trims = false;
    if let Some(rest) = before.strip_suffix('-') {
        trims = true;
        before = rest.trim_end_matches(is_blank);
    }
    let mut has_margin = false;
    if let Some(rest) = before.strip_suffix('|') {
        has_margin = true;
        before = rest;
    }
    let start = before.trim_end_matches(is_blank).len();
    Some((start..before.len(), has_margin, trims))
}

/// Whether text begins with something that does not end it, because what ends text follows at once: the
/// real one reads `\"\"\"` as a string with a quote in it.
fn is_doubled(bytes: &[u8], ends: &[u8]) -> bool {
    let [quote, rest @ ..] = bytes else {
        return false;
    };
    let backslashes = rest.iter().take_while(|&&byte| byte == b'\\').count();
    let end = rest.get(backslashes);
    ends.contains(quote) && backslashes % 2 == 0 && end.is_some_and(|end| ends.contains(end))
}

fn trim_blanks(text: &str) -> &str {
    text.trim_matches(is_blank)
}

/// Whether a character is a space or a tab, in any script.
fn is_blank(character: char) -> bool {
    matches!(
        character,
        ' ' | '\t' | '\u{a0}' | '\u{1680}' | '\u{2000}'
            ..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}'
    )
}

/// The length of the blank that is not ASCII at the beginning.
fn blank_length(bytes: &[u8]) -> usize {
    let length = match bytes[0] {
        0xc2 => 2,
        0xe1..=0xe3 => 3,
        _ => return 0,
    };
    let text = bytes
        .get(..length)
        .and_then(|bytes| std::str::from_utf8(bytes).ok());
    match text.and_then(|text| text.chars().next()) {
        Some(character) if is_blank(character) => length,
        _ => 0,
    }
}

fn find(bytes: &[u8], wanted: &[u8; 2]) -> Option<usize> {
    bytes.windows(2).position(|window| window == wanted)
}

/// What a token may begin with.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Lower,
    Upper,
    Digit,
    Other,
}

const CLASSES: [Class; 256] = {
    let mut table = [Class::Other; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = match byte as u8 {
            b'a'..=b'z' | b'_' => Class::Lower,
            b'A'..=b'Z' => Class::Upper,
            b'0'..=b'9' => Class::Digit,
            _ => Class::Other,
        };
        byte += 1;
    }
    table
};

/// What a name may go on with.
const IN_WORD: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = (byte as u8).is_ascii_alphanumeric() || byte as u8 == b'_';
        byte += 1;
    }
    table
};

/// How many letters, digits and `_` there are.
fn plain_length(bytes: &[u8]) -> usize {
    let end = bytes.iter().position(|&byte| !IN_WORD[byte as usize]);
    end.unwrap_or(bytes.len())
}

/// The length of a bare word: letters, digits, `_`, and `-` between them.
fn segment_length(bytes: &[u8]) -> usize {
    let mut length = plain_length(bytes);
    let mut at = length;
    while bytes.get(at) == Some(&b'-') {
        at += 1;
        let more = plain_length(&bytes[at..]);
        if more > 0 {
            at += more;
            length = at;
        }
    }
    length
}

fn word(rest: &[u8]) -> (Token, usize) {
    let (token, length) = word_behind(rest, 0);
    match token {
        Token::Name => (
            keyword(&rest[..length]).map_or(Token::Name, Token::Keyword),
            length,
        ),
        _ => (token, length),
    }
}

/// A name, or a bare word that is none, whose first letter is at `at`.
fn word_behind(rest: &[u8], mut at: usize) -> (Token, usize) {
    let mut is_name = true;
    loop {
        let length = segment_length(&rest[at..]);
        is_name &= rest[at] != b'_' && !rest[at..at + length].contains(&b'-');
        at += length;
        match rest[at..] {
            [b':', b':', next, ..] if CLASSES[next as usize] == Class::Lower => at += 2,
            _ => break,
        }
    }
    (if is_name { Token::Name } else { Token::Word }, at)
}

/// The length of the name of a variable: `(::)?(\w+::)*\w+`
fn variable_length(bytes: &[u8]) -> usize {
    let mut end = 0;
    let mut at = if bytes.starts_with(b"::") { 2 } else { 0 };
    loop {
        match plain_length(&bytes[at..]) {
            0 => return end,
            length => end = at + length,
        }
        match bytes[end..].starts_with(b"::") {
            true => at = end + 2,
            false => return end,
        }
    }
}

/// The length of a number, or none if letters follow that belong to none.
fn number_length(rest: &[u8]) -> usize {
    let is_end = |at: usize| rest.get(at).is_none_or(|&byte| !IN_WORD[byte as usize]);
    let count = |from: usize, is_digit: fn(&u8) -> bool| {
        let end = rest[from..].iter().position(|byte| !is_digit(byte));
        end.unwrap_or(rest.len() - from)
    };
    if let [b'0', b'x' | b'X', ..] = rest {
        let digits = count(2, u8::is_ascii_hexdigit);
        return if digits > 0 && is_end(2 + digits) {
            2 + digits
        } else {
            0
        };
    }
    let whole = count(0, u8::is_ascii_digit);
    let with_exponent = |from: usize| {
        let sign = match rest[from..] {
            [b'e' | b'E', b'-', ..] => 2,
            [b'e' | b'E', ..] => 1,
            _ => return None,
        };
        let digits = count(from + sign, u8::is_ascii_digit);
        (digits > 0 && is_end(from + sign + digits)).then_some(from + sign + digits)
    };
    let fraction = match rest[whole..] {
        [b'.', digit, ..] if digit.is_ascii_digit() => {
            Some(whole + 1 + count(whole + 1, u8::is_ascii_digit))
        }
        _ => None,
    };
    if let Some(end) = fraction {
        if let Some(end) = with_exponent(end) {
            return end;
        }
        if is_end(end) {
            return end;
        }
        return 0;
    }
    match with_exponent(whole) {
        Some(end) => end,
        None if is_end(whole) => whole,
        None => 0,
    }
}

fn keyword(word: &[u8]) -> Option<Keyword> {
    Some(match word {
        b"and" => Keyword::And,
        b"attr" => Keyword::Attr,
        b"case" => Keyword::Case,
        b"class" => Keyword::Class,
        b"default" => Keyword::Default,
        b"define" => Keyword::Define,
        b"else" => Keyword::Else,
        b"elsif" => Keyword::Elsif,
        b"false" => Keyword::False,
        b"function" => Keyword::Function,
        b"if" => Keyword::If,
        b"in" => Keyword::In,
        b"inherits" => Keyword::Inherits,
        b"node" => Keyword::Node,
        b"or" => Keyword::Or,
        b"private" => Keyword::Private,
        b"true" => Keyword::True,
        b"type" => Keyword::Type,
        b"undef" => Keyword::Undef,
        b"unless" => Keyword::Unless,
        _ => return None,
    })
}

fn punctuation(rest: &[u8]) -> Option<(Token, usize)> {
    let operator = |operator, length| (Token::Operator(operator), length);
    let arrow = |notifies, backwards| {
        let arrow = Arrow {
            notifies,
            backwards,
        };
        (Token::Arrow(arrow), 2)
    };
    Some(match rest {
        [b'{', ..] => (Token::OpenBrace, 1),
        [b'}', ..] => (Token::CloseBrace, 1),
        [b')', ..] => (Token::CloseParenthesis, 1),
        [b']', ..] => (Token::CloseBracket, 1),
        [b',', ..] => (Token::Comma, 1),
        [b':', ..] => (Token::Colon, 1),
        [b';', ..] => (Token::Semicolon, 1),
        [b'.', ..] => (Token::Dot, 1),
        [b'?', ..] => (Token::Question, 1),
        [b'=', b'>', ..] => (Token::FatArrow, 2),
        [b'=', b'=', ..] => operator(Operator::Equal, 2),
        [b'=', b'~', ..] => operator(Operator::Match, 2),
        [b'=', ..] => (Token::Equals, 1),
        [b'+', b'=', ..] => (Token::Append, 2),
        [b'+', b'>', ..] => (Token::PlusArrow, 2),
        [b'+', ..] => operator(Operator::Add, 1),
        [b'-', b'>', ..] => arrow(false, false),
        [b'-', b'=', ..] => (Token::Delete, 2),
        [b'-', ..] => operator(Operator::Subtract, 1),
        [b'~', b'>', ..] => arrow(true, false),
        [b'!', b'=', ..] => operator(Operator::NotEqual, 2),
        [b'!', b'~', ..] => operator(Operator::NoMatch, 2),
        [b'!', ..] => (Token::Not, 1),
        [b'<', b'<', b'|', ..] => (Token::CollectExported, 3),
        [b'<', b'<', ..] => operator(Operator::ShiftLeft, 2),
        [b'<', b'=', ..] => operator(Operator::LessOrEqual, 2),
        [b'<', b'|', ..] => (Token::Collect, 2),
        [b'<', b'-', ..] => arrow(false, true),
        [b'<', b'~', ..] => arrow(true, true),
        [b'<', ..] => operator(Operator::Less, 1),
        [b'>', b'>', ..] => operator(Operator::ShiftRight, 2),
        [b'>', b'=', ..] => operator(Operator::GreaterOrEqual, 2),
        [b'>', ..] => operator(Operator::Greater, 1),
        [b'|', b'>', b'>', ..] => (Token::CollectExportedEnd, 3),
        [b'|', b'>', ..] => (Token::CollectEnd, 2),
        [b'|', ..] => (Token::Pipe, 1),
        [b'*', ..] => operator(Operator::Multiply, 1),
        [b'%', ..] => operator(Operator::Modulo, 1),
        [b'@', b'@', ..] => (Token::AtAt, 2),
        [b'@', ..] => (Token::At, 1),
        _ => return None,
    })
}
