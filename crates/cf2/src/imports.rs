//! Files that are imported: where they are searched, and what they hold (§3.9, §5).
//!
//! A file is read and parsed once, however often and under however many names it is imported. A database of
//! secrets becomes the statements that it stands for, and so do facts.

use std::ops::Range;

use hence_model::cell::{Cell, Content};
use hence_model::diagnostic::{Code, Diagnostic, similar};
use hence_model::explanation::Role;
use hence_model::source::{FileId, ReadError, Span};
use hence_model::value::Value;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::datum::{BlockId, FileKey, Form, Home, Part, Parts, Ranking, Scope, ScopeId};
use crate::evaluate::{Evaluated, Evaluator, Stop, TYPE};
use crate::operators;
use crate::parser::parse;
use crate::syntax::{BodyId, Definition, ExpressionId, Kind, Mutation, Statement};

/// A file to import is nowhere.
pub const IMPORT_MISSING: Code = Code::new("cf2.import-missing");
/// A file imports itself.
pub const IMPORT_CYCLE: Code = Code::new("cf2.import-cycle");
/// The name of a file to import cannot be one.
pub const IMPORT_NAME: Code = Code::new("cf2.import-name");
/// A database of secrets cannot be read.
pub const DATABASE: Code = Code::new("cf2.database");
/// A file is not signed by somebody who may.
pub const SIGNATURE: Code = Code::new("cf2.signature");
/// Nobody asked who signed a file.
pub const UNCHECKED: Code = Code::new("cf2.unchecked-signature");

/// The name under which facts are imported.
pub const FACTS: &str = "facts";

/// The files that take part in a compilation.
#[derive(Clone, Default)]
pub struct Imports {
    files: Vec<Imported>,
    by_path: FxHashMap<String, FileKey>,
    /// The paths that lead nowhere.
    absent: FxHashSet<String>,
}

/// A file that takes part.
#[derive(Clone)]
struct Imported {
    /// Its path, as it is named in messages.
    path: String,
    body: BodyId,
    /// The text that was parsed; none for what has no text of its own.
    text: Option<FileId>,
    /// The clear-signed text as it was read, if it is one.
    signed: Option<FileId>,
    /// Who signed it, once that was checked.
    signers: Option<Vec<String>>,
    /// What is wrong with its text.
    mistakes: Vec<Diagnostic>,
    /// The number of its first expression: those of a file stand together.
    first_expression: usize,
}

impl Imports {
    /// Who signed a text, if that was checked.
    pub fn signers(&self, text: FileId) -> Option<&[String]> {
        let imported = self.files.iter().find(|file| file.text == Some(text))?;
        imported.signers.as_deref()
    }

    /// Adds a file.
    pub fn add(&mut self, path: &str, body: BodyId) -> FileKey {
        let key = FileKey(self.files.len() as u32);
        self.by_path.insert(normal(path), key);
        self.files.push(Imported {
            path: path.to_owned(),
            body,
            text: None,
            signed: None,
            signers: None,
            mistakes: Vec::new(),
            first_expression: usize::MAX,
        });
        key
    }

    /// How many files there are.
    pub fn count(&self) -> usize {
        self.files.len()
    }

    /// What is written in a file.
    pub fn body(&self, file: FileKey) -> BodyId {
        self.files[file.0 as usize].body
    }

    /// A file that was read already.
    pub fn get(&self, path: &str) -> Option<(FileKey, BodyId)> {
        let key = *self.by_path.get(&normal(path))?;
        Some((key, self.files[key.0 as usize].body))
    }
}

