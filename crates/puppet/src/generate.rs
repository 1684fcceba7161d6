//! Random manifests, with facts and data.
//!
//! Everything that is used was defined before, with the type that is expected, and every title is used once: so
//! most manifests have a catalog. A few of them are spoilt on purpose, so that mistakes are met too.

use std::fmt::Write;

pub use hence_model::random::Random;

/// A manifest, and the facts of the node it is for.
#[derive(Clone, Debug)]
pub struct Site {
    /// The manifest.
    pub manifest: String,
    /// The facts, as JSON.
    pub facts: String,
    /// `hiera.yaml` and the files with data, by name; often none.
    pub data: Vec<(String, String)>,
    /// The keys that are looked up in the data.
    pub keys: Vec<String>,
}

/// The kinds of values that variables have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Type {
    Number,
    Text,
    Bool,
    Texts,
    Hash,
    /// What gives texts one by one, and is used up: only some variables are one.
    Iterator,
}

const TYPES: [Type; 5] = [
    Type::Number,
    Type::Text,
    Type::Bool,
    Type::Texts,
    Type::Hash,
];
const WORDS: [&str; 10] = [
    "web", "db", "mail", "root", "alice", "bob", "debian", "redhat", "present", "absent",
];
const KEYS: [&str; 3] = ["a", "b", "c"];

/// Whether a site asks for more than values: for tags, by queries, for what is defined, for files. Every other one does.
pub fn asks(seed: u64) -> bool {
    !seed.is_multiple_of(2)
}

/// A random site, about as large as `size`.
pub fn site(seed: u64, size: usize) -> Site {
    let mut random = Random::new(seed);
    let facts = facts(&mut random);
    let spoilt = random.chance(12);
    let has_data = random.chance(35);
    let mut writer = Writer {
        random,
        text: String::new(),
        indent: 0,
        titles: 0,
        names: 0,
        variables: vec![Vec::new()],
        classes: Vec::new(),
        defines: Vec::new(),
        declared: Vec::new(),
        functions: Vec::new(),
        has_data,
        asked: Vec::new(),
        asks: asks(seed),
        spoilt,
        in_class: false,
    };
    writer.manifest(size);
    let keys = writer.keys();
    let data = match has_data {
        true => writer.data(&keys),
        false => Vec::new(),
    };
    Site {
        manifest: writer.text,
        facts,
        data,
        keys: keys.into_iter().map(|(key, _)| key).collect(),
    }
}

const HIERA: &str = "version: 5\nhierarchy:\n\
    \x20 - name: by system\n    path: \"os/%{facts.os}.yaml\"\n\
    \x20 - name: common\n    path: common.yaml\n";

fn facts(random: &mut Random) -> String {
    let word = |random: &mut Random| *random.pick(&WORDS);
    format!(
        "{{\"os\": \"{}\", \"cpus\": {}, \"cloud\": {}, \"roles\": [\"{}\", \"{}\"], \"net\": {{\"a\": \"{}\", \"b\": {}}}}}",
        word(random),
        random.below(6),
        random.chance(50),
        word(random),
        word(random),
        word(random),
        random.below(9),
    )
}

struct Writer {
    random: Random,
    text: String,
    indent: usize,
    /// So many titles were made.
    titles: usize,
    /// So many names were made.
    names: usize,
    /// The variables of the scopes around, innermost last.
    variables: Vec<Vec<(String, Type)>>,
    /// The classes so far: name, parameters, variables.
    classes: Vec<Class>,
    /// The defined types so far: name and parameters.
    defines: Vec<(String, Vec<(String, Type)>)>,
    /// References to resources that were declared, by type and title.
    declared: Vec<(&'static str, String)>,
    /// The functions so far: each makes a text of a text.
    functions: Vec<String>,
    /// Whether there are data to be looked up.
    has_data: bool,
    /// The keys that are looked up.
    asked: Vec<(String, Type)>,
    /// Whether it asks for more than values.
    asks: bool,
    spoilt: bool,
    in_class: bool,
}

#[derive(Clone)]
struct Class {
    name: String,
    parameters: Vec<(String, Type)>,
    variables: Vec<(String, Type)>,
    /// The resources that are certainly declared in it.
    resources: Vec<(&'static str, String)>,
    included: bool,
}

impl Writer {
    fn line(&mut self, text: &str) {
        let _ = writeln!(self.text, "{:1$}{text}", "", self.indent * 2);
    }

    fn open(&mut self, text: &str) {
        self.line(text);
        self.indent += 1;
    }

    fn close(&mut self) {
        self.indent -= 1;
        self.line("}");
    }

    fn name(&mut self, kind: &str) -> String {
        self.names += 1;
        format!("{kind}{}", self.names)
    }

