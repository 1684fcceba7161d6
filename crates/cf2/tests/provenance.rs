//! Provenance by mutation: what `explain` says is tried out.
//!
//! Every literal of a random program is replaced by another one, and the program is compiled again. What
//! changed must have been announced: by `explain` of the changed value, and by `impact` of the literal,
//! which are each other's converse. A *where* must be the literal that is the value, and an *expression*
//! must evaluate to it. Mutations after which there is no result are counted apart. `HENCE_CASES` says how
//! many programs.
//!
//! How precise it is, is counted: of the literals that a value lists, how many change it if they alone are
//! replaced, by the construct that the literal stands in. One for which every replacement fails is unknown; one
//! for which any has a result counts.

mod programs;

use std::collections::{BTreeMap, BTreeSet};

use hence_cf2::Compiled;
use hence_cf2::generate::{Random, Texts, program};
use hence_cf2::lexer::{Keyword, Lexeme, Lexer, Operator, Token};
use hence_model::explanation::{Explanation, Expression, Role, Shown};
use hence_model::path::{Path, Segment};
use hence_model::source::Span;
use hence_model::value::Value;
use programs::{cases, compiled, value};

#[test]
fn what_changes_was_announced() {
    let mut tally = Tally::default();
    let count = cases(160);
    for seed in 0..count {
        let texts = made(seed);
        let checked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let mut own = Tally::default();
            check(&texts, &mut own);
            check_together(&texts, seed, &mut own);
            own
        }));
        match checked {
            Ok(own) => tally.add(own),
            Err(_) => {
                for (name, text) in &texts.0 {
                    eprintln!("// {name}\n{text}");
                }
                panic!("the program of seed {seed}, as above");
            }
        }
    }
    tally.print();
    assert!(tally.mutations > 10 * count as usize, "{tally:?}");
    // A value that is only copied is exact. An operand may not matter, as in `0 * n`. A condition may take two
    // literals to turn, as in `false && false`, or choose between equals. Where only one name or file fits,
    // those of the others that have a result may say the same.
    let floors = [
        (Construct::Value, 0.99),
        (Construct::Operand, 0.93),
        (Construct::InlineCondition, 0.7),
        (Construct::ValueCondition, 0.7),
        (Construct::Selector, 0.7),
        (Construct::ComputedImport, 0.3),
        (Construct::ReadToDecide, 0.7),
    ];
    for (construct, floor) in floors {
        let precision = tally.listed[&construct].precision();
        assert!(precision >= floor, "{construct:?}: {precision}");
    }
    let all = tally.all();
    assert!(all.precision() >= 0.9, "{all:?}");
}

/// Whether `p` is seen depends on `q`, and whether `q` is on `p`: both depend on what either does.
#[test]
fn reasons_may_lead_round_in_circles() {
    let text = "
        p => true
        q => true
        r => true
        if ($p) then { x => 1 } else { private q => true }
        if ($r == $q) then { y => 1 } else { private p => true }
    ";
    let texts = Texts(vec![("circle.cf2".into(), text.into())]);
    let mut tally = Tally::default();
    check(&texts, &mut tally);
    assert_eq!(tally.programs, 1);
}

fn made(seed: u64) -> Texts {
    program(seed, 1 + Random::new(seed).below(10)).texts()
}

#[derive(Debug, Default)]
struct Tally {
    programs: usize,
    mutations: usize,
    without_result: usize,
    /// Mutations of several literals at once.
    together: usize,
    expressions: usize,
    listed: BTreeMap<Construct, Counted>,
}

/// Literals that values list.
#[derive(Clone, Copy, Debug, Default)]
struct Counted {
    /// All of them but the unknown ones.
    listed: usize,
    /// Those that change the value if they are replaced.
    changed: usize,
    /// Those for which no other literal has a result: where only one name fits, no other can be tried.
    unknown: usize,
}

impl Counted {
    fn precision(self) -> f64 {
        self.changed as f64 / self.listed as f64
    }

    /// The same, if none of the unknown ones matters.
    fn at_worst(self) -> f64 {
        self.changed as f64 / (self.listed + self.unknown) as f64
    }

