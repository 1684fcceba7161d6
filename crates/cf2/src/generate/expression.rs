//! Random expressions of a type.

use super::program::Text;
use super::{FIELDS, NAMES, Own, Scope, Type, Writer};

/// How deep expressions are nested.
const DEEPEST: usize = 4;

impl Writer {
    /// An expression of a type, `depth` levels inside of others.
    pub(super) fn expression(&mut self, scope: &Scope, type_: Type, depth: usize) -> Text {
        let literal = if depth >= DEEPEST {
            100
        } else {
            25 + 10 * depth
        };
        if self.random.chance(45)
            && let Some(read) = self.reading(scope, type_, depth)
        {
            return read;
        }
        if self.random.chance(literal) {
            return self.literal(type_);
        }
        let conditional = if type_ == Type::Bool { 3 } else { 12 };
        if self.random.chance(conditional) {
            return self.conditional(scope, type_, depth);
        }
        match type_ {
            Type::Number => self.number_of(scope, depth + 1),
            Type::Text => self.text_of(scope, depth + 1),
            Type::Bool => self.truth_of(scope, depth + 1),
            Type::Numbers => self.list_of(scope, Type::Number, depth + 1),
            Type::Texts => self.list_of(scope, Type::Text, depth + 1),
            Type::Table => self.list_of(scope, Type::Numbers, depth + 1),
            Type::Block => self.block_of(scope, depth + 1),
        }
    }

    /// Something that has that type already: a resource, a part of one, what a macro stands for.
    fn reading(&mut self, scope: &Scope, type_: Type, depth: usize) -> Option<Text> {
        let mut found: Vec<String> = Vec::new();
        let mut blocks: Vec<String> = Vec::new();
        let mut lists: Vec<(String, Type)> = Vec::new();
        let mut see = |path: String, its: Type| {
            if its == type_ {
                found.push(path.clone());
            }
            match its {
                Type::Block => blocks.push(path),
                Type::Numbers | Type::Texts | Type::Table => lists.push((path, its)),
                _ => {}
            }
        };
        // A name may read any name at all now and then: what is lazy may still be well.
        let rank = match self.random.chance(1) {
            true => NAMES.len(),
            false => scope.rank,
        };
        for &name in scope.names.range(..rank) {
            see(format!("${}", NAMES[name].0), NAMES[name].1);
        }
        for own in &scope.own {
            see(format!("${}", own.name), own.type_);
        }
        for (name, its) in &scope.parameters {
            see(format!("${name}"), *its);
        }
        for (value, file) in &scope.values {
            for &name in &self.files[file].names {
                see(format!("${value}.{}", NAMES[name].0), NAMES[name].1);
            }
        }
        let mut choices: Vec<Text> = found.into_iter().map(Text::from).collect();
        let field = match type_ {
            Type::Number => "x",
            Type::Text => "y",
            _ => "",
        };
        for block in blocks {
            if !field.is_empty() {
                let written = match self.random.below(6) {
                    0 => format!("'{field}'"),
                    1 => format!("({field})"),
                    2 => format!("(downcase({}))", field.to_uppercase()),
                    _ => field.to_owned(),
                };
                choices.push(format!("{block}.{written}").into());
            }
        }
        for (list, its) in lists {
            let element = match its {
                Type::Numbers => Type::Number,
                Type::Texts => Type::Text,
                _ => Type::Numbers,
            };
            if element == type_ {
                let index = self.index(scope, depth);
                choices.push(Text::from(format!("{list}.")) + index);
            } else if its == Type::Table && type_ == Type::Number {
                let index = self.index(scope, depth);
                choices.push(Text::from(format!("{list}.(0).")) + index);
            }
        }
        let fitting = |one: &&super::Macro| one.result == type_ && one.rank <= scope.rank;
        let macros: Vec<super::Macro> = scope.macros.iter().filter(fitting).cloned().collect();
        if depth < DEEPEST && !macros.is_empty() && self.random.chance(40) {
            let used = self.random.pick(&macros).clone();
            let arguments: Vec<Text> = used
                .parameters
                .iter()
                .map(|&parameter| self.expression(scope, parameter, depth + 1))
                .collect();
            let arguments = Text::joined(arguments, ", ");
            return Some(Text::from(format!("{}(", used.name)) + arguments + ")");
        }
        (!choices.is_empty()).then(|| self.random.pick(&choices).clone())
    }

