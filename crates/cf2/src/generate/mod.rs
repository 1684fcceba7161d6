//! Random programs.
//!
//! Each name has one type wherever it is used, and may refer only to names that stand before it in one list;
//! every block has an `x` that is a number and a `y` that is text. So files can override, merge and import
//! each other in any way, and most programs still have a value. What inline statements read is named after
//! its file, so that no other file defines it.

mod expression;
mod literal;
mod program;

use std::collections::{BTreeMap, BTreeSet};

pub use hence_model::random::Random;

pub use self::program::{Body, Program, Statement, Text, Texts};

/// What kind of value a name has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Type {
    Number,
    Text,
    Bool,
    /// At least two numbers.
    Numbers,
    /// At least two texts.
    Texts,
    /// At least two lists of numbers.
    Table,
    Block,
}

/// How a name is usually defined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Operator {
    Assign,
    Merge,
    Max,
    Min,
    Sum,
}

impl Operator {
    fn text(self) -> &'static str {
        match self {
            Operator::Assign => "=>",
            Operator::Merge => "~>",
            Operator::Max => "~(max)>",
            Operator::Min => "~(min)>",
            Operator::Sum => "~(sum)>",
        }
    }
}

/// The names at the top of files: each may refer to those before it.
const NAMES: [(&str, Type, Operator); 20] = [
    ("count", Type::Number, Operator::Assign),
    ("owner", Type::Text, Operator::Assign),
    ("debug", Type::Bool, Operator::Assign),
    ("total", Type::Number, Operator::Sum),
    ("ports", Type::Numbers, Operator::Assign),
    ("Base", Type::Block, Operator::Assign),
    ("size", Type::Number, Operator::Assign),
    ("host", Type::Text, Operator::Assign),
    ("fast", Type::Bool, Operator::Assign),
    ("high", Type::Number, Operator::Max),
    ("users", Type::Texts, Operator::Assign),
    ("Web", Type::Block, Operator::Merge),
    ("größe", Type::Number, Operator::Assign),
    ("low", Type::Number, Operator::Min),
    ("table", Type::Table, Operator::Assign),
    ("Mail", Type::Block, Operator::Merge),
    ("_path", Type::Text, Operator::Assign),
    ("trueish", Type::Bool, Operator::Assign),
    ("names", Type::Texts, Operator::Assign),
    ("Node", Type::Block, Operator::Merge),
];

/// Names inside of blocks, beside `x` and `y`.
const FIELDS: [(&str, Type); 7] = [
    ("port", Type::Number),
    ("path", Type::Text),
    ("on", Type::Bool),
    ("list", Type::Numbers),
    ("count", Type::Number),
    ("In", Type::Block),
    ("words", Type::Texts),
];

/// The program that belongs to a seed; of about `size` statements.
pub fn program(seed: u64, size: usize) -> Program {
    let mut random = Random::new(seed);
    let count = 1 + random.below(5).min(1 + size / 3);
    let mut writer = Writer {
        left: size,
        share: 1 + size / count,
        random,
        files: BTreeMap::new(),
    };
    let mut program = Program::default();
    // The last file imports nothing, so it is written first.
    for number in (0..count).rev() {
        let body = writer.file(number, count);
        program
            .files
            .push((format!("{}.cf2", name_of(number)), body));
    }
    program.files.reverse();
    program
}

fn name_of(file: usize) -> String {
    match file {
        0 => "main".to_owned(),
        file => format!("f{file}"),
    }
}

/// What is known of a file that is written.
#[derive(Clone, Debug, Default)]
struct Known {
    /// The names that it has wherever it is imported, by their number.
    names: BTreeSet<usize>,
    /// Whose definitions of a name are highest: the files and their operators.
    highest: BTreeMap<usize, BTreeSet<(usize, Operator)>>,
    /// The files that it imports inline, directly or not.
    imports: BTreeSet<usize>,
}

/// What expressions can refer to.
#[derive(Clone, Debug, Default)]
struct Scope {
    /// The names that are there, by their number.
    names: BTreeSet<usize>,
    /// Only names before this one may be read.
    rank: usize,
    /// Names of this file alone.
    own: Vec<Own>,
    /// The files that are imported as values, and their names here.
    values: Vec<(String, usize)>,
    macros: Vec<Macro>,
    parameters: Vec<(String, Type)>,
}

