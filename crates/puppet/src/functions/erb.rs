//! What stands for a template in ERB, if somebody wants to go on without it.
//!
//! ERB is Ruby, and is not run. A stand-in names the template, and has a digest of its text and of the variables that it
//! names: the real text cannot change where that does not, but for what the template gets by names that it computes, from
//! functions, or from files.

use ecow::{EcoString, eco_format};
use hence_model::work;
use rustc_hash::FxHashSet;
use sha2::{Digest as _, Sha256};

use super::digest::hexadecimal;
use super::find::{definition_of, variable, variable_name};
use super::ruby;
use super::templates::{find, no_template, read};
use crate::evaluate::{Evaluator, Invocation, Outcome};
use crate::trace::Origin;
use crate::value::{Datum, Value};

/// Hexadecimal digits of a digest that are shown: enough to tell texts apart.
const SHOWN: usize = 12;

/// What is gathered about templates.
#[derive(Default)]
struct Gathered {
    digest: Sha256,
    /// The templates and the variables, as what the text would be computed from.
    operands: Vec<Value>,
    /// How the variables were found.
    look_ups: Vec<Value>,
    /// What was gathered already.
    seen: FxHashSet<String>,
    /// The templates that are named, and were not looked at yet; the last one is the next.
    pending: Vec<EcoString>,
    /// Whether something in it is secret.
    is_secret: bool,
}

/// What stands for templates in files.
pub(super) fn of_files<'t>(
    evaluator: &mut Evaluator<'t>,
    call: &Invocation<'t>,
    names: &[EcoString],
) -> Outcome {
    if let Some(missing) = names.iter().find(|name| path(evaluator, name).is_none()) {
        return Err(no_template(evaluator, missing, "erb", call.span(0)));
    }
    let mut gathered = Gathered {
        pending: names.iter().rev().cloned().collect(),
        ..Gathered::default()
    };
    gathered.files(evaluator, call)?;
    Ok(gathered.stand_in(evaluator, call, &names.join(", ")))
}

/// What stands for templates that are texts.
pub(super) fn of_texts<'t>(
    evaluator: &mut Evaluator<'t>,
    call: &Invocation<'t>,
    texts: Vec<Value>,
) -> Outcome {
    let mut gathered = Gathered::default();
    for text in texts {
        gathered.template(evaluator, call, text);
    }
    gathered.files(evaluator, call)?;
    Ok(gathered.stand_in(evaluator, call, "in a text"))
}

impl Gathered {
    fn stand_in<'t>(
        self,
        evaluator: &mut Evaluator<'t>,
        call: &Invocation<'t>,
        name: &str,
    ) -> Value {
        let digest = hexadecimal(&self.digest.finalize());
        let text = eco_format!("‹ERB {name}, not rendered: {}›", &digest[..SHOWN]);
        let origin = evaluator.trace.operation(call.at, self.operands);
        let decided = call.origins().chain(self.look_ups);
        let origin = evaluator.trace.choice(call.at, origin, decided);
        let value = Value::new(text, origin);
        match self.is_secret {
            true => Value::new(Datum::Sensitive(value.into()), origin),
            false => value,
        }
    }

    fn files<'t>(&mut self, evaluator: &mut Evaluator<'t>, call: &Invocation<'t>) -> Outcome<()> {
        while let Some(name) = self.pending.pop() {
            let Some(path) = path(evaluator, &name) else {
                continue;
            };
            if let Some(text) = read(evaluator, call, &path)? {
                self.template(evaluator, call, text);
            }
        }
        Ok(())
    }

    fn template<'t>(&mut self, evaluator: &mut Evaluator<'t>, call: &Invocation<'t>, text: Value) {
        self.feed(&text.datum);
        let source = crate::text::text(&text.datum);
        self.operands.push(text);
        for code in code(&source) {
            work::steps(code.len() as u64);
            for variable in variables(code) {
                if self.seen.insert(format!("{variable:?}")) {
                    self.variable(evaluator, call, &variable);
                }
            }
            for name in templates(code) {
                if self.seen.insert(name.to_owned()) {
                    self.pending.push(name.into());
                }
            }
        }
    }

    fn variable<'t>(
        &mut self,
        evaluator: &mut Evaluator<'t>,
        call: &Invocation<'t>,
        mention: &Mention<'_>,
    ) {
        let Some(mut value) = variable(evaluator, call, mention.name) else {
            self.feed(&Datum::Undef);
            return self.look_ups.push(evaluator.sighting(mention.name, None));
        };
        let look_up = evaluator.look_up_of(mention.name, definition_of(evaluator, &value));
        self.look_ups.push(evaluator.trace.add(look_up).into());
        for key in &mention.keys {
            let Datum::Hash(hash) = &value.datum else {
                break;
            };
            let found = hash.get_text(key).cloned();
            let key = Value::new(*key, Origin::NOWHERE);
            value = evaluator.element(call.at, found.as_ref(), &value, &key);
        }
        self.feed(&value.datum);
        self.operands.push(value);
    }

    /// Lets the digest depend on a value, with what is secret in it.
    fn feed(&mut self, datum: &Datum) {
        match datum {
            Datum::Sensitive(inner) => {
                self.is_secret = true;
                self.feed(&inner.datum);
            }
            Datum::Array(array) => {
                self.digest.update(eco_format!("[{}", array.len()));
                array.iter().for_each(|value| self.feed(&value.datum));
            }
            Datum::Hash(hash) => {
                self.digest.update(eco_format!("{{{}", hash.len()));
                for (key, entry) in hash.iter() {
                    self.feed(key);
                    self.feed(&entry.value.datum);
                }
            }
            _ => {
                let text = ruby::inspect(datum);
                self.digest.update(eco_format!("{} ", text.len()));
                self.digest.update(text);
            }
        }
    }
}

