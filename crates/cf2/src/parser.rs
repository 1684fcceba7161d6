//! Tokens to syntax: the grammar of appendix A, by recursive descent.
//!
//! A mistake ends its statement, not the file: reading goes on with the next line. Newlines separate
//! statements and elements, except where what follows can only continue what stands before: `then`, `else`,
//! an infix operator, a mutation. Inside a list a line that begins with `-` begins an element.

use hence_model::cell::{Cell, Item};
use hence_model::diagnostic::{Code, Diagnostic};
use hence_model::source::{FileId, Span};
use hence_model::symbol::Symbol;
use hence_model::unit::{TOO_DEEP, Unit};
use rustc_hash::FxHashMap;

use crate::functions;
use crate::lexer::{self, COMPARISON, Keyword, Lexeme, Lexer, Operator, Token};
use crate::syntax::{
    BYTES_OF_EXPRESSION, BodyId, Definition, Expression, ExpressionId, Kind, Macro, MacroId,
    Mutation, Statement, Tree,
};
use crate::text;

/// Something that the grammar has no place for.
pub const SYNTAX: Code = Code::new("cf2.syntax");
/// A number that is too large to be kept.
pub const NUMBER_RANGE: Code = Code::new("cf2.number-range");
/// A macro cannot have that name.
pub const MACRO_NAME: Code = Code::new("cf2.macro-name");

/// Parses a file, and reports what is wrong with it. What can be read is in the tree.
pub fn parse(unit: &mut Unit, tree: &mut Tree, file: FileId) -> BodyId {
    let span = unit.sources.span(file);
    let bytes = (span.end - span.start) as usize;
    tree.reserve(bytes);
    let start = Lexeme {
        token: Token::End,
        span: Span::at(span.start),
        starts_line: true,
    };
    let mut parser = Parser {
        unit,
        tree,
        file,
        lexer: Lexer::new(span),
        next: start,
        last: Span::at(span.start),
        macros: FxHashMap::default(),
        parameters: Vec::new(),
        in_list: false,
        depth: 0,
        lost: false,
        recovering: Recovering::No,
        late: None,
        late_before: None,
        read_again: 0,
        unterminated: None,
        statements: Vec::with_capacity(bytes / BYTES_OF_EXPRESSION),
        expressions: Vec::new(),
    };
    parser.advance();
    parser.body(span.start, Token::End)
}

/// Something is wrong, and was reported.
struct Wrong;

type Parsed<T> = Result<T, Wrong>;

/// A string over several lines that seems to end where another one begins.
#[derive(Clone, Copy)]
struct Late {
    string: Span,
    /// The end of the line on which it was to end.
    end: u32,
}

/// Whether something is skipped after a mistake.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Recovering {
    No,
    /// What stands on the line of the mistake.
    OnItsLine,
    /// What else belongs to its statement.
    Beyond,
}

struct Parser<'p> {
    unit: &'p mut Unit,
    tree: &'p mut Tree,
    file: FileId,
    lexer: Lexer,
    /// The token that is looked at.
    next: Lexeme,
    /// The token before it.
    last: Span,
    /// The macros defined so far.
    macros: FxHashMap<Symbol, MacroId>,
    /// The parameters of the macro that is being read.
    parameters: Vec<Symbol>,
    /// Whether a newline separates elements here.
    in_list: bool,
    depth: u32,
    /// Whether the end of the text came too early, and was reported.
    lost: bool,
    /// Whether the rest of a statement with a mistake is skipped.
    recovering: Recovering,
    /// The string that seems to end too late, as it ended on this line, and the one before it.
    late: Option<Late>,
    late_before: Option<Late>,
    /// How far strings that seemed to end too late were read again.
    read_again: u32,
    /// Where a string begins that was reported to have no end.
    unterminated: Option<u32>,
    /// The statements of all open blocks, and the expressions of all open lists.
    statements: Vec<Statement>,
    expressions: Vec<ExpressionId>,
}

