//! The files of a configuration, with what the node itself adds.
//!
//! The server speaks first, then the node: what it advertises, the lines that it needs to survive, and its overrides. So
//! nothing that the server says can take the node away from those who look after it.

use std::collections::BTreeMap;
use std::path::Path;

use hence_api::words::Configuration;
use hence_fleet::explain::write_parameter;

use crate::host::Host;
use crate::map::{FORMAT, Map, Part};
use crate::settings::{Form, Settings};
use crate::template::Template;
use crate::{Facts, sum};

/// A parameter that the node itself sets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Local {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
    /// Where that is written.
    pub place: String,
}

/// What the node itself sets, computed from its facts; or why that cannot be computed.
pub type LocalParameters<'l> = dyn Fn(&Facts) -> Result<Vec<Local>, String> + 'l;

/// Files as they are to be.
pub struct Rendered {
    /// What each holds, and what its lines are about.
    pub files: Vec<(String, Map)>,
    /// The files that show a secret.
    pub secret: Vec<String>,
    /// The sum of what the node itself had to say.
    pub local: String,
}

/// What the node itself has to say.
struct Additions {
    /// Texts behind the parameters of the server, each with where it is from.
    texts: Vec<(String, String)>,
    parameters: Vec<Local>,
}

/// All files; or what is wrong, for the person who can fix it.
pub fn render(
    host: &dyn Host,
    settings: &Settings,
    configuration: &Configuration,
    parameters: Vec<Local>,
) -> Result<Rendered, String> {
    let additions = Additions {
        texts: texts(host, settings)?,
        parameters,
    };
    let mut local = format!("{:?}{:?}", additions.texts, additions.parameters);
    let (mut files, mut secret) = (Vec::new(), Vec::new());
    for file in &settings.files {
        let (text, parts) = match &file.form {
            Form::Parameters => parameters_file(settings, configuration, &additions),
            Form::Template(path) => {
                let template = read(host, path)?;
                local.push_str(&template);
                template_file(path, &template, configuration, &additions)?
            }
        };
        if parts.iter().any(|part| is_secret(configuration, part)) {
            secret.push(file.path.clone());
        }
        let map = Map {
            format: FORMAT,
            file: file.path.clone(),
            node: configuration.node.clone(),
            version: configuration.version,
            sum: sum(text.as_bytes()),
            parts,
        };
        files.push((text, map));
    }
    Ok(Rendered {
        files,
        secret,
        local: sum(local.as_bytes()),
    })
}

/// Whether a part shows a secret of the server; what the node itself says is no secret.
fn is_secret(configuration: &Configuration, part: &Part) -> bool {
    let mut secrets = configuration.secrets.iter();
    part.here.is_none() && secrets.any(|name| name.eq_ignore_ascii_case(&part.parameter))
}

/// A file that grows, and knows what its lines are about.
struct Growing {
    text: String,
    line: usize,
    parts: Vec<Part>,
}

impl Growing {
    fn add(&mut self, text: &str) {
        self.line += text.matches('\n').count();
        self.text.push_str(text);
    }

    fn parameter(&mut self, name: &str, value: &str, here: Option<&str>) {
        let mut text = String::new();
        write_parameter(&mut text, name, value).expect("a string can be written to");
        let first = self.line;
        self.add(&text);
        self.parts.push(Part {
            first,
            last: self.line - 1,
            parameter: name.to_owned(),
            here: here.map(str::to_owned),
        });
    }

    /// Lines of the node, as they are.
    fn lines(&mut self, text: &str, whence: &str) {
        for (number, line) in text.lines().enumerate() {
            let name = line.split_once('=').map(|(name, _)| name.trim());
            let is_name = |name: &&str| !name.is_empty() && !name.contains(['#', ' ', '$']);
            if let Some(name) = name.filter(is_name) {
                self.parts.push(Part {
                    first: self.line,
                    last: self.line,
                    parameter: name.to_owned(),
                    here: Some(format!("{whence}:{}", number + 1)),
                });
            }
            self.add(line);
            self.add("\n");
        }
    }
}

