//! The types agree with the real compiler, asked in one process.
//!
//! Questions are written as Puppet expressions. The real compiler evaluates them; here a small reader makes the
//! same values and types of them. Tables hold what people write and what is delicate; thousands of further
//! questions are made at random, the same ones in every run.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Lines, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use hence_puppet::compare;
use hence_puppet::number::number;
use hence_puppet::pattern::Pattern;
use hence_puppet::text::text;
use hence_puppet::trace::Origin;
use hence_puppet::types::{self, Accessed, Alias, Form, Type};
use hence_puppet::value::{Array, Datum, Hash, Value};

/// Names for types that both sides know.
const ALIASES: &[(&str, &str)] = &[
    ("Port", "Integer[1, 65535]"),
    ("Name", "Pattern[/\\A[a-z]+\\z/]"),
    ("Ports", "Array[Port]"),
    ("Maybe", "Optional[Port]"),
    ("Choice", "Variant[Port, Enum['all', 'none']]"),
    ("Tree", "Array[Variant[Integer, Tree]]"),
    ("Forest", "Variant[String, Hash[String, Forest]]"),
    (
        "Entry",
        "Struct[{'name' => Name, Optional['port'] => Port, 'tags' => Optional[Array[String]]}]",
    ),
    ("Left", "Array[Variant[Integer, Right]]"),
    ("Right", "Hash[String, Left]"),
];

const ORACLE: &str = r##"
require 'puppet'
require 'puppet/pops'
include Puppet::Pops
STDOUT.set_encoding('UTF-8'); STDIN.set_encoding('UTF-8')
Puppet::Util::Log.level = :crit
Puppet.initialize_settings(['--confdir', '/nonexistent', '--vardir', '/nonexistent'])
environment = Puppet::Node::Environment.create(:production, [])
loaders = Loaders.new(environment)
Puppet.push_context({ loaders: loaders, current_environment: environment }, 'agreement')
scope = Puppet::Parser::Compiler.new(Puppet::Node.new('n', environment: environment)).topscope
parser = Parser::EvaluatingParser.new
CACHE = {}
evaluate = lambda do |source|
  entry = CACHE[source] ||= begin
    [true, parser.evaluate_string(scope, source)]
  rescue StandardError, SystemStackError => e
    [false, e.message.sub(/ \(line: \d+, column: \d+\)\z/, '').sub(/\AEvaluation Error: (Error while evaluating a Function Call, )?/, '')]
  end
  raise ArgumentError, entry[1] unless entry[0]
  entry[1]
end
shown = lambda do |value|
  case value
  when Types::PAnyType then value.to_s
  when Types::PSensitiveType::Sensitive then "Sensitive(#{shown.call(value.unwrap)})"
  when Types::PBinaryType::Binary then "Binary(#{value})"
  when SemanticPuppet::VersionRange then "SemVerRange(#{value})"
  when SemanticPuppet::Version then "SemVer(#{value})"
  when Puppet::Pops::Time::TimeData then "#{value.class.name.split('::').last}(#{value.nsecs.to_i})"
  when URI then "URI(#{value})"
  when Array then "[#{value.map { |it| shown.call(it) }.join(', ')}]"
  when Hash then "{#{value.map { |k, v| "#{shown.call(k)} => #{shown.call(v)}" }.join(', ')}}"
  else Types::TypeFormatter.string(value)
  end
end
comparer = Evaluator::CompareOperator.new
calculator = Types::TypeCalculator.singleton
describer = Types::TypeMismatchDescriber.singleton
STDIN.each_line do |line|
  question, *sources = line.chomp.split("\t", -1)
  answer = begin
    if question == 'end'
      'end'
    elsif question == 'define'
      program = parser.parse_string("type #{sources[0]} = #{sources[1]}")
      loaders.instantiate_definitions(program, loaders.public_environment_loader)
      'defined'
    else
      a, b, *rest = sources.map { |source| evaluate.call(source) }
      case question
      when 'show' then shown.call(a)
      when 'instance' then a.instance?(b).to_s
      when 'assignable' then (!!a.assignable?(b)).to_s
      when 'reduced' then calculator.infer(a).to_s
      when 'of' then calculator.infer_set(a).to_s
      when 'generalise' then a.generalize.to_s
      when 'normalise' then a.normalize.to_s
      when 'common' then calculator.common_type(a, b).to_s
      when 'same' then (a == b).to_s
      when 'equal' then comparer.equals(a, b).to_s
      when 'compare' then comparer.compare(a, b).to_s
      when 'matches' then comparer.match(a, b).to_s
      when 'included' then comparer.include?(b, a, scope).to_s
      when 'text' then parser.evaluator.string(a, scope)
      when 'format' then a.format(b)
      when 'refusal'
        function = loaders.puppet_system_loader.load(:function, a)
        describer.describe_signatures(a, function.class.dispatcher.signatures, b)
      when 'number' then Utils.to_n(a).inspect
      when 'mismatch' then describer.describe_mismatch('x', a, calculator.infer_set(b))
      when 'parameters'
        begin
          Types::TypeMismatchDescriber.validate_parameters('Class[X]', a, b)
          ''
        rescue Puppet::ParseError => e
          e.message
        end
      when 'new'
        function = loaders.puppet_system_loader.load(:function, 'new')
        shown.call(function.call(scope, a, *[b, *rest].first(sources.size - 1)))
      else "what is #{question}?"
      end
    end
  rescue StandardError, SystemStackError => e
    "error: #{e.message.sub(/ \(line: \d+, column: \d+\)\z/, '')}"
  end
  puts answer.gsub('\\') { '\\\\' }.gsub("\n") { '\\n' }.gsub("\r") { '\\r' }
  STDOUT.flush if question == 'end'
end
"##;

/// What is asked of both sides: the question, and the expressions it is about.
struct Question {
    kind: &'static str,
    about: Vec<String>,
}

fn ask(kind: &'static str, about: &[&str]) -> Question {
    let about = about.iter().map(|it| (*it).to_owned()).collect();
    Question { kind, about }
}

/// The real compiler, ready to answer.
struct Oracle {
    process: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
}

const INSTALL: &str = "the real compiler has to be installed: \
    apt-get install -y --no-install-recommends puppet-agent";

/// What the real compiler answers; one process for all tests, as it takes a second to start.
fn real_answers(questions: &[Question]) -> Vec<String> {
    static ORACLE_AT_WORK: LazyLock<Mutex<Oracle>> = LazyLock::new(|| {
        let process = Command::new("ruby")
            .args(["-E", "UTF-8:UTF-8", "-W0", "-e", ORACLE])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        let mut process = process.expect(INSTALL);
        let input = process.stdin.take().expect("it is piped");
        let output = BufReader::new(process.stdout.take().expect("it is piped")).lines();
        let mut oracle = Oracle {
            process,
            input,
            output,
        };
        let definitions: Vec<Question> = ALIASES
            .iter()
            .map(|(name, body)| ask("define", &[name, body]))
            .collect();
        let answers = oracle.answer(&definitions);
        assert!(answers.iter().all(|it| it == "defined"), "{answers:?}");
        Mutex::new(oracle)
    });
    let mut oracle = ORACLE_AT_WORK
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    oracle.answer(questions)
}

impl Oracle {
    fn answer(&mut self, questions: &[Question]) -> Vec<String> {
        let mut text = String::new();
        for question in questions {
            text += &format!("{}\t{}\n", question.kind, question.about.join("\t"));
        }
        text += "end\n";
        let (input, output) = (&mut self.input, &mut self.output);
        let answers: Vec<String> = std::thread::scope(|scope| {
            let writer = scope.spawn(|| {
                input.write_all(text.as_bytes())?;
                input.flush()
            });
            let answers = output
                .take(questions.len() + 1)
                .map(|line| line.expect("answers are UTF-8"))
                .collect();
            let _ = writer.join();
            answers
        });
        if answers.len() != questions.len() + 1 {
            let end = self.process.wait();
            panic!("{INSTALL}; it ended with {end:?}");
        }
        answers[..questions.len()].to_vec()
    }
}

/// What we answer.
fn our_answer(question: &Question, world: &World) -> String {
    answer(question, world)
        .unwrap_or_else(|message| format!("error: {message}"))
        .replace('\\', "\\\\")
        .replace('\n', "\\n")
        .replace('\r', "\\r")
}