    /// A selector of one of the first two elements.
    fn index(&mut self, scope: &Scope, depth: usize) -> Text {
        match self.random.below(6) {
            0 => "(0)".into(),
            1 => "(2 - 1)".into(),
            2 if depth < DEEPEST => {
                let condition = self.expression(scope, Type::Bool, depth + 2);
                Text::from("(if (") + condition + ") then 0 else 1)"
            }
            other => if other < 4 { "0" } else { "1" }.into(),
        }
    }

    fn conditional(&mut self, scope: &Scope, type_: Type, depth: usize) -> Text {
        let condition = self.expression(scope, Type::Bool, depth + 1);
        let then = self.expression(scope, type_, depth + 1);
        // Nobody asks a question whose answer does not matter.
        let mut otherwise = self.expression(scope, type_, depth + 1);
        if otherwise.text() == then.text() {
            otherwise = self.literal(type_);
        }
        let newline = if depth == 0 { "\n  " } else { " " };
        let text = Text::from("if (") + condition + ")" + newline + "then " + then;
        let text = text + newline + "else " + otherwise;
        match depth {
            0 => text,
            _ => Text::from("(") + text + ")",
        }
    }

    fn number_of(&mut self, scope: &Scope, depth: usize) -> Text {
        let operand = |writer: &mut Self| writer.expression(scope, Type::Number, depth);
        match self.random.below(10) {
            0..4 => {
                let operator = *self.random.pick(&[" + ", " - ", " * ", "+"]);
                let text = operand(self) + operator + operand(self);
                self.bracketed(text)
            }
            4 => operand(self) + format!(" / {}", 1 + self.random.below(8)),
            5 => Text::from("-(") + operand(self) + ")",
            6 => {
                let function = *self.random.pick(&["max", "min", "sum"]);
                let list = self.expression(scope, Type::Numbers, depth);
                Text::from(function) + "(" + list + ")"
            }
            7 => self.block_of(scope, depth) + ".x",
            8 => self.list_of(scope, Type::Number, depth) + ".1",
            _ => Text::from("(") + operand(self) + ")",
        }
    }

    fn bracketed(&mut self, text: Text) -> Text {
        match self.random.chance(60) {
            true => Text::from("(") + text + ")",
            false => text,
        }
    }

    fn text_of(&mut self, scope: &Scope, depth: usize) -> Text {
        match self.random.below(10) {
            0..5 => {
                let types = [Type::Text, Type::Text, Type::Number, Type::Bool];
                let (one, other) = (*self.random.pick(&types), *self.random.pick(&types));
                let one = self.closed(scope, one, depth);
                let other = self.closed(scope, other, depth);
                one + " ++ " + other
            }
            5 | 6 => {
                let function = *self.random.pick(&["upcase", "downcase"]);
                Text::from(function) + "(" + self.expression(scope, Type::Text, depth) + ")"
            }
            7 => {
                let separator = self.expression(scope, Type::Text, depth + 1);
                let type_ = *self.random.pick(&[Type::Texts, Type::Numbers]);
                let list = self.expression(scope, type_, depth);
                Text::from("join(") + separator + ", " + list + ")"
            }
            8 => {
                let types = [Type::Number, Type::Texts, Type::Block, Type::Bool];
                let type_ = *self.random.pick(&types);
                Text::from("typeof(") + self.expression(scope, type_, depth) + ")"
            }
            _ => "topdir()".into(),
        }
    }

    /// An expression that operators cannot take apart.
    fn closed(&mut self, scope: &Scope, type_: Type, depth: usize) -> Text {
        Text::from("(") + self.expression(scope, type_, depth) + ")"
    }

    fn truth_of(&mut self, scope: &Scope, depth: usize) -> Text {
        match self.random.below(20) {
            0..13 => self.question(scope, depth),
            13 => {
                let operator = *self.random.pick(&[" < ", " <= ", " >= ", " > "]);
                let one = self.closed(scope, Type::Number, depth + 1);
                one + operator + self.literal(Type::Number)
            }
            14 => {
                let type_ = match self.random.chance(20) {
                    true => Type::Text,
                    false => Type::Number,
                };
                let one = self.closed(scope, type_, depth + 1);
                one + " < " + self.closed(scope, type_, depth + 1)
            }
            15 | 16 => {
                let operator = *self.random.pick(&[" && ", " || "]);
                let one = self.closed(scope, Type::Bool, depth);
                one + operator + self.closed(scope, Type::Bool, depth)
            }
            17 | 18 => Text::from("!") + self.closed(scope, Type::Bool, depth),
            _ => {
                let name = match scope.rank {
                    0 => "nothing",
                    rank => NAMES[self.random.below(rank)].0,
                };
                Text::from(format!("defined(${name})"))
            }
        }
    }