    fn add(&mut self, other: Counted) {
        self.listed += other.listed;
        self.changed += other.changed;
        self.unknown += other.unknown;
    }
}

/// How a value depends on a literal: on its value, or as it decides something, and where it stands then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Construct {
    Value,
    Operand,
    InlineCondition,
    ValueCondition,
    Selector,
    ComputedImport,
    /// Elsewhere, in a resource or an argument that one of those reads.
    ReadToDecide,
}

impl Tally {
    fn add(&mut self, other: Tally) {
        self.programs += other.programs;
        self.mutations += other.mutations;
        self.without_result += other.without_result;
        self.together += other.together;
        self.expressions += other.expressions;
        for (construct, counted) in other.listed {
            self.listed.entry(construct).or_default().add(counted);
        }
    }

    fn all(&self) -> Counted {
        let mut all = Counted::default();
        for counted in self.listed.values() {
            all.add(*counted);
        }
        all
    }

    fn print(&self) {
        println!(
            "{} programs, {} mutations, {} of them without result; {} of several literals; {} expressions",
            self.programs, self.mutations, self.without_result, self.together, self.expressions
        );
        println!("                 precision  listed  changed  unknown  at worst");
        let named = self.listed.iter();
        let named = named.map(|(construct, counted)| (format!("{construct:?}"), *counted));
        for (name, counted) in named.chain([("all".to_owned(), self.all())]) {
            let precision = counted.precision();
            let Counted {
                listed,
                changed,
                unknown,
            } = counted;
            let at_worst = counted.at_worst();
            println!(
                "{name:16} {precision:9.3}  {listed:6}  {changed:7}  {unknown:7}  {at_worst:8.3}"
            );
        }
    }
}

/// The scalars of a configuration by path, as text; empty containers count.
type Leaves = BTreeMap<Vec<Segment>, Value>;

fn leaves(compiled: &Compiled<'_>) -> Leaves {
    let mut leaves = Leaves::new();
    let whole = value(compiled).expect("there is a configuration");
    let mut pending = vec![(Vec::new(), &whole)];
    while let Some((path, value)) = pending.pop() {
        let inside = |segment: Segment| [&path[..], &[segment]].concat();
        match value {
            Value::Map(map) if !map.is_empty() => {
                let keys = map.iter();
                pending.extend(keys.map(|(key, value)| (inside(Segment::Key(key.into())), value)));
            }
            Value::List(list) if !list.as_slice().is_empty() => {
                let elements = list.as_slice().iter().enumerate();
                pending.extend(elements.map(|(at, value)| (inside(Segment::Index(at)), value)));
            }
            leaf => {
                leaves.insert(path, leaf.clone());
            }
        }
    }
    leaves
}