fn answer(question: &Question, world: &World) -> Result<String, String> {
    let mut values = Vec::new();
    for source in &question.about {
        values.push(world.evaluate(source)?);
    }
    let kind = |at: usize| match &values[at] {
        Datum::Type(kind) => (**kind).clone(),
        other => panic!("{other:?} is no type"),
    };
    Ok(match question.kind {
        "show" => shown(&values[0]),
        "instance" => kind(0).instance(&values[1]).to_string(),
        "assignable" => kind(0).assignable(&kind(1)).to_string(),
        "reduced" => Type::reduced(&values[0]).to_string(),
        "of" => Type::of(&values[0]).to_string(),
        "generalise" => kind(0).generalise().to_string(),
        "normalise" => kind(0).normalise().to_string(),
        "common" => kind(0).common(&kind(1)).to_string(),
        "same" => (kind(0) == kind(1)).to_string(),
        "equal" => compare::equal(&values[0], &values[1]).to_string(),
        "compare" => match compare::compare(&values[0], &values[1]) {
            Ok(ordering) => (ordering as i8).to_string(),
            Err(failure) => return Err(failure.message),
        },
        "matches" => compare::matches(&values[0], &values[1]).to_string(),
        "included" => compare::included(&values[0], &values[1]).to_string(),
        "text" => text(&values[0]).to_string(),
        "number" => match &values[0] {
            Datum::Text(source) => match number(source) {
                Some(number) => text(&number).to_string(),
                None => "nil".to_owned(),
            },
            other => panic!("{other:?} is no text"),
        },
        "new" => {
            let arguments: Vec<Value> = values[1..].iter().cloned().map(value).collect();
            let made = types::create(&kind(0), &arguments, Origin::written(0));
            shown(&made.map_err(|failure| failure.message)?)
        }
        "refusal" => {
            let name = text(&values[0]);
            types::refusal(&name, &world.forms(&name), &kind(1))
        }
        "format" => match (&values[0], &values[1]) {
            (Datum::Timespan(span), Datum::Text(format)) => span.format(format)?,
            (Datum::Timestamp(at), Datum::Text(format)) => at.format(format),
            other => panic!("{other:?} has no format"),
        },
        "mismatch" => types::mismatch("x", &kind(0), &values[1]),
        "parameters" => {
            let Type::Struct(members) = kind(0) else {
                panic!("parameters are a struct");
            };
            let Datum::Hash(given) = &values[1] else {
                panic!("what is given is a hash");
            };
            let parameters: Vec<(&str, &Type, bool)> = members
                .iter()
                .map(|it| (it.name.as_str(), &it.value, !it.optional))
                .collect();
            let names: Vec<String> = given.iter().map(|(key, _)| text(key).to_string()).collect();
            let given: Vec<(&str, &Datum)> = names
                .iter()
                .zip(given.iter())
                .map(|(name, (_, entry))| (name.as_str(), &entry.value.datum))
                .collect();
            types::tell("Class[X]", &types::check_parameters(&parameters, &given))
        }
        other => panic!("nobody asks {other}"),
    })
}

/// A value told apart from all others, as the oracle shows it.
fn shown(datum: &Datum) -> String {
    match datum {
        Datum::Undef => "undef".into(),
        Datum::Text(text) => types::quote(text),
        Datum::Array(array) => {
            let values: Vec<String> = array.iter().map(|it| shown(&it.datum)).collect();
            format!("[{}]", values.join(", "))
        }
        Datum::Hash(hash) => {
            let entries: Vec<String> = hash
                .iter()
                .map(|(key, entry)| format!("{} => {}", shown(key), shown(&entry.value.datum)))
                .collect();
            format!("{{{}}}", entries.join(", "))
        }
        Datum::Sensitive(value) => format!("Sensitive({})", shown(&value.datum)),
        Datum::Binary(_) => format!("Binary({})", text(datum)),
        Datum::SemVer(_) => format!("SemVer({})", text(datum)),
        Datum::SemVerRange(_) => format!("SemVerRange({})", text(datum)),
        Datum::Uri(_) => format!("URI({})", text(datum)),
        Datum::Timestamp(at) => format!("Timestamp({})", at.nanoseconds()),
        Datum::Timespan(span) => format!("Timespan({})", span.nanoseconds()),
        other => text(other).to_string(),
    }
}

/// Asks both sides and shows where they differ.
fn agree(questions: &[Question]) {
    let world = World::new();
    let mut differences = Vec::new();
    let mut stumbled = 0;
    for (question, real) in questions.iter().zip(real_answers(questions)) {
        // Where the real compiler trips over itself there is nothing to agree with.
        let stumbles = [
            "undefined method",
            "undefined local variable",
            "stack level too deep",
            "with nil failed",
            "comparison of NilClass",
        ];
        if stumbles.iter().any(|it| real.contains(it)) {
            stumbled += 1;
            continue;
        }
        let ours = our_answer(question, &world);
        if ours != real {
            differences.push(format!(
                "{} {}\n  real: {real}\n  ours: {ours}",
                question.kind,
                question.about.join("   ")
            ));
        }
    }
    let shown = differences.iter().take(60).cloned().collect::<Vec<_>>();
    assert!(
        differences.is_empty(),
        "{} of {} answers differ:\n{}",
        differences.len(),
        questions.len(),
        shown.join("\n")
    );
    println!(
        "{} answers agree, {stumbled} have no counterpart",
        questions.len() - stumbled
    );
}

/// The names that expressions may use.
struct World {
    aliases: HashMap<&'static str, Arc<Alias>>,
}

fn value(datum: impl Into<Datum>) -> Value {
    Value::new(datum, Origin::written(0))
}

impl World {
    fn new() -> Self {
        let aliases = ALIASES
            .iter()
            .map(|(name, _)| (*name, Alias::new(*name)))
            .collect();
        let world = Self { aliases };
        for (name, body) in ALIASES {
            let Ok(Datum::Type(body)) = world.evaluate(body) else {
                panic!("{body} is a type");
            };
            world.aliases[name]
                .define((*body).clone())
                .expect("it is a real type");
        }
        world
    }

    /// In which forms some functions are called.
    fn forms(&self, function: &str) -> Vec<Form> {
        let form = |signature: &str, names: &[&str]| {
            let Ok(Datum::Type(kind)) = self.evaluate(signature) else {
                panic!("{signature} is a type");
            };
            let Type::Callable(Some(signature)) = &*kind else {
                panic!("{kind} can be called");
            };
            Form {
                names: names.iter().map(|name| (*name).into()).collect(),
                block: "block".into(),
                signature: (**signature).clone(),
            }
        };
        match function {
            "each" => vec![
                form("Callable[Hash[Any, Any], Callable[2, 2]]", &["hash"]),
                form("Callable[Hash[Any, Any], Callable[1, 1]]", &["hash"]),
                form("Callable[Iterable, Callable[2, 2]]", &["enumerable"]),
                form("Callable[Iterable, Callable[1, 1]]", &["enumerable"]),
            ],
            "join" => vec![form("Callable[Array, String, 1, 2]", &["arg", "delimiter"])],
            _ => vec![
                form("Callable[Collection]", &["arg"]),
                form("Callable[String]", &["arg"]),
                form("Callable[Binary]", &["arg"]),
            ],
        }
    }

    /// Reads an expression and makes its value. What is wrong with it is told as the real compiler does.
    fn evaluate(&self, source: &str) -> Result<Datum, String> {
        let mut reader = Reader {
            rest: source,
            world: self,
        };
        let datum = reader.expression()?;
        reader.space();
        assert!(
            reader.rest.is_empty(),
            "unread: {} of {source}",
            reader.rest
        );
        Ok(datum)
    }
}

/// Reads the few kinds of expressions that questions are made of.
struct Reader<'a> {
    rest: &'a str,
    world: &'a World,
}

