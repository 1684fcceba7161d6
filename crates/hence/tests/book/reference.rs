//! `docs/api-reference.md`: the OpenAPI document of a server, for people.

use serde_json::Value;

/// The page, made of the document.
pub fn page(document: &Value) -> String {
    let mut page = String::from(
        "# The API, address by address\n\n\
         This is the OpenAPI document of a server for people; `SPEC_UPDATE=1 cargo test -p hence --test book` writes it anew. Every server has \
         the document itself at `/api/v1/openapi.json`. How to use it is told in [the API](api.md).\n",
    );
    for tag in document["tags"].as_array().expect("there are tags") {
        let name = text(&tag["name"]);
        page.push_str(&format!(
            "\n## {}\n\n{}\n",
            capital(name),
            text(&tag["description"])
        ));
        let paths = document["paths"].as_object().expect("there are paths");
        for (path, methods) in paths {
            let methods = methods.as_object().expect("a path has methods");
            for (method, operation) in methods {
                if operation["tags"][0] == tag["name"] {
                    page.push_str(&about(document, path, method, operation));
                }
            }
        }
    }
    page.push_str("\n## What is sent and answered\n");
    let schemas = document["components"]["schemas"].as_object();
    for (name, schema) in schemas.expect("there are schemas") {
        page.push_str(&format!(
            "\n### {name}\n\n{}\n",
            text(&schema["description"])
        ));
        page.push_str(&fields(schema));
    }
    page
}

/// An operation: what it does, takes and answers.
fn about(document: &Value, path: &str, method: &str, operation: &Value) -> String {
    let mut about = format!("\n### `{} {path}`\n", method.to_uppercase());
    for words in ["summary", "description"] {
        let words = text(&operation[words]);
        if !words.is_empty() {
            about.push_str(&format!("\n{words}\n"));
        }
    }
    let mut rows = Vec::new();
    for parameter in operation["parameters"].as_array().into_iter().flatten() {
        let parameter = resolved(document, parameter);
        let must = if parameter["required"] == true {
            ""
        } else {
            ", if it is said"
        };
        let place = format!("in the {}{must}", text(&parameter["in"]));
        let name = text(&parameter["name"]);
        rows.push([
            format!("`{name}`"),
            place,
            text(&parameter["description"]).to_owned(),
        ]);
    }
    if let Some(content) = operation["requestBody"]["content"].as_object() {
        for (media, body) in content {
            rows.push(["body".to_owned(), media.clone(), kind(&body["schema"])]);
        }
    }
    for (status, answer) in operation["responses"].as_object().into_iter().flatten() {
        let answer = resolved(document, answer);
        // What every address may answer is told once, with the API.
        if status.starts_with('2') || status.starts_with('3') {
            let content = answer["content"].as_object().into_iter().flatten();
            let kinds: Vec<String> = content
                .map(|(media, body)| match body.get("schema") {
                    Some(schema) => kind(schema),
                    None => media.clone(),
                })
                .collect();
            let words = text(&answer["description"]).to_owned();
            rows.push([format!("answers {status}"), kinds.join(", "), words]);
        }
    }
    if !rows.is_empty() {
        about.push_str("\n| | | |\n|---|---|---|\n");
        about.extend(rows.iter().map(line));
    }
    about
}

/// The fields of an object, or what it can be.
fn fields(schema: &Value) -> String {
    if let Some(kinds) = schema["oneOf"].as_array() {
        let one = |kind_of: &Value| {
            let words = text(&kind_of["description"]);
            let words = words.trim_end_matches('.');
            let colon = if words.is_empty() { "" } else { ": " };
            format!("- {words}{colon}{}\n", kind(kind_of))
        };
        return format!("\n{}", kinds.iter().map(one).collect::<String>());
    }
    if let Some(words) = schema["enum"].as_array() {
        let words = words.iter().map(|word| format!("`\"{}\"`", text(word)));
        return format!("\nOne of {}.\n", words.collect::<Vec<_>>().join(", "));
    }
    let Some(properties) = schema["properties"].as_object() else {
        return String::new();
    };
    let required = schema["required"].as_array();
    let is_required = |name: &str| required.is_some_and(|all| all.iter().any(|one| one == name));
    let mut table = String::from("\n| field | | |\n|---|---|---|\n");
    for (name, property) in properties {
        let may = if is_required(name) {
            ""
        } else {
            ", or nothing"
        };
        let words = text(&property["description"]).to_owned();
        table.push_str(&line(&[
            format!("`{name}`"),
            format!("{}{may}", kind(property)),
            words,
        ]));
    }
    table
}

/// What a value is, in a word or two.
fn kind(schema: &Value) -> String {
    if let Some(name) = schema["$ref"].as_str() {
        let name = name.rsplit('/').next().unwrap_or(name);
        return format!("[{name}](#{})", name.to_lowercase());
    }
    // What may be nothing is what it is otherwise.
    if let Some([one, nothing]) = schema["oneOf"].as_array().map(Vec::as_slice)
        && nothing["type"] == "null"
    {
        return kind(one);
    }
    if let Some(word) = schema["const"].as_str() {
        return format!("`\"{word}\"`");
    }
    let word = match &schema["type"] {
        Value::Array(kinds) => text(&kinds[0]).to_owned(),
        one => text(one).to_owned(),
    };
    match word.as_str() {
        "array" => format!("list of {}", kind(&schema["items"])),
        "object" => match schema["properties"].as_object() {
            Some(fields) => {
                let fields = fields
                    .iter()
                    .map(|(name, field)| format!("`{name}` {}", kind(field)));
                format!("object ({})", fields.collect::<Vec<_>>().join(", "))
            }
            None => match schema.get("additionalProperties") {
                Some(values) => format!("object of {}", kind(values)),
                None => word,
            },
        },
        "" => "anything".to_owned(),
        _ => word,
    }
}

fn resolved<'a>(document: &'a Value, part: &'a Value) -> &'a Value {
    match part["$ref"].as_str() {
        Some(name) => document
            .pointer(name.trim_start_matches('#'))
            .expect("a reference leads somewhere"),
        None => part,
    }
}

fn line(cells: &[String; 3]) -> String {
    let cells = cells
        .each_ref()
        .map(|cell| cell.replace('|', "\\|").replace('\n', " "));
    format!("| {} |\n", cells.join(" | "))
}

fn capital(word: &str) -> String {
    let (first, rest) = word.split_at(1);
    format!("{}{rest}", first.to_uppercase())
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