fn check(texts: &Texts, tally: &mut Tally) {
    let mut original = compiled(texts);
    if !original.is_good() {
        return;
    }
    tally.programs += 1;
    let before = leaves(&original);
    let explained: BTreeMap<&Vec<Segment>, Explanation> = before
        .keys()
        .map(|path| {
            let explanation = original.explain(&Path(path.clone()));
            (path, explanation.expect("every value can be explained"))
        })
        .collect();
    for (path, explanation) in &explained {
        check_place(&original, &before[*path], explanation);
        check_expression(&explanation.expression, path, tally);
    }
    let literals = literals(&original);
    let all: Vec<String> = literals
        .iter()
        .map(|one| slice(&original, one.span))
        .collect();
    for (number, &Literal { span, decides }) in literals.iter().enumerate() {
        let listing: BTreeMap<&Vec<Segment>, Role> = explained
            .iter()
            .filter_map(|(path, explanation)| Some((*path, role(explanation, span)?)))
            .collect();
        let mut impacted: BTreeSet<Vec<Segment>> = BTreeSet::new();
        original.impact(span, &mut |path| {
            impacted.insert(path.to_vec());
        });
        for path in before.keys().filter(|path| !path.is_empty()) {
            assert_eq!(
                listing.contains_key(path),
                impacted.contains(path),
                "whether {path:?} depends on {}, says explain, and impact",
                placed(&original, span)
            );
        }
        let mut changed: BTreeSet<Vec<Segment>> = BTreeSet::new();
        let mut has_result = false;
        let usual = replacements(&all, number);
        let further = further_replacements(&all, number, &usual);
        for (tried, replacement) in usual.iter().chain(&further).enumerate() {
            // Most literals show soon that they matter.
            let is_shown = listing.keys().all(|path| changed.contains(*path));
            if tried >= usual.len() && is_shown {
                break;
            }
            tally.mutations += 1;
            let mutated = replaced(texts, &original, span, replacement);
            let mutated = compiled(&mutated);
            if !mutated.is_good() {
                tally.without_result += 1;
                continue;
            }
            has_result = true;
            let after = leaves(&mutated);
            for path in before.keys().chain(after.keys()) {
                if before.get(path) == after.get(path) || changed.contains(path) {
                    continue;
                }
                let is_announced = match before.contains_key(path) {
                    true => listing.contains_key(path),
                    false => is_announced_around(&mut original, path, span),
                };
                assert!(
                    is_announced,
                    "{path:?} changed from {:?} to {:?} by {replacement} for {}",
                    before.get(path),
                    after.get(path),
                    placed(&original, span)
                );
                changed.insert(path.clone());
            }
        }
        for (path, role) in listing {
            let construct = match role {
                Role::Value => Construct::Value,
                Role::Operand => Construct::Operand,
                _ => decides,
            };
            let counted = tally.listed.entry(construct).or_default();
            match has_result {
                true => {
                    counted.listed += 1;
                    counted.changed += usize::from(changed.contains(path));
                }
                false => counted.unknown += 1,
            }
        }
    }
}

/// What a value does not list does not change it, also if several of them change at once.
fn check_together(texts: &Texts, seed: u64, tally: &mut Tally) {
    let mut original = compiled(texts);
    if !original.is_good() {
        return;
    }
    let mut random = Random::new(seed);
    let before = leaves(&original);
    let paths: Vec<&Vec<Segment>> = before.keys().collect();
    let spans: Vec<Span> = literals(&original).iter().map(|one| one.span).collect();
    let all: Vec<String> = spans.iter().map(|&span| slice(&original, span)).collect();
    for _ in 0..TOGETHER.min(3 * paths.len()) {
        let path = *random.pick(&paths);
        let explanation = original.explain(&Path(path.clone()));
        let explanation = explanation.expect("every value can be explained");
        let is_free = |&number: &usize| role(&explanation, spans[number]).is_none();
        let free: Vec<usize> = (0..all.len()).filter(is_free).collect();
        if free.is_empty() {
            continue;
        }
        let count = 2 + random.below(3);
        let picked: BTreeSet<usize> = (0..count).map(|_| *random.pick(&free)).collect();
        let mut mutated = texts.clone();
        let mut replacements_made = Vec::new();
        // From the back, so that what is before stays where it is.
        let mut picked: Vec<usize> = picked.into_iter().collect();
        picked.sort_by_key(|&number| std::cmp::Reverse(spans[number].start));
        for number in picked {
            let others = replacements(&all, number);
            let is_like = |one: &&String| type_of(one) == type_of(&all[number]);
            let others: Vec<&String> = others.iter().filter(is_like).collect();
            let other = *random.pick(&others);
            mutated = replaced(&mutated, &original, spans[number], other);
            replacements_made.push(format!("{other} for {}", placed(&original, spans[number])));
        }
        let after = compiled(&mutated);
        if after.is_good() {
            tally.together += 1;
            assert_eq!(
                before.get(path),
                leaves(&after).get(path),
                "{path:?} changed by {replacements_made:?}"
            );
        }
    }
}

/// How many times several literals are changed at once, for each program.
const TOGETHER: usize = 60;

/// A value that appears is announced by what it appears in: a block depends on what decides its names.
fn is_announced_around(original: &mut Compiled<'_>, path: &[Segment], span: Span) -> bool {
    let around = (0..=path.len()).map(|end| Path(path[..end].to_vec()));
    let mut known = around.filter_map(|path| original.explain(&path).ok());
    known.any(|explanation| role(&explanation, span).is_some())
}