impl<'a> Reader<'a> {
    fn space(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn take(&mut self, token: &str) -> bool {
        self.space();
        match self.rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn word(&mut self) -> &'a str {
        let word = |char: char| char.is_ascii_alphanumeric() || matches!(char, '_' | ':');
        let end = self
            .rest
            .find(|char| !word(char))
            .unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }

    fn until(&mut self, end: &str) -> Result<Vec<Value>, String> {
        let mut values = Vec::new();
        while !self.take(end) {
            values.push(value(self.expression()?));
            self.take(",");
        }
        Ok(values)
    }

    fn expression(&mut self) -> Result<Datum, String> {
        self.space();
        let first = self.rest.chars().next().expect("there is an expression");
        match first {
            '\'' | '"' | '/' => {
                let mut content = String::new();
                let mut chars = self.rest.char_indices().skip(1);
                while let Some((at, char)) = chars.next() {
                    match char {
                        char if char == first => {
                            self.rest = &self.rest[at + 1..];
                            break;
                        }
                        '\\' => {
                            let (_, next) = chars.next().expect("something is escaped");
                            match (first, next) {
                                ('"', 'n') => content.push('\n'),
                                ('"', 't') => content.push('\t'),
                                ('"', 'u') => {
                                    let mut code = String::new();
                                    chars.next();
                                    for (_, char) in chars.by_ref() {
                                        if char == '}' {
                                            break;
                                        }
                                        code.push(char);
                                    }
                                    let code = u32::from_str_radix(&code, 16).expect("hex");
                                    content.push(char::from_u32(code).expect("a character"));
                                }
                                ('/', '/') | ('\'', '\'' | '\\') | ('"', '"' | '\\' | '$') => {
                                    content.push(next);
                                }
                                _ => content.extend(['\\', next]),
                            }
                        }
                        char => content.push(char),
                    }
                }
                Ok(match first {
                    '/' => Datum::Pattern(Arc::new(Pattern::new(&content)?)),
                    _ => Datum::from(content),
                })
            }
            '[' => {
                self.take("[");
                Ok(Array::from(self.until("]")?).into())
            }
            '{' => {
                self.take("{");
                let mut entries = Vec::new();
                while !self.take("}") {
                    let key = value(self.expression()?);
                    assert!(self.take("=>"), "an arrow at {}", self.rest);
                    entries.push((key, value(self.expression()?)));
                    self.take(",");
                }
                Ok(entries.into_iter().collect::<Hash>().into())
            }
            '-' | '0'..='9' => {
                let end = self
                    .rest
                    .find(|char: char| !char.is_ascii_alphanumeric() && !matches!(char, '.' | '-'))
                    .unwrap_or(self.rest.len());
                let (digits, rest) = self.rest.split_at(end);
                self.rest = rest;
                Ok(number(digits).unwrap_or_else(|| panic!("{digits} is a number")))
            }
            'A'..='Z' => {
                let name = self.word();
                let mut kind = match self.world.aliases.get(name) {
                    Some(alias) => Type::Alias(alias.clone()),
                    None => types::named(&name.to_lowercase())
                        .unwrap_or(Type::Resource(Some(name.to_lowercase().into()), None)),
                };
                if self.take("(") {
                    let arguments = self.until(")")?;
                    let origin = Origin::written(0);
                    return types::create(&kind, &arguments, origin)
                        .map_err(|failure| failure.message);
                }
                while self.take("[") {
                    let arguments = self.until("]")?;
                    kind = match types::parameterise(&kind, &arguments) {
                        Ok(Accessed::One(kind)) => kind,
                        Ok(Accessed::Many(types)) => {
                            return Ok(types.into_iter().map(value).collect::<Array>().into());
                        }
                        Ok(Accessed::Undef) => return Ok(Datum::Undef),
                        Err(failure) => return Err(failure.message),
                    };
                }
                Ok(kind.into())
            }
            _ => Ok(match self.word() {
                "undef" => Datum::Undef,
                "default" => Datum::Default,
                "true" => Datum::Bool(true),
                "false" => Datum::Bool(false),
                "" => panic!("unreadable: {}", self.rest),
                word => Datum::from(word),
            }),
        }
    }
}

/// Values as people write them, and delicate ones.
#[rustfmt::skip]
const VALUES: &[&str] = &[
    "undef", "default", "true", "false", "0", "1", "-1", "5", "80", "65536", "9223372036854775807", "0.0", "1.0", "-1.5", "1.0e20",
    "1.0e-5", "123456789.25", "0.1", "1.0e15", "1.0e16", "''", "'a'", "'A'", "'all'", "'none'", "'abc'", "'ABC'", "'10'", "'0x1f'",
    "'1.2.3'", "'yes'", "'true'", "'it\\'s'", "\"tab\\tnew\\n\"", "'dollar$'", "'back\\\\slash'", "'ä'", "'$x'", "/a/", "/^a.*b$/",
    "/a\\/b/", "[]", "[1]", "[1, 2]", "[1, 'a']", "[1, 2.5]", "[undef]", "['a', 'b']", "['a', 'abc']", "[[1], [2, 3]]", "[1, [2, [3]]]",
    "[[], [1]]", "[true, false]", "[1, undef]", "['a', undef, 3]", "[/a/, 'b']", "[Integer, String]", "[1, [2, ['a']]]", "[[['a']]]",
    "{}", "{'a' => 1}", "{'a' => 1, 'b' => 2}", "{'a' => 1, 'b' => 'x'}", "{1 => 2}", "{1 => 'a', 'b' => 3}", "{'name' => 'abc'}",
    "{'name' => 'abc', 'port' => 80}", "{'name' => 'abc', 'port' => 80, 'tags' => ['a']}",
    "{'name' => 'ABC', 'port' => 0, 'tags' => 'a', 'more' => 1}", "{'a' => {'b' => {'c' => 1}}}", "{'a' => {'b' => 'c'}}", "{'' => 1}",
    "{'a' => undef}", "{[1] => 2}", "{'a' => []}", "{'a' => [{'b' => []}]}", "{undef => 1}", "{'a' => [undef, {'b' => []}]}", "Integer",
    "Integer[1, 5]", "Integer[1]", "String", "Enum['a', 'b']", "File", "File['/a']", "Class['a']", "Class", "Type[Integer]",
    "Array[Integer]", "Any", "Undef", "Data", "Port", "Tree", "Optional[String]", "Resource",
];

/// Types as people write them, and delicate ones.
#[rustfmt::skip]
const TYPES: &[&str] = &[
    "Any", "Undef", "Default", "Scalar", "ScalarData", "Data", "RichData", "RichDataKey", "Numeric", "Integer", "Integer[1]",
    "Integer[1, 5]", "Integer[default, 5]", "Integer[5, 5]", "Integer[-5, 80]", "Float", "Float[1]", "Float[0, 1.5]",
    "Float[default, 1.0e20]", "Boolean", "Boolean[true]", "Boolean[false]", "String", "String[1]", "String[0]", "String[1, 3]",
    "String[default, 2]", "String[Integer[1, 2]]", "Enum", "Enum['a']", "Enum['a', 'b']", "Enum['b', 'a', 'a']", "Enum['a', 'b', true]",
    "Enum['all', 'none', false]", "Pattern", "Pattern[/a/]", "Pattern[/^a/, /b$/]", "Pattern['a']", "Pattern[Regexp[/x/], Pattern[/y/]]",
    "Regexp", "Regexp[/a/]", "Regexp['a']", "Regexp[/a\\/b/]", "Collection", "Collection[1]", "Collection[0, 2]", "Collection[2, 2]",
    "Array", "Array[Integer]", "Array[Integer, 1]", "Array[Integer, 0, 2]", "Array[0, 0]", "Array[1, 2]", "Array[String[1], 1]",
    "Array[Array[Integer]]", "Array[Any]", "Array[Any, 1]", "Array[Data]", "Array[Variant[Integer, String]]", "Array[Optional[Integer]]",
    "Array[Integer, Integer[1, 2]]", "Hash", "Hash[String, Integer]", "Hash[String, Any]", "Hash[String, Integer, 1]",
    "Hash[String, Integer, 1, 2]", "Hash[0, 0]", "Hash[1, 2]", "Hash[Integer, String]", "Hash[Enum['a', 'b'], Integer]", "Hash[Any, Any]",
    "Hash[String[1], Hash[String, Data]]", "Tuple", "Tuple[Integer]", "Tuple[Integer, String]", "Tuple[Integer, 1]",
    "Tuple[Integer, 0, 5]", "Tuple[Integer, String, 1, 5]", "Tuple[Array, Any]", "Tuple[Integer, Integer, 2, 2]",
    "Tuple[Integer, default, 2]", "Struct", "Struct[{'a' => Integer}]", "Struct[{'a' => Optional[Integer]}]",
    "Struct[{Optional['a'] => Integer}]", "Struct[{NotUndef['a'] => Optional[Integer]}]", "Struct[{'a' => Integer, 'b' => String}]",
    "Struct[{'a' => Integer, Optional['b'] => Variant[Integer, String]}]", "Struct[{'a' => Struct[{'b' => Any}]}]",
    "Struct[{'name' => String, Optional['port'] => Integer}]", "Optional", "Optional[Integer]", "Optional['a']",
    "Optional[Optional[Integer]]", "Optional[String[1]]", "Optional[Enum['a', 'b']]", "Optional[Any]", "Optional[Undef]",
    "Optional[NotUndef[Integer]]", "Optional[Variant[Integer, Undef]]", "NotUndef", "NotUndef[Integer]", "NotUndef['a']", "NotUndef[Any]",
    "NotUndef[Optional[Integer]]", "NotUndef[Data]", "Variant", "Variant[Integer, String]", "Variant[Integer]",
    "Variant[Enum['a'], Enum['b']]", "Variant[Undef, Integer]", "Variant[Array[String], String]", "Variant[Integer[1, 5], Integer[6, 9]]",
    "Variant[Pattern[/a/], Pattern[/b/], Integer]", "Variant[Optional[Integer], String]", "Variant[Variant[Integer, String], Float]",
    "Variant[Enum['a', true], Enum['B', true]]", "Variant[Array[Integer], Hash[String, Integer]]", "Variant[Float[0, 1], Float[1, 2]]",
    "Variant[NotUndef[Any], NotUndef[Data]]", "Type", "Type[Integer]", "Type[Any]", "Type[Resource]", "Type[File]", "Type[Class]",
    "Type[CatalogEntry]", "Type[Type]", "Type[Enum['a']]", "Type[Integer[1, 5]]", "Sensitive", "Sensitive[String]",
    "Sensitive[Integer[1, 5]]", "Sensitive[Array[String]]", "Callable", "Callable[String]", "Callable[String, Integer]", "Callable[0, 0]",
    "Callable[1]", "Callable[String, 0, 2]", "Callable[String, Callable]", "Callable[String, Optional[Callable]]",
    "Callable[[String], Integer]", "Callable[[], Integer]", "Callable[[String, 1, 2], Any]", "Callable[Any]",
    "Callable[[String, Callable[Integer]], Undef]", "Iterable", "Iterable[Integer]", "Iterable[String]", "Iterable[Any]",
    "Iterable[Tuple[String, Integer]]", "Iterator", "Iterator[Integer]", "CatalogEntry", "Resource", "Resource['file']",
    "Resource['file', 'a']", "File", "File['a']", "File['b']", "User", "Class", "Class['a']", "Class['::b::c']", "Resource['foo::bar']",
    "Resource['foo::bar', 'x y']", "SemVer", "SemVer['>=1.0.0']", "SemVer['>=1.0.0 <2.0.0', '>=1.5.0 <3.0.0']", "SemVer['1.x']",
    "SemVer['~1.2', '^3.0.0']", "SemVerRange", "Binary", "URI", "Timestamp", "Timespan", "Runtime", "Runtime['ruby', 'Foo']", "Init",
    "Deferred", "Port", "Name", "Ports", "Maybe", "Choice", "Tree", "Forest", "Entry", "Left", "Right", "Array[Port]", "Optional[Tree]",
    "Hash[Name, Ports]", "Variant[Port, Tree]",
];

#[test]
fn types_are_written_as_the_real_compiler_writes_them() {
    let mut questions: Vec<Question> = TYPES.iter().map(|kind| ask("show", &[kind])).collect();
    for kind in TYPES {
        // What a deferred call is made of is not shown.
        if !kind.contains("Deferred") {
            questions.push(ask("generalise", &[kind]));
            questions.push(ask("normalise", &[kind]));
        }
    }
    questions.retain(|question| question.about != ["Deferred"]);
    agree(&questions);
}

#[test]
fn values_are_of_the_same_types() {
    let mut questions = Vec::new();
    for value in VALUES {
        questions.push(ask("of", &[value]));
        questions.push(ask("reduced", &[value]));
        for kind in TYPES {
            questions.push(ask("instance", &[kind, value]));
        }
    }
    agree(&questions);
}

#[test]
fn types_accept_the_same_types() {
    let mut questions = Vec::new();
    for one in TYPES {
        for another in TYPES {
            questions.push(ask("assignable", &[one, another]));
            questions.push(ask("common", &[one, another]));
            questions.push(ask("same", &[one, another]));
        }
    }
    questions.retain(|it| it.kind != "common" || !it.about.iter().any(|it| it == "Deferred"));
    agree(&questions);
}

#[test]
fn values_compare_alike() {
    let mut questions = Vec::new();
    for one in VALUES {
        questions.push(ask("text", &[one]));
        questions.push(ask("show", &[one]));
        for another in VALUES {
            for kind in ["equal", "compare", "matches", "included"] {
                questions.push(ask(kind, &[one, another]));
            }
        }
    }
    agree(&questions);
}

#[test]
fn numbers_are_read_alike() {
    #[rustfmt::skip]
    let numbers = [
        "10", "0", "00", "007", "08", "017", "0x1F", "0X1f", "0xg", "0b1", "1e3", "1E3", "1e+3", "1e-3", "1.5", "1.", ".5", "1.5e3", "01.5",
        "08.5", "010.5", "0.0", "0e1", "0.0e1", "00.0e1", "1e400", "-5", "- 5", "+5", "--5", "5 5", " 5 ", "", " ", "abc", "5a", "1_000",
        "::5", "::", "-0", "-0.0", "0x", "1.5.5", "9223372036854775807", "-9223372036854775808", "1e", "e1", "0.5e", "0x1.5", "1e5.5", "0e",
        "-017", "-0x1f", "Infinity", "NaN", "5\\t",
    ];
    let written: Vec<String> = numbers.iter().map(|it| format!("\"{it}\"")).collect();
    let questions: Vec<Question> = written.iter().map(|it| ask("number", &[it])).collect();
    agree(&questions);
}

#[test]
fn arguments_of_types_are_refused_alike() {
    #[rustfmt::skip]
    let wrong = [
        "Integer[a]", "Integer[1, 2, 3]", "Integer[5, 1]", "Integer[undef]", "Integer[1.5]", "Float[a]", "Float[1, 2, 3]", "Float[2, 1]",
        "String[a]", "String[1, 2, 3]", "String[5, 1]", "String[Float]", "Enum[1]", "Enum[true]", "Enum[a, true, b]", "Array[1]",
        "Array[Integer, a]", "Array[Integer, 1, 2, 3]", "Array['a']", "Array[1, 2, 3]", "Hash[String]", "Hash[Integer, 1]",
        "Hash[1, 2, 3, 4]", "Hash[String, Integer, 1, 2, 3]", "Tuple[1]", "Tuple[Integer, a]", "Struct[1]", "Struct[{'a' => 1}]",
        "Struct[{'' => Integer}]", "Struct[{1 => Integer}]", "Struct[{'a' => Integer}, 1]", "Struct[{Integer => Integer}]", "Optional[1]",
        "Optional[a, b]", "NotUndef[1]", "NotUndef[a, b]", "Variant[1]", "Type[1]", "Type[Integer, Integer]", "Sensitive[1]",
        "Callable[[String]]", "Callable[a]", "Iterable[1]", "Iterator[1]", "Pattern[1]", "Regexp[1]", "Boolean[1]", "Boolean[true, false]",
        "Collection[a]", "Collection[1, 2, 3]", "Resource[1]", "Resource['9a']", "Resource['file', 1]", "File[1]", "File['a', 1]",
        "File[undef]", "File[[]]", "File['a', 'b']", "File[['a']]", "File[['a', ['b']]]", "Resource['file', 'a', 'b']", "Resource[File, 'a']",
        "Class[1]", "Class['9x']", "Class[undef]", "Class['a', 'B']", "Class[['::A::B']]", "CatalogEntry[1]", "Any[1]", "Data[1]", "Undef[1]",
        "Scalar[1]", "Numeric[1]", "Binary[1]", "SemVer['x y']", "SemVer[1]", "SemVerRange[1]", "URI[1]", "Runtime['ruby']", "Init[1]",
        "Port[1]", "Tree[1]", "Timespan[1, 2, 3]", "Array[[Integer, 1]]", "Enum[['a', 'b']]", "Deferred[1]", "Name[/a/]",
    ];
    let questions: Vec<Question> = wrong.iter().map(|it| ask("show", &[it])).collect();
    agree(&questions);
}

#[test]
fn mismatches_are_told_alike() {
    let mut questions = Vec::new();
    for kind in TYPES {
        for value in VALUES {
            questions.push(ask("mismatch", &[kind, value]));
        }
    }
    let structs = TYPES
        .iter()
        .filter(|it| it.starts_with("Struct[") && !it.contains("tags"));
    for kind in structs {
        for value in VALUES.iter().filter(|it| it.starts_with("{'")) {
            questions.push(ask("parameters", &[kind, value]));
        }
    }
    agree(&questions);
}

/// What `new` is called with, one call a line: the type, then its arguments.
#[rustfmt::skip]
const CALLS: &[&[&str]] = &[
    &["Integer", "'abc'"], &["Integer", "'12'", "7"], &["Integer", "undef"], &["Integer", "'12'", "10", "true", "1"], &["Integer"],
    &["Integer", "{'from' => '12', 'radix' => 7}"], &["Integer", "{'from' => '12', 'foo' => 7}"], &["Integer", "[1]"],
    &["Integer", "{'from' => '0x1f', 'abs' => true}"], &["Integer", "{'from' => 'x'}"], &["Integer", "'0x1f'"],
    &["Integer", "'0x1f'", "16"], &["Integer", "'1f'", "16"], &["Integer", "'-17'", "default", "true"], &["Integer", "'017'"],
    &["Integer", "'017'", "10"], &["Integer", "'08'"], &["Integer", "'08'", "8"], &["Integer", "'0b101'"], &["Integer", "'0b101'", "2"],
    &["Integer", "'101'", "2"], &["Integer", "'102'", "2"], &["Integer", "'- 5'"], &["Integer", "'+5'"], &["Integer", "' 5'"],
    &["Integer", "1.9"], &["Integer", "-1.9"], &["Integer", "true"], &["Integer", "-5", "default", "true"], &["Integer", "'0x1f'", "10"],
    &["Integer", "'0b11'", "16"], &["Integer", "'12'", "a"], &["Integer[1, 5]", "'7'"], &["Integer[1, 5]", "7"],
    &["Integer", "Timespan(90.5)"], &["Integer", "Timestamp(5)"], &["Float", "'x'"], &["Float", "[1]"], &["Float"], &["Float", "'1.5'"],
    &["Float", "'1e3'"], &["Float", "'0x1f'"], &["Float", "'0b11'"], &["Float", "'017'"], &["Float", "1"], &["Float", "true"],
    &["Float", "'-1.5'", "true"], &["Float", "'- 1.5'"], &["Float", "{'from' => '1.5'}"], &["Float", "'-0b11'"],
    &["Float", "Timespan(1.5)"], &["Float", "'1'", "2"], &["Numeric", "'x'"], &["Numeric", "'1'"], &["Numeric", "'1.5'"],
    &["Numeric", "'0x1f'"], &["Numeric", "'0b11'"], &["Numeric", "'-017'"], &["Numeric", "true"], &["Numeric", "{'from' => 'x'}"],
    &["Numeric", "'-5'", "true"], &["Numeric", "'0e1'"], &["Numeric", "undef"], &["Numeric"], &["Boolean", "'x'"], &["Boolean", "1", "2"],
    &["Boolean", "[1]"], &["Boolean", "'YES'"], &["Boolean", "'n'"], &["Boolean", "0"], &["Boolean", "0.0"], &["Boolean", "2"],
    &["Boolean", "'False'"], &["Array", "1"], &["Array", "undef"], &["Array", "true"], &["Array", "'abc'"], &["Array", "{'a' => 1}"],
    &["Array", "1", "true"], &["Array", "[1]", "true"], &["Array", "undef", "true"], &["Array", "{'a' => 1}", "true"], &["Array"],
    &["Array", "1", "2", "3"], &["Array", "Integer[1, 3]"], &["Array", "Enum['a', 'b']"], &["Array", "Integer"],
    &["Array", "Binary('YWJj')"], &["Array[String]", "[1]"], &["Array[String]", "'ab'"], &["Array", "3", "false"], &["Array", "0"],
    &["Array", "-1"], &["Array", "1.5"], &["Array", "1", "1"], &["Hash", "1"], &["Hash", "2"], &["Hash", "[1]"], &["Hash", "[1, 2]"],
    &["Hash", "[['a', 1], ['b', 2]]"], &["Hash", "'abcd'"], &["Hash"], &["Hash", "[]"], &["Hash", "{'a' => 1}"], &["Hash", "true"],
    &["Hash", "undef"], &["Hash", "[[['a', 'b'], 1], [['a', 'c'], 2]]", "'tree'"], &["Hash", "[[['a', 'b'], 1]]", "'x'"],
    &["Hash", "[[['a'], [1, [2]]], [['b'], 3]]", "'hash_tree'"], &["Hash", "[[[], {'z' => 1}], [['a'], 3]]", "'tree'"],
    &["Hash", "[[[], [7, 8]], [['a'], 3]]", "'tree'"], &["Hash", "[[['a'], [1, 2]], [['a', 0], 3]]", "'tree'"],
    &["Hash", "[[['a', 'b'], 1]]"], &["Hash[String, Integer]", "['a', 'b']"], &["Struct[{'a' => Integer}]", "{'a' => 'b'}"],
    &["Struct[{'a' => Integer}]", "['a', 1]"], &["Tuple[Integer, String]", "[1, 'a']"], &["Tuple[Integer]", "['a']"],
    &["Optional[Integer]", "'7'"], &["Optional[Integer]", "undef"], &["NotUndef[Integer]", "'7'"], &["NotUndef", "'7'"],
    &["NotUndef", "undef"], &["Variant[Integer, String]", "'7'"], &["Variant[Integer, String]", "undef"], &["Any", "1"], &["Any"],
    &["Undef", "1"], &["Scalar", "undef"], &["Data", "undef"], &["Data", "/x/"], &["Port", "'80'"], &["Port", "'0'"], &["Tree", "'ab'"],
    &["Maybe", "'80'"], &["Choice", "'80'"], &["Sensitive", "1"], &["Sensitive", "Sensitive(1)"], &["Sensitive"],
    &["Sensitive[Integer]", "'a'"], &["Timestamp", "1"], &["Timestamp", "1.5"], &["Timestamp", "'2000'"],
    &["Timestamp", "'2000-01-02T03:04:05'"], &["Timestamp", "'2000-01-02T03:04:05.678 CET'"],
    &["Timestamp", "'2000-01-02 03:04:05'", "'%F %T'", "'CET'"], &["Timestamp", "'02/03/2001'", "'%d/%m/%Y'"], &["Timestamp", "[1]"],
    &["Timestamp", "'1969-12-31'"], &["Timestamp", "'2000-01-02T03:04:05 UTC'"], &["Timestamp", "'2000-01-02T03:04:05 +02:00'"],
    &["Timestamp", "'2000-01-02T03:04:05 -0730'"], &["Timestamp", "'2000-02-31'"], &["Timestamp", "'5 Jan 2001'", "'%d %b %Y'"],
    &["Timestamp", "'2000-01-02 3:04 PM'", "'%F %I:%M %p'"], &["Timestamp", "{'string' => '2000-01-02', 'timezone' => 'EST'}"],
    &["Timestamp", "'x'", "['%F', '%T']"], &["Timestamp", "'2000-13-01'"], &["Timestamp", "'2000-01-02'", "default"],
    &["Timestamp", "'2000-01-02T03:04:05 NOWHERE'"], &["Timestamp", "'0001-01-01'"], &["Timestamp", "'2400-02-29T23:59:59.999999999'"],
    &["Timespan", "'x'"], &["Timespan", "1", "2", "3", "4"], &["Timespan", "1", "2", "3", "4", "5", "6", "7"], &["Timespan", "1", "2"],
    &["Timespan", "{'hours' => 1, 'minutes' => 2}"], &["Timespan", "{'string' => '1:02', 'format' => '%H:%M'}"],
    &["Timespan", "'1-02:03:04.5'"], &["Timespan", "'02:03:04'"], &["Timespan", "'03:04.05'"], &["Timespan", "'90'"],
    &["Timespan", "'-1-00:00:00'"], &["Timespan", "{'negative' => true, 'days' => 3}"], &["Timespan", "1.5"], &["Timespan", "-1"],
    &["Timespan", "'5'", "'%L'"], &["Timespan", "'5 12'", "'%_H %-M'"], &["Timespan", "'7'", "'%q'"], &["Timespan", "{}"],
    &["Timespan", "'10:70:00'"], &["Timespan", "'1-25:00'"], &["SemVer", "'x'"], &["SemVer", "'1.2.3'"], &["SemVer", "'1.2.3-rc1.2+b.7'"],
    &["SemVer", "'1.2.3-01'"], &["SemVer", "1", "2", "3"], &["SemVer", "1", "2", "3", "'rc1'", "'b'"],
    &["SemVer", "{'major' => 1, 'minor' => 2, 'patch' => 3}"], &["SemVer", "1"], &["SemVer", "'01.2.3'"], &["SemVer", "1", "2", "-3"],
    &["SemVerRange", "'x y'"], &["SemVerRange", "'>=1.0.0'"], &["SemVerRange", "SemVer('1.0.0')", "SemVer('2.0.0')", "true"],
    &["SemVerRange", "default", "default"], &["SemVerRange", "1"], &["SemVerRange", "{'min' => SemVer('1.0.0')}"],
    &["SemVerRange", "'> 1.0.0 < 2.0.0 || 3.x'"], &["Binary", "'YWJj'"], &["Binary", "'x'"], &["Binary", "'abc'", "'%s'"],
    &["Binary", "[1, 2, 255]"], &["Binary", "[256]"], &["Binary", "1"], &["Binary", "{'value' => 'YWJj', 'format' => '%b'}"],
    &["Binary", "'YWI'", "'%b'"], &["Binary", "'-_-_'", "'%u'"], &["Binary", "'YWI'", "'%u'"], &["Binary", "'YWI'"],
    &["Binary", "'YWI='"], &["Binary", "'YWJj'", "'%x'"], &["Binary", "''"], &["URI", "'http://example.com/a?b=c#d'"],
    &["URI", "'http://exa mple.com/'"], &["URI", "{'scheme' => 'http', 'host' => 'a', 'path' => '/b'}"], &["URI", "1"],
    &["URI", "'mailto:a@b'"], &["URI", "'https://u:p@h:8080/x'"], &["URI", "'file:///etc/motd'"], &["URI", "'/a/b'"],
    &["URI", "'HTTP://A:80'"], &["Regexp", "'a.b'"], &["Regexp", "'a.b'", "true"], &["Regexp", "1"], &["Regexp", "'a/b'"],
    &["Init[Integer]", "'7'"], &["Init[Integer, 16]", "'17'"], &["Init[Integer]", "['17', 16]"], &["Init", "'x'"],
    &["Init[Integer]", "[[1]]"], &["Init[Timespan]", "[1, 2, 3, 4]"], &["Init[Integer]"], &["Type", "1"], &["Enum['a']", "'b'"],
    &["Enum['a', 'b']", "'a'"], &["Pattern[/a/]", "'b'"], &["Iterable", "[1]"], &["Callable", "1"], &["Collection", "1"],
    &["Class", "'a'"], &["File", "'a'"], &["Default", "1"], &["Runtime['ruby', 'x']", "1"], &["Resource", "1"], &["CatalogEntry", "1"],
    &["Deferred", "'foo'"], &["Deferred", "'Foo'"], &["Deferred", "'foo'", "1"], &["Deferred"], &["Deferred", "'foo'", "[1, 'a']"],
    &["String"], &["String", "1", "'x'"], &["String", "1", "'%z'"], &["String", "'a'", "{String => 1}"], &["String", "1", "'%++d'"],
    &["String", "[1]", "'%[(a'"], &["String", "1", "1"], &["String[1, 2]", "123"],
];

/// Values to be put as texts, and formats to put them in.
#[rustfmt::skip]
const PRINTED: &[&str] = &[
    "undef", "default", "true", "false", "0", "5", "-255", "65", "9223372036854775807", "1.5", "-0.0", "12345.678", "1.0e-7", "1.0e20",
    "0.1", "'abc'", "'Hello World'", "'a::b::c'", "'  x '", "\"tab\\t\\\"q\\\"\"", "'it\\'s'", "'$'", "''", "/a\\/b/", "[]",
    "[1, 'a', undef]", "[1, [2, [3, 'x']], 4]", "{}", "{'a' => 1}", "{'a' => {'b' => [1, 2]}, 3 => undef}", "Integer[1, 2]", "File['a']",
    "Sensitive('x')", "Binary('YWJj')", "SemVer('1.2.3')", "[true, 1.5, /x/, default, Integer]", "URI('http://a/b')",
];

#[rustfmt::skip]
const FORMATS: &[&str] = &[
    "default", "'%s'", "'%p'", "'%#s'", "'%#p'", "'%d'", "'%x'", "'%X'", "'%o'", "'%b'", "'%B'", "'%#x'", "'%#o'", "'%#b'", "'%+d'",
    "'% d'", "'%05d'", "'%-8d'", "'%8d'", "'%.3d'", "'%08x'", "'%e'", "'%E'", "'%f'", "'%g'", "'%G'", "'%a'", "'%A'", "'%.2f'",
    "'%10.2f'", "'%-10.2e'", "'%010.1f'", "'%+f'", "'%#g'", "'%.0e'", "'%c'", "'%#c'", "'%C'", "'%u'", "'%#u'", "'%t'", "'%#t'", "'%T'",
    "'%y'", "'%Y'", "'%#y'", "'%n'", "'%#n'", "'%v'", "'%V'", "'%D'", "'%h'", "'%(a'", "'%<h'", "'%|s'", "'% a'", "'% s'", "'%#a'",
    "'%#h'", "'%#5a'", "'%q'", "'%10s'", "'%-10s'", "'%.2s'", "'%5.1p'", "'%-10p'", "'%#10.3p'", "{Integer => '%x'}", "{Numeric => '%e'}",
    "{String => '%u'}", "{Any => '%p'}", "{Array => {'format' => '%(a', 'separator' => '; '}}",
    "{Array => {'format' => '%a', 'separator' => '', 'string_formats' => {Integer => '%#x', Any => '%s'}}}",
    "{Hash => {'format' => '%h', 'separator' => \"\\n\", 'separator2' => ': '}}",
    "{Hash => {'format' => '%#h', 'string_formats' => {String => '%s'}}, Array => '%#a'}", "{Array => '%#3a'}", "{Hash => '%a'}",
    "{Float => '%.1f', Integer => '%d', String => '%s'}", "{Integer[0, 10] => '%b', Integer => '%d'}", "{Collection => '%p'}",
    "{Tuple => '%|a'}", "{Optional[Integer] => '%o'}", "{Type => '%s', Undef => '%u'}",
];

#[test]
fn values_are_made_alike() {
    let mut questions: Vec<Question> = CALLS.iter().map(|call| ask("new", call)).collect();
    for value in PRINTED {
        for format in FORMATS {
            questions.push(ask("new", &["String", value, format]));
        }
    }
    agree(&questions);
}

/// Numbers that look random and are the same in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        // The top bits of a linear congruence, which has a full period.
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits fit") % sides
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.roll(from.len())]
    }

    fn several(&mut self, most: usize, mut make: impl FnMut(&mut Self) -> String) -> String {
        let count = self.roll(most + 1);
        let made: Vec<String> = (0..count).map(|_| make(self)).collect();
        made.join(", ")
    }

    fn value(&mut self, depth: usize) -> String {
        let plain = [
            "undef",
            "default",
            "true",
            "false",
            "0",
            "1",
            "2",
            "5",
            "-3",
            "1.5",
            "0.0",
            "'a'",
            "'b'",
            "'ab'",
            "'A'",
            "''",
            "'all'",
            "/a/",
            "Integer",
            "Integer[1, 2]",
            "String",
            "File['a']",
            "80",
            "'x y'",
            "'name'",
        ];
        match self.roll(if depth == 0 { 1 } else { 4 }) {
            0 | 1 => self.pick(&plain).to_owned(),
            2 => format!("[{}]", self.several(3, |dice| dice.value(depth - 1))),
            _ => {
                let keys = ["'a'", "'b'", "'name'", "'port'", "1", "'A'"];
                let entries = self.several(3, |dice| {
                    format!("{} => {}", dice.pick(&keys), dice.value(depth - 1))
                });
                format!("{{{entries}}}")
            }
        }
    }

    fn size(&mut self) -> String {
        let from = self.roll(3);
        match self.roll(5) {
            0 => format!(", {from}"),
            1 => format!(", {from}, {}", from + self.roll(3)),
            2 => format!(", default, {from}"),
            _ => String::new(),
        }
    }

    fn kind(&mut self, depth: usize) -> String {
        let plain = [
            "Any",
            "Undef",
            "Default",
            "Scalar",
            "ScalarData",
            "Data",
            "RichData",
            "Numeric",
            "Integer",
            "Integer[0]",
            "Integer[1, 2]",
            "Integer[3, 9]",
            "Float",
            "Float[0.0, 2.0]",
            "Boolean",
            "Boolean[true]",
            "String",
            "String[1]",
            "String[1, 2]",
            "Enum['a', 'b']",
            "Enum['A', true]",
            "Enum['b']",
            "Pattern[/a/]",
            "Pattern[/^b/, /x/]",
            "Regexp",
            "Regexp[/a/]",
            "Collection",
            "Collection[1, 2]",
            "Array",
            "Hash",
            "Tuple",
            "Struct",
            "Callable",
            "Type",
            "Iterable",
            "CatalogEntry",
            "Resource",
            "File",
            "File['a']",
            "Class",
            "Port",
            "Name",
            "Ports",
            "Maybe",
            "Choice",
            "Tree",
            "Forest",
            "Entry",
            "Left",
            "Right",
            "Sensitive",
            "Timestamp",
            "SemVer['1.x']",
        ];
        if depth == 0 {
            return self.pick(&plain).to_owned();
        }
        let inner = depth - 1;
        match self.roll(14) {
            0 => format!("Array[{}{}]", self.kind(inner), self.size()),
            1 => format!(
                "Hash[{}, {}{}]",
                self.kind(inner),
                self.kind(inner),
                self.size()
            ),
            2 => format!(
                "Tuple[{}, {}{}]",
                self.kind(inner),
                self.kind(inner),
                self.size()
            ),
            3 => format!("Tuple[{}{}]", self.kind(inner), self.size()),
            4 | 5 => {
                let mut members = Vec::new();
                for name in ["a", "b", "name"] {
                    match self.roll(4) {
                        0 => members.push(format!("'{name}' => {}", self.kind(inner))),
                        1 => members.push(format!("Optional['{name}'] => {}", self.kind(inner))),
                        2 => members.push(format!("NotUndef['{name}'] => {}", self.kind(inner))),
                        _ => {}
                    }
                }
                format!("Struct[{{{}}}]", members.join(", "))
            }
            6 => format!("Optional[{}]", self.kind(inner)),
            7 => format!("NotUndef[{}]", self.kind(inner)),
            8 | 9 => {
                let options = self.several(2, |dice| dice.kind(inner) + ", ");
                format!("Variant[{options}{}]", self.kind(inner)).replace(", , ", ", ")
            }
            10 => format!("Type[{}]", self.kind(inner)),
            11 => format!(
                "{}[{}]",
                self.pick(&["Iterable", "Iterator", "Sensitive"]),
                self.kind(inner)
            ),
            12 => format!(
                "Callable[{}, {}{}]",
                self.kind(inner),
                self.kind(inner),
                self.size()
            ),
            _ => self.pick(&plain).to_owned(),
        }
    }
}