    /// What people ask: how something that is written somewhere compares to a literal like it. A condition
    /// that one literal cannot turn says little about what depends on it, and few people write one.
    fn question(&mut self, scope: &Scope, depth: usize) -> Text {
        let own = scope.own.iter().filter(|one| one.value.is_some());
        let own: Vec<Own> = own.cloned().collect();
        if self.random.chance(60) && !own.is_empty() {
            let one = self.random.pick(&own).clone();
            let value = one.value.unwrap_or_default();
            return self.question_about(&format!("${}", one.name), one.type_, &value);
        }
        let read = self.reading(scope, Type::Number, depth + 1);
        match read {
            Some(read) if self.random.chance(50) => {
                let operator = *self.random.pick(&[" < ", " <= ", " >= ", " > "]);
                Text::from("(") + read + ")" + operator + self.literal(Type::Number)
            }
            _ => {
                let type_ = *self.random.pick(&[Type::Number, Type::Number, Type::Text]);
                let value = self.literal(type_).text();
                self.question_about(&value, type_, &value)
            }
        }
    }

    /// Compares something with a literal near its value.
    fn question_about(&mut self, one: &str, type_: Type, value: &str) -> Text {
        match type_ {
            Type::Bool => one.into(),
            Type::Number => {
                let value: f64 = value.parse().unwrap_or(0.0);
                let near = value.trunc() as i64 + self.random.below(7) as i64 - 3;
                let operator = *self.random.pick(&["<", "<=", ">=", ">"]);
                format!("({one}) {operator} {near}").into()
            }
            _ => {
                let operator = *self.random.pick(&["==", "!="]);
                let other = match self.random.chance(50) {
                    true => value.into(),
                    false => self.literal(Type::Text),
                };
                Text::from(format!("({one}) {operator} ")) + other
            }
        }
    }

    fn list_of(&mut self, scope: &Scope, element: Type, depth: usize) -> Text {
        let count = 2 + self.random.below(2);
        let elements: Vec<Text> = (0..count)
            .map(|_| self.expression(scope, element, depth + 1))
            .collect();
        Text::from("[") + Text::joined(elements, ", ") + "]"
    }

    fn block_of(&mut self, scope: &Scope, depth: usize) -> Text {
        let mut body = self.body();
        let x = self.expression(scope, Type::Number, depth + 1);
        let y = self.expression(scope, Type::Text, depth + 1);
        body.say(Text::from("x => ") + x);
        body.say(Text::from("y => ") + y);
        if depth >= DEEPEST {
            return body.into();
        }
        let mut names: Vec<usize> = (0..FIELDS.len()).collect();
        for _ in 0..self.random.below(4) {
            let (name, type_) = FIELDS[names.swap_remove(self.random.below(names.len()))];
            let private = if self.random.chance(6) {
                "private "
            } else {
                ""
            };
            let operator = match (type_, self.random.chance(30)) {
                (Type::Block, true) => "~>",
                (Type::Number, true) => "~(max)>",
                _ => "=>",
            };
            let value = self.expression(scope, type_, depth + 1);
            body.say(Text::from(format!("{private}{name} {operator} ")) + value);
        }
        let files: Vec<usize> = self.files.keys().copied().collect();
        if !files.is_empty() && self.random.chance(8) {
            body.say(format!("import(f{})", self.random.pick(&files)));
        }
        if self.random.chance(12) {
            let condition = self.expression(scope, Type::Bool, depth + 1);
            let branch = |writer: &mut Self| {
                let mut inner = writer.body();
                let value = writer.expression(scope, Type::Number, depth + 1);
                inner.say(Text::from("more => ") + value);
                inner
            };
            let mut text = Text::from("if (") + condition + ") then " + branch(self);
            if self.random.chance(50) {
                text = text + " else " + branch(self);
            }
            body.say(text);
        }
        body.into()
    }
}