fn path(evaluator: &Evaluator<'_>, name: &str) -> Option<String> {
    find(evaluator, name, "templates")
}

/// A variable that a template names, and what of it: `@os['family']`, `scope['web::port']`.
#[derive(Debug)]
struct Mention<'s> {
    name: &'s str,
    keys: Vec<&'s str>,
}

/// The code in a template.
fn code(template: &str) -> impl Iterator<Item = &str> {
    let tags = template.split("<%").skip(1);
    let tags = tags.filter(|tag| !tag.starts_with(['%', '#']));
    tags.map(|tag| tag.split_once("%>").map_or(tag, |(code, _)| code))
}

/// The variables that are named in code.
fn variables(code: &str) -> Vec<Mention<'_>> {
    const ASKED: [&str; 5] = ["scope[", "lookupvar", "variable?", "exist?", "include?"];
    let is_word = |char: char| char.is_ascii_alphanumeric() || char == '_';
    let own = code.match_indices('@').filter_map(|(at, _)| {
        let rest = &code[at + 1..];
        let end = rest.find(|char| !is_word(char)).unwrap_or(rest.len());
        let is_joined = code[..at].ends_with(|before| is_word(before) || before == '@');
        (!is_joined).then(|| rest.split_at(end))
    });
    let asked = ASKED.into_iter().flat_map(|word| {
        let places = code.match_indices(word);
        places.filter_map(move |(at, _)| {
            let rest = code[at + word.len()..].trim_start_matches(['(', ' ']);
            let (name, rest) = quoted(rest)?;
            Some((name, rest.strip_prefix(']').unwrap_or(rest)))
        })
    });
    let mentions = own.chain(asked).filter_map(|(name, mut rest)| {
        let (name, "") = variable_name(name)? else {
            return None;
        };
        let mut keys = Vec::new();
        while let Some((key, behind)) = rest.strip_prefix('[').and_then(quoted)
            && let Some(behind) = behind.strip_prefix(']')
        {
            keys.push(key);
            rest = behind;
        }
        Some(Mention { name, keys })
    });
    mentions.collect()
}

/// What may be the names of templates in code: `'module/file.erb'`.
fn templates(code: &str) -> impl Iterator<Item = &str> {
    let quotes = code.match_indices(['\'', '"']);
    let texts = quotes.filter_map(|(at, _)| Some(quoted(&code[at..])?.0));
    let is_name = |text: &&str| {
        let (module, _) = text.split_once('/').unwrap_or_default();
        !module.is_empty() && !text.contains("..") && !text.contains(char::is_whitespace)
    };
    texts.filter(is_name)
}

/// The text in quotes that something begins with, and what comes after it.
fn quoted(code: &str) -> Option<(&str, &str)> {
    let quote = code
        .chars()
        .next()
        .filter(|char| ['\'', '"'].contains(char))?;
    code[1..].split_once(quote)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(template: &str) -> Vec<String> {
        let mentions = code(template).flat_map(variables);
        let shown = mentions.map(|one| [&[one.name], one.keys.as_slice()].concat().join("."));
        shown.collect()
    }

    #[test]
    fn variables_are_found_where_ruby_reads_them() {
        assert_eq!(
            named("<%= @port %> @none <%# @none %> <%%= @none %>"),
            ["port"]
        );
        assert_eq!(
            named("<%- @a.each do |b| -%><%= b %>,<%= @c -%>"),
            ["a", "c"]
        );
        assert_eq!(named("<%= scope['web::port'] %>"), ["web::port"]);
        assert_eq!(
            named("<%= scope.lookupvar(\"::web::port\") %>"),
            ["::web::port"]
        );
        assert_eq!(named("<% if scope.include? 'x' then end %>"), ["x"]);
        assert_eq!(
            named("<%= @facts['os'][\"family\"][1] %>"),
            ["facts.os.family"]
        );
        assert_eq!(named("<%= scope['facts']['os'].to_s %>"), ["facts.os"]);
        assert_eq!(
            named("<%= x@y + @@z + scope[name] + 'a@' + @"),
            Vec::<String>::new()
        );
    }

    #[test]
    fn templates_are_found_by_their_names() {
        let text = "<%= scope.function_template(['web/part.erb']) %> 'no/such' \
                    <%= ['a b/c', '/etc/passwd', 'web/../x', ''] %>";
        let found: Vec<&str> = code(text).flat_map(templates).collect();
        assert_eq!(found, ["web/part.erb"]);
    }
}