impl Parser<'_> {
    fn advance(&mut self) {
        self.last = self.next.span;
        self.next = self.lexer.next(self.unit.sources.text());
        if self.next.starts_line {
            self.begin_line();
        }
        match self.next.token {
            Token::Text {
                has_lines: true, ..
            } => self.string_over_lines(),
            Token::Invalid => self.report_invalid(),
            _ => {}
        }
    }

    fn begin_line(&mut self) {
        (self.late, self.late_before) = (None, None);
        if self.recovering == Recovering::OnItsLine {
            self.recovering = Recovering::Beyond;
        }
    }

    #[cold]
    fn string_over_lines(&mut self) {
        let late = self.late(self.next.span);
        if self.recovering == Recovering::OnItsLine {
            // What looks like a string may be what stands between two of them, as one has no end.
            if let Some(late) = late {
                self.read_again(late);
            }
        } else {
            self.late_before = std::mem::replace(&mut self.late, late);
        }
    }

    /// A string over several lines, if lines of it are written as those of files are, or if a value follows on its
    /// heels.
    fn late(&self, string: Span) -> Option<Late> {
        let text = &self.unit.sources.text()[..self.unit.sources.span(self.file).end as usize];
        let follows = text[string.end as usize..].chars().next();
        let is_value = |c: char| c.is_alphanumeric() || "_'$\"@#%:;\\".contains(c);
        let end_of_line = || {
            let line = self.unit.sources.slice(string).lines().next()?;
            Some(string.start + line.len() as u32)
        };
        let end = match lexer::end_before_code(text, string) {
            None if follows.is_some_and(is_value) => end_of_line(),
            end => end,
        };
        end.map(|end| Late { string, end })
    }

    /// Goes on behind the line on which a string was to end. What was read again is not read once more.
    fn read_again(&mut self, late: Late) -> bool {
        let is_new = late.string.end > self.read_again;
        if is_new {
            self.read_again = late.string.end;
            let end = self.unit.sources.span(self.file).end;
            self.lexer = Lexer::new(Span::new(late.end, end));
            self.next.token = Token::Invalid;
        }
        is_new
    }

    /// Where something is wrong on the line on which a string over several lines ends, it may be that its end was the
    /// beginning of another one. Then this is reported, and reading goes on where it was to end.
    fn is_string_late(&mut self) -> bool {
        let late = match self.next.token {
            Token::Text {
                has_lines: true, ..
            } => self.late_before,
            _ => self.late,
        };
        match late {
            Some(late) if self.read_again(late) => {
                self.report_unterminated(late.string);
                true
            }
            _ => false,
        }
    }

    #[cold]
    fn report_invalid(&mut self) {
        let span = self.next.span;
        if self.is_string_late() {
            return;
        }
        if self.unit.sources.slice(span).starts_with('\'') {
            // The mistake that was reported on this line may be that a string ended too early.
            if self.recovering != Recovering::OnItsLine {
                self.report_unterminated(span);
            }
            self.unterminated = Some(span.start);
            // It has taken all of the file; what is written as statements are is read as such.
            let end = lexer::end_before_code(self.unit.sources.text(), span);
            if let Some(end) = end {
                self.read_again(Late { string: span, end });
            }
        } else if self.recovering == Recovering::No {
            // One mistake of a statement is enough.
            self.unit
                .report(lexer::mistake(self.unit.sources.text(), span));
        }
    }

    fn report_unterminated(&mut self, string: Span) {
        self.unterminated = Some(string.start);
        self.unit.report(lexer::unterminated(string));
    }

    fn take(&mut self, token: Token) -> bool {
        let found = self.next.token == token;
        if found {
            self.advance();
        }
        found
    }

    /// Takes a token that must stand here; `how` says how the whole is written.
    fn expect_as(&mut self, token: Token, what: &str, how: &str) -> Parsed<()> {
        match self.take(token) {
            true => Ok(()),
            false => Err(self.wrong(&format!("expected {what}"), how)),
        }
    }

    /// Reports that something else was expected where the next token is.
    fn wrong(&mut self, expected: &str, help: &str) -> Wrong {
        // What is no token was reported as such.
        if self.next.token != Token::Invalid && !self.is_string_late() {
            let found = match self.next.token {
                Token::End => "the end of the file".to_owned(),
                _ => {
                    let text = self.unit.sources.slice(self.next.span);
                    let line = text.lines().next().unwrap_or("");
                    format!("`{line}`")
                }
            };
            let message = format!("{expected}, found {found}");
            let place = match self.next.token {
                Token::End => Span::at(self.next.span.start),
                _ => self.next.span,
            };
            let mut diagnostic = Diagnostic::error(SYNTAX, message).at(place);
            if !help.is_empty() {
                diagnostic = diagnostic.help(help);
            }
            self.unit.report(diagnostic);
        }
        Wrong
    }

    /// Goes a level deeper, if that is allowed; all that is left is skipped if not.
    fn deeper(&mut self) -> Parsed<()> {
        self.depth += 1;
        let limit = self.unit.limits.depth;
        if self.depth <= limit {
            return Ok(());
        }
        if self.next.token != Token::End {
            let message = format!("this is nested deeper than {limit} levels");
            self.unit.report(
                Diagnostic::error(TOO_DEEP, message)
                    .at(self.next.span)
                    .help("allow more with `--max-depth`"),
            );
            let end = self.unit.sources.span(self.file).end;
            self.lexer = Lexer::new(Span::at(end));
            self.next = Lexeme {
                token: Token::Invalid,
                ..self.next
            };
            self.lost = true;
        }
        Err(Wrong)
    }

    /// Block := (Statement (Sep Statement)*)?
    fn body(&mut self, start: u32, close: Token) -> BodyId {
        let mark = self.statements.len();
        let was_in_list = std::mem::replace(&mut self.in_list, false);
        loop {
            while self.take(Token::Comma) {}
            if self.next.token == close {
                break;
            }
            if self.next.token == Token::End {
                self.unclosed(start);
                break;
            }
            let start = self.next.span;
            let read = self.statement().and_then(|()| self.end_of_statement(close));
            if read.is_err() {
                self.recover(close, start);
            }
        }
        let end = self.next.span.end;
        self.in_list = was_in_list;
        let span = Span::new(start, end);
        self.tree.take_body(&mut self.statements, mark, span)
    }

    /// Reports the innermost block that has no end; those around it are open because of it.
    fn unclosed(&mut self, start: u32) {
        // Its end may be in a string that has none.
        let is_told = self.unterminated.is_some_and(|string| string > start);
        if !std::mem::replace(&mut self.lost, true) && !is_told {
            self.unit.report(
                Diagnostic::error(SYNTAX, "this block has no end")
                    .label(Span::new(start, start + 1), "it begins here")
                    .help("end it with `}`"),
            );
        }
    }

    fn end_of_statement(&mut self, close: Token) -> Parsed<()> {
        let next = self.next;
        let separated = next.starts_line
            || next.token == Token::Comma
            || next.token == close
            || next.token == Token::End;
        match separated {
            true => Ok(()),
            false => Err(self.wrong(
                "expected a new line or a comma after this",
                self.how_to_go_on(),
            )),
        }
    }

    /// What may be meant where something follows a value.
    fn how_to_go_on(&self) -> &'static str {
        let before = self.unit.sources.slice(self.last);
        let next = self.unit.sources.slice(self.next.span);
        match next {
            "and" => "*and* is written `&&`",
            "or" => "*or* is written `||`",
            "elsif" | "elif" | "elseif" => "it is written `else if (…) then …`",
            "?" => "a value is chosen by `if (…) then … else …`",
            _ if before == "not" => "*not* is written `!`",
            _ if before.starts_with('\'') && self.last.end == self.next.span.start => {
                "the string ends before this; a quote inside it is written `\\'`"
            }
            _ => "text that is not a simple word stands in quotes: 'two words'",
        }
    }

    /// Skips to the beginning of another statement than that at `start`.
    fn recover(&mut self, close: Token, start: Span) {
        self.recovering = Recovering::OnItsLine;
        self.skip(close, start);
        self.recovering = Recovering::No;
    }

    fn skip(&mut self, close: Token, start: Span) {
        let mut open = 0usize;
        loop {
            match self.next.token {
                Token::End => return,
                token if open == 0 && token == close => return,
                Token::Word | Token::Keyword(_)
                    if open == 0 && self.next.starts_line && self.next.span != start =>
                {
                    return;
                }
                Token::OpenBrace | Token::OpenBracket | Token::OpenParenthesis => open += 1,
                Token::CloseBrace | Token::CloseBracket | Token::CloseParenthesis => {
                    open = open.saturating_sub(1);
                }
                _ => {}
            }
            self.advance();
        }
    }

    /// Statement := Conditional | Import | FunCall | MacroDef | ResourceDef
    fn statement(&mut self) -> Parsed<()> {
        match self.next.token {
            Token::Keyword(Keyword::If | Keyword::Import) => {
                let inline = self.value()?;
                self.statements.push(Statement::Inline(inline));
                Ok(())
            }
            Token::Keyword(Keyword::Def) => self.macro_definition(),
            Token::Keyword(Keyword::Private) => {
                while self.take(Token::Keyword(Keyword::Private)) {}
                let word = self.word("the name of a resource")?;
                self.resource(word, true)
            }
            Token::Word => {
                let word = self.next.span;
                self.advance();
                if self.is_call() {
                    let call = self.call(word)?;
                    self.statements.push(Statement::Inline(call));
                    return Ok(());
                }
                self.resource(word, false)
            }
            Token::Operator(Operator::Divide | Operator::Subtract) => {
                Err(self.wrong("expected a statement", "comments begin with `//`"))
            }
            Token::OpenBrace => Err(self.wrong(
                "expected a statement",
                "a block needs a name: `Name => { … }`",
            )),
            Token::Text { .. } | Token::Number => match self.odd_name(self.next.span.start) {
                Some(name) => self.oddly_named(name),
                None => Err(self.wrong(
                    "expected the name of a resource",
                    "names are words of letters, digits and `_`, without quotes",
                )),
            },
            _ => Err(self.wrong(
                "expected a statement",
                "statements are `Name => value`, `import(file)`, `if (…) then { … }`, and `def name(…) = value`",
            )),
        }
    }

    /// What begins there, if it stands before a mutation as names do, and is none: `node-1 => …`.
    fn odd_name(&self, start: u32) -> Option<Span> {
        let end = self.unit.sources.span(self.file).end;
        let rest = self.unit.sources.slice(Span::new(start, end));
        let length = match rest.starts_with('\'') {
            true => (self.next.span.end - start) as usize,
            false => {
                let ends = |c: char| c.is_whitespace() || "=~'\"(){}[],$?".contains(c);
                rest.find(ends).unwrap_or(rest.len())
            }
        };
        let behind = rest[length..].trim_start_matches([' ', '\t']);
        let mutations = ["=>", "~>", "~("];
        let is_name = mutations.iter().any(|one| behind.starts_with(one));
        is_name.then(|| Span::new(start, start + length as u32))
    }

    /// A resource whose name is none: mistakes in its value are reported, too.
    fn oddly_named(&mut self, span: Span) -> Parsed<()> {
        let written = self.unit.sources.slice(span);
        let name = written.trim_matches('\'');
        let possible = name.replace(|c: char| !c.is_alphanumeric(), "_");
        let possible = match possible.starts_with(|c: char| c.is_ascii_digit()) {
            true => format!("_{possible}"),
            false => possible,
        };
        let help = if written.len() > 60 || written.contains(['\\', '\n']) {
            "a name can be chosen freely; what it is called elsewhere can be a value".to_owned()
        } else if lexer::is_name(name) {
            format!("without quotes it is one: `{name}`")
        } else {
            format!("a name can be chosen freely: `{possible} => {{ Name => '{name}' }}`")
        };
        let message = "names are words of letters, digits and `_`, and this is none";
        self.unit
            .report(Diagnostic::error(SYNTAX, message).at(span).help(help));
        let end = self.unit.sources.span(self.file).end;
        self.lexer = Lexer::new(Span::new(span.end, end));
        self.advance();
        while self.mutation()?.is_some() {
            self.mutated()?;
        }
        Ok(())
    }

    fn word(&mut self, what: &str) -> Parsed<Span> {
        let span = self.next.span;
        match self.next.token {
            Token::Word => {
                self.advance();
                Ok(span)
            }
            Token::Keyword(_) => {
                let word = self.unit.sources.slice(span).to_owned();
                Err(self.wrong(
                    &format!("expected {what}"),
                    &format!("`{word}` has a meaning of its own and cannot be a name"),
                ))
            }
            _ => Err(self.wrong(&format!("expected {what}"), "")),
        }
    }

    fn symbol(&mut self, span: Span) -> Symbol {
        self.unit.symbols.intern(&self.unit.sources, span)
    }

    /// ResourceDef := Qualifier* IDENTIFIER (. IDENTIFIER)* Mutation+
    fn resource(&mut self, first: Span, private: bool) -> Parsed<()> {
        let whole = first.start;
        let mut name = first;
        // Most names have none before them, and most resources one mutation: no lists are made for those.
        let mut blocks = Vec::new();
        while self.next.token == Token::Dot && !self.next.starts_line {
            self.advance();
            blocks.push(name);
            if self.next.token != Token::Word
                && let Some(name) = self.odd_name(whole)
            {
                return self.oddly_named(name);
            }
            name = self.word("a name after `.`")?;
        }
        let Some(operator) = self.mutation_or_its_like()? else {
            if self.next.token != Token::Invalid
                && let Some(name) = self.odd_name(whole)
            {
                return self.oddly_named(name);
            }
            return Err(self.wrong(
                "expected `=>`, `~>` or `~(function)>`",
                "a resource is written `Name => value`",
            ));
        };
        let first = (operator, self.mutated()?);
        let mut further = Vec::new();
        while let Some(operator) = self.mutation()? {
            further.push((operator, self.mutated()?));
        }
        let value = match further.is_empty() {
            true => first.1,
            false => {
                let chain = self.tree.add_chain(first, &further);
                let start = self.tree.expression(first.1).span.start;
                let span = Span::new(start, self.last.end);
                self.tree.add(Kind::Chain(chain), span)
            }
        };
        let definition = self.implicit_blocks(&blocks, name, operator, value, private);
        self.statements.push(Statement::Define(definition));
        Ok(())
    }

    /// The value behind a mutation.
    fn mutated(&mut self) -> Parsed<ExpressionId> {
        let (operator, lexer, next) = (self.last, self.lexer, self.next);
        let value = self.expression()?;
        // `A =>`, and on the next line `B => 1`: the value of `A` is missing, it is not `B`.
        let is_resource = next.token == Token::Word
            && next.starts_line
            && !self.next.starts_line
            && matches!(self.next.token, Token::Assign | Token::Merge | Token::Tilde);
        if !is_resource {
            return Ok(value);
        }
        self.unit.report(
            Diagnostic::error(SYNTAX, "expected a value, found the next resource")
                .label(operator, "behind this")
                .label(next.span, "it begins here"),
        );
        (self.last, self.lexer, self.next) = (operator, lexer, next);
        Err(Wrong)
    }

    /// `A.B.C => v` is a shorthand for the nested blocks (§3.4). `=>` and `~>` hold at every level; a
    /// function combines the values, and the blocks around them are merged.
    fn implicit_blocks(
        &mut self,
        blocks: &[Span],
        name: Span,
        operator: Mutation,
        value: ExpressionId,
        private: bool,
    ) -> Definition {
        let outer = match operator {
            Mutation::Assign => Mutation::Assign,
            Mutation::Merge | Mutation::Function(_) => Mutation::Merge,
        };
        let end = self.last.end;
        let mut definition = Definition {
            name: self.symbol(name),
            at: name.start,
            operator,
            value,
            private,
        };
        for name in blocks.iter().rev() {
            let span = Span::new(definition.at, end);
            let statement = [Statement::Define(definition)];
            let body = self.tree.add_body(&statement, span, true);
            definition = Definition {
                name: self.symbol(*name),
                at: name.start,
                operator: outer,
                value: self.tree.add(Kind::Block(body), span),
                private,
            };
        }
        definition
    }

    /// A mutation, or what other languages write for it, which is told.
    fn mutation_or_its_like(&mut self) -> Parsed<Option<Mutation>> {
        let sign = self.next.span;
        match self.next.token {
            Token::Equals => {
                let message = "expected `=>`, found `=`";
                let help = "a resource is written `Name => value`";
                self.unit
                    .report(Diagnostic::error(SYNTAX, message).at(sign).help(help));
            }
            // That it means nothing was reported.
            Token::Invalid if self.is_colon_before_blank() => {}
            _ => return self.mutation(),
        }
        self.advance();
        Ok(Some(Mutation::Assign))
    }

    fn is_colon_before_blank(&self) -> bool {
        let rest = &self.unit.sources.text()[self.next.span.start as usize..];
        let behind = rest.strip_prefix(':');
        behind.is_some_and(|rest| rest.starts_with(char::is_whitespace))
    }

    /// MutateOp := => | ~> | ~(IDENTIFIER)>
    fn mutation(&mut self) -> Parsed<Option<Mutation>> {
        Ok(Some(match self.next.token {
            Token::Assign => {
                self.advance();
                Mutation::Assign
            }
            Token::Merge => {
                self.advance();
                Mutation::Merge
            }
            Token::Tilde => {
                self.advance();
                let how = "a function combines values so: `~(max)> 3`";
                self.expect_as(Token::OpenParenthesis, "`>` or `(` after `~`", how)?;
                let name = self.word("the name of a function")?;
                self.expect_as(Token::CloseParenthesis, "`)`", how)?;
                self.expect_as(Token::Operator(Operator::Greater), "`>`", how)?;
                Mutation::Function(self.symbol(name))
            }
            _ => return Ok(None),
        }))
    }

    /// MacroDef := def IDENTIFIER ( (IDENTIFIER (Sep IDENTIFIER)*)? ) = Expr
    fn macro_definition(&mut self) -> Parsed<()> {
        self.advance();
        let span = self.word("the name of a macro")?;
        let name = self.symbol(span);
        let how = "a macro is written `def name(parameter) = value`";
        self.expect_as(Token::OpenParenthesis, "`(` and the parameters", how)?;
        let mut parameters = Vec::new();
        loop {
            while self.take(Token::Comma) {}
            if self.take(Token::CloseParenthesis) {
                break;
            }
            let word = self.word("a parameter or `)`")?;
            let parameter = self.symbol(word);
            if parameters.contains(&parameter) {
                let text = self.unit.sources.slice(word);
                let message = format!("there are two parameters `{text}`");
                self.unit
                    .report(Diagnostic::error(MACRO_NAME, message).at(word));
            }
            parameters.push(parameter);
        }
        self.expect_as(Token::Equals, "`=` and what the macro stands for", how)?;
        let outer = std::mem::replace(&mut self.parameters, parameters);
        let value = self.expression();
        let names = std::mem::replace(&mut self.parameters, outer);
        let value = value?;
        if let Some(trouble) = self.unusable_name(name, span) {
            self.unit.report(trouble);
            return Ok(());
        }
        let definition = Macro { span, names, value };
        let id = self.tree.add_macro(self.file, name, definition);
        self.macros.insert(name, id);
        Ok(())
    }

    fn unusable_name(&self, name: Symbol, span: Span) -> Option<Diagnostic> {
        let text = self.unit.sources.slice(span);
        if functions::is_standard(text) {
            let message = format!("`{text}` is a standard function and cannot be a macro");
            return Some(Diagnostic::error(MACRO_NAME, message).at(span));
        }
        let first = self.tree.macro_(*self.macros.get(&name)?).span;
        let message = format!("there are two macros `{text}` in this file");
        Some(
            Diagnostic::error(MACRO_NAME, message)
                .at(span)
                .label(first, "the first is here"),
        )
    }

    /// Expr, of operators that bind stronger than `weakest`; all but comparisons associate to the left.
    fn expression(&mut self) -> Parsed<ExpressionId> {
        self.deeper()?;
        let read = self.infix(0);
        self.depth -= 1;
        read
    }

    fn infix(&mut self, weakest: u8) -> Parsed<ExpressionId> {
        let mut left = self.prefix()?;
        let mut compared = false;
        while let Token::Operator(operator) = self.next.token {
            let strength = operator.strength();
            let begins_element =
                operator == Operator::Subtract && self.in_list && self.next.starts_line;
            if strength <= weakest || begins_element {
                break;
            }
            if strength == COMPARISON && std::mem::replace(&mut compared, true) {
                return Err(self.wrong(
                    "expected the end of the comparison",
                    "compare two values at a time: `a < b && b < c`",
                ));
            }
            self.advance();
            let right = self.infix(strength)?;
            let start = self.tree.expression(left).span.start;
            let span = Span::new(start, self.last.end);
            left = self.tree.add(Kind::Binary(operator, left, right), span);
        }
        Ok(left)
    }

    /// Neg := (- | !)* Selection
    fn prefix(&mut self) -> Parsed<ExpressionId> {
        let mut signs = Vec::new();
        while matches!(
            self.next.token,
            Token::Not | Token::Operator(Operator::Subtract)
        ) {
            signs.push(self.next);
            self.advance();
        }
        // The lowest whole number has no positive counterpart.
        let mut value = match (signs.last(), self.next.token) {
            (Some(sign), Token::Number) if sign.token != Token::Not => {
                let sign = signs.pop().expect("there is one");
                let number = self.number(Some(sign.span))?;
                self.selection(number)?
            }
            _ => {
                let value = self.value()?;
                self.selection(value)?
            }
        };
        for sign in signs.iter().rev() {
            let kind = match sign.token {
                Token::Not => Kind::Not(value),
                _ => Kind::Negate(value),
            };
            let span = Span::new(sign.span.start, self.last.end);
            value = self.tree.add(kind, span);
        }
        Ok(value)
    }

    /// Selection := Value (. Value)*
    fn selection(&mut self, of: ExpressionId) -> Parsed<ExpressionId> {
        let mut of = of;
        if self.next.token == Token::Dot && self.is_number(of) {
            let start = self.tree.expression(of).span.start;
            return Ok(self.no_number(start));
        }
        while self.next.token == Token::Dot && !self.next.starts_line {
            self.advance();
            let by = self.selector()?;
            let start = self.tree.expression(of).span.start;
            let span = Span::new(start, self.last.end);
            of = self.tree.add(Kind::Select(of, by), span);
        }
        Ok(of)
    }

    /// A value, or a name: unlike a bare literal, a name may begin with `_`.
    fn selector(&mut self) -> Parsed<ExpressionId> {
        let word = self.next.span;
        if self.next.token != Token::Word || !self.unit.sources.slice(word).starts_with('_') {
            return self.value();
        }
        self.advance();
        if self.is_call() {
            return self.call(word);
        }
        let cell = self.unit.literals.text(word);
        Ok(self.tree.add(Kind::Literal(cell), word))
    }

    fn value(&mut self) -> Parsed<ExpressionId> {
        let start = self.next.span;
        match self.next.token {
            Token::Word => {
                self.advance();
                if self.is_call() {
                    return self.call(start);
                }
                if self.unit.sources.slice(start).starts_with('_') {
                    let message = "a bare literal cannot begin with `_`";
                    self.unit.report(
                        Diagnostic::error(SYNTAX, message)
                            .at(start)
                            .help("put it in quotes"),
                    );
                }
                let cell = self.unit.literals.text(start);
                Ok(self.tree.add(Kind::Literal(cell), start))
            }
            Token::Number => self.number(None),
            Token::Text { escaped, .. } => {
                self.advance();
                let inner = Span::new(start.start + 1, start.end - 1);
                let cell = match escaped {
                    false => self.unit.literals.text(inner),
                    true => {
                        let text = text::unescape(self.unit.sources.slice(inner));
                        self.unit.literals.made_text(&text)
                    }
                };
                Ok(self.tree.add(Kind::Literal(cell), start))
            }
            Token::Keyword(word @ (Keyword::True | Keyword::False)) => {
                self.advance();
                let cell = Cell::bool(word == Keyword::True);
                Ok(self.tree.add(Kind::Literal(cell), start))
            }
            Token::Undefined => {
                self.advance();
                Ok(self.tree.add(Kind::Undefined, start))
            }
            Token::Dollar => {
                self.advance();
                if self.next.token == Token::OpenBrace {
                    return Err(self.wrong(
                        "expected the name of a resource after `$`",
                        "no braces stand around it: `$Name`",
                    ));
                }
                let word = self.word("the name of a resource after `$`")?;
                let name = self.symbol(word);
                let span = Span::new(start.start, word.end);
                let parameter = self.parameters.iter().position(|&one| one == name);
                let kind = match parameter {
                    Some(number) => Kind::Parameter(number as u32),
                    None => Kind::Reference(name),
                };
                Ok(self.tree.add(kind, span))
            }
            Token::OpenParenthesis => {
                self.advance();
                let was_in_list = std::mem::replace(&mut self.in_list, false);
                let inner = self.expression();
                self.in_list = was_in_list;
                let inner = inner?;
                self.close(Token::CloseParenthesis, "`)`", start)?;
                Ok(inner)
            }
            Token::OpenBrace => {
                self.advance();
                let body = self.body(start.start, Token::CloseBrace);
                if !self.take(Token::CloseBrace) {
                    return Err(Wrong);
                }
                let span = Span::new(start.start, self.last.end);
                Ok(self.tree.add(Kind::Block(body), span))
            }
            Token::OpenBracket => {
                self.advance();
                let mark = self.expressions.len();
                let elements = self.elements(Token::CloseBracket, "`]`", start);
                let kind = elements.map(|()| {
                    let list = &self.expressions[mark..];
                    match literals(self.tree, list) {
                        Some(items) => Kind::Literal(self.unit.literals.list(&items)),
                        None => Kind::List(self.tree.add_list(list)),
                    }
                });
                self.expressions.truncate(mark);
                let kind = kind?;
                let span = Span::new(start.start, self.last.end);
                Ok(self.tree.add(kind, span))
            }
            Token::Keyword(Keyword::If) => self.conditional(),
            Token::Keyword(Keyword::Import) => self.import(),
            Token::Keyword(_) => {
                let word = self.unit.sources.slice(start).to_owned();
                Err(self.wrong(
                    "expected a value",
                    &format!("`{word}` has a meaning of its own; as text, write '{word}'"),
                ))
            }
            Token::Operator(Operator::Divide) => {
                Err(self.wrong("expected a value", "a path stands in quotes: '/etc/hosts'"))
            }
            _ => Err(self.wrong("expected a value", "")),
        }
    }

    /// Whether an expression is a number that is written right before this dot, and another right behind it.
    fn is_number(&self, id: ExpressionId) -> bool {
        let Expression { kind, span } = self.tree.expression(id);
        let text = self.unit.sources.text().as_bytes();
        let is_digit = |at: u32| text.get(at as usize).is_some_and(u8::is_ascii_digit);
        let dot = self.next.span;
        matches!(kind, Kind::Literal(_))
            && is_digit(span.start)
            && span.end == dot.start
            && is_digit(dot.end)
    }

    /// What begins like a number, and is none: `10MB`, `10.0.0.1`.
    fn no_number(&mut self, start: u32) -> ExpressionId {
        let end = self.unit.sources.span(self.file).end;
        let rest = self.unit.sources.slice(Span::new(start, end));
        let goes_on = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
        let length = rest.find(|c| !goes_on(c)).unwrap_or(rest.len());
        let whole = Span::new(start, start + length as u32);
        let text = self.unit.sources.slice(whole);
        let message = format!("`{text}` is neither a number nor a word");
        self.unit.report(
            Diagnostic::error(SYNTAX, message)
                .at(whole)
                .help(format!("as text, write '{text}'")),
        );
        self.lexer = Lexer::new(Span::new(whole.end, end));
        self.advance();
        self.last = whole;
        self.tree.add(Kind::Undefined, whole)
    }

    /// The number that is looked at, behind a sign.
    fn number(&mut self, sign: Option<Span>) -> Parsed<ExpressionId> {
        let digits = self.next.span;
        self.advance();
        if self.next.token == Token::Word && self.next.span.start == digits.end {
            return Ok(self.no_number(digits.start));
        }
        let span = Span::new(sign.map_or(digits.start, |sign| sign.start), digits.end);
        let Unit {
            sources, literals, ..
        } = &mut *self.unit;
        let text = sources.slice(digits);
        let read = match sign {
            None => text::number(text, literals),
            Some(_) => text::number(&format!("-{text}"), literals),
        };
        let Some(cell) = read else {
            let message = "this number is too large to be kept exactly";
            self.unit.report(
                Diagnostic::error(NUMBER_RANGE, message)
                    .at(span)
                    .help("whole numbers go from -2^63 to 2^63-1; as text, put it in quotes"),
            );
            return Ok(self.tree.add(Kind::Undefined, span));
        };
        Ok(self.tree.add(Kind::Literal(cell), span))
    }

    /// Elements up to a closing bracket, separated by newlines or commas.
    fn elements(&mut self, close: Token, name: &str, open: Span) -> Parsed<()> {
        let was_in_list = std::mem::replace(&mut self.in_list, true);
        let read = self.elements_until(close, name, open);
        self.in_list = was_in_list;
        read
    }

    fn elements_until(&mut self, close: Token, name: &str, open: Span) -> Parsed<()> {
        loop {
            while self.take(Token::Comma) {}
            if self.take(close) {
                return Ok(());
            }
            if self.next.token == Token::End {
                return self.close(close, name, open);
            }
            let element = self.expression()?;
            self.expressions.push(element);
            let next = self.next;
            // Neither a resource nor the end of something else can stand here: what is open was to end before it.
            let is_past = match next.token {
                Token::Assign | Token::Merge | Token::Tilde | Token::End => true,
                Token::CloseBrace | Token::CloseBracket | Token::CloseParenthesis => {
                    next.token != close
                }
                _ => false,
            };
            if is_past {
                return self.close(close, name, open);
            }
            if !next.starts_line && next.token != Token::Comma && next.token != close {
                return Err(self.wrong(
                    &format!("expected a comma, a new line or {name}"),
                    self.how_to_go_on(),
                ));
            }
        }
    }

    fn close(&mut self, close: Token, name: &str, open: Span) -> Parsed<()> {
        if self.take(close) {
            return Ok(());
        }
        if self.next.token != Token::Invalid && !self.is_string_late() {
            let message = format!("expected {name}");
            self.unit.report(
                Diagnostic::error(SYNTAX, message)
                    .at(Span::at(self.next.span.start))
                    .label(open, "to close this"),
            );
        }
        Err(Wrong)
    }

    fn is_call(&self) -> bool {
        self.next.token == Token::OpenParenthesis && !self.next.starts_line
    }

    /// FunCall := IDENTIFIER ( (Expr (Sep Expr)*)? )
    fn call(&mut self, word: Span) -> Parsed<ExpressionId> {
        let name = self.symbol(word);
        let open = self.next.span;
        self.advance();
        let mark = self.expressions.len();
        let read = self.elements(Token::CloseParenthesis, "`)`", open);
        let arguments = self.expressions.split_off(mark);
        read?;
        let span = Span::new(word.start, self.last.end);
        let list = self.tree.add_list(&arguments);
        let Some(&id) = self.macros.get(&name) else {
            return Ok(self.tree.add(Kind::Call(name, list), span));
        };
        let expected = self.tree.macro_(id).names.len();
        if expected != arguments.len() {
            let text = self.unit.sources.slice(word);
            let message = functions::wrong_count(text, expected, arguments.len());
            let defined = self.tree.macro_(id).span;
            self.unit.report(
                Diagnostic::error(functions::ARGUMENTS, message)
                    .at(span)
                    .label(defined, "it is defined here"),
            );
            return Ok(self.tree.add(Kind::Undefined, span));
        }
        Ok(self.tree.add(Kind::Macro(id, list), span))
    }

    /// Import := import ( Expr (Sep Expr)? )
    fn import(&mut self) -> Parsed<ExpressionId> {
        let start = self.next.span;
        self.advance();
        let open = self.next.span;
        let how = "the file stands in brackets: `import(file)`";
        self.expect_as(Token::OpenParenthesis, "`(` and the name of a file", how)?;
        let mark = self.expressions.len();
        let read = self.elements(Token::CloseParenthesis, "`)`", open);
        let arguments = self.expressions.split_off(mark);
        read?;
        let span = Span::new(start.start, self.last.end);
        let kind = match arguments.as_slice() {
            [file] => Kind::Import(*file, None),
            [file, signers] => Kind::Import(*file, Some((*signers).into())),
            other => {
                let given = other.len();
                let message = format!(
                    "`import` takes a file and who may sign it, and here are {given} arguments"
                );
                self.unit
                    .report(Diagnostic::error(functions::ARGUMENTS, message).at(span));
                Kind::Undefined
            }
        };
        Ok(self.tree.add(kind, span))
    }

    /// Conditional := if Term then Expr (else Expr)?
    fn conditional(&mut self) -> Parsed<ExpressionId> {
        let start = self.next.span;
        self.advance();
        if self.next.token != Token::OpenParenthesis {
            return Err(self.wrong(
                "expected `(` and a condition",
                "the condition stands in brackets: `if ($x > 1) then …`",
            ));
        }
        let condition = self.value()?;
        let how = "a conditional is written `if (…) then … else …`";
        self.expect_as(Token::Keyword(Keyword::Then), "`then`", how)?;
        let then = self.expression()?;
        let otherwise = match self.take(Token::Keyword(Keyword::Else)) {
            true => Some(self.expression()?.into()),
            false => None,
        };
        let span = Span::new(start.start, self.last.end);
        Ok(self.tree.add(Kind::If(condition, then, otherwise), span))
    }
}

/// The elements of a list as literals, if they all are.
fn literals(tree: &Tree, list: &[ExpressionId]) -> Option<Vec<Item>> {
    let item = |&id: &ExpressionId| match tree.expression(id) {
        Expression {
            kind: Kind::Literal(cell),
            span,
        } => Some(Item {
            cell,
            at: span.start,
        }),
        _ => None,
    };
    list.iter().map(item).collect()
}