#[test]
fn random_questions_are_answered_alike() {
    let mut dice = Dice(2_016);
    let mut questions = Vec::new();
    for round in 0..6_000 {
        let depth = round % 4;
        let (one, another) = (dice.kind(depth), dice.kind(depth));
        let (value, other) = (dice.value(depth), dice.value(depth));
        for kind in ["show", "generalise", "normalise"] {
            questions.push(ask(kind, &[&one]));
        }
        for kind in ["assignable", "common", "same"] {
            questions.push(ask(kind, &[&one, &another]));
        }
        for kind in ["instance", "mismatch"] {
            questions.push(ask(kind, &[&one, &value]));
        }
        for kind in ["of", "reduced", "text", "show"] {
            questions.push(ask(kind, &[&value]));
        }
        for kind in ["equal", "compare", "matches", "included"] {
            questions.push(ask(kind, &[&value, &other]));
        }
    }
    agree(&questions);
}

/// Values that only types can make.
#[rustfmt::skip]
const RICH: &[&str] = &[
    "Timestamp('2000-01-01')", "Timestamp('2000-01-01T00:00:00.5')", "Timestamp(0)", "Timestamp('1960-06-01T12:00:00.25')", "Timespan('1-00:00:00')", "Timespan(86400)",
    "Timespan(-5)", "Timespan(0, 0, 0, 1, 50)", "Timespan(0, 1, 2, 3)", "SemVer('1.2.3')", "SemVer('1.2.3-rc1')", "SemVer('1.2.3+b1')", "SemVer('2.0.0')",
    "SemVer('1.2.3-rc.1')", "SemVer('1.2.3-1')", "SemVerRange('>=1.0.0 <2.0.0')", "SemVerRange('1.x')", "SemVerRange('~1.2.3-rc1')", "Binary('YWJj')", "Binary('')", "Binary([97])",
    "URI('http://example.com/a?b=c#d')", "URI('https://u@h:8080/x')", "URI('mailto:a@b')", "Sensitive('a')", "Sensitive(['a', 1])", "Deferred('foo', [1])", "86400", "0", "1.5", "'1.2.3'", "'abc'", "/b/",
    "[Timespan(5), SemVer('1.2.3')]", "{'a' => Binary('YWJj')}", "97", "['1.2.3', 'x']", "undef", "default",
];

