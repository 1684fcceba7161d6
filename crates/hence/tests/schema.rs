//! What `hence why --format json` answers is what `docs/why.schema.json` says, in all three languages.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

#[test]
fn every_question_of_the_specification_is_answered_as_the_schema_says() {
    let schema = fs::read_to_string(workspace().join("docs/why.schema.json"));
    let schema = schema.expect("the schema is there");
    let schema: Value = serde_json::from_str(&schema).expect("the schema is JSON");
    let mut answers = [0; 3];
    // What a line of an installed file is about is another question, with an answer of its own.
    let questions = questions().into_iter();
    let questions = questions.filter(|(_, question)| !question.contains("--line"));
    for (folder, question) in questions {
        let words = shell_words::split(&question).expect("the words of a command");
        // A later `--format` would be refused, and another form answers in JSON all the same.
        let words = words.iter().skip(1).take_while(|word| *word != "--format");
        let output = Command::new(env!("CARGO_BIN_EXE_hence"))
            .args(words)
            .args(["--format", "json"])
            .current_dir(&folder)
            .output()
            .expect("hence can be run");
        if !output.status.success() {
            continue;
        }
        let answer: Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
        if let Err(trouble) = check(&answer, &schema, &schema) {
            panic!("{}: {question}: {trouble}", folder.display());
        }
        let languages = [".sf", ".cf2", ".pp"];
        let language = languages.iter().position(|end| question.contains(end));
        answers[language.expect("a question names a file")] += 1;
    }
    assert!(answers.iter().all(|&count| count >= 10), "{answers:?}");
}

#[test]
fn what_is_not_as_the_schema_says_is_found() {
    let schema = json!({
        "type": "object", "required": ["a"], "additionalProperties": false,
        "properties": { "a": { "anyOf": [{ "type": "null" }, { "type": "integer", "minimum": 1 }] }, "b": { "enum": ["x"] } }
    });
    let good = [json!({ "a": null }), json!({ "a": 1, "b": "x" })];
    let bad = [
        json!({}),
        json!({ "a": 0 }),
        json!({ "a": 1, "b": "y" }),
        json!({ "a": 1, "c": 1 }),
        json!([]),
    ];
    assert!(good.iter().all(|one| check(one, &schema, &schema).is_ok()));
    assert!(bad.iter().all(|one| check(one, &schema, &schema).is_err()));
    let unknown = json!({ "maximum": 1 });
    assert!(check(&json!(0), &unknown, &unknown).is_err());
}

/// The questions that sessions ask, each with the folder it is asked in.
fn questions() -> Vec<(PathBuf, String)> {
    let mut questions = Vec::new();
    let mut folders = vec![workspace().join("spec")];
    while let Some(folder) = folders.pop() {
        let mut entries: Vec<PathBuf> = fs::read_dir(&folder)
            .expect("the specification can be read")
            .map(|entry| entry.expect("the specification can be read").path())
            .collect();
        entries.sort();
        for path in entries {
            let extension = path.extension().and_then(|end| end.to_str());
            if path.is_dir() {
                folders.push(path);
            } else if matches!(extension, Some("why" | "session")) {
                let text = fs::read_to_string(&path).expect("a session is text");
                let asked = text.lines().filter_map(|line| line.strip_prefix("$ "));
                let asked = asked.filter(|line| line.starts_with("hence why "));
                let is_example = |line: &str| line.contains(" examples/");
                questions.extend(asked.map(|line| match is_example(line) {
                    true => (workspace(), line.to_owned()),
                    false => (folder.clone(), line.to_owned()),
                }));
            }
        }
    }
    questions
}

/// Checks a value against a schema of which `root` is the whole: those keywords that ours uses, and no other.
fn check(value: &Value, schema: &Value, root: &Value) -> Result<(), String> {
    let schema = schema.as_object().ok_or("a schema is an object")?;
    for (keyword, rule) in schema {
        let holds = match keyword.as_str() {
            "$schema" | "$defs" | "title" | "description" => true,
            "$ref" => {
                let pointer = rule.as_str().and_then(|rule| rule.strip_prefix('#'));
                let target = pointer.and_then(|pointer| root.pointer(pointer));
                let target = target.ok_or_else(|| format!("{rule} leads nowhere"))?;
                check(value, target, root)?;
                true
            }
            "type" => match rule {
                Value::Array(types) => types.iter().any(|one| is_of(value, one)),
                one => is_of(value, one),
            },
            "enum" => list(rule)?.contains(value),
            "anyOf" => list(rule)?
                .iter()
                .any(|one| check(value, one, root).is_ok()),
            "minimum" => value.as_i64() >= rule.as_i64(),
            "minLength" => value.as_str().map(|text| text.chars().count() as u64) >= rule.as_u64(),
            "required" => list(rule)?
                .iter()
                .all(|key| value.get(key.as_str().unwrap_or("")).is_some()),
            "properties" => {
                for (key, inner) in value.as_object().into_iter().flatten() {
                    if let Some(rule) = rule.get(key) {
                        check(inner, rule, root).map_err(|trouble| format!("{key}: {trouble}"))?;
                    }
                }
                true
            }
            "additionalProperties" => {
                let known = schema.get("properties").and_then(Value::as_object);
                let mut keys = value.as_object().into_iter().flatten().map(|(key, _)| key);
                *rule == json!(false)
                    && keys.all(|key| known.is_some_and(|known| known.contains_key(key)))
            }
            "items" => {
                for (at, inner) in value.as_array().into_iter().flatten().enumerate() {
                    check(inner, rule, root).map_err(|trouble| format!("[{at}]: {trouble}"))?;
                }
                true
            }
            unknown => return Err(format!("nobody checks `{unknown}`")),
        };
        if !holds {
            return Err(format!("{value} is not as `{keyword}` says: {rule}"));
        }
    }
    Ok(())
}

fn list(rule: &Value) -> Result<&Vec<Value>, String> {
    rule.as_array().ok_or_else(|| format!("{rule} is a list"))
}

fn is_of(value: &Value, name: &Value) -> bool {
    match name.as_str() {
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("integer") => value.is_i64() || value.is_u64(),
        Some("boolean") => value.is_boolean(),
        Some("null") => value.is_null(),
        _ => false,
    }
}

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
