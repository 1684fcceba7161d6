//! Paths of files, words for shells, and texts for other places.

use ecow::EcoString;

use super::{ANY, Function, plain, ruby};
use crate::evaluate::{Evaluator, Invocation, Outcome};
use crate::value::{Array, Datum, Value};

pub(super) const FUNCTIONS: &[Function] = &[
    plain(
        "dirname",
        (1, 1),
        "dirname(String $path) >> String: the directory of a path",
        |evaluator, call| {
            let call = call.older()?;
            let path = call.text(evaluator, 0)?;
            if path.is_empty() {
                return call.wrong(0, "a path is not empty");
            }
            let directory = dirname(path);
            call.text_result(evaluator, directory)
        },
    ),
    plain(
        "basename",
        (1, 2),
        "basename(String $path, String $suffix = '') >> String: the last part of a path, without a suffix; `.*` is any",
        |evaluator, call| {
            let call = call.older()?;
            let name = basename(call.text(evaluator, 0)?);
            let name = match call.optional_text(evaluator, 1)?.map(|it| it.as_str()) {
                None => name,
                Some(".*") => &name[..name.len() - extname(name).len()],
                Some(suffix) => match name.strip_suffix(suffix) {
                    Some(rest) if !rest.is_empty() => rest,
                    _ => name,
                },
            };
            let name = EcoString::from(name);
            call.text_result(evaluator, name)
        },
    ),
    plain(
        "stdlib::extname",
        (1, 1),
        "stdlib::extname(String $path) >> String: the last part of a name, from its last point on",
        |evaluator, call| {
            let extension = EcoString::from(extname(basename(call.text(evaluator, 0)?)));
            call.text_result(evaluator, extension)
        },
    ),
    plain(
        "extname",
        (1, 1),
        "extname(String $path) >> String: the last part of a name, from its last point on",
        |evaluator, call| {
            let extension = EcoString::from(extname(basename(call.text(evaluator, 0)?)));
            call.text_result(evaluator, extension)
        },
    ),
    plain(
        "shellquote",
        (0, ANY),
        "shellquote(Any *$words) >> String: words for a shell, each in quotes where it needs them",
        |evaluator, call| {
            let call = call.older()?;
            let mut words = Vec::new();
            ruby::flatten(&call.arguments, &mut words);
            call.check_count(words.len())?;
            let mut quoted: Vec<String> = Vec::with_capacity(words.len());
            for word in &words {
                match &word.datum {
                    Datum::Text(word) => quoted.push(shell_quoted(word)),
                    _ => return call.wrong(0, "expected texts"),
                }
            }
            let text = quoted.join(" ");
            call.text_result(evaluator, text)
        },
    ),
    plain(
        "shell_escape",
        (1, 1),
        "shell_escape(Any $word) >> String: a word for a shell, with a backslash before what it would read",
        |evaluator, call| {
            let text = shell_escaped(&ruby::text(&call.arguments[0].datum));
            call.text_result(evaluator, text)
        },
    ),
    plain(
        "shell_join",
        (1, 1),
        "shell_join(Array $words) >> String: words for a shell, with backslashes before what it would read",
        |evaluator, call| {
            let call = call.older()?;
            let words = call.array(evaluator, 0)?.iter();
            let words: Vec<String> = words
                .map(|word| shell_escaped(&ruby::text(&word.datum)))
                .collect();
            call.text_result(evaluator, words.join(" "))
        },
    ),
    plain(
        "shell_split",
        (1, 1),
        "shell_split(Any $line) >> Array[String]: the words of a line as a shell reads them",
        |evaluator, call| {
            let call = call.older()?;
            let line = ruby::text(&call.arguments[0].datum);
            let Some(words) = shell_words(&line) else {
                return call.wrong(0, "a quote is not closed");
            };
            let origin = evaluator.trace.operation(call.at, call.origins());
            let words = words.into_iter().map(|word| Value::new(word, origin));
            Ok(Value::new(words.collect::<Array>(), origin))
        },
    ),
    plain(
        "batch_escape",
        (1, 1),
        "batch_escape(Any $text) >> String: a text in quotes for the command line of Windows",
        |evaluator, call| {
            let mut escaped = EcoString::from("\"");
            for char in ruby::text(&call.arguments[0].datum).chars() {
                match char {
                    '"' => escaped.push_str("\"\""),
                    '$' | '\\' => escaped.extend(['\\', char]),
                    other => escaped.push(other),
                }
            }
            escaped.push('"');
            call.text_result(evaluator, escaped)
        },
    ),
    plain(
        "powershell_escape",
        (1, 1),
        "powershell_escape(Any $text) >> String: a text for PowerShell, with marks before what it would read",
        |evaluator, call| {
            let mut escaped = EcoString::new();
            for char in ruby::text(&call.arguments[0].datum).chars() {
                match char {
                    ' ' | '\'' | '`' | '|' | '\n' | '$' => escaped.extend(['`', char]),
                    '"' => escaped.push_str("\\`\""),
                    other => escaped.push(other),
                }
            }
            call.text_result(evaluator, escaped)
        },
    ),
    plain(
        "uriescape",
        (1, ANY),
        "uriescape(Variant[String, Array] $text): a text for an address, what may not stand there as `%20`",
        |evaluator, call| {
            let call = call.older()?;
            match &call.arguments[0].datum {
                Datum::Text(text) => {
                    let text = uri_escaped(text);
                    call.text_result(evaluator, text)
                }
                Datum::Array(array) => {
                    let escaped = array.iter().map(|value| match &value.datum {
                        Datum::Text(text) => {
                            let origin = evaluator.trace.operation(call.at, [value.clone()]);
                            Value::new(uri_escaped(text), origin)
                        }
                        _ => value.clone(),
                    });
                    let escaped: Array = escaped.collect();
                    call.container(evaluator, escaped)
                }
                _ => call.unexpected(evaluator, 0, "text or an array"),
            }
        },
    ),
    plain(
        "stdlib::xml_encode",
        (1, 2),
        "stdlib::xml_encode(String $text, Enum[text, attr] $where = text) >> String: a text for XML",
        |evaluator, call| {
            let text = call.text(evaluator, 0)?;
            let is_attribute = match call.optional_text(evaluator, 1)?.map(|it| it.as_str()) {
                None | Some("text") => false,
                Some("attr") => true,
                Some(_) => return call.wrong(1, "expected `text` or `attr`"),
            };
            let mut encoded = EcoString::new();
            for char in text.chars() {
                match char {
                    '&' => encoded.push_str("&amp;"),
                    '<' => encoded.push_str("&lt;"),
                    '>' => encoded.push_str("&gt;"),
                    '"' if is_attribute => encoded.push_str("&quot;"),
                    other => encoded.push(other),
                }
            }
            if is_attribute {
                encoded = ecow::eco_format!("\"{encoded}\"");
            }
            call.text_result(evaluator, encoded)
        },
    ),
    plain(
        "stdlib::ensure",
        (1, 2),
        "stdlib::ensure(Variant[Boolean, Enum[present, absent]] $ensure, String $resource) >> String: present or absent, in the words of a type of resources",
        ensure,
    ),
];