    fn manifest(&mut self, size: usize) {
        for _ in 0..self.random.below(2) + size / 6 {
            self.assignment();
        }
        if self.random.chance(30) {
            self.function();
        }
        for _ in 0..self.random.below(2) + size / 8 {
            self.define();
        }
        for _ in 0..1 + self.random.below(2) + size / 5 {
            self.class();
        }
        let in_node = self.random.chance(40);
        let mut name = "";
        if in_node {
            let names = ["default", "'web1.example.org'", "/^web(\\d)/, 'other'"];
            name = *self.random.pick(&names);
            self.open(&format!("node {name} {{"));
            self.variables.push(Vec::new());
        }
        for _ in 0..size {
            self.statement(3);
        }
        if in_node {
            self.variables.pop();
            self.close();
            if self.random.chance(30) {
                self.line("node 'db.example.org' { notify { 'other node': } }");
            }
            if name != "default" && self.random.chance(60) {
                self.line("node default { notify { 'any node': } }");
            }
        }
    }

    fn statement(&mut self, depth: usize) {
        match self.random.below(if self.asks { 33 } else { 24 }) {
            0..=3 => self.assignment(),
            4..=8 => self.resource(),
            9 | 10 => self.include(),
            11 | 12 if depth > 0 => self.conditional(depth),
            13 if depth > 0 => self.case(depth),
            14 => self.defined(),
            15 => self.default(),
            16 => self.collector(),
            17 => self.relationship(),
            18 => self.virtual_resource(),
            19 if depth > 0 => self.iteration(depth),
            20 => self.amendment(),
            21 if self.spoilt => self.mistake(),
            22 if self.asks => self.tag(),
            23 if self.asks => self.arrow_of_query(),
            24 if self.asks => self.collector_of_parameters(),
            25 if self.asks => self.declarations_as_values(),
            26 if self.asks => self.guarded_assignment(),
            27 | 28 if self.asks => self.iterator(),
            29 if self.asks && depth > 0 => self.iterator_in_passing(),
            _ => self.resource(),
        }
    }

    /// What is in this class, or in this node, has a tag more.
    fn tag(&mut self) {
        let word = self.word();
        self.line(&format!("tag('{word}')"));
    }