#[rustfmt::skip]
const RICH_TYPES: &[&str] = &[
    "Timestamp", "Timestamp['2000-01-01']", "Timestamp[default, '1999-01-01']", "Timestamp[0, 1]", "Timespan", "Timespan['1-00:00:00']", "Timespan[0, 5]", "Timespan[{'hours' => 1}]",
    "SemVer", "SemVer['>=1.0.0 <2.0.0']", "SemVer['1.x', '2.x']", "SemVer['1.2.x']", "SemVer['>=1.2.3-rc1']", "SemVer['<1.2.3', '>1.2.3']", "SemVer['1.2.3']", "SemVer[SemVerRange('1.x')]",
    "SemVerRange", "Binary", "URI", "URI['http://example.com/a']", "URI[{'scheme' => 'http'}]", "URI[{'host' => /x/, 'port' => Integer}]", "URI[{'scheme' => Enum['http', 'https']}]", "Sensitive",
    "Sensitive[String]", "Sensitive[Array]", "Scalar", "ScalarData", "RichData", "Data", "Any", "Numeric", "Deferred", "Array[RichData]", "Hash[String, Binary]", "NotUndef", "Iterable", "Collection",
    "Init[Integer]", "Init[Integer, 16]", "Init[Float]", "Init[Numeric]", "Init[Boolean]", "Init[String]", "Init[Array]", "Init[Hash]", "Init[Timespan]", "Init[Timestamp]", "Init[SemVer]", "Init[Binary]",
    "Init[URI]", "Init[Regexp]", "Init[Sensitive]", "Init", "Init[Port]", "Variant[Timespan[0, 5], Timespan[3, 9]]", "Variant[Timestamp[0, 5], Timestamp[3, 9]]", "Variant[SemVer['1.x'], SemVer['2.x']]",
];

