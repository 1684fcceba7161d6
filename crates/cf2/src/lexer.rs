//! Text to tokens.
//!
//! A token is a kind and a span, and whether a line ended before it: newlines separate statements and
//! elements, but where they do so is for the parser to decide.

use hence_model::diagnostic::{Code, Diagnostic};
use hence_model::source::Span;
use hence_model::work;

/// A character that no token begins with.
pub const STRAY_CHARACTER: Code = Code::new("cf2.stray-character");
/// A string without its closing quote.
pub const UNTERMINATED_STRING: Code = Code::new("cf2.unterminated-string");

/// A kind of token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Token {
    /// A name, or a bare literal.
    Word,
    /// A reserved word.
    Keyword(Keyword),
    /// `12`, `4.5`.
    Number,
    /// `'…'`
    Text {
        /// Whether it must be decoded, as there is a backslash in it.
        escaped: bool,
        /// Whether a line ends in it.
        has_lines: bool,
    },
    /// `=>`
    Assign,
    /// `~>`
    Merge,
    /// `~`, as in `~(sum)>`.
    Tilde,
    /// `=`
    Equals,
    /// An infix operator, or one that may be.
    Operator(Operator),
    /// `!`
    Not,
    /// `$`
    Dollar,
    /// `?`
    Undefined,
    /// `.`
    Dot,
    /// `,`
    Comma,
    /// `(`
    OpenParenthesis,
    /// `)`
    CloseParenthesis,
    /// `{`
    OpenBrace,
    /// `}`
    CloseBrace,
    /// `[`
    OpenBracket,
    /// `]`
    CloseBracket,
    /// The end of the file.
    End,
    /// Something that is no token: `mistake` says what is wrong with it.
    Invalid,
}

/// A word that is not a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Keyword {
    True,
    False,
    If,
    Then,
    Else,
    Import,
    Def,
    Private,
}

/// An infix operator (figure 1); `-` also stands before a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Operator {
    Or,
    And,
    Less,
    LessOrEqual,
    Equal,
    NotEqual,
    GreaterOrEqual,
    Greater,
    Concatenate,
    Add,
    Subtract,
    Multiply,
    Divide,
}

impl Operator {
    /// As it is written.
    pub fn text(self) -> &'static str {
        match self {
            Operator::Or => "||",
            Operator::And => "&&",
            Operator::Less => "<",
            Operator::LessOrEqual => "<=",
            Operator::Equal => "==",
            Operator::NotEqual => "!=",
            Operator::GreaterOrEqual => ">=",
            Operator::Greater => ">",
            Operator::Concatenate => "++",
            Operator::Add => "+",
            Operator::Subtract => "-",
            Operator::Multiply => "*",
            Operator::Divide => "/",
        }
    }

    /// How strongly it binds: figure 1 lists the weakest first.
    pub fn strength(self) -> u8 {
        match self {
            Operator::Or => 1,
            Operator::And => 2,
            Operator::Less
            | Operator::LessOrEqual
            | Operator::Equal
            | Operator::NotEqual
            | Operator::GreaterOrEqual
            | Operator::Greater => COMPARISON,
            Operator::Concatenate => 4,
            Operator::Add | Operator::Subtract => 5,
            Operator::Multiply | Operator::Divide => 6,
        }
    }
}

/// The strength of comparisons, of which there is at most one between two concatenations.
pub const COMPARISON: u8 = 3;

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

/// Reads tokens, one after another.
#[derive(Clone, Copy)]
pub struct Lexer {
    at: u32,
    end: u32,
}

/// Whether a word can be a name: not a keyword, and no digit first.
pub fn is_name(text: &str) -> bool {
    let bytes = text.as_bytes();
    !bytes.is_empty() && word_length(bytes) == bytes.len() && keyword(bytes).is_none()
}

/// Whether text may be written without quotes.
pub fn is_bare(text: &str) -> bool {
    is_name(text) && !text.starts_with('_')
}

/// Whether a byte can stand in a name: see `IDENTIFIER` in the grammar.
const IN_WORD: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = (byte as u8).is_ascii_alphanumeric() || byte as u8 == b'_' || byte >= 0x80;
        byte += 1;
    }
    table
};

fn continues_word(byte: u8) -> bool {
    IN_WORD[byte as usize]
}

fn word_length(bytes: &[u8]) -> usize {
    match bytes.first() {
        Some(first) if continues_word(*first) && !first.is_ascii_digit() => {
            let mut length = 1;
            while bytes.get(length).is_some_and(|&byte| continues_word(byte)) {
                length += 1;
            }
            length
        }
        _ => 0,
    }
}