    /// All resources that a query finds come before or after another one.
    fn arrow_of_query(&mut self) {
        let others: Vec<(&'static str, String)> = self
            .declared
            .iter()
            .filter(|(kind, _)| *kind != "user")
            .cloned()
            .collect();
        if others.is_empty() {
            return self.resource();
        }
        let (kind, title) = self.random.pick(&others).clone();
        let query = match self.random.below(4) {
            0 => format!("title == 't{}'", 1 + self.random.below(self.titles + 2)),
            1 => format!("uid == {}", self.random.below(10)),
            2 => format!("tag == '{}'", self.word()),
            _ => format!("shell == '{}' or comment == '{}'", self.word(), self.word()),
        };
        let arrow = *self.random.pick(&["->", "~>"]);
        let (query, other) = (
            format!("User <| {query} |>"),
            format!("{}[{title}]", capital(kind)),
        );
        match self.random.chance(50) {
            true => self.line(&format!("{query} {arrow} {other}")),
            false => self.line(&format!("{other} {arrow} {query}")),
        }
    }

    /// A collector sets a parameter of resources of a defined type.
    fn collector_of_parameters(&mut self) {
        let with_parameters = self.defines.iter().filter(|(_, all)| !all.is_empty());
        let with_parameters: Vec<_> = with_parameters.cloned().collect();
        if with_parameters.is_empty() {
            return self.defined();
        }
        let (name, parameters) = self.random.pick(&with_parameters).clone();
        let (parameter, kind) = self.random.pick(&parameters).clone();
        let value = self.expression(kind, 1);
        let query = match self.random.below(3) {
            0 => String::new(),
            1 => format!(" tag == '{}' ", self.word()),
            _ => format!(" title == 't{}' ", 1 + self.random.below(self.titles + 2)),
        };
        let name = name.replacen('d', "D", 1);
        self.line(&format!("{name} <|{query}|> {{ {parameter} => {value} }}"));
    }

    /// What a declaration comes to is a reference, for an arrow or for an attribute.
    fn declarations_as_values(&mut self) {
        let (one, other) = (self.title(), self.title());
        let attributes = self.attributes("notify");
        match self.random.chance(50) {
            true => self.line(&format!(
                "notify {{ '{one}': {attributes} }} -> user {{ '{other}': }}"
            )),
            false => {
                let name = self.name("r");
                self.line(&format!("${name} = user {{ '{one}': }}"));
                let comma = if attributes.is_empty() { "" } else { ", " };
                self.line(&format!(
                    "notify {{ '{other}': {attributes}{comma}require => ${name} }}"
                ));
            }
        }
    }

    /// Whether a variable is there decides something.
    fn guarded_assignment(&mut self) {
        let name = self.name("g");
        let condition = self.expression(Type::Bool, 2);
        let value = self.expression(Type::Text, 1);
        self.line(&format!("if {condition} {{ ${name} = {value} }}"));
        let made = self.name("v");
        let word = self.word();
        self.line(&format!(
            "${made} = (if defined('${name}') {{ getvar('{name}') }} else {{ '{word}' }})"
        ));
        self.know(made, Type::Text);
    }

    /// Something that gives its elements one by one, to whoever comes first.
    fn iterator(&mut self) {
        let name = self.name("v");
        let value = self.iterator_over(2);
        self.line(&format!("${name} = {value}"));
        self.know(name, Type::Iterator);
        // A body does not end with one.
        self.resource();
    }

    fn iterator_over(&mut self, depth: usize) -> String {
        let elements = match self.variable(Type::Iterator) {
            Some(other) if self.random.chance(30) => format!("${other}"),
            _ => self.expression(Type::Texts, depth),
        };
        let steps = [
            "reverse_each",
            "step(2)",
            "step(1)",
            "reverse_each.step(2)",
            "step(2).reverse_each",
        ];
        format!("({elements}).{}", self.random.pick(&steps))
    }

    /// Elements are taken out of an iterator, and nobody sees which.
    fn iterator_in_passing(&mut self) {
        let Some(iterator) = self.variable(Type::Iterator) else {
            return self.iterator();
        };
        let name = self.name("u");
        match self.random.below(4) {
            0 => {
                let condition = self.expression(Type::Bool, 1);
                self.line(&format!("if {condition} {{ ${name} = [*${iterator}] }}"));
            }
            1 => {
                let condition = self.expression(Type::Bool, 1);
                let taken = self.taken(&iterator);
                self.line(&format!("${name} = ({condition} and empty({taken}))"));
            }
            2 => {
                let word = self.word();
                self.line(&format!(
                    "${iterator}.each |$x| {{ if $x == '{word}' {{ break() }} }}"
                ));
                self.resource();
            }
            _ => {
                let taken = self.taken(&iterator);
                self.line(&format!("${name} = {taken}"));
            }
        }
    }

    /// The texts that an iterator still gives.
    fn taken(&mut self, iterator: &str) -> String {
        let word = self.word();
        match self.random.below(7) {
            0 | 1 => format!("[*${iterator}]"),
            2 => format!("Array(${iterator})"),
            3 => format!("${iterator}.map |$x| {{ \"{word} ${{x}}\" }}"),
            4 => format!("${iterator}.map |$x| {{ if $x == '{word}' {{ break() }} $x }}"),
            5 => format!("${iterator}.filter |$x| {{ $x != '{word}' }}"),
            _ => format!("[*${iterator}.step(2)]"),
        }
    }

    fn assignment(&mut self) {
        let kind = *self.random.pick(&TYPES);
        let name = self.name("v");
        let value = self.expression(kind, 3);
        self.line(&format!("${name} = {value}"));
        self.know(name, kind);
    }

    fn know(&mut self, name: String, kind: Type) {
        self.variables
            .last_mut()
            .expect("there is a scope")
            .push((name, kind));
    }

    fn parameters(&mut self) -> Vec<(String, Type)> {
        let count = self.random.below(4);
        (0..count)
            .map(|_| {
                let kind = *self.random.pick(&TYPES);
                (self.name("p"), kind)
            })
            .collect()
    }

    fn parameter_list(&mut self, parameters: &[(String, Type)]) -> String {
        let mut written = Vec::new();
        for (name, kind) in parameters {
            let word = match kind {
                Type::Number => "Integer ",
                Type::Text => "String ",
                Type::Bool => "Boolean ",
                Type::Texts => "Array[String] ",
                Type::Hash => "Hash ",
                Type::Iterator => unreachable!("parameters take data"),
            };
            let word = if self.random.chance(50) { word } else { "" };
            let default = self.expression(*kind, 1);
            written.push(format!("{word}${name} = {default}"));
        }
        match written.is_empty() {
            true => String::new(),
            false => format!("({})", written.join(", ")),
        }
    }

    /// A function that may end early.
    fn function(&mut self) {
        let name = self.name("f");
        self.open(&format!("function {name}(String $text) {{"));
        let outer = std::mem::replace(&mut self.variables, vec![vec![("text".into(), Type::Text)]]);
        if self.random.chance(60) {
            let condition = self.expression(Type::Bool, 2);
            let value = self.expression(Type::Text, 1);
            self.line(&format!("if {condition} {{ return({value}) }}"));
        }
        let value = self.expression(Type::Text, 2);
        self.line(&format!("$made = {value}"));
        self.line("$made");
        self.variables = outer;
        self.close();
        self.functions.push(name);
    }

    /// The keys that may be looked up.
    fn keys(&self) -> Vec<(String, Type)> {
        let mut keys = self.asked.clone();
        for class in &self.classes {
            let parameters = class.parameters.iter();
            keys.extend(parameters.map(|(name, kind)| (format!("{}::{name}", class.name), *kind)));
        }
        keys
    }

    /// What is looked up, in one file or in several.
    fn data(&mut self, keys: &[(String, Type)]) -> Vec<(String, String)> {
        let mut common: String = "unused: 1\n".into();
        let mut by_system: Vec<(String, String)> = Vec::new();
        for system in [self.word(), self.word(), self.word()] {
            by_system.push((format!("data/os/{system}.yaml"), "unused: 1\n".into()));
        }
        for (key, kind) in keys {
            let is_asked = !key.contains("::");
            if is_asked || self.random.chance(40) {
                let value = self.datum(*kind);
                let _ = writeln!(common, "{key}: {value}");
            }
            for system in &mut by_system {
                if self.random.chance(25) {
                    let value = self.datum(*kind);
                    let _ = writeln!(system.1, "{key}: {value}");
                }
            }
        }
        if self.asks {
            common.push_str(&self.lookup_options(keys));
        }
        by_system.sort();
        by_system.dedup_by(|one, other| one.0 == other.0);
        let mut data = vec![
            ("hiera.yaml".to_owned(), HIERA.to_owned()),
            ("data/common.yaml".to_owned(), common),
            (
                "modules/m/files/text.txt".to_owned(),
                "web\ndb\n".to_owned(),
            ),
        ];
        data.extend(by_system);
        data
    }

    /// How some of the keys are looked up in several files.
    fn lookup_options(&mut self, keys: &[(String, Type)]) -> String {
        let mut options = String::new();
        for (key, kind) in keys {
            let merge = match kind {
                Type::Texts => "unique",
                Type::Hash => *self.random.pick(&["hash", "deep"]),
                _ => "first",
            };
            if self.random.chance(30) {
                let _ = write!(options, "  {key}:\n    merge: {merge}\n");
            }
        }
        match options.is_empty() {
            true => options,
            false => format!("lookup_options:\n{options}"),
        }
    }

    /// A value as YAML.
    fn datum(&mut self, kind: Type) -> String {
        match kind {
            Type::Number => self.random.below(10).to_string(),
            Type::Text => match self.random.chance(25) {
                true => format!("\"{} %{{facts.os}}\"", self.word()),
                false => self.word().to_owned(),
            },
            Type::Bool => self.random.pick(&["true", "false"]).to_string(),
            Type::Texts => format!("[{}, {}]", self.word(), self.word()),
            Type::Hash => {
                let entries = KEYS.map(|key| format!("{key}: {}", self.word()));
                format!("{{{}}}", entries.join(", "))
            }
            Type::Iterator => unreachable!("data have none"),
        }
    }

    fn define(&mut self) {
        let name = self.name("d");
        let parameters = self.parameters();
        let list = self.parameter_list(&parameters);
        self.open(&format!("define {name}{list} {{"));
        let outer = std::mem::take(&mut self.variables);
        self.variables
            .push(outer.first().cloned().unwrap_or_default());
        self.variables.push(parameters.clone());
        let declared = std::mem::take(&mut self.declared);
        self.know("title".into(), Type::Text);
        for _ in 0..1 + self.random.below(3) {
            match self.random.chance(60) {
                true => {
                    let kind = *self.random.pick(&["notify", "file", "user"]);
                    let title = self.title();
                    let title = match kind {
                        "file" => format!("\"/{title}/${{title}}\""),
                        _ => format!("\"{title} ${{title}}\""),
                    };
                    let attributes = self.attributes(kind);
                    self.line(&format!("{kind} {{ {title}: {attributes} }}"));
                }
                false => self.assignment(),
            }
        }
        self.declared = declared;
        self.variables = outer;
        self.close();
        self.defines.push((name, parameters));
    }

    fn class(&mut self) {
        let name = self.name("c");
        let parameters = self.parameters();
        let parent = match self.classes.is_empty() || !self.random.chance(25) {
            true => None,
            false => Some(self.random.below(self.classes.len())),
        };
        let list = self.parameter_list(&parameters);
        let inherits = match parent {
            Some(parent) => format!(" inherits {}", self.classes[parent].name),
            None => String::new(),
        };
        self.open(&format!("class {name}{list}{inherits} {{"));
        let outer = std::mem::take(&mut self.variables);
        self.variables
            .push(outer.first().cloned().unwrap_or_default());
        if let Some(parent) = parent {
            let parent = &self.classes[parent];
            let seen = parent
                .variables
                .iter()
                .chain(&parent.parameters)
                .cloned()
                .collect();
            self.variables.push(seen);
        }
        self.variables.push(parameters.clone());
        let declared = std::mem::take(&mut self.declared);
        let in_class = std::mem::replace(&mut self.in_class, true);
        if let Some(parent) = parent
            && self.random.chance(60)
        {
            self.override_of(parent);
        }
        if self.random.chance(10) {
            let condition = self.expression(Type::Bool, 2);
            self.line(&format!("if {condition} {{ return() }}"));
        }
        for _ in 0..1 + self.random.below(4) {
            self.statement(2);
        }
        let variables = self.variables.pop().expect("it was put there");
        let resources = std::mem::replace(&mut self.declared, declared);
        self.variables = outer;
        self.in_class = in_class;
        self.close();
        self.classes.push(Class {
            name,
            parameters,
            variables,
            resources,
            included: false,
        });
    }

    /// A class overrides what the class that it inherits declares.
    fn override_of(&mut self, parent: usize) {
        let resources = self.classes[parent].resources.clone();
        if resources.is_empty() {
            return;
        }
        let (kind, title) = self.random.pick(&resources).clone();
        let attribute = attribute_of(kind);
        let operator = if self.random.chance(20) { "+>" } else { "=>" };
        let value = self.expression(Type::Text, 2);
        let reference = capital(kind);
        self.line(&format!(
            "{reference}[{title}] {{ {attribute} {operator} {value} }}"
        ));
    }

    fn title(&mut self) -> String {
        self.titles += 1;
        format!("t{}", self.titles)
    }

    fn resource(&mut self) {
        let kind = *self.random.pick(&["notify", "notify", "file", "user"]);
        let name = self.title();
        let slash = if kind == "file" { "/" } else { "" };
        let mut attributes = self.attributes(kind);
        if self.asks && self.random.chance(10) {
            let comma = if attributes.is_empty() { "" } else { ", " };
            let _ = write!(attributes, "{comma}tag => '{}'", self.word());
        }
        let title = match self.random.below(10) {
            0 => {
                let value = self.variable(Type::Number);
                match value {
                    Some(value) => format!("\"{slash}{name} ${{{value}}}\""),
                    None => format!("'{slash}{name}'"),
                }
            }
            1 => {
                let other = self.title();
                format!("['{slash}{name}', '{slash}{other}']")
            }
            _ => {
                let title = format!("'{slash}{name}'");
                self.declared.push((kind, title.clone()));
                title
            }
        };
        self.line(&format!("{kind} {{ {title}: {attributes} }}"));
    }

    fn attributes(&mut self, kind: &str) -> String {
        let mut written = Vec::new();
        let names: &[(&str, Type)] = match kind {
            "notify" => &[("message", Type::Text), ("withpath", Type::Bool)],
            "file" => &[
                ("content", Type::Text),
                ("mode", Type::Text),
                ("owner", Type::Text),
                ("recurse", Type::Bool),
            ],
            _ => &[
                ("uid", Type::Number),
                ("groups", Type::Texts),
                ("shell", Type::Text),
                ("comment", Type::Text),
            ],
        };
        for (name, kind) in names {
            if self.random.chance(65) {
                let kind = match *name {
                    "message" if self.random.chance(40) => *self.random.pick(&TYPES),
                    _ => *kind,
                };
                let value = self.expression(kind, 3);
                written.push(format!("{name} => {value}"));
            }
        }
        written.join(", ")
    }

    fn include(&mut self) {
        if self.classes.is_empty() || self.in_class && self.random.chance(50) {
            return self.resource();
        }
        let at = self.random.below(self.classes.len());
        let class = self.classes[at].clone();
        if class.included || self.random.chance(65) {
            let function = *self
                .random
                .pick(&["include", "include", "contain", "require"]);
            self.line(&format!("{function} {}", class.name));
        } else {
            let mut given = Vec::new();
            for (name, kind) in &class.parameters {
                if self.random.chance(60) {
                    given.push(format!("{name} => {}", self.expression(*kind, 2)));
                }
            }
            self.line(&format!(
                "class {{ '{}': {} }}",
                class.name,
                given.join(", ")
            ));
        }
        // In a branch it may not have happened; then its variables are not known.
        if self.variables.len() <= 2 && !self.in_class && self.indent <= 1 {
            self.classes[at].included = true;
            for (name, kind) in class.variables.iter().chain(&class.parameters) {
                self.know(format!("{}::{name}", class.name), *kind);
            }
            self.declared.extend(class.resources);
        }
    }

    fn branch(&mut self, depth: usize) {
        let declared = self.declared.len();
        let known = self.variables.last().map_or(0, Vec::len);
        self.indent += 1;
        for _ in 0..1 + self.random.below(2) {
            self.statement(depth - 1);
        }
        self.indent -= 1;
        self.declared.truncate(declared);
        // What a branch assigns is seen behind it, if the branch ran: now and then it is used all the same.
        let keep = self.random.chance(15);
        let variables = self.variables.last_mut().expect("there is a scope");
        if !keep {
            variables.truncate(known);
        }
    }

    fn conditional(&mut self, depth: usize) {
        let condition = self.expression(Type::Bool, 2);
        let word = *self.random.pick(&["if", "if", "if", "unless"]);
        self.line(&format!("{word} {condition} {{"));
        self.branch(depth);
        if word == "if" && self.random.chance(25) {
            let condition = self.expression(Type::Bool, 2);
            self.line(&format!("}} elsif {condition} {{"));
            self.branch(depth);
        }
        if self.random.chance(50) {
            self.line("} else {");
            self.branch(depth);
        }
        self.line("}");
    }

    fn case(&mut self, depth: usize) {
        let test = self.subject();
        self.open(&format!("case {test} {{"));
        for _ in 0..1 + self.random.below(2) {
            let option = self.option();
            self.line(&format!("{option}: {{"));
            self.branch(depth);
            self.line("}");
        }
        if self.random.chance(60) {
            self.line("default: {");
            self.branch(depth);
            self.line("}");
        }
        self.close();
    }

    fn option(&mut self) -> String {
        match self.random.below(6) {
            0 => format!("/^{}/", &self.word()[..1]),
            1 => format!("'{}', '{}'", self.word(), self.word()),
            2 => "Enum['web', 'db']".to_owned(),
            _ => format!("'{}'", self.word()),
        }
    }

    fn defined(&mut self) {
        if self.defines.is_empty() {
            return self.resource();
        }
        let (name, parameters) = self.random.pick(&self.defines).clone();
        let mut given = Vec::new();
        for (name, kind) in &parameters {
            if self.random.chance(60) {
                given.push(format!("{name} => {}", self.expression(*kind, 2)));
            }
        }
        let title = self.title();
        self.line(&format!("{name} {{ '{title}': {} }}", given.join(", ")));
    }

    fn default(&mut self) {
        let kind = *self.random.pick(&["notify", "file", "user"]);
        let attribute = match kind {
            "notify" => "message",
            "file" => "group",
            _ => "home",
        };
        let value = self.expression(Type::Text, 2);
        // There can be one default for an attribute in a scope.
        if self.indent <= 1 && self.random.chance(60) && !self.defaulted(kind) {
            self.line(&format!("{} {{ {attribute} => {value} }}", capital(kind)));
        } else {
            self.resource();
        }
    }

    /// Whether a default for the type was written in the scope that is open.
    fn defaulted(&self, kind: &str) -> bool {
        let start = ["\nclass ", "\nnode ", "\ndefine "]
            .iter()
            .filter_map(|word| self.text.rfind(word))
            .max()
            .unwrap_or(0);
        let start = if self.indent == 0 { 0 } else { start };
        self.text[start..].contains(&format!("{} {{ ", capital(kind)))
    }

    fn collector(&mut self) {
        let kind = *self.random.pick(&["user", "file", "notify"]);
        let query = match self.random.below(4) {
            0 => String::new(),
            1 => format!(" title == 't{}' ", 1 + self.random.below(self.titles + 2)),
            2 if kind == "user" => format!(" shell == '{}' ", self.word()),
            _ => format!(" tag == '{}' ", self.word()),
        };
        let sets = match self.random.chance(40) {
            true => {
                let value = self.expression(Type::Text, 1);
                format!(" {{ {} => {value} }}", attribute_of(kind))
            }
            false => String::new(),
        };
        self.line(&format!("{} <|{query}|>{sets}", capital(kind)));
    }

    fn virtual_resource(&mut self) {
        let title = self.title();
        let attributes = self.attributes("user");
        let comma = if attributes.is_empty() { "" } else { ", " };
        let tag = self.word();
        self.line(&format!(
            "@user {{ '{title}': {attributes}{comma}tag => '{tag}' }}"
        ));
        if self.random.chance(40) {
            self.line(&format!("realize User['{title}']"));
        }
    }

    fn reference(&mut self) -> Option<String> {
        if self.declared.is_empty() {
            return None;
        }
        let (kind, title) = self.random.pick(&self.declared).clone();
        Some(format!("{}[{title}]", capital(kind)))
    }

    fn relationship(&mut self) {
        let (Some(one), Some(other)) = (self.reference(), self.reference()) else {
            return self.resource();
        };
        if one == other {
            return self.resource();
        }
        let arrow = *self.random.pick(&["->", "->", "~>", "<-"]);
        self.line(&format!("{one} {arrow} {other}"));
    }

    fn iteration(&mut self, depth: usize) {
        let list = self.expression(Type::Texts, 1);
        let name = self.name("e");
        let title = self.title();
        self.open(&format!("{list}.each |$i, ${name}| {{"));
        self.variables
            .push(vec![(name.clone(), Type::Text), ("i".into(), Type::Number)]);
        if self.random.chance(25) {
            let condition = self.expression(Type::Bool, 2);
            let leave = *self.random.pick(&["next()", "break()"]);
            self.line(&format!("if {condition} {{ {leave} }}"));
        }
        let attributes = self.attributes("notify");
        self.line(&format!(
            "notify {{ \"{title} ${{i}} ${{{name}}}\": {attributes} }}"
        ));
        if depth > 1 && self.random.chance(30) {
            self.assignment();
        }
        self.variables.pop();
        self.close();
    }

    /// Something is added to a resource by a reference.
    fn amendment(&mut self) {
        let candidates: Vec<(&'static str, String)> = self
            .declared
            .iter()
            .filter(|(kind, _)| *kind == "user")
            .cloned()
            .collect();
        if candidates.is_empty() {
            return self.resource();
        }
        let (kind, title) = self.random.pick(&candidates).clone();
        let value = self.expression(Type::Text, 1);
        self.line(&format!("{}[{title}] {{ home => {value} }}", capital(kind)));
    }

    fn mistake(&mut self) {
        let mistakes = [
            "notify { 'twice': } notify { 'twice': }",
            "$again = 1 $again = 2",
            "include nothing",
            "file { '/x': color => 'red' }",
            "nothing { 'x': }",
            "notify { 'n': message => 1 / 0 }",
            "notify { 'n': message => 'a' + 1 }",
            "fail('no')",
            "notify { 'r': require => File['/none'] }",
            "notify { undef: }",
            "$sel = 'x' ? { 'y' => 1 }",
            "File['/none'] { mode => '1' }",
            "notify { 'f': message => unknown_function(1) }",
            "notify { 'n': message => [1] < 2 }",
        ];
        let mistake = *self.random.pick(&mistakes);
        self.line(mistake);
    }

    fn word(&mut self) -> &'static str {
        WORDS[self.random.below(WORDS.len())]
    }

    /// Something that people decide by: a fact, or a variable.
    fn subject(&mut self) -> String {
        let facts = ["$facts['os']", "$facts['net']['a']", "$facts['roles'][0]"];
        match self.random.chance(50) {
            true => match self.variable(Type::Text) {
                Some(name) => format!("${name}"),
                None => self.literal(Type::Text),
            },
            false => (*self.random.pick(&facts)).to_owned(),
        }
    }

    /// A variable of a type that can be seen.
    fn variable(&mut self, kind: Type) -> Option<String> {
        let seen: Vec<&String> = self
            .variables
            .iter()
            .flatten()
            .filter(|(_, own)| *own == kind)
            .map(|(name, _)| name)
            .collect();
        if seen.is_empty() {
            return None;
        }
        Some(seen[self.random.below(seen.len())].clone())
    }

    fn expression(&mut self, kind: Type, depth: usize) -> String {
        if depth == 0 || self.random.chance(30) {
            return self.literal(kind);
        }
        if self.random.chance(45)
            && let Some(name) = self.variable(kind)
        {
            return format!("${name}");
        }
        if self.random.chance(12) {
            return self.chosen(kind, depth);
        }
        if self.has_data && kind != Type::Iterator && self.random.chance(12) {
            return self.looked_up(kind);
        }
        let depth = depth - 1;
        if kind == Type::Texts
            && self.random.chance(30)
            && let Some(iterator) = self.variable(Type::Iterator)
        {
            return self.taken(&iterator);
        }
        match kind {
            Type::Number => match self.random.below(6) {
                0 => "$facts['cpus']".to_owned(),
                1 => format!("{}.length", self.expression(Type::Texts, depth)),
                2 => {
                    let leave = match self.random.chance(30) {
                        true => format!("if $x == '{}' {{ break() }} ", self.word()),
                        false => String::new(),
                    };
                    let all = self.expression(Type::Texts, depth);
                    format!("({all}).reduce(0) |$m, $x| {{ {leave}$m + 1 }}")
                }
                _ => {
                    let operator = *self.random.pick(&["+", "-", "*"]);
                    let (one, other) = (self.expression(kind, depth), self.expression(kind, depth));
                    format!("({one} {operator} {other})")
                }
            },
            Type::Text => match self.random.below(if self.asks { 10 } else { 8 }) {
                8 => self.template(depth),
                9 if self.has_data => {
                    let missing = if self.random.chance(40) {
                        "'m/none.txt', "
                    } else {
                        ""
                    };
                    format!("file({missing}'m/text.txt')")
                }
                0 => "$facts['os']".to_owned(),
                1 => "$facts['net']['a']".to_owned(),
                2 => format!(
                    "{}['{}']",
                    self.hash_value(depth),
                    self.random.pick(&KEYS).to_owned()
                ),
                3 => {
                    let mut functions = self.functions.clone();
                    functions.push("upcase".into());
                    let function = self.random.pick(&functions).clone();
                    format!("{function}({})", self.expression(kind, depth))
                }
                4 => format!("{}[0]", self.expression(Type::Texts, depth)),
                _ => {
                    let inner = self.expression(kind, depth);
                    let word = self.word();
                    match self.random.chance(50) {
                        true => format!("\"{word} ${{{inner}}}\""),
                        false => format!("\"${{{inner}}} {word}\""),
                    }
                }
            },
            Type::Bool => match self.random.below(if self.asks { 11 } else { 9 }) {
                9 => format!("tagged('{}')", self.word()),
                10 => format!("defined('$v{}')", 1 + self.random.below(self.names + 1)),
                0 => "$facts['cloud']".to_owned(),
                1 => format!("!{}", self.expression(kind, depth)),
                2 => {
                    let operator = *self.random.pick(&["and", "or"]);
                    let (one, other) = (self.expression(kind, depth), self.expression(kind, depth));
                    format!("({one} {operator} {other})")
                }
                3 => format!(
                    "({} in {})",
                    self.subject(),
                    self.expression(Type::Texts, depth)
                ),
                4 => format!(
                    "({} =~ /^{}/)",
                    self.expression(Type::Text, depth),
                    &self.word()[..1]
                ),
                5 | 6 => {
                    let operator = *self.random.pick(&["==", "!="]);
                    let (one, other) = (self.subject(), self.literal(Type::Text));
                    format!("({one} {operator} {other})")
                }
                _ => {
                    let operator = *self.random.pick(&["<", ">", "==", "<=", "!="]);
                    let (one, other) = (
                        self.expression(Type::Number, depth),
                        self.literal(Type::Number),
                    );
                    format!("({one} {operator} {other})")
                }
            },
            Type::Texts => match self.random.below(6) {
                0 => "$facts['roles']".to_owned(),
                1 => format!(
                    "({} + {})",
                    self.expression(kind, depth),
                    self.expression(kind, depth)
                ),
                2 => {
                    let all = self.expression(kind, depth);
                    let leave = match self.random.below(6) {
                        0 => format!("if $x == '{}' {{ next('{}') }} ", self.word(), self.word()),
                        _ => String::new(),
                    };
                    format!("{all}.map |$x| {{ {leave}\"${{x}} {}\" }}", self.word())
                }
                3 => format!(
                    "{}.filter |$x| {{ $x != {} }}",
                    self.expression(kind, depth),
                    self.literal(Type::Text)
                ),
                4 => format!(
                    "[{}, *{}]",
                    self.expression(Type::Text, depth),
                    self.expression(kind, depth)
                ),
                _ => format!(
                    "[{}, {}]",
                    self.expression(Type::Text, depth),
                    self.expression(Type::Text, depth)
                ),
            },
            Type::Hash => match self.random.below(3) {
                0 => format!(
                    "({} + {})",
                    self.expression(kind, depth),
                    self.expression(kind, depth)
                ),
                _ => self.hash_literal(depth),
            },
            Type::Iterator => self.iterator_over(depth),
        }
    }

    /// A template that is given something under a name that it may have, or have not.
    fn template(&mut self, depth: usize) -> String {
        let value = self.expression(Type::Text, depth);
        let word = self.word();
        match self.random.below(3) {
            0 => format!("inline_epp('{word} <%= $a %>', {{ 'a' => {value}, 'b' => '{word}' }})"),
            1 => format!(
                "inline_epp('<%- | $a, $b = {word} | -%><%= $a %> <%= $b %>', {{ 'a' => {value} }})"
            ),
            _ => format!(
                "inline_epp('<% if $b {{ %>{word}<% }} %><%= $a %>', {{ 'a' => {value}, 'b' => {} }})",
                self.literal(Type::Bool)
            ),
        }
    }

    /// A value from the data; hashes of several files may be merged.
    fn looked_up(&mut self, kind: Type) -> String {
        let key = self.name("k");
        let call = match (kind, self.random.below(4)) {
            (Type::Hash, 0 | 1) => format!("lookup('{key}', {{ merge => hash }})"),
            (Type::Texts, 0 | 1) => format!("lookup('{key}', {{ merge => unique }})"),
            (Type::Text, 0) => {
                // Nobody says it.
                return format!("lookup('{key}', {{ default_value => '{}' }})", self.word());
            }
            _ => format!("lookup('{key}')"),
        };
        self.asked.push((key, kind));
        call
    }

    fn hash_value(&mut self, depth: usize) -> String {
        match self.variable(Type::Hash) {
            Some(name) => format!("${name}"),
            None => self.hash_literal(depth),
        }
    }

    fn hash_literal(&mut self, depth: usize) -> String {
        let entries: Vec<String> = KEYS
            .iter()
            .map(|key| format!("'{key}' => {}", self.expression(Type::Text, depth)))
            .collect();
        format!("{{ {} }}", entries.join(", "))
    }

    /// A value that a condition chooses.
    fn chosen(&mut self, kind: Type, depth: usize) -> String {
        let (one, other) = (
            self.expression(kind, depth - 1),
            self.expression(kind, depth - 1),
        );
        match self.random.chance(50) {
            true => {
                let test = self.subject();
                let option = self.word();
                format!("({test} ? {{ '{option}' => {one}, default => {other} }})")
            }
            false => {
                let condition = self.expression(Type::Bool, depth - 1);
                format!("(if {condition} {{ {one} }} else {{ {other} }})")
            }
        }
    }

    fn literal(&mut self, kind: Type) -> String {
        match kind {
            Type::Number => self.random.below(10).to_string(),
            Type::Text => format!("'{}'", self.word()),
            Type::Bool => self.random.pick(&["true", "false"]).to_string(),
            Type::Texts => format!("['{}', '{}']", self.word(), self.word()),
            Type::Hash => {
                let entries: Vec<String> = KEYS
                    .iter()
                    .map(|key| format!("'{key}' => '{}'", self.word()))
                    .collect();
                format!("{{ {} }}", entries.join(", "))
            }
            Type::Iterator => self.iterator_over(0),
        }
    }
}

fn attribute_of(kind: &str) -> &'static str {
    match kind {
        "notify" => "message",
        "file" => "mode",
        _ => "shell",
    }
}

fn capital(kind: &str) -> &'static str {
    match kind {
        "notify" => "Notify",
        "file" => "File",
        _ => "User",
    }
}
