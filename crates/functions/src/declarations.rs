//! What a file says about its function before it is ever called: its prototype, its constants, whether it
//! can combine values.

use std::collections::BTreeSet;
use std::fmt;

use hence_model::function::{Mutation, Parameter, Passing, Types};
use rhai::{
    AST, ASTFlags, ASTNode, Expr, FnCallExpr, ImmutableString, LexError, ParseError,
    ParseErrorType, Position, Stmt,
};

use crate::engine::{ENGINE, EVAL, LITERAL, OPERATORS, SOURCE};

/// Something wrong with a file, which therefore defines no function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
    /// The line and column, from 1.
    pub place: (u32, u32),
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.place.0, self.place.1, self.message)?;
        match &self.help {
            Some(help) => write!(f, "; {help}"),
            None => Ok(()),
        }
    }
}

impl Mistake {
    pub(crate) fn new(place: (u32, u32), message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            help: None,
            place,
        }
    }

    fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// A file that was read.
pub(crate) struct Declarations {
    pub parameters: Vec<Parameter>,
    pub mutation: Option<Mutation>,
    /// The names of constants, and the statements that define them.
    pub constants: Vec<(ImmutableString, Stmt)>,
    pub ast: AST,
}

const TYPES: &str = "the types are ANYTYPE, UNDEF, BLOCK, LIST, SCALAR, BOOL, NUMBER and LITERAL, the flags \
                     NOEVAL and PLACED, combined with `|`";

/// Reads a file, or finds all that is wrong with it.
pub(crate) fn read(text: &str) -> Result<Declarations, Vec<Mistake>> {
    if text.len() > SOURCE {
        let message = format!("the file is longer than {} KiB", SOURCE / 1024);
        return Err(vec![Mistake::new((1, 1), message)]);
    }
    let ast = ENGINE
        .compile(text)
        .map_err(|error| vec![unreadable(error)])?;
    let mut reader = Reader::default();
    let statements = ast.statements().iter();
    statements.for_each(|statement| reader.statement(statement));
    if reader.proto.is_none() {
        let help = "write `proto(…);`, with the types of the arguments, before `fn eval`";
        let mistake = Mistake::new((1, 1), "the file has no prototype");
        reader.mistakes.push(mistake.help(help));
    }
    reader.functions(&ast);
    reader.expressions(&ast);
    let Reader {
        proto,
        commutative,
        constants,
        mutates,
        mut mistakes,
    } = reader;
    if !mistakes.is_empty() {
        mistakes.sort_by_key(|mistake| mistake.place);
        return Err(mistakes);
    }
    Ok(Declarations {
        parameters: proto.unwrap_or_default(),
        mutation: mutates.then_some(match commutative {
            Some(_) => Mutation::Commutative,
            None => Mutation::Ordered,
        }),
        constants,
        ast,
    })
}

/// The statements of one function.
pub(crate) fn body(ast: &AST, name: &str, parameters: usize) -> Vec<Stmt> {
    let mut statements = Vec::new();
    let mut only = ast.clone_functions_only();
    only.retain_functions(|_, _, other, count| other == name && count == parameters);
    only.walk(&mut |path| {
        if let [ASTNode::Stmt(statement)] = path {
            statements.push((*statement).clone());
        }
        true
    });
    statements
}

/// A place as we write it. What Rhai places nowhere is at the beginning.
pub(crate) fn place(position: Position) -> (u32, u32) {
    let line = position.line().unwrap_or(1);
    (line as u32, position.position().unwrap_or(1).max(1) as u32)
}

pub(crate) fn unreadable(ParseError(kind, position): ParseError) -> Mistake {
    let place = place(position);
    let refused = match &*kind {
        ParseErrorType::Reserved(word) => Some(word),
        ParseErrorType::BadInput(LexError::ImproperSymbol(word, _)) => Some(word),
        _ => None,
    };
    let help = refused.and_then(|word| match word.as_str() {
        "try" | "catch" | "throw" => Some("a function refuses with `fail(\"…\")`, for good"),
        "import" | "export" => Some("a function is one file and sees no other"),
        "print" | "debug" => Some("a function answers with its result only"),
        "this" => Some("name the value as a parameter: `fn helper(value)`"),
        _ => None,
    });
    match (refused, help) {
        (Some(word), Some(help)) => {
            Mistake::new(place, format!("there is no `{word}` here")).help(help)
        }
        _ => Mistake::new(place, in_words(&kind.to_string())),
    }
}