impl Evaluator<'_> {
    /// `import(…)` as a value: a block of its own, which nothing outside of it can change and which can
    /// change nothing outside (§5.1).
    pub(crate) fn import_value(
        &mut self,
        id: ExpressionId,
        scope: ScopeId,
        home: Home,
    ) -> Evaluated<BlockId> {
        let span = self.span(id);
        let (file, body) = self.import(id, scope, home)?;
        let order = self.new_order(None);
        let sealed = Home { order, ..home };
        let block = self.new_block(Parts::Many(Box::new([])), Ranking::Files, sealed);
        if let Kind::Import(argument, _) = self.tree.expression(id).kind
            && !self.is_literal(argument)
        {
            self.sealed.insert(block, (id, scope));
        }
        let scope = self.imported_scope(block, file, scope, span);
        let block_ = &mut self.blocks[block.0 as usize];
        block_.parts = Parts::One(Part::Body(body, scope));
        block_.owns_order = true;
        Ok(block)
    }

    /// The scope of a file that is imported into a block.
    pub(crate) fn imported_scope(
        &mut self,
        root: BlockId,
        file: FileKey,
        importer: ScopeId,
        span: Span,
    ) -> ScopeId {
        self.new_scope(Scope {
            root,
            file,
            frame: None,
            importer: Some((importer, span)),
        })
    }

    /// The file that an import names.
    pub(crate) fn import(
        &mut self,
        id: ExpressionId,
        scope: ScopeId,
        home: Home,
    ) -> Evaluated<(FileKey, BodyId)> {
        let Kind::Import(name, signers) = self.tree.expression(id).kind else {
            unreachable!("it is an import");
        };
        let span = self.span(name);
        self.because_written(self.span(id), Role::Import);
        let matters = self.reasons.is_none() || !self.names_one_file(name, self.scope(scope).file);
        let datum = self.noted_if(matters, |evaluator| {
            evaluator.deciding(|evaluator| evaluator.evaluate(name, scope, home))
        })?;
        let text = match datum.form {
            Form::Scalar(cell) if matches!(cell.content(&self.unit.literals), Content::Text(_)) => {
                operators::text(cell, &self.unit)
            }
            _ => {
                let type_ = self.type_name(datum);
                let message = format!("`import` needs the name of a file, and this is {type_}");
                return self.stop(Diagnostic::error(TYPE, message).at(span));
            }
        };
        let importer = self.scope(scope).file;
        let found = self.locate(&text, importer, span, datum.secret)?;
        self.report_mistakes(found.0)?;
        let mut importer = Some(scope);
        while let Some(around) = importer {
            let around = self.scope(around);
            if around.file == found.0 {
                return self.import_cycle(found.0, scope, span);
            }
            importer = around.importer.map(|importer| importer.0);
        }
        match signers {
            Some(signers) => {
                self.check_signers(found.0, signers.expression(), scope, home)?;
            }
            None => self.warn_of_signature(found.0, span),
        }
        Ok(found)
    }

    /// A file that imports itself: shows the chain.
    pub(crate) fn import_cycle<T>(
        &mut self,
        file: FileKey,
        scope: ScopeId,
        span: Span,
    ) -> Evaluated<T> {
        let path = &self.imports.files[file.0 as usize].path;
        let message = format!("`{path}` imports itself");
        let again =
            Diagnostic::error(IMPORT_CYCLE, message).label(span, "it is imported again here");
        let mut chain = again.clone();
        let mut importer = self.scope(scope);
        while importer.file != file {
            let Some((around, span)) = importer.importer else {
                // Somebody else imported the file that closes the ring first.
                let by = &self.imports.files[self.scope(scope).file.0 as usize].path;
                let help = format!("it imports `{by}`, directly or by way of others");
                return self.stop(again.help(help));
            };
            let path = &self.imports.files[importer.file.0 as usize].path;
            chain = chain.label(span, format!("`{path}` is imported here"));
            importer = self.scope(around);
        }
        self.stop(chain)
    }

    /// Says what is wrong with the text of a file, once in a compilation.
    pub(crate) fn report_mistakes(&mut self, file: FileKey) -> Evaluated<()> {
        let mistakes = &self.imports.files[file.0 as usize].mistakes;
        if !mistakes.iter().any(Diagnostic::is_error) {
            return Ok(());
        }
        if !self.quiet && self.reported.insert(file) {
            for mistake in mistakes.clone() {
                self.unit.report(mistake);
            }
        }
        Err(Stop)
    }

    /// Reads the files that imports name by a literal, and those that they import, from the file with that
    /// number on. If one is not there, those who import it will say so.
    pub(crate) fn read_ahead(&mut self, first: usize) {
        let was_quiet = std::mem::replace(&mut self.quiet, true);
        let mut number = first;
        while number < self.imports.files.len() {
            let importer = FileKey(number as u32);
            let written = self.expressions_of(importer);
            let names: Vec<Cell> = self.tree.literal_imports(written).collect();
            for cell in names {
                let name = operators::text(cell, &self.unit);
                if !name.ends_with(".kdbx") && name != FACTS {
                    let _ = self.locate_file(&name, importer, Span::at(0), &[".cf2"]);
                }
            }
            number += 1;
        }
        self.quiet = was_quiet;
    }

    /// The numbers of the expressions that are written in a file, and perhaps in facts or a database that were
    /// read after it.
    pub(crate) fn expressions_of(&self, file: FileKey) -> Range<usize> {
        let number = file.0 as usize;
        let start = self.imports.files[number].first_expression;
        let end = match self.imports.files.get(number + 1) {
            Some(next) if next.first_expression != usize::MAX => next.first_expression,
            _ => self.tree.count(),
        };
        start.min(end)..end
    }

    /// Searches a file in the places of §3.9, and reads it if nobody has yet.
    pub(crate) fn locate(
        &mut self,
        name: &str,
        importer: FileKey,
        span: Span,
        secret: bool,
    ) -> Evaluated<(FileKey, BodyId)> {
        if name == FACTS
            && let Some(path) = self.options.facts.clone()
        {
            return match self.imports.get(&path) {
                Some(found) => Ok(found),
                None => self.read_facts(&path, span),
            };
        }
        let has_extension = name.ends_with(".cf2") || name.ends_with(".kdbx");
        let extensions: &[&str] = match has_extension {
            true => &[""],
            false => &[".cf2", ".kdbx"],
        };
        let places = match self.locate_file(name, importer, span, extensions)? {
            Ok(found) => return Ok(found),
            Err(places) => places,
        };
        let shown = if secret { "‹secret›" } else { name };
        let mut diagnostic =
            Diagnostic::error(IMPORT_MISSING, format!("there is no file `{shown}`")).at(span);
        if !secret {
            let places: Vec<String> = places
                .iter()
                .map(|place| match has_extension {
                    true => format!("`{place}`"),
                    false => format!("`{place}.cf2`"),
                })
                .collect();
            diagnostic = diagnostic.help(format!("looked for {}", places.join(", ")));
        }
        if name == FACTS {
            diagnostic = diagnostic.help("facts are given with `--facts FILE.json`");
        }
        self.stop(diagnostic)
    }

    /// A file that is there, or the places in which it is not.
    fn locate_file(
        &mut self,
        name: &str,
        importer: FileKey,
        span: Span,
        extensions: &[&str],
    ) -> Evaluated<Result<(FileKey, BodyId), Vec<String>>> {
        let places = match self.places(name, importer) {
            Ok(places) => places,
            Err(message) => {
                return self.stop(Diagnostic::error(IMPORT_NAME, message).at(span));
            }
        };
        for place in &places {
            for extension in extensions {
                let path = format!("{place}{extension}");
                if let Some(found) = self.imports.get(&path) {
                    return Ok(Ok(found));
                }
                if self.imports.absent.contains(&path) {
                    continue;
                }
                let read = match path.ends_with(".kdbx") {
                    true => self.read_database(&path, span)?,
                    false => self.read_file(&path, span)?,
                };
                match read {
                    Some(found) => return Ok(Ok(found)),
                    None => self.imports.absent.insert(path),
                };
            }
        }
        Ok(Err(places))
    }

    /// The paths, without extensions, that a name may stand for.
    fn places(&self, name: &str, importer: FileKey) -> Result<Vec<String>, String> {
        if name.is_empty() {
            return Err("the name of a file cannot be empty".to_owned());
        }
        if name.starts_with('/') || name.starts_with("./") {
            return Ok(vec![name.strip_prefix("./").unwrap_or(name).to_owned()]);
        }
        if let Some((project, path)) = name.split_once(':') {
            let found = match project {
                "" => Some(self.options.project.as_str()),
                project => {
                    let projects = self.options.projects.iter();
                    let mut named = projects.filter(|one| one.0 == project);
                    named.next().map(|one| one.1.as_str())
                }
            };
            let Some(found) = found else {
                let names = self.options.projects.iter().map(|one| one.0.as_str());
                let near = similar(project, names);
                let help = match near.first() {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => "projects are given with `--project NAME=DIR`".to_owned(),
                };
                return Err(format!("there is no project `{project}`: {help}"));
            };
            if path.is_empty() {
                return Err(format!("`{name}` is a directory: name a file in it"));
            }
            return Ok(vec![beside(found, path)]);
        }
        let searched = self.directories(importer).into_iter();
        let mut places: Vec<String> = searched.map(|path| beside(path, name)).collect();
        let mut seen = FxHashSet::default();
        places.retain(|place| seen.insert(normal(place)));
        Ok(places)
    }

    /// The directories in which a file that another imports is searched.
    fn directories(&self, importer: FileKey) -> Vec<&str> {
        let importing = &self.imports.files[importer.0 as usize].path;
        let around = match importing.rsplit_once('/') {
            None => "",
            Some(("", _)) => "/",
            Some((around, _)) => around,
        };
        let search = self.options.search.iter().map(String::as_str);
        let last = [around, &self.options.project];
        std::iter::once("").chain(search).chain(last).collect()
    }

    /// Those and the directories of other projects, each once.
    pub(crate) fn searched(&self, importer: FileKey) -> Vec<String> {
        let mut directories = self.directories(importer);
        directories.extend(self.options.projects.iter().map(|one| one.1.as_str()));
        let mut seen = FxHashSet::default();
        directories.retain(|directory| seen.insert(normal(directory)));
        directories.into_iter().map(str::to_owned).collect()
    }

    /// Reads and parses a file; none if it is not there.
    fn read_file(&mut self, path: &str, span: Span) -> Evaluated<Option<(FileKey, BodyId)>> {
        let files: &dyn crate::world::World = self.world;
        match self.unit.sources.load(files, path) {
            Ok(file) => Ok(Some(self.parse_file(path, file)?)),
            Err(ReadError::Missing | ReadError::Directory) => Ok(None),
            Err(error) => {
                let diagnostic = self.unit.unreadable(path, error);
                self.stop(diagnostic.label(span, "it is imported here"))
            }
        }
    }

    /// Parses a file that was read. What is wrong with it is said when somebody wants it.
    pub(crate) fn parse_file(&mut self, path: &str, file: FileId) -> Evaluated<(FileKey, BodyId)> {
        let text = self.unit.sources.slice(self.unit.sources.span(file));
        let mut file_to_parse = file;
        let mut signed = None;
        if is_signed(text) {
            signed = Some(file);
            match signed_part(text) {
                Ok(inner) => {
                    let added = self.unit.sources.add(path, &inner);
                    file_to_parse = match added {
                        Ok(added) => added,
                        Err(error) => {
                            let diagnostic = self.unit.unreadable(path, error);
                            return self.stop(diagnostic);
                        }
                    };
                }
                Err(trouble) => {
                    let place = self.unit.sources.span(file).start;
                    let message = format!("`{path}` is not properly signed: {trouble}");
                    return self.stop(Diagnostic::error(SIGNATURE, message).at(Span::at(place)));
                }
            }
        }
        let before = std::mem::take(&mut self.unit.diagnostics);
        let first_expression = self.tree.count();
        let body = parse(&mut self.unit, &mut self.tree, file_to_parse);
        let mistakes = std::mem::replace(&mut self.unit.diagnostics, before);
        let key = self.imports.add(path, body);
        let imported = &mut self.imports.files[key.0 as usize];
        imported.text = Some(file_to_parse);
        imported.signed = signed;
        imported.mistakes = mistakes;
        imported.first_expression = first_expression;
        Ok((key, body))
    }

    fn warn_of_signature(&mut self, file: FileKey, span: Span) {
        let imported = &self.imports.files[file.0 as usize];
        if imported.signed.is_none() || imported.signers.is_some() || self.quiet {
            return;
        }
        let message = format!("`{}` is signed, and nobody checks by whom", imported.path);
        self.unit.report(
            Diagnostic::warning(UNCHECKED, message)
                .at(span)
                .help("say who may sign it: `import(file, 'name@example.org')`"),
        );
    }

    /// Checks that a file is signed by one of those who may.
    fn check_signers(
        &mut self,
        file: FileKey,
        allowed: ExpressionId,
        scope: ScopeId,
        home: Home,
    ) -> Evaluated<()> {
        let span = self.span(allowed);
        let datum = self.evaluate(allowed, scope, home)?;
        let (value, _) = self.owned(datum, span)?;
        let allowed: Option<Vec<String>> = match value {
            Value::Text(one) => Some(vec![one]),
            Value::List(list) => {
                let text = |value: &Value| match value {
                    Value::Text(text) => Some(text.clone()),
                    _ => None,
                };
                list.as_slice().iter().map(text).collect()
            }
            _ => None,
        };
        let Some(allowed) = allowed else {
            let message = "who may sign a file is a text or a list of texts";
            return self.stop(Diagnostic::error(TYPE, message).at(span));
        };
        let imported = &self.imports.files[file.0 as usize];
        let path = imported.path.clone();
        let refuse = |evaluator: &mut Self, why: String, help: String| {
            let message = format!("`{path}` is refused: {why}");
            let mut diagnostic = Diagnostic::error(SIGNATURE, message).at(span);
            if !help.is_empty() {
                diagnostic = diagnostic.help(help);
            }
            evaluator.stop(diagnostic)
        };
        let Some(signed) = imported.signed else {
            return refuse(
                self,
                "it is not signed".to_owned(),
                format!("sign it with `gpg --clearsign {path}`, and rename the result to `{path}`"),
            );
        };
        let signers = match imported.signers.clone() {
            Some(signers) => signers,
            None => {
                let text = self.unit.sources.slice(self.unit.sources.span(signed));
                let verified = match self.world.verify(&path, text) {
                    Ok(verified) => verified,
                    Err(why) => return refuse(self, why, String::new()),
                };
                // What is compiled is what was signed, and nothing else.
                let covered = signed_part(text).unwrap_or_default();
                if !same_text(&covered, &verified.text) {
                    return refuse(
                        self,
                        "the signature does not cover all of it".to_owned(),
                        String::new(),
                    );
                }
                self.imports.files[file.0 as usize].signers = Some(verified.signers.clone());
                verified.signers
            }
        };
        let is_allowed = |signer: &String| {
            let same = |one: &String| one.eq_ignore_ascii_case(signer);
            allowed.iter().any(same)
        };
        if signers.iter().any(is_allowed) {
            return Ok(());
        }
        let who = match signers.as_slice() {
            [] => "somebody unknown".to_owned(),
            signers => signers.join(", "),
        };
        let help = format!("it may be signed by {}", allowed.join(", "));
        refuse(self, format!("it is signed by {who}"), help)
    }

    /// A database of secrets: each entry a block (§5.2). None of its values is ever shown.
    fn read_database(&mut self, path: &str, span: Span) -> Evaluated<Option<(FileKey, BodyId)>> {
        let contents = match self.world.database(path) {
            None => return Ok(None),
            Some(Ok(contents)) => contents,
            Some(Err(trouble)) => {
                let message = format!("`{path}` cannot be opened: {trouble}");
                return self.stop(Diagnostic::error(DATABASE, message).at(span));
            }
        };
        // The database has no text to point to, so a list of its fields stands for it.
        let mut outline = String::new();
        list_fields(&contents, "", &mut outline);
        let file = match self.unit.sources.add(path, &outline) {
            Ok(file) => file,
            Err(error) => {
                let diagnostic = self.unit.unreadable(path, error);
                return self.stop(diagnostic);
            }
        };
        let mut at = self.unit.sources.span(file).start;
        let body = self.database_body(&contents, 0, &mut at);
        Ok(Some((self.imports.add(path, body), body)))
    }

    /// The statements that a database stands for. `at` is where the next field is listed, `indent` how far
    /// into that line the names of this block begin.
    fn database_body(&mut self, contents: &Value, indent: u32, at: &mut u32) -> BodyId {
        let start = *at;
        let mut statements = Vec::new();
        if let Value::Map(map) = contents {
            for (key, value) in map.iter() {
                let name_at = *at + indent;
                let length = key.len() as u32;
                let name = Span::new(name_at, name_at + length);
                let kind = match value {
                    Value::Map(inner) if inner.is_empty() => {
                        *at = name.end + 1;
                        Kind::Block(self.tree.add_body(&[], name, false))
                    }
                    Value::Map(_) => {
                        Kind::Block(self.database_body(value, indent + length + 1, at))
                    }
                    Value::Text(text) => {
                        *at = name.end + 1;
                        let cell = self.unit.literals.made_text(text);
                        match key {
                            "Title" => Kind::Literal(cell),
                            _ => Kind::Secret(cell),
                        }
                    }
                    _ => Kind::Undefined,
                };
                let symbol = self.unit.symbols.intern(&self.unit.sources, name);
                statements.push(Statement::Define(Definition {
                    name: symbol,
                    at: name_at,
                    operator: Mutation::Assign,
                    value: self.tree.add(kind, name),
                    private: false,
                }));
            }
        }
        let span = Span::new(start, (*at).max(start));
        self.tree.add_body(&statements, span, false)
    }

    /// Facts: values that only the machine knows (§1), read from JSON.
    fn read_facts(&mut self, path: &str, span: Span) -> Evaluated<(FileKey, BodyId)> {
        let file = match self.unit.sources.load(self.world, path) {
            Ok(file) => file,
            Err(error) => {
                let diagnostic = self.unit.unreadable(path, error);
                return self.stop(diagnostic.label(span, "it is imported here"));
            }
        };
        match crate::facts::body(&mut self.unit, &mut self.tree, file) {
            Ok(body) => Ok((self.imports.add(path, body), body)),
            Err(diagnostic) => self.stop(*diagnostic),
        }
    }
}