/// A name that only one file has.
#[derive(Clone, Debug)]
struct Own {
    name: String,
    type_: Type,
    /// Its value, if it is a literal.
    value: Option<String>,
}

#[derive(Clone, Debug)]
struct Macro {
    name: String,
    parameters: Vec<Type>,
    result: Type,
    /// What it reads stands before this one.
    rank: usize,
}

struct Writer {
    random: Random,
    /// How many statements may still be written, and how many in each file.
    left: usize,
    share: usize,
    files: BTreeMap<usize, Known>,
}

impl Writer {
    fn file(&mut self, number: usize, count: usize) -> Body {
        let mut body = Body::default();
        let mut scope = Scope::default();
        let mut known = Known::default();
        self.controls(number, &mut scope, &mut body);
        let later: Vec<usize> = (number + 1..count).collect();
        for &file in &later {
            if self.random.chance(25) {
                let name = format!("Part{number}_{file}");
                let import = self.import(file, &mut scope, number, &mut body);
                let private = if self.random.chance(60) {
                    "private "
                } else {
                    ""
                };
                body.say(Text::from(format!("{private}{name} => ")) + import);
                scope.values.push((name, file));
            }
        }
        self.macros(number, &mut scope, &mut body);
        let mut perhaps: BTreeSet<usize> = BTreeSet::new();
        for &file in &later {
            match self.random.below(100) {
                0..50 => {
                    let import = self.import(file, &mut scope, number, &mut body);
                    body.say(import.clone());
                    if self.random.chance(10) {
                        body.say(import);
                    }
                    self.take_in(file, &mut known, true);
                }
                50..60 => {
                    let condition = self.condition(&scope);
                    let import = self.import(file, &mut scope, number, &mut body);
                    let import = match self.random.chance(50) {
                        true => import,
                        false => {
                            let mut inner = self.body();
                            inner.say(import);
                            inner.into()
                        }
                    };
                    body.say(Text::from("if (") + condition + ") then " + import);
                    let provided: Vec<usize> = self.files[&file].highest.keys().copied().collect();
                    perhaps.extend(provided);
                    self.take_in(file, &mut known, false);
                }
                _ => {}
            }
        }
        self.definitions(number, &mut scope, &mut known, &perhaps, &mut body);
        self.asides(&scope, &mut body);
        self.files.insert(number, known);
        body
    }

    /// Adds what another file brings to what is known of one.
    fn take_in(&mut self, file: usize, known: &mut Known, always: bool) {
        let other = self.files[&file].clone();
        known.imports.insert(file);
        known.imports.extend(other.imports);
        if always {
            known.names.extend(other.names);
        }
        for (name, highest) in other.highest {
            known.highest.entry(name).or_default().extend(highest);
        }
    }

    /// Names that only this file has: what inline statements may read.
    fn controls(&mut self, number: usize, scope: &mut Scope, body: &mut Body) {
        for letter in ["a", "b", "c"].iter().take(self.random.below(4)) {
            let type_ = *self.random.pick(&[Type::Number, Type::Text, Type::Bool]);
            let is_literal = self.random.chance(60);
            let value = match is_literal {
                true => self.literal(type_),
                false => self.expression(scope, type_, 2),
            };
            let literal = is_literal.then(|| value.text());
            let name = format!("own{number}{letter}");
            let private = if self.random.chance(40) {
                "private "
            } else {
                ""
            };
            body.say(Text::from(format!("{private}{name} => ")) + value);
            scope.own.push(Own {
                name,
                type_,
                value: literal,
            });
        }
    }

    fn macros(&mut self, number: usize, scope: &mut Scope, body: &mut Body) {
        for letter in ["f", "g"].iter().take(self.random.below(3)) {
            let types = [Type::Number, Type::Text, Type::Bool, Type::Block];
            let count = self.random.below(3);
            let parameters: Vec<Type> =
                (0..count).map(|_| *self.random.pick(&types[..3])).collect();
            let named = ["p", "q"].iter().map(|name| (*name).to_owned());
            let result = *self.random.pick(&types);
            let inner = Scope {
                parameters: named.zip(parameters.iter().copied()).collect(),
                ..scope.clone()
            };
            let value = self.expression(&inner, result, 1);
            let name = format!("{letter}{number}");
            let list: Vec<&str> = inner.parameters.iter().map(|one| one.0.as_str()).collect();
            let text = Text::from(format!("def {name}({}) = ", list.join(", "))) + value;
            body.statements.push(Statement {
                text,
                is_macro: true,
            });
            scope.macros.push(Macro {
                name,
                parameters,
                result,
                rank: scope.rank,
            });
        }
    }