/// How a value depends on a literal, if it does.
fn role(explanation: &Explanation, span: Span) -> Option<Role> {
    let depends = explanation.depends.iter();
    let mut roles = depends.filter(|one| one.span == span).map(|one| one.role);
    roles.find(|role| matches!(role, Role::Value | Role::Operand | Role::Condition))
}

/// *Where* is the literal that is the value.
fn check_place(original: &Compiled<'_>, value: &Value, explanation: &Explanation) {
    let Some(place) = explanation.place else {
        return;
    };
    if let Value::Map(_) | Value::List(_) = value {
        return;
    }
    let text = slice(original, place);
    assert_eq!(Some(value), alone(&text).as_ref(), "{text}");
}

/// What an expression comes to that stands alone.
fn alone(expression: &str) -> Option<Value> {
    let texts = Texts(vec![("alone.cf2".into(), format!("v => {expression}"))]);
    match value(&compiled(&texts))? {
        Value::Map(map) => map.get("v").cloned(),
        _ => None,
    }
}

/// The *expression* evaluates to the value.
fn check_expression(expression: &Expression, path: &[Segment], tally: &mut Tally) {
    if expression.operator.is_none() {
        return;
    }
    let Shown::Value(value) = &expression.value else {
        panic!("nothing is secret here");
    };
    let text = written(expression);
    tally.expressions += 1;
    assert_eq!(Some(value), alone(&text).as_ref(), "{path:?} as {text}");
}

/// An expression as CF2 writes it.
fn written(expression: &Expression) -> String {
    let operands: Vec<String> = expression.operands.iter().map(written).collect();
    let is_list = |operand: &Expression| matches!(operand.value, Shown::Value(Value::List(_)));
    match (expression.operator.as_deref(), &operands[..]) {
        (None | Some("defined"), _) => {
            literal(expression.value.seen().expect("nothing is hidden here"))
        }
        (Some("[ ]"), operands) => format!("[{}]", operands.join(", ")),
        (Some(sign @ ("-" | "!")), [operand]) => format!("({sign}({operand}))"),
        // A mutation: one value is itself.
        (Some("max" | "min" | "sum"), [operand]) if !is_list(&expression.operands[0]) => {
            operand.clone()
        }
        (Some(function @ ("max" | "min" | "sum")), [_, _, ..]) => {
            format!("{function}([{}])", operands.join(", "))
        }
        (Some(name), operands) if name.starts_with(char::is_alphabetic) => {
            format!("{name}({})", operands.join(", "))
        }
        // A logical operator that was decided by its first operand is that operand.
        (Some(operator), operands) => {
            let bracketed: Vec<String> = operands.iter().map(|one| format!("({one})")).collect();
            format!("({})", bracketed.join(&format!(" {operator} ")))
        }
    }
}

fn literal(value: &Value) -> String {
    match value {
        Value::Null => "?".to_owned(),
        Value::Bool(bool) => bool.to_string(),
        Value::Integer(integer) => integer.to_string(),
        Value::Float(float) => float.to_string(),
        Value::Text(text) | Value::Reference(text) => {
            format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))
        }
        Value::List(list) => {
            let elements: Vec<String> = list.as_slice().iter().map(literal).collect();
            format!("[{}]", elements.join(", "))
        }
        Value::Map(map) => {
            let entry = |(key, value): (&str, &Value)| format!("{key} => {}", literal(value));
            let entries: Vec<String> = map.iter().map(entry).collect();
            format!("{{ {} }}", entries.join(", "))
        }
    }
}

/// A literal, and what it decides where it stands, if it decides something.
struct Literal {
    span: Span,
    decides: Construct,
}

/// The literals of all files: scalars that are written as values, but for the names of files.
fn literals(compiled: &Compiled<'_>) -> Vec<Literal> {
    let sources = &compiled.unit().sources;
    let mut literals = Vec::new();
    for file in sources.files() {
        let mut lexer = Lexer::new(sources.span(file));
        let mut tokens = Vec::new();
        loop {
            let lexeme = lexer.next(sources.text());
            tokens.push(lexeme);
            if lexeme.token == Token::End {
                break;
            }
        }
        for at in 0..tokens.len() {
            if let Some(span) = literal_at(&tokens, at) {
                let decides = decides(&tokens, at);
                literals.push(Literal { span, decides });
            }
        }
    }
    literals
}