#[test]
fn rich_values_are_treated_alike() {
    let mut questions = Vec::new();
    for value in RICH {
        for kind in ["of", "reduced", "text", "show"] {
            questions.push(ask(kind, &[value]));
        }
        for kind in RICH_TYPES {
            questions.push(ask("instance", &[kind, value]));
            questions.push(ask("mismatch", &[kind, value]));
        }
        for other in RICH {
            for kind in ["equal", "compare", "matches", "included"] {
                questions.push(ask(kind, &[value, other]));
            }
        }
    }
    for value in VALUES {
        for kind in RICH_TYPES.iter().filter(|kind| kind.starts_with("Init")) {
            questions.push(ask("instance", &[kind, value]));
        }
    }
    for one in RICH_TYPES {
        for kind in ["show", "generalise", "normalise"] {
            questions.push(ask(kind, &[one]));
        }
        for another in RICH_TYPES {
            for kind in ["assignable", "common", "same"] {
                questions.push(ask(kind, &[one, another]));
            }
        }
    }
    // What a deferred call is made of is not shown.
    let deferred = |about: &[String]| about.iter().any(|it| it.starts_with("Deferred"));
    let shown = ["of", "reduced", "show", "generalise", "normalise", "common"];
    questions.retain(|it| !(shown.contains(&it.kind) && deferred(&it.about)));
    agree(&questions);
}