    /// An import of a file, under one of the names that it has.
    fn import(&mut self, file: usize, scope: &mut Scope, number: usize, body: &mut Body) -> Text {
        let name = name_of(file);
        let argument = match self.random.below(48) {
            0 | 7 => format!("'{name}'"),
            1 | 8 => format!("'{name}.cf2'"),
            2 | 9 => format!("'./{name}'"),
            3 => format!("f ++ {file}"),
            4 => format!("'f' ++ ({} - {file})", 2 * file),
            5 => {
                let named = format!("file{number}_{file}");
                if !scope.own.iter().any(|one| one.name == named) {
                    body.say(format!("{named} => {name}"));
                    scope.own.push(Own {
                        name: named.clone(),
                        type_: Type::Text,
                        value: None,
                    });
                }
                format!("${named}")
            }
            6 => {
                let others: Vec<usize> = self.files.keys().copied().collect();
                let other = name_of(*self.random.pick(&others));
                let condition = self.condition(scope).text();
                match other == name {
                    true => name,
                    false => format!("if ({condition}) then {name} else {other}"),
                }
            }
            _ => name,
        };
        format!("import({argument})").into()
    }

    /// A condition that reads nothing that an inline statement could define.
    fn condition(&mut self, scope: &Scope) -> Text {
        let reads = Scope {
            rank: 0,
            ..scope.clone()
        };
        self.expression(&reads, Type::Bool, 1)
    }

    fn definitions(
        &mut self,
        number: usize,
        scope: &mut Scope,
        known: &mut Known,
        perhaps: &BTreeSet<usize>,
        body: &mut Body,
    ) {
        let imports: BTreeMap<usize, BTreeSet<usize>> = self
            .files
            .iter()
            .map(|(&file, known)| (file, known.imports.clone()))
            .collect();
        let mut own: BTreeSet<usize> = BTreeSet::new();
        for (&name, highest) in &mut known.highest {
            // What is imported by others of them is below those.
            let files: Vec<usize> = highest.iter().map(|one| one.0).collect();
            highest.retain(|one| !files.iter().any(|file| imports[file].contains(&one.0)));
            let operators: BTreeSet<Operator> = highest.iter().map(|one| one.1).collect();
            let is_undecided =
                highest.len() > 1 && (operators.len() > 1 || operators.contains(&Operator::Assign));
            if (is_undecided || perhaps.contains(&name)) && self.random.chance(97) {
                own.insert(name);
            }
        }
        for _ in 0..self.share.min(self.left) {
            own.insert(self.random.below(NAMES.len()));
        }
        // Some are defined by conditionals; what only one branch defines cannot be relied on.
        let both = self.some_of(&own, 10);
        let one = self.some_of(&(&own - &both), 6);
        let inherited = known.names.clone();
        known.names.extend(own.difference(&one));
        scope.names = known.names.clone();
        self.left = self.left.saturating_sub(own.len());
        for &name in own.difference(&both) {
            if !one.contains(&name) {
                let before = body.statements.len();
                let operator = self.definition(name, scope, inherited.contains(&name), body);
                known
                    .highest
                    .insert(name, BTreeSet::from([(number, operator)]));
                if self.random.chance(3) {
                    let again = body.statements[before..].to_vec();
                    body.statements.extend(again);
                }
                if self.random.chance(4) {
                    body.say(format!("{} => ?", NAMES[name].0));
                }
            }
        }
        for (names, has_else) in [(both, true), (one, false)] {
            if names.is_empty() {
                continue;
            }
            let condition = self.condition(scope);
            let branch = |writer: &mut Self, known: &mut Known| {
                let mut inner = writer.body();
                for &name in &names {
                    let operator = writer.definition(name, scope, false, &mut inner);
                    let highest = known.highest.entry(name).or_default();
                    highest.insert((number, operator));
                }
                inner
            };
            for &name in &names {
                known.highest.insert(name, BTreeSet::new());
            }
            let then = branch(self, known);
            let mut text = Text::from("if (") + condition + ") then " + then;
            if has_else {
                text = text + " else " + branch(self, known);
            }
            body.say(text);
        }
    }