fn literal_at(tokens: &[Lexeme], at: usize) -> Option<Span> {
    let token = |back: usize| at.checked_sub(back).map(|at| tokens[at].token);
    let span = tokens[at].span;
    if tokens[at].token == Token::End {
        return None;
    }
    let next = tokens.get(at + 1).map(|lexeme| lexeme.token);
    if is_file(tokens, at) {
        return None;
    }
    match tokens[at].token {
        Token::Text { .. } | Token::Keyword(Keyword::True | Keyword::False) => Some(span),
        Token::Number => {
            // A sign belongs to the number unless it stands behind a value.
            let is_value = |token| {
                matches!(
                    token,
                    Token::Number
                        | Token::Word
                        | Token::Text { .. }
                        | Token::CloseParenthesis
                        | Token::CloseBracket
                        | Token::CloseBrace
                )
            };
            let has_sign = token(1) == Some(Token::Operator(Operator::Subtract))
                && (!token(2).is_some_and(is_value) || tokens[at - 1].starts_line);
            match has_sign {
                true => Some(tokens[at - 1].span.to(span)),
                false => Some(span),
            }
        }
        Token::Word => {
            let is_name = matches!(
                token(1),
                Some(Token::Dollar | Token::Keyword(Keyword::Def | Keyword::Private))
            ) || matches!(next, Some(Token::OpenParenthesis))
                || (token(1) == Some(Token::OpenParenthesis) && token(2) == Some(Token::Tilde))
                || is_parameter(tokens, at)
                || is_defined(tokens, at);
            (!is_name).then_some(span)
        }
        _ => None,
    }
}

/// Whether a literal is the name of a file: all that stands in an import, or a branch of all that does.
fn is_file(tokens: &[Lexeme], at: usize) -> bool {
    let is_branch = matches!(
        tokens[at.saturating_sub(1)].token,
        Token::Keyword(Keyword::Then | Keyword::Else)
    );
    let is_first = at > 1
        && tokens[at - 1].token == Token::OpenParenthesis
        && tokens[at - 2].token == Token::Keyword(Keyword::Import);
    let is_last = matches!(
        tokens[at + 1].token,
        Token::Keyword(Keyword::Else) | Token::CloseParenthesis
    );
    is_last && (is_first || is_branch && decides(tokens, at) == Construct::ComputedImport)
}

/// What a literal decides: what the brackets are for that it stands in, or the dot before it.
fn decides(tokens: &[Lexeme], at: usize) -> Construct {
    let token = |at: usize| tokens[at].token;
    if at > 0 && token(at - 1) == Token::Dot {
        return Construct::Selector;
    }
    let mut closed = 0;
    for open in (1..at).rev() {
        match token(open) {
            Token::CloseParenthesis | Token::CloseBrace => closed += 1,
            Token::OpenBrace if closed == 0 => break,
            Token::OpenParenthesis | Token::OpenBrace if closed > 0 => closed -= 1,
            Token::OpenParenthesis => match token(open - 1) {
                Token::Keyword(Keyword::Import) => return Construct::ComputedImport,
                Token::Dot => return Construct::Selector,
                Token::Keyword(Keyword::If) => {
                    let before = open.checked_sub(2).map(token);
                    let is_statement = tokens[open - 1].starts_line
                        || matches!(before, None | Some(Token::Comma | Token::OpenBrace));
                    return match is_statement {
                        true => Construct::InlineCondition,
                        false => Construct::ValueCondition,
                    };
                }
                _ => {}
            },
            _ => {}
        }
    }
    Construct::ReadToDecide
}

/// Whether a word is a parameter of a macro, where that is defined.
fn is_parameter(tokens: &[Lexeme], at: usize) -> bool {
    let before = tokens[..at].iter().rev();
    let mut before = before.skip_while(|one| matches!(one.token, Token::Word | Token::Comma));
    let is_open = before.next().map(|one| one.token) == Some(Token::OpenParenthesis);
    let is_word = before.next().map(|one| one.token) == Some(Token::Word);
    let is_macro = before.next().map(|one| one.token) == Some(Token::Keyword(Keyword::Def));
    is_open && is_word && is_macro
}