fn dirname(path: &str) -> EcoString {
    let end = path.trim_end_matches('/');
    if end.is_empty() {
        return "/".into();
    }
    match end.rfind('/') {
        None => ".".into(),
        Some(at) => match end[..at].trim_end_matches('/') {
            "" => "/".into(),
            directory => directory.into(),
        },
    }
}

fn basename(path: &str) -> &str {
    let end = path.trim_end_matches('/');
    if end.is_empty() && !path.is_empty() {
        return "/";
    }
    end.rsplit('/').next().unwrap_or(end)
}

/// From the last point of a name on, unless it begins with that or ends there.
fn extname(name: &str) -> &str {
    let hidden = name.len() - name.trim_start_matches('.').len();
    match name[hidden..].rfind('.') {
        Some(at) if at > 0 && hidden + at + 1 < name.len() => &name[hidden + at..],
        Some(at) if at > 0 => &name[hidden + at..],
        _ => "",
    }
}

fn shell_quoted(word: &str) -> String {
    let is_safe = |char: char| char.is_ascii_alphanumeric() || "@%_+=:,./-".contains(char);
    let is_dangerous = |char: char| "!\"`$\\".contains(char);
    if !word.is_empty() && word.chars().all(is_safe) {
        return word.to_owned();
    }
    if !word.contains(is_dangerous) {
        return format!("\"{word}\"");
    }
    if !word.contains('\'') {
        return format!("'{word}'");
    }
    let mut quoted = String::from("\"");
    for char in word.chars() {
        if is_dangerous(char) {
            quoted.push('\\');
        }
        quoted.push(char);
    }
    quoted + "\""
}