    fn some_of(&mut self, names: &BTreeSet<usize>, percent: usize) -> BTreeSet<usize> {
        let some = names.iter().filter(|_| self.random.chance(percent));
        some.copied().collect()
    }

    /// Defines a name; `is_inherited` if an imported file always gives it a value.
    fn definition(
        &mut self,
        name: usize,
        scope: &Scope,
        is_inherited: bool,
        body: &mut Body,
    ) -> Operator {
        let (word, type_, usual) = NAMES[name];
        let reads = Scope {
            rank: name,
            ..scope.clone()
        };
        let private = if self.random.chance(8) {
            "private "
        } else {
            ""
        };
        let operator = match self
            .random
            .chance(if type_ == Type::Block { 50 } else { 90 })
        {
            true => usual,
            false => Operator::Assign,
        };
        let start = Text::from(format!("{private}{word}"));
        let spaced = format!(" {} ", operator.text());
        let text = match type_ {
            Type::Block => match self.random.below(10) {
                0 | 1 => {
                    self.implicit(name, &reads, operator, body);
                    return operator;
                }
                2 | 3 => start + self.chain(&reads, type_, operator),
                _ => {
                    let value = self.expression(&reads, type_, 0);
                    start + spaced.as_str() + value
                }
            },
            Type::Number if self.random.chance(10) => start + self.chain(&reads, type_, operator),
            // What is undefined leaves it to the files below.
            _ if is_inherited && self.random.chance(6) => {
                let condition = self.expression(&reads, Type::Bool, 1);
                let value = self.expression(&reads, type_, 1);
                start + spaced.as_str() + "if (" + condition + ") then " + value
            }
            _ => {
                let value = self.expression(&reads, type_, 0);
                start + spaced.as_str() + value
            }
        };
        body.say(text);
        operator
    }

    /// `=> a ~> b`, `=> 1 ~(max)> 2`
    fn chain(&mut self, scope: &Scope, type_: Type, first: Operator) -> Text {
        let mut text = Text::default();
        let mut operator = first;
        for _ in 0..2 + self.random.below(2) {
            text = text + format!(" {} ", operator.text()) + self.expression(scope, type_, 1);
            operator = match type_ {
                Type::Block => Operator::Merge,
                _ => *self.random.pick(&[
                    Operator::Max,
                    Operator::Min,
                    Operator::Sum,
                    Operator::Assign,
                ]),
            };
        }
        text
    }

    /// `Base.x => 1` and `Base.y => a`
    fn implicit(&mut self, name: usize, scope: &Scope, operator: Operator, body: &mut Body) {
        let (word, _, _) = NAMES[name];
        // `~>` would merge the numbers and texts too; a function merges only the blocks around them.
        let operator = match operator {
            Operator::Assign => "=>",
            _ => "~(max)>",
        };
        let x = self.expression(scope, Type::Number, 1);
        body.say(Text::from(format!("{word}.x {operator} ")) + x);
        let y = self.expression(scope, Type::Text, 1);
        body.say(Text::from(format!("{word}.y {operator} ")) + y);
        if self.random.chance(30) {
            let z = self.expression(scope, Type::Number, 1);
            body.say(Text::from(format!("{word}.In.z {operator} ")) + z);
        }
    }

    /// Calls and definitions beside those that others rely on.
    fn asides(&mut self, scope: &Scope, body: &mut Body) {
        let everything = Scope {
            rank: NAMES.len(),
            ..scope.clone()
        };
        if self.random.chance(8) {
            let message = self.condition(scope);
            body.say(Text::from("warn('so: ' ++ (") + message + "))");
        }
        if self.random.chance(8) {
            body.say("private never => fail('never evaluated')");
        }
        if self.random.chance(15) {
            let name = NAMES[self.random.below(NAMES.len())].0;
            body.say(format!("has_{name} => defined(${name})"));
        }
        if self.random.chance(15) {
            let type_ = *self
                .random
                .pick(&[Type::Number, Type::Text, Type::Block, Type::Table]);
            let value = self.expression(&everything, type_, 0);
            body.say(Text::from("summary => ") + value);
        }
    }

    fn body(&mut self) -> Body {
        Body {
            statements: Vec::new(),
            commas: self.random.chance(40),
        }
    }
}