fn keyword(word: &[u8]) -> Option<Keyword> {
    // Bytes are told apart one by one, where texts would each be compared whole.
    Some(match word {
        b"true" => Keyword::True,
        b"false" => Keyword::False,
        b"if" => Keyword::If,
        b"then" => Keyword::Then,
        b"else" => Keyword::Else,
        b"import" => Keyword::Import,
        b"def" => Keyword::Def,
        b"private" => Keyword::Private,
        _ => return None,
    })
}

const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

impl Lexer {
    /// A lexer of a stretch of text.
    pub fn new(span: Span) -> Self {
        Self {
            at: span.start,
            end: span.end,
        }
    }

    /// The next token, of `text`, the whole buffer that offsets index into.
    #[inline]
    pub fn next(&mut self, text: &str) -> Lexeme {
        work::step();
        let bytes = &text.as_bytes()[..self.end as usize];
        let starts_line = self.skip(bytes);
        let start = self.at;
        let rest = &bytes[start as usize..];
        let (token, length) = match rest {
            [] => (Token::End, 0),
            [b'\'', ..] => quoted(rest),
            [digit, ..] if digit.is_ascii_digit() => (Token::Number, number_length(rest)),
            [first, ..] if continues_word(*first) => {
                let length = word_length(rest);
                let token = keyword(&rest[..length]).map_or(Token::Word, Token::Keyword);
                (token, length)
            }
            _ => punctuation(rest),
        };
        self.at += length as u32;
        Lexeme {
            token,
            span: Span::new(start, self.at),
            starts_line,
        }
    }

    /// Skips blanks and comments, and tells whether a line ended.
    fn skip(&mut self, bytes: &[u8]) -> bool {
        let mut starts_line = false;
        let mut at = self.at as usize;
        while let Some(&byte) = bytes.get(at) {
            match byte {
                b' ' | b'\t' | b'\r' | 0x0b | 0x0c => at += 1,
                b'\n' => {
                    starts_line = true;
                    at += 1;
                }
                b'/' if bytes.get(at + 1) == Some(&b'/') => {
                    let rest = &bytes[at..];
                    let end = rest.iter().position(|&byte| byte == b'\n');
                    at += end.unwrap_or(rest.len());
                }
                0xef if bytes[at..].starts_with(BYTE_ORDER_MARK) => at += BYTE_ORDER_MARK.len(),
                _ => break,
            }
        }
        self.at = at as u32;
        starts_line
    }
}

fn quoted(rest: &[u8]) -> (Token, usize) {
    let (mut escaped, mut has_lines) = (false, false);
    let mut at = 1;
    while let Some(&byte) = rest.get(at) {
        match byte {
            b'\'' => return (Token::Text { escaped, has_lines }, at + 1),
            b'\\' => {
                escaped = true;
                at += 2;
            }
            b'\n' => {
                has_lines = true;
                at += 1;
            }
            _ => at += 1,
        }
    }
    (Token::Invalid, rest.len())
}

/// `\d+(\.\d+)?`: greedy, so `$List.0.1` selects 0.1 (§3.6).
fn number_length(rest: &[u8]) -> usize {
    let digits = |from: usize| {
        let found = rest[from..].iter().position(|byte| !byte.is_ascii_digit());
        found.unwrap_or(rest.len() - from)
    };
    let whole = digits(0);
    match rest[whole..] {
        [b'.', digit, ..] if digit.is_ascii_digit() => whole + 1 + digits(whole + 1),
        _ => whole,
    }
}

fn punctuation(rest: &[u8]) -> (Token, usize) {
    let operator = |operator, length| (Token::Operator(operator), length);
    match rest {
        [b'=', b'>', ..] => (Token::Assign, 2),
        [b'=', b'=', ..] => operator(Operator::Equal, 2),
        [b'=', ..] => (Token::Equals, 1),
        [b'~', b'>', ..] => (Token::Merge, 2),
        [b'~', ..] => (Token::Tilde, 1),
        [b'|', b'|', ..] => operator(Operator::Or, 2),
        [b'&', b'&', ..] => operator(Operator::And, 2),
        [b'<', b'=', ..] => operator(Operator::LessOrEqual, 2),
        [b'<', ..] => operator(Operator::Less, 1),
        [b'>', b'=', ..] => operator(Operator::GreaterOrEqual, 2),
        [b'>', ..] => operator(Operator::Greater, 1),
        [b'!', b'=', ..] => operator(Operator::NotEqual, 2),
        [b'!', ..] => (Token::Not, 1),
        [b'+', b'+', ..] => operator(Operator::Concatenate, 2),
        [b'+', ..] => operator(Operator::Add, 1),
        [b'-', ..] => operator(Operator::Subtract, 1),
        [b'*', ..] => operator(Operator::Multiply, 1),
        [b'/', ..] => operator(Operator::Divide, 1),
        [b'$', ..] => (Token::Dollar, 1),
        [b'?', ..] => (Token::Undefined, 1),
        [b'.', ..] => (Token::Dot, 1),
        [b',', ..] => (Token::Comma, 1),
        [b'(', ..] => (Token::OpenParenthesis, 1),
        [b')', ..] => (Token::CloseParenthesis, 1),
        [b'{', ..] => (Token::OpenBrace, 1),
        [b'}', ..] => (Token::CloseBrace, 1),
        [b'[', ..] => (Token::OpenBracket, 1),
        [b']', ..] => (Token::CloseBracket, 1),
        _ => (Token::Invalid, 1),
    }
}