fn shell_escaped(word: &str) -> String {
    if word.is_empty() {
        return "''".to_owned();
    }
    let mut escaped = String::with_capacity(word.len());
    for char in word.chars() {
        match char {
            '\n' => escaped.push_str("'\n'"),
            char if char.is_ascii_alphanumeric() || "_-.,:+/@%".contains(char) => {
                escaped.push(char);
            }
            other => escaped.extend(['\\', other]),
        }
    }
    escaped
}

/// The words of a line; nothing if a quote is not closed.
fn shell_words(line: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = line.chars();
    while let Some(char) = chars.next() {
        match char {
            char if ruby::is_space(char) => words.extend(word.take()),
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next()? {
                        '\'' => break,
                        other => word.push(other),
                    }
                }
            }
            '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next()? {
                        '"' => break,
                        '\\' => match chars.next()? {
                            '\n' => {}
                            next @ ('$' | '`' | '"' | '\\') => word.push(next),
                            next => word.extend(['\\', next]),
                        },
                        other => word.push(other),
                    }
                }
            }
            '\\' => {
                let word = word.get_or_insert_default();
                match chars.next() {
                    Some('\n') => {}
                    Some(next) => word.push(next),
                    None => word.push('\\'),
                }
            }
            other => word.get_or_insert_default().push(other),
        }
    }
    words.extend(word);
    Some(words)
}

/// What is neither a letter nor a sign of addresses is written as its bytes.
fn uri_escaped(text: &str) -> EcoString {
    let mut escaped = EcoString::new();
    for char in text.chars() {
        if char.is_ascii_alphanumeric() || ";/?:@&=+$,-_.!~*'()[]".contains(char) {
            escaped.push(char);
            continue;
        }
        let mut buffer = [0; 4];
        for byte in char.encode_utf8(&mut buffer).bytes() {
            escaped.push_str(&ecow::eco_format!("%{byte:02X}"));
        }
    }
    escaped
}

fn ensure<'t>(evaluator: &mut Evaluator<'t>, call: Invocation<'t>) -> Outcome {
    let present = match &call.arguments[0].datum {
        Datum::Bool(present) => *present,
        Datum::Text(text) if text == "present" => true,
        Datum::Text(text) if text == "absent" => false,
        _ => return call.unexpected(evaluator, 0, "true, false, `present` or `absent`"),
    };
    let resource = call.text(evaluator, 1)?.clone();
    let word = match (resource.as_str(), present) {
        ("package", true) => "installed",
        ("service", true) => "running",
        ("service", false) => "stopped",
        ("directory" | "link" | "mounted" | "file", true) => resource.as_str(),
        ("package" | "directory" | "link" | "mounted" | "file", false) => "absent",
        _ => {
            let words = "directory, link, mounted, service, file or package";
            return call.wrong(1, format!("expected one of {words}"));
        }
    };
    Ok(call.result(evaluator, word))
}