/// A path in a directory.
pub(crate) fn beside(directory: &str, path: &str) -> String {
    match directory {
        "" | "." => path.to_owned(),
        directory => format!("{}/{path}", directory.trim_end_matches('/')),
    }
}

/// A path without detours.
fn normal(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" if !parts.is_empty() => {}
            "." => {}
            ".." if parts.last().is_some_and(|last| !matches!(*last, "" | "..")) => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

const BEGIN_SIGNED: &str = "-----BEGIN PGP SIGNED MESSAGE-----";
const BEGIN_SIGNATURE: &str = "-----BEGIN PGP SIGNATURE-----";
const END_SIGNATURE: &str = "-----END PGP SIGNATURE-----";

fn is_signed(text: &str) -> bool {
    // Hardly any is, and that is seen faster than where lines end.
    text.contains("BEGIN PGP SIGNED") && text.lines().any(|line| line.trim_end() == BEGIN_SIGNED)
}

/// The text that a signature covers, with every line where it was.
fn signed_part(text: &str) -> Result<String, String> {
    let mut lines = text.lines();
    if lines.next().map(str::trim_end) != Some(BEGIN_SIGNED) {
        return Err("there is text before the signed part".to_owned());
    }
    let mut part = String::from("\n");
    for line in lines.by_ref() {
        part.push('\n');
        if line.trim().is_empty() {
            break;
        }
    }
    let mut is_ended = false;
    for line in lines.by_ref() {
        if line.trim_end() == BEGIN_SIGNATURE {
            is_ended = true;
            break;
        }
        // A line that begins with `-` is written with `- ` before it.
        match line.strip_prefix("- ") {
            Some(line) => {
                part.push_str("  ");
                part.push_str(line);
            }
            None if line.starts_with('-') => {
                return Err("a line of it begins with `-`".to_owned());
            }
            None => part.push_str(line),
        }
        part.push('\n');
    }
    if !is_ended || !lines.by_ref().any(|line| line.trim_end() == END_SIGNATURE) {
        return Err("its signature has no end".to_owned());
    }
    match lines.all(|line| line.trim().is_empty()) {
        true => Ok(part),
        false => Err("there is text behind the signature".to_owned()),
    }
}

/// Whether two texts are the same but for blanks around lines and empty lines at the ends, which no
/// signature covers.
fn same_text(one: &str, other: &str) -> bool {
    let lines = |text: &str| -> Vec<String> {
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        let first = lines.iter().position(|line| !line.is_empty());
        let last = lines.iter().rposition(|line| !line.is_empty());
        match (first, last) {
            (Some(first), Some(last)) => lines[first..=last]
                .iter()
                .map(|&line| line.to_owned())
                .collect(),
            _ => Vec::new(),
        }
    };
    lines(one) == lines(other)
}

/// Lists the fields of a database, one a line: `group.entry.Field`.
fn list_fields(contents: &Value, before: &str, outline: &mut String) {
    let Value::Map(map) = contents else { return };
    for (key, value) in map.iter() {
        match value {
            Value::Map(inner) if !inner.is_empty() => {
                list_fields(value, &format!("{before}{key}."), outline);
            }
            _ => {
                outline.push_str(before);
                outline.push_str(key);
                outline.push('\n');
            }
        }
    }
}
