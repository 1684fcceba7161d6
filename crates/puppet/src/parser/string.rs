//! Text with code in it: `"…"` and heredocs.

use hence_model::diagnostic::{Code, Diagnostic};
use hence_model::source::Span;

use super::{Parsed, Parser, SYNTAX, Wrong};
use crate::escapes::{self, Escapes, Trouble};
use crate::lexer::{self, Heredoc, Keyword, Lexer, PieceEnd, Token, UNTERMINATED};
use crate::syntax::{Expression, Kind};

/// A backslash before something that it means nothing before.
pub const ESCAPE: Code = Code::new("puppet.escape");

impl Parser<'_> {
    /// `"text ${code} text"`
    pub(super) fn quoted(&mut self) -> Parsed<Expression> {
        let start = self.next.span.start;
        let read = self.pieces(None);
        if self.next.token == Token::End {
            return read.map(|kind| self.ended(kind, start));
        }
        self.next.token = Token::Quote;
        self.next.span = Span::new(start, self.lexer.at());
        self.advance();
        read.map(|kind| self.ended(kind, start))
    }

    fn ended(&self, kind: Kind, start: u32) -> Expression {
        let span = self.span_from(start);
        Expression { kind, span }
    }

    /// `@("END")`, whose text begins in the next line.
    pub(super) fn heredoc(&mut self) -> Parsed<Expression> {
        let heredoc = self.lexer.heredoc();
        let tag = self.next;
        let outside = std::mem::replace(&mut self.lexer, Lexer::new(heredoc.body));
        let (was_lost, braces) = (self.lost, self.braces);
        let read = self.pieces(Some(&heredoc));
        self.lexer = outside;
        self.next = tag;
        self.braces = braces;
        // The heredoc has an end, whatever is missing in it, unless everything was given up.
        match self.gave_up {
            true => self.lexer.finish(),
            false => self.lost = was_lost,
        }
        self.advance();
        let text = Expression {
            kind: read?,
            span: heredoc.body,
        };
        let syntax = self.slice(heredoc.syntax);
        let syntax = (!syntax.is_empty()).then(|| syntax.into());
        Ok(Expression {
            kind: Kind::Heredoc(Box::new(text), syntax),
            span: tag.span,
        })
    }

    /// Pieces of text and code, up to the end of a string or of a heredoc.
    fn pieces(&mut self, heredoc: Option<&Heredoc>) -> Parsed<Kind> {
        let open = self.next.span;
        let escapes = heredoc.map_or(Escapes::QUOTED, |heredoc| heredoc.escapes);
        let mut pieces = Vec::new();
        let mut is_wrong = false;
        loop {
            let (span, end) = match heredoc {
                Some(heredoc) if !heredoc.interpolates => (heredoc.body, PieceEnd::Text),
                _ => self.lexer.piece(self.text, heredoc.is_none(), escapes),
            };
            if span.start < span.end {
                let said = self.piece(span, escapes, heredoc);
                if !said.is_empty() {
                    let kind = Kind::Text(said);
                    pieces.push(Expression { kind, span });
                }
            }
            match end {
                PieceEnd::Text => break,
                PieceEnd::File => {
                    self.lost = true;
                    self.report(
                        Diagnostic::error(UNTERMINATED, "this string has no end")
                            .label(Span::new(open.start, open.start + 1), "it begins here")
                            .help("end it with `\"`; a quote inside it is written `\\\"`"),
                    );
                    self.advance();
                    return Err(Wrong);
                }
                PieceEnd::Variable(span) => {
                    let name = &self.slice(span)[1..];
                    self.check_variable(name, span);
                    let kind = Kind::Variable(name.into());
                    pieces.push(Expression { kind, span });
                }
                PieceEnd::Code => {
                    let dollar = Span::new(self.lexer.at() - 2, self.lexer.at());
                    let braces = self.braces;
                    self.advance();
                    match self.code(dollar) {
                        Ok(code) => pieces.push(code),
                        Err(Wrong) => {
                            is_wrong = true;
                            if !self.skip_code() {
                                break;
                            }
                        }
                    }
                    self.braces = braces;
                }
            }
        }
        if is_wrong {
            return Err(Wrong);
        }
        let is_plain = matches!(
            pieces.as_slice(),
            [Expression { kind: Kind::Text(_), span }] if self.is_text(*span, heredoc, open)
        );
        Ok(match pieces.pop() {
            None => Kind::Text("".into()),
            Some(Expression { kind, .. }) if is_plain => kind,
            Some(last) => {
                pieces.push(last);
                Kind::Interpolated(pieces)
            }
        })
    }

    /// Whether a piece is text by itself, and not code that is a text.
    fn is_text(&self, piece: Span, heredoc: Option<&Heredoc>, open: Span) -> bool {
        match heredoc {
            Some(heredoc) => piece == heredoc.body,
            None => piece.start == open.start + 1,
        }
    }

    /// What a piece of text says.
    fn piece(
        &mut self,
        span: Span,
        escapes: Escapes,
        heredoc: Option<&Heredoc>,
    ) -> ecow::EcoString {
        let written = self.slice(span);
        let without_margin = heredoc.and_then(|heredoc| {
            let margin = self.slice(heredoc.margin);
            let starts_line = span.start == heredoc.body.start
                || self.text.as_bytes()[span.start as usize - 1] == b'\n';
            (!margin.is_empty()).then(|| drop_margin(written, margin, starts_line))
        });
        let mut troubles = Vec::new();
        let said = escapes::unescape(
            without_margin.as_deref().unwrap_or(written),
            escapes,
            &mut |offset, trouble| troubles.push((offset, trouble)),
        );
        for (offset, trouble) in troubles {
            // Where lines lost their margin, offsets tell nothing.
            let place = match without_margin {
                None => Span::new(span.start + offset as u32, span.start + offset as u32 + 1),
                Some(_) => span,
            };
            self.report_escape(place, trouble);
        }
        said
    }

    fn report_escape(&mut self, place: Span, trouble: Trouble) {
        self.report(match trouble {
            Trouble::Unknown(character) => {
                let message = format!("`\\{character}` means nothing; the backslash is kept");
                Diagnostic::warning(ESCAPE, message).at(place).help(format!(
                    "for a backslash write `\\\\{character}`, or use single quotes"
                ))
            }
            Trouble::Incomplete => {
                let message =
                    "expected four hexadecimal digits, or up to six in braces, behind `\\u`";
                Diagnostic::warning(ESCAPE, message).at(place)
            }
            Trouble::NoCharacter => {
                Diagnostic::error(ESCAPE, "there is no character with this number").at(place)
            }
        });
    }

    /// What stands in `${…}`, up to the brace that closes it. A name there is a variable if nothing follows
    /// it but the brace, an access or a call of a method.
    fn code(&mut self, dollar: Span) -> Parsed<Expression> {
        let is_word = matches!(
            self.next.token,
            Token::Name | Token::Word | Token::Number | Token::Keyword(_)
        );
        if is_word
            && matches!(
                self.peek(),
                Token::CloseBrace | Token::Dot | Token::OpenBracket
            )
        {
            if let Token::Keyword(Keyword::True | Keyword::False) = self.next.token {
                let word = self.slice(self.next.span);
                let message = format!("`{word}` cannot be the name of a variable");
                let span = self.next.span;
                self.report(Diagnostic::error(lexer::NAME, message).at(span));
            }
            self.next.token = Token::Variable;
        }
        if self.next.token == Token::CloseBrace {
            let span = dollar.to(self.next.span);
            self.report(
                Diagnostic::error(SYNTAX, "expected a value in `${}`")
                    .at(span)
                    .help("for the text `${`, write `\\${`"),
            );
            return Err(Wrong);
        }
        let code = self.assignment()?;
        if self.next.token != Token::CloseBrace {
            if let Some(diagnostic) = self.unexpected("`}`", "") {
                let diagnostic = diagnostic.label(dollar, "this is open");
                self.report(diagnostic);
            }
            return Err(Wrong);
        }
        Ok(code)
    }

    /// Skips to the brace that closes `${`; if there is none in the line, to its end.
    fn skip_code(&mut self) -> bool {
        let (here, was_lost) = (self.lexer, self.lost);
        let was_recovering = std::mem::replace(&mut self.recovering, true);
        let mut open = 0usize;
        let found = loop {
            match self.next.token {
                // Whoever forgets the brace goes on with other things in the next line.
                Token::End => break false,
                _ if self.next.starts_line && self.next.span.start > here.at() => break false,
                Token::CloseBrace if open == 0 => break true,
                Token::CloseBrace => open -= 1,
                Token::OpenBrace => open += 1,
                Token::Quote => {
                    self.skip_quoted();
                    continue;
                }
                _ => {}
            }
            self.advance();
        };
        self.recovering = was_recovering;
        if !found && !self.gave_up {
            self.lost = was_lost;
            self.lexer = here;
            self.lexer.skip_line(self.text);
            self.next.token = Token::Invalid;
        }
        found
    }

    /// Skips a string and all the code in it.
    pub(super) fn skip_quoted(&mut self) {
        // For every string that is open, the braces that are open in its code.
        let mut open: Vec<usize> = Vec::new();
        let mut in_text = true;
        loop {
            if in_text {
                let (_, end) = self.lexer.piece(self.text, true, Escapes::QUOTED);
                match end {
                    PieceEnd::Variable(_) => {}
                    PieceEnd::Code => {
                        open.push(0);
                        in_text = false;
                    }
                    PieceEnd::Text | PieceEnd::File if open.is_empty() => {
                        self.next.token = Token::Quote;
                        self.advance();
                        return;
                    }
                    PieceEnd::Text | PieceEnd::File => in_text = false,
                }
                continue;
            }
            self.next.token = Token::Quote;
            self.advance();
            let braces = open.last_mut().expect("code is in a string");
            match self.next.token {
                Token::End => return,
                Token::Quote => in_text = true,
                Token::OpenBrace => *braces += 1,
                Token::CloseBrace if *braces > 0 => *braces -= 1,
                Token::CloseBrace => {
                    open.pop();
                    in_text = true;
                }
                _ => {}
            }
        }
    }
}

/// Text without the margin at the beginning of its lines; lines that do not have it stay as they are.
fn drop_margin(written: &str, margin: &str, starts_line: bool) -> String {
    let mut text = String::with_capacity(written.len());
    let mut starts_line = starts_line;
    for line in written.split_inclusive('\n') {
        let rest = match starts_line {
            true => line.strip_prefix(margin).unwrap_or(line),
            false => line,
        };
        text.push_str(rest);
        starts_line = true;
    }
    text
}