/// What Rhai says, as we write it: names stand in backquotes, and a message begins small.
pub(crate) fn in_words(said: &str) -> String {
    let mut characters = said.chars();
    let first = characters.next().map(|first| first.to_ascii_lowercase());
    let said: String = first.into_iter().chain(characters).collect();
    said.replace('\'', "`")
}

#[derive(Default)]
struct Reader {
    proto: Option<Vec<Parameter>>,
    commutative: Option<(u32, u32)>,
    constants: Vec<(ImmutableString, Stmt)>,
    mutates: bool,
    mistakes: Vec<Mistake>,
}

impl Reader {
    fn statement(&mut self, statement: &Stmt) {
        let at = place(statement.position());
        match statement {
            Stmt::Noop(_) => return,
            Stmt::Var(constant, flags, _) if flags.contains(ASTFlags::CONSTANT) => {
                let name = constant.0.name.clone();
                return self.constants.push((name, statement.clone()));
            }
            _ => {}
        }
        match called(statement).map(|call| (call.name.as_str(), call)) {
            Some(("proto", call)) => self.proto(call, at),
            Some(("commutative", call)) if call.args.is_empty() => {
                if self.commutative.replace(at).is_some() {
                    self.mistakes.push(Mistake::new(at, "a second `commutative();`"));
                }
            }
            _ => self.mistakes.push(
                Mistake::new(at, "expected a declaration, and this is a statement")
                    .help("outside of functions stand only `proto(…);`, `commutative();`, `const` and `fn`"),
            ),
        }
    }

    fn proto(&mut self, call: &FnCallExpr, at: (u32, u32)) {
        if self.proto.is_some() {
            return self.mistakes.push(Mistake::new(at, "a second prototype"));
        }
        let parameters = call.args.iter().map(|expr| self.parameter(expr));
        self.proto = Some(parameters.collect());
    }

    fn parameter(&mut self, expr: &Expr) -> Parameter {
        let mut types: Option<Types> = None;
        let mut passing = Passing::Value;
        let mut pending = vec![expr];
        while let Some(expr) = pending.pop() {
            let one = match expr {
                Expr::FnCall(call, _) if call.name == "|" => {
                    pending.extend(&call.args);
                    continue;
                }
                Expr::Variable(name, ..) => match name.1.as_str() {
                    "NOEVAL" => {
                        passing = Passing::Unevaluated;
                        continue;
                    }
                    "PLACED" => {
                        if passing == Passing::Value {
                            passing = Passing::Placed;
                        }
                        continue;
                    }
                    name => type_named(name),
                },
                _ => None,
            };
            match (one, types) {
                (Some(one), Some(others)) => types = Some(one | others),
                (Some(one), None) => types = Some(one),
                (None, _) => {
                    let at = place(expr.position());
                    self.mistakes
                        .push(Mistake::new(at, "expected a type").help(TYPES));
                    types = Some(Types::ANYTYPE);
                }
            }
        }
        if types.is_none() {
            let mistake = Mistake::new(place(expr.position()), "expected a type beside the flag");
            self.mistakes
                .push(mistake.help("for any type, write `ANYTYPE | …`"));
        }
        Parameter {
            types: types.unwrap_or(Types::ANYTYPE),
            passing,
        }
    }

    /// There must be an `eval` that fits the prototype, and a `mutate` if the file says so.
    fn functions(&mut self, ast: &AST) {
        let mut seen = BTreeSet::new();
        let functions = ast.shared_lib().iter_script_fn_info();
        let mut functions: Vec<_> = functions.map(|(_, _, _, _, function)| function).collect();
        functions.sort_by_key(|function| place(function.body.start_position()));
        for function in functions {
            let at = place(function.body.start_position());
            let (name, count) = (function.name.as_str(), function.params.len());
            let wanted = self.proto.as_ref().map_or(count, Vec::len);
            let mistake = match name {
                // A use of the name without arguments would mean any of the two.
                _ if !seen.insert(name) => Some((
                    format!("a second function `{}`", written(name)),
                    "give it another name",
                )),
                EVAL if count != wanted => Some((
                    format!(
                        "expected as many parameters of `eval` as types in the prototype, {wanted}, and it has {count}"
                    ),
                    "each type of the prototype is that of a parameter",
                )),
                "mutate" if count != 2 => Some((
                    format!("expected two parameters of `mutate`, and it has {count}"),
                    "write `fn mutate(highest, lower)`",
                )),
                _ => None,
            };
            if let Some((message, help)) = mistake {
                self.mistakes.push(Mistake::new(at, message).help(help));
            }
        }
        if !seen.contains(EVAL) {
            let help = "write `fn eval(…) { … }`, with a parameter for each type of the prototype";
            self.mistakes
                .push(Mistake::new((1, 1), "the file has no function `eval`").help(help));
        }
        self.mutates = seen.contains("mutate");
        if let (Some(at), false) = (self.commutative, self.mutates) {
            let help = "write `fn mutate(highest, lower) { … }`";
            self.mistakes
                .push(Mistake::new(at, "`commutative();` without a function `mutate`").help(help));
        }
    }