/// A string that is not ended where it should be.
pub fn unterminated(string: Span) -> Diagnostic {
    Diagnostic::error(UNTERMINATED_STRING, "this string has no end")
        .label(Span::new(string.start, string.start + 1), "it begins here")
        .help("end it with `'`; a quote inside it is written `\\'`")
}

/// Where the first line of a string ends behind which a line is written as those of files are, as if the string
/// had ended before.
pub fn end_before_code(text: &str, string: Span) -> Option<u32> {
    let mut end = string.start;
    for (number, line) in text[string.start as usize..string.end as usize]
        .split('\n')
        .enumerate()
    {
        let begun = end + u32::from(number > 0);
        let line = Span::new(begun, begun + line.len() as u32);
        if number > 0 && is_code(text, line) {
            return Some(end);
        }
        end = line.end;
    }
    None
}

/// Whether a line begins like a statement, or ends a block or a list.
fn is_code(text: &str, line: Span) -> bool {
    let mut lexer = Lexer::new(line);
    let mut next = || lexer.next(text).token;
    let mut token = next();
    while let Token::Keyword(Keyword::Private) = token {
        token = next();
    }
    match token {
        Token::CloseBrace | Token::CloseBracket | Token::CloseParenthesis => true,
        Token::Keyword(Keyword::If | Keyword::Import) => next() == Token::OpenParenthesis,
        Token::Keyword(Keyword::Def) => next() == Token::Word,
        Token::Word => loop {
            match next() {
                Token::Dot if next() == Token::Word => {}
                end => return matches!(end, Token::Assign | Token::Merge | Token::Tilde),
            }
        },
        _ => false,
    }
}

/// What is wrong where something is no token.
pub fn mistake(text: &str, span: Span) -> Diagnostic {
    let character = &text[span.start as usize..span.start as usize + 1];
    let help = match character {
        "\"" => "strings stand in single quotes: 'text'",
        "#" => "comments begin with `//`",
        ";" => "statements are separated by newlines or commas",
        ":" => "a resource is written `Name => value`; text with `:` stands in quotes",
        _ => "text with such characters must stand in quotes: 'text'",
    };
    let shown = match character.chars().any(char::is_control) {
        true => character.escape_debug().to_string(),
        false => character.to_owned(),
    };
    let message = format!("`{shown}` means nothing here");
    Diagnostic::error(STRAY_CHARACTER, message)
        .at(span)
        .help(help)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> Vec<(Token, String)> {
        let mut lexer = Lexer::new(Span::new(0, text.len() as u32));
        let mut tokens = Vec::new();
        loop {
            let lexeme = lexer.next(text);
            assert_ne!(lexeme.token, Token::Invalid);
            if lexeme.token == Token::End {
                return tokens;
            }
            let span = lexeme.span.start as usize..lexeme.span.end as usize;
            tokens.push((lexeme.token, text[span].to_owned()));
        }
    }

    #[test]
    fn a_number_is_greedy_and_a_comment_beats_division() {
        let words: Vec<String> = tokens("$L.0.1 a/b//c").into_iter().map(|t| t.1).collect();
        assert_eq!(words, ["$", "L", ".", "0.1", "a", "/", "b"]);
        let words: Vec<String> = tokens("1.x 2.5.x").into_iter().map(|t| t.1).collect();
        assert_eq!(words, ["1", ".", "x", "2.5", ".", "x"]);
    }

    #[test]
    fn keywords_are_whole_words_and_names_may_hold_any_letter() {
        assert_eq!(tokens("trueish")[0].0, Token::Word);
        assert_eq!(tokens("true")[0].0, Token::Keyword(Keyword::True));
        assert_eq!(tokens("größe★1")[0].1, "größe★1");
        assert!(is_bare("größe★1") && !is_bare("_x") && is_name("_x") && !is_name("if"));
        assert!(!is_name("") && !is_name("1a") && !is_name("a-b"));
    }

    fn text(escaped: bool) -> Token {
        Token::Text {
            escaped,
            has_lines: false,
        }
    }

    #[test]
    fn a_string_ends_at_a_quote_that_no_backslash_stands_before() {
        assert_eq!(
            tokens(r"'a\'b' 'c'"),
            [
                (text(true), r"'a\'b'".to_owned()),
                (text(false), "'c'".to_owned())
            ]
        );
    }
}