/// Whether a word is part of the name of a resource that is defined there: `word.word =>`.
fn is_defined(tokens: &[Lexeme], at: usize) -> bool {
    let mut start = at;
    while start >= 2 && tokens[start - 1].token == Token::Dot {
        start -= 2;
    }
    let is_first = match start.checked_sub(1).map(|before| tokens[before].token) {
        None | Some(Token::Comma | Token::OpenBrace) => true,
        Some(Token::Keyword(Keyword::Private)) => true,
        Some(_) => tokens[start].starts_line,
    };
    let mut end = at + 1;
    while tokens[end].token == Token::Dot && tokens[end + 1].token == Token::Word {
        end += 2;
    }
    is_first
        && matches!(
            tokens[end].token,
            Token::Assign | Token::Merge | Token::Tilde
        )
}

/// Other literals to put in a literal's place: flipped, one more, one less, empty, others of the program.
fn replacements(all: &[String], number: usize) -> Vec<String> {
    let text = &all[number];
    let mut others: Vec<String> = match type_of(text) {
        "bool" => vec![(text == "false").to_string()],
        "number" => {
            let value: f64 = text.parse().unwrap_or(0.0);
            let near = [value + 1.0, value - 1.0, 0.0, 1.0, -77_777.0, 1_000_003.0];
            near.iter().map(f64::to_string).collect()
        }
        _ => vec!["''".into(), "'another text'".into(), "zzz".into()],
    };
    others.push(all[(number + 1) % all.len()].clone());
    others.push(all[(number + all.len() / 2) % all.len()].clone());
    others.retain(|other| value_of(other) != value_of(text));
    others.dedup();
    others
}

/// What tells literals apart that are not the same value: `f` is `'f'`, and `003` is `3`.
fn value_of(literal: &str) -> (&'static str, String) {
    let type_ = type_of(literal);
    let number = literal.parse::<f64>().ok().filter(|_| type_ == "number");
    let value = number.map_or(literal.trim_matches('\'').to_owned(), |one| one.to_string());
    (type_, value)
}

/// More of them, to find where a condition turns: the others of the program, and what is right beside them.
fn further_replacements(all: &[String], number: usize, usual: &[String]) -> Vec<String> {
    let text = &all[number];
    let mut others: Vec<String> = Vec::new();
    for other in all {
        others.push(other.clone());
        if let ("number", Ok(value)) = (type_of(text), other.parse::<f64>()) {
            others.extend([value + 1.0, value - 1.0, -value].map(|one| one.to_string()));
        }
    }
    if type_of(text) == "text" {
        others.push(format!("'{}!'", text.trim_matches('\'')));
        others.push("'\u{10ffff}'".to_owned());
    }
    let known = usual.iter().chain([text]).map(|one| value_of(one));
    let mut known: BTreeSet<(&str, String)> = known.collect();
    others.retain(|other| known.insert(value_of(other)));
    others
}

/// The type of a literal, as it is written.
fn type_of(literal: &str) -> &'static str {
    match literal {
        "true" | "false" => "bool",
        number if number.starts_with(|one: char| one == '-' || one.is_ascii_digit()) => "number",
        _ => "text",
    }
}

fn replaced(texts: &Texts, compiled: &Compiled<'_>, span: Span, replacement: &str) -> Texts {
    let sources = &compiled.unit().sources;
    let file = sources.file_at(span.start);
    let offset = sources.span(file).start;
    let stretch = (span.start - offset) as usize..(span.end - offset) as usize;
    let mut texts = texts.clone();
    let mut files = texts.0.iter_mut();
    let text = files.find(|(name, _)| name == sources.name(file));
    let (_, text) = text.expect("the file was compiled");
    text.replace_range(stretch, replacement);
    texts
}

fn slice(compiled: &Compiled<'_>, span: Span) -> String {
    compiled.unit().sources.slice(span).to_owned()
}

fn placed(compiled: &Compiled<'_>, span: Span) -> String {
    let place = compiled.unit().sources.location(span.start);
    format!("{} at {place}", slice(compiled, span))
}