#[test]
fn ranges_of_versions_are_read_alike() {
    #[rustfmt::skip]
    let ranges = [
        "1.2.3", "=1.2.3", "1", "1.2", "1.x", "1.2.x", "1.X.x", "*", "x", "", "1.*", ">1", ">1.2", ">1.2.3", ">=1", ">=1.2.3-rc1", "<1", "<1.2", "<1.2.3", "<=1", "<=1.2", "<=1.2.3", "~1", "~1.2", "~1.2.3",
        "~>1.2", "~1.2.3-rc1", "^1", "^1.2", "^1.2.3", "^0.2", "^0.2.3", "^0.0.3", "^1.2.3-rc1", "1.0.0 - 2.0.0", "1 - 2", "1.2 - 1.2.3", ">=1.0.0 <2.0.0", ">1.0.0 <1.5.0 >1.2.0", "1.x || 2.x", "1.x || 3.x",
        ">=1.0.0 || <0.5.0", "> 1.0.0", ">= v1.0.0", "~ 1.2", ">2.0.0 <1.0.0", "1.2.3 || 1.2.4", "<1.0.0 || >=1.0.0", "x y", "1.2.3.4", "01.2.3", "1.2.3-", "v1.2.3", "1.2.3 ", " 1.2.3", "||", "1 ||", ">x", "<=x", "^x",
        ">=1.2.3-rc.1+b7", "1.2.3+b", "1.2.3-rc1 - 1.2.3", "1.-", ">=1.0.0  <2.0.0", "1.x||2.x", "0.0.0", ">=0.0.0", "<0.0.0",
    ];
    #[rustfmt::skip]
    let versions = [
        "0.0.0", "0.0.3", "0.2.3", "0.2.9", "0.9.0", "1.0.0", "1.0.0-rc1", "1.1.0", "1.2.0", "1.2.3", "1.2.3-rc1", "1.2.3-rc2", "1.2.3-rc.1", "1.2.4", "1.3.0", "1.9.9", "2.0.0-rc1", "2.0.0", "2.5.0", "3.1.4", "1.2.3+b",
    ];
    let mut questions = Vec::new();
    for range in ranges {
        let made = format!("SemVerRange('{range}')");
        let kind = format!("SemVer['{range}']");
        questions.push(ask("new", &["SemVerRange", &format!("'{range}'")]));
        questions.push(ask("show", &[&kind]));
        for version in versions {
            questions.push(ask("included", &[&format!("'{version}'"), &made]));
            questions.push(ask("instance", &[&kind, &format!("SemVer('{version}')")]));
        }
        for other in ranges {
            questions.push(ask("assignable", &[&kind, &format!("SemVer['{other}']")]));
            questions.push(ask("equal", &[&made, &format!("SemVerRange('{other}')")]));
            questions.push(ask("show", &[&format!("SemVer['{range}', '{other}']")]));
        }
    }
    for version in versions {
        for other in versions {
            let made = |version: &str| format!("SemVer('{version}')");
            questions.push(ask("compare", &[&made(version), &made(other)]));
        }
    }
    agree(&questions);
}