fn parameters_file(
    settings: &Settings,
    configuration: &Configuration,
    additions: &Additions,
) -> (String, Vec<Part>) {
    let mut file = Growing {
        text: String::new(),
        line: 1,
        parts: Vec::new(),
    };
    let Configuration { node, version, .. } = configuration;
    file.add(&format!(
        "# {node}, version {version}; what is changed here by hand is put right\n"
    ));
    for (name, value) in &configuration.parameters {
        file.parameter(name, value, None);
    }
    if !settings.advertise.is_empty() {
        let advertised = advertised(configuration);
        for (name, value) in &advertised {
            file.parameter(name, &format!("\"{value}\""), Some("advertise"));
        }
        let names: Vec<&str> = advertised.iter().map(|(name, _)| *name).collect();
        for list in &settings.advertise {
            let value = format!("$({list}), {}", names.join(", "));
            file.parameter(list, &value, Some("advertise"));
        }
    }
    for (whence, text) in &additions.texts {
        file.add(&format!("# {whence}\n"));
        file.lines(text, whence);
    }
    for Local { name, value, place } in &additions.parameters {
        file.parameter(name, value, Some(place));
    }
    (file.text, file.parts)
}

/// What the node says about itself to others.
fn advertised(configuration: &Configuration) -> [(&'static str, String); 3] {
    [
        ("HENCE_FEATURES", configuration.features.join(", ")),
        ("HENCE_GROUPS", configuration.groups.join(", ")),
        ("HENCE_VERSION", configuration.version.to_string()),
    ]
}

fn template_file(
    path: &Path,
    template: &str,
    configuration: &Configuration,
    additions: &Additions,
) -> Result<(String, Vec<Part>), String> {
    let mut values: BTreeMap<String, (String, Option<String>)> = BTreeMap::new();
    for (name, value) in &configuration.parameters {
        values.insert(name.to_lowercase(), (value.clone(), None));
    }
    let itself = ("HENCE_NODE", configuration.node.clone());
    for (name, value) in advertised(configuration).into_iter().chain([itself]) {
        let here = Some("the agent".to_owned());
        values.insert(name.to_lowercase(), (value, here));
    }
    for Local { name, value, place } in &additions.parameters {
        values.insert(name.to_lowercase(), (value.clone(), Some(place.clone())));
    }
    let wrong = |mistakes: Vec<crate::Mistake>| {
        let mistakes: Vec<String> = mistakes.iter().map(ToString::to_string).collect();
        format!("the template `{}`: {}", path.display(), mistakes.join("; "))
    };
    let known = |name: &str| values.get(&name.to_lowercase());
    let template = Template::parse(template).map_err(wrong)?;
    let filled = template.fill(|name| known(name).map(|(value, _)| value.as_str()));
    let filled = filled.map_err(wrong)?;
    let part = |(line, name): &(usize, String)| Part {
        first: *line,
        last: *line,
        parameter: name.clone(),
        here: match known(name) {
            Some((_, here)) => here.clone(),
            None => Some(format!("the template `{}`", path.display())),
        },
    };
    let parts = filled.parameters.iter().map(part).collect();
    Ok((filled.text, parts))
}

/// What the node adds as it is written, with where that is from.
fn texts(host: &dyn Host, settings: &Settings) -> Result<Vec<(String, String)>, String> {
    let mut texts = Vec::new();
    if !settings.survival.is_empty() {
        texts.push(("survival".to_owned(), settings.survival.join("\n")));
    }
    if let Some(directory) = &settings.overrides {
        let names = host.list(directory);
        let names = names.map_err(|error| format!("`{}`: {error}", directory.display()))?;
        for name in names {
            // What an editor leaves behind was not meant.
            if name.starts_with('.') || name.ends_with('~') {
                continue;
            }
            let path = directory.join(name);
            let text = read(host, &path)?;
            texts.push((path.display().to_string(), text));
        }
    }
    Ok(texts)
}

fn read(host: &dyn Host, path: &Path) -> Result<String, String> {
    let why = match host.read(path) {
        Ok(Some(content)) => match String::from_utf8(content) {
            Ok(text) => return Ok(text),
            Err(_) => "it is not text".to_owned(),
        },
        Ok(None) => "it is not there".to_owned(),
        Err(error) => error.to_string(),
    };
    Err(format!("`{}` cannot be read: {why}", path.display()))
}