    /// Every name must be known, no closure may use what is around it, and nothing may be too deep for
    /// the stack.
    fn expressions(&mut self, ast: &AST) {
        let constants = self.constants.iter().map(|(name, _)| name.clone());
        let constants: Vec<ImmutableString> = constants.collect();
        let mut known = constants.clone();
        known.extend(ast.iter_functions().map(|function| function.name.into()));
        let mut unknown = Vec::new();
        ast.walk(&mut |path| {
            let calls = path.iter().filter(|node| is_call(node)).count();
            if calls == OPERATORS + 1 && path.last().is_some_and(is_call) {
                let at = path.first().map_or((1, 1), |node| place(node.position()));
                let message =
                    format!("more than {OPERATORS} operators or calls, each within another");
                let help = "name a part of it: `let part = …;`";
                self.mistakes.push(Mistake::new(at, message).help(help));
            }
            match path.last() {
                Some(ASTNode::Stmt(Stmt::Share(captured))) => {
                    for (variable, index) in captured.iter() {
                        if index.is_none() && constants.contains(&variable.name) {
                            continue;
                        }
                        let message =
                            format!("a closure cannot use `{}` from around it", variable.name);
                        let help = "pass it: `map(list, |x, other| …, other)`";
                        self.mistakes
                            .push(Mistake::new(place(variable.pos), message).help(help));
                        known.push(variable.name.clone());
                    }
                }
                Some(ASTNode::Expr(Expr::StringConstant(text, position)))
                    if text.len() > LITERAL =>
                {
                    let message = format!("a text of more than {} KiB", LITERAL / 1024);
                    self.mistakes.push(Mistake::new(place(*position), message));
                }
                Some(ASTNode::Expr(Expr::Variable(name, None, position))) => {
                    let declaration = match path.first() {
                        Some(ASTNode::Stmt(first)) => called(first),
                        _ => None,
                    };
                    if name.0.is_none() && declaration.is_none_or(|call| call.name != "proto") {
                        unknown.push((name.1.clone(), *position));
                    }
                }
                Some(ASTNode::Expr(Expr::FnCall(call, position)))
                | Some(ASTNode::Stmt(Stmt::FnCall(call, position)))
                    if call.capture_parent_scope =>
                {
                    let message =
                        format!("`{}!(…)` would see the variables of its caller", call.name);
                    self.mistakes
                        .push(Mistake::new(place(*position), message).help("call it without `!`"));
                }
                _ => {}
            }
            true
        });
        unknown.retain(|(name, _)| !known.contains(name));
        let unknown = unknown.into_iter().map(|(name, position)| {
            Mistake::new(
                place(position),
                format!("nothing named `{name}` is known here"),
            )
        });
        self.mistakes.extend(unknown);
    }
}

/// The name of a function as it is written.
pub(crate) fn written(name: &str) -> &str {
    match name {
        EVAL => "eval",
        _ => name,
    }
}

fn is_call(node: &ASTNode) -> bool {
    match node {
        ASTNode::Stmt(statement) => matches!(statement, Stmt::FnCall(..)),
        ASTNode::Expr(expr) => matches!(expr, Expr::FnCall(..) | Expr::MethodCall(..)),
        _ => false,
    }
}

/// The call that a statement consists of.
fn called(statement: &Stmt) -> Option<&FnCallExpr> {
    match statement {
        Stmt::FnCall(call, _) => Some(call),
        Stmt::Expr(expr) => match &**expr {
            Expr::FnCall(call, _) => Some(call),
            _ => None,
        },
        _ => None,
    }
}

fn type_named(name: &str) -> Option<Types> {
    Some(match name {
        "ANYTYPE" => Types::ANYTYPE,
        "UNDEF" => Types::UNDEF,
        "BLOCK" => Types::BLOCK,
        "LIST" => Types::LIST,
        "SCALAR" => Types::SCALAR,
        "BOOL" => Types::BOOL,
        "NUMBER" => Types::NUMBER,
        "LITERAL" => Types::LITERAL,
        _ => return None,
    })
}