#[test]
fn random_values_are_made_alike() {
    #[rustfmt::skip]
    let kinds = [
        "Integer", "Float", "Numeric", "Boolean", "Array", "Hash", "String", "Sensitive", "Timespan", "SemVer", "SemVerRange", "Binary", "Tuple[Integer, String]",
        "Struct[{'a' => Integer}]", "Optional[Integer]", "Array[Integer]", "Hash[String, Integer]", "Port", "Init[Integer]", "Init[Float]", "Any", "URI",
    ];
    #[rustfmt::skip]
    let texts = [
        "'0x1F'", "'-0x1'", "'0b2'", "'1e3'", "'1.5e-3'", "'007'", "'-08'", "'+ 5'", "'true'", "'No'", "'abcd'", "'YWJj'", "'1.2.3'", "'1.2.x'", "'1-02:03:04.5'", "'12:34'", "'1'", "'00:00:01'",
        "'-5'", "'http://a/b'", "'a b'", "'a@b'", "'%s'", "'a.b*c'", "16", "10", "true", "false", "default", "undef", "'tree'", "[['a', 1]]", "[[['a', 0], 1], [['a', 1], 2]]", "['a', 1, 'b', 2]",
        "{'from' => '5', 'abs' => true}", "{'from' => '0x5', 'radix' => 16}", "{'major' => 1, 'minor' => 0, 'patch' => 2}", "{'value' => [1, 2]}", "{'string' => '5', 'format' => '%S'}", "1.0e10", "-2.5",
    ];
    let mut dice = Dice(7);
    let mut questions = Vec::new();
    for _ in 0..6_000 {
        let mut call = vec![dice.pick(&kinds).to_owned()];
        for _ in 0..=dice.roll(3) {
            call.push(match dice.roll(4) {
                0 => dice.value(2),
                _ => dice.pick(&texts).to_owned(),
            });
        }
        let call: Vec<&str> = call.iter().map(String::as_str).collect();
        questions.push(ask("new", &call));
    }
    agree(&questions);
}

#[test]
fn random_formats_are_put_alike() {
    let mut dice = Dice(11);
    let mut questions = Vec::new();
    #[rustfmt::skip]
    let values = [
        "0", "7", "-7", "123456", "-9223372036854775807", "0.0", "1.0", "-1.25", "3.14159", "1.0e30", "1.0e-100", "123456789.123", "0.000123", "'abc'", "'Hello::World'", "true", "false", "undef",
        "[1, 'a', [2.5, undef]]", "{'a' => [1], 'b' => {'c' => 'd'}}",
    ];
    for _ in 0..8_000 {
        let mut format = String::from("%");
        for flag in ["-", "+", "#", "0", " "] {
            if dice.roll(4) == 0 {
                format += flag;
            }
        }
        if dice.roll(2) == 0 {
            format += &(1 + dice.roll(24)).to_string();
        }
        if dice.roll(3) == 0 {
            format += &format!(".{}", dice.roll(12));
        }
        format += dice.pick(&[
            "d", "x", "X", "o", "b", "B", "e", "E", "f", "g", "G", "a", "A", "s", "p", "c", "u",
            "t", "h",
        ]);
        let value = dice.pick(&values);
        questions.push(ask("new", &["String", value, &format!("'{format}'")]));
    }
    agree(&questions);
}

#[test]
fn times_are_put_alike() {
    #[rustfmt::skip]
    let spans = ["0", "1", "-1", "59.999", "61.05", "3600", "86399.5", "86400", "1000000.000001", "-90061.25", "0.123456789", "0.1"];
    #[rustfmt::skip]
    let span_formats = [
        "%D-%H:%M:%S.%-N", "%H:%M:%S", "%M:%S", "%S", "%S.%L", "%S.%N", "%S.%3N", "%S.%-3N", "%_H:%_M", "%-H:%-M", "%5D", "%05S", "%-5S", "%_5S", "%L", "%N", "%3N", "%%%D", "%H %H", "x%Dy", "%6N", "%_9N", "%_L", "%q", "%D%", "%-",
        "%S %_3N", "%M.%0L",
    ];
    #[rustfmt::skip]
    let moments = ["0", "951782400", "951825599.123456789", "-1", "-12345678901.5", "253402300800", "1000000000", "1234567890.000001"];
    #[rustfmt::skip]
    let moment_formats = [
        "%F %T", "%Y-%m-%d", "%y %C %j", "%e %k %l %I %p %P", "%a %A %b %B %h", "%s %L %N %3N %6N", "%z %:z %Z", "%D %R %r %c", "%u %w %U %W %V %G", "%-d/%-m %-H", "%_m %010Y %^a %^B", "%% %n%t|", "%x %X %v %+", "%10d|%-5j|%_5j", "%#b %#p",
        "%Q", "%E", "%5H", "%::z", "%g",
    ];
    let mut questions = Vec::new();
    for span in spans {
        let span = format!("Timespan({span})");
        for format in span_formats {
            questions.push(ask("format", &[&span, &format!("'{format}'")]));
        }
    }
    for moment in moments {
        let moment = format!("Timestamp({moment})");
        for format in moment_formats {
            questions.push(ask("format", &[&moment, &format!("'{format}'")]));
        }
    }
    agree(&questions);
}

#[test]
fn calls_are_refused_alike() {
    #[rustfmt::skip]
    let arguments = [
        "Array[0, 0]", "Tuple[Integer]", "Tuple[Integer, Callable[Any]]", "Tuple[Array[Integer], Callable[3, 3]]", "Tuple[Boolean, Callable[1, 1]]", "Tuple[Hash, Callable[0, 0]]", "Tuple[Hash]",
        "Tuple[Array, Integer]", "Tuple[Array, String, String]", "Tuple[Array, String, Callable]", "Tuple[Array]", "Tuple[Undef]", "Tuple[Float, Float]", "Tuple[Boolean, Boolean, Callable[1, 1]]",
        "Tuple[Struct[{'a' => Integer}], Callable[3, 3]]", "Tuple[Undef, Callable]",
    ];
    let mut questions = Vec::new();
    for function in ["'each'", "'join'", "'length'"] {
        for arguments in arguments {
            questions.push(ask("refusal", &[function, arguments]));
        }
    }
    agree(&questions);
}
