//! What a site has written: manifests, modules and templates, each read and parsed once.
//!
//! A site is shared by all nodes that are compiled, on all cores. Files are read when something in them is
//! first asked for: class `a::b` in `a/manifests/b.pp`, and so for functions and types.

use std::borrow::Cow;
use std::sync::{Mutex, MutexGuard, PoisonError};

use ecow::EcoString;
use elsa::sync::FrozenMap;
use hence_model::diagnostic::Diagnostic;
use hence_model::source::{FileId, Files, ReadError, Span};
use hence_model::unit::{Limits, Unit};

use crate::evaluate::Room;
use crate::lookup::{Configuration, Data, Layer};
use crate::module_file::Home;
use crate::parser;
use crate::resource_types::{self, ResourceType};
use crate::syntax::{Expression, Program};

/// The files of a site, and what directories hold.
pub trait World: Files + Sync {
    /// The names in a directory, sorted; directories end with `/`. Empty if there is no such directory.
    fn list(&self, directory: &str) -> Vec<String>;

    /// The directory in which paths begin that do not begin at the root, if manifests may know it.
    fn directory(&self) -> Option<String> {
        None
    }
}

/// Where a site keeps its files.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    /// The manifest that everything starts with: a file, or a directory of them.
    pub manifest: String,
    /// Where modules are looked for, in this order.
    pub modulepath: Vec<String>,
    /// The directory of the environment, with `hiera.yaml`, `functions` and `types` of its own.
    pub environment: Option<String>,
    /// The hiera.yaml that is asked before that of the environment.
    pub hiera: Option<String>,
}

impl Layout {
    /// Something in the directory of the environment.
    pub fn of_environment(&self, name: &str) -> Option<String> {
        let environment = self.environment.as_ref()?;
        Some(match environment.trim_end_matches('/') {
            "." => name.to_owned(),
            directory => format!("{directory}/{name}"),
        })
    }
}

/// A site.
pub struct Site<'w> {
    /// The files.
    pub world: &'w dyn World,
    /// Where they are.
    pub layout: Layout,
    unit: Mutex<Unit>,
    programs: FrozenMap<String, Box<Option<Loaded>>>,
    resource_types: FrozenMap<String, Box<Option<ResourceType>>>,
    data: FrozenMap<String, Box<Option<Data>>>,
    configurations: FrozenMap<String, Box<Option<Configuration>>>,
    texts: FrozenMap<String, Box<Option<Span>>>,
    directories: FrozenMap<String, Box<Option<String>>>,
    lists: FrozenMap<String, Vec<String>>,
    /// How much the last catalog took.
    room: Mutex<Room>,
}

/// A file that was read and parsed.
pub struct Loaded {
    /// What it says.
    pub program: Program,
    /// The module it belongs to.
    pub module: Option<EcoString>,
    /// What is wrong with it; if anything is, nothing is evaluated.
    pub mistakes: Vec<Diagnostic>,
}

impl<'w> Site<'w> {
    /// A site of which nothing was read yet.
    pub fn new(world: &'w dyn World, layout: Layout, limits: Limits) -> Self {
        Self {
            world,
            layout,
            unit: Mutex::new(Unit::with_limits(limits)),
            programs: FrozenMap::new(),
            resource_types: FrozenMap::new(),
            data: FrozenMap::new(),
            configurations: FrozenMap::new(),
            texts: FrozenMap::new(),
            directories: FrozenMap::new(),
            lists: FrozenMap::new(),
            room: Mutex::new(Room::default()),
        }
    }

    /// The texts that were read. Nothing else can be read while somebody holds them.
    pub fn unit(&self) -> MutexGuard<'_, Unit> {
        // Whoever panicked while reading left at most a text that nobody refers to.
        self.unit.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The manifests that everything starts with, in order.
    pub fn manifests(&self) -> Result<Vec<&Loaded>, Box<Diagnostic>> {
        let name = &self.layout.manifest;
        let mut names = Vec::new();
        if self.is_directory(name) {
            self.manifests_under(name.trim_end_matches('/'), &mut names);
        } else {
            names.push(name.clone());
        }
        let load = |name: &String| self.load(name, None, Parse::Manifest);
        names.iter().map(load).collect()
    }

    fn is_directory(&self, name: &str) -> bool {
        name.ends_with('/') || !self.list(name).is_empty()
    }

    fn manifests_under(&self, directory: &str, names: &mut Vec<String>) {
        for name in self.list(directory) {
            let path = format!("{directory}/{name}");
            if let Some(path) = path.strip_suffix('/') {
                self.manifests_under(path, names);
            } else if path.ends_with(".pp") {
                names.push(path);
            }
        }
    }

    /// The file of a module that may define a name: `folder` is `manifests`, `functions` or `types`.
    pub fn autoload(&self, name: &str, folder: &'static str) -> Option<&Loaded> {
        let (module, rest) = name.split_once("::").unwrap_or((name, ""));
        if folder != "manifests" && rest.is_empty() {
            return None;
        }
        let file = match rest {
            "" => "init".to_owned(),
            rest => rest.replace("::", "/"),
        };
        let found = self.modules(module).find_map(|directory| {
            let path = [&directory, "/", folder, "/", &file, ".pp"].concat();
            let home = Home {
                module: module.into(),
                folder,
                name: if file == "init" { module } else { name }.into(),
            };
            self.find(&path, Some(home), Parse::Manifest)
        });
        let own = || {
            let file = name.strip_prefix("environment::")?.replace("::", "/");
            let path = self.layout.of_environment(&format!("{folder}/{file}.pp"))?;
            self.find(&path, None, Parse::Manifest)
        };
        found.or_else(own)
    }

    /// The classes that stand beside one of that name: in the same folder of its module, or in modules of their own names.
    pub(crate) fn classes_beside(&self, name: &str) -> Vec<String> {
        let Some((around, _)) = name.rsplit_once("::") else {
            let roots = self.layout.modulepath.iter();
            let modules = roots.flat_map(|root| self.list(root.trim_end_matches('/')));
            let modules = modules.filter_map(|module| module.strip_suffix('/'));
            return modules.map(str::to_owned).collect();
        };
        let (module, folders) = around.split_once("::").unwrap_or((around, ""));
        let mut names = Vec::new();
        for directory in self.modules(module) {
            let folder = [&directory, "/manifests/", &folders.replace("::", "/")].concat();
            let files = self.list(folder.trim_end_matches('/')).iter();
            let files = files.filter_map(|file| file.strip_suffix(".pp"));
            names.extend(files.map(|file| format!("{around}::{file}")));
        }
        names
    }

    /// The directories where a module may be.
    pub fn modules<'a>(&'a self, module: &'a str) -> impl Iterator<Item = String> + 'a {
        let roots = self.layout.modulepath.iter();
        roots.map(move |root| [root.trim_end_matches('/'), "/", module].concat())
    }

    /// Where a module is: the first directory of its name that has anything in it.
    pub fn module_directory(&self, module: &str) -> Option<&str> {
        let known = self.directories.get(module).unwrap_or_else(|| {
            let found = self
                .modules(module)
                .find(|directory| !self.list(directory).is_empty());
            self.directories.insert(module.to_owned(), Box::new(found))
        });
        known.as_deref()
    }

    /// A path as manifests are told it: from the root, as the real compiler has it.
    pub(crate) fn whole_path(&self, path: &str) -> String {
        let directory = match path.starts_with('/') {
            true => None,
            false => self.world.directory(),
        };
        let Some(mut whole) = directory else {
            return path.to_owned();
        };
        whole.truncate(whole.trim_end_matches('/').len());
        for part in path.split('/') {
            match part {
                "" | "." => {}
                ".." => whole.truncate(whole.rfind('/').unwrap_or(0)),
                part => whole.extend(["/", part]),
            }
        }
        whole
    }

    /// A path from the root as it was given: what is in a directory of modules is shown with the name of that directory.
    pub(crate) fn as_given<'p>(&self, path: &'p str) -> Cow<'p, str> {
        let relative = self.layout.modulepath.iter();
        let mut relative = relative.filter(|root| !root.starts_with('/'));
        let given = relative.find_map(|root| {
            let within = path.strip_prefix(self.whole_path(root).as_str())?;
            let within = within.strip_prefix('/')?;
            Some(format!("{}/{within}", root.trim_end_matches('/')))
        });
        given.map_or(Cow::Borrowed(path), Cow::Owned)
    }

    /// The names in a directory, looked up once for all nodes.
    pub(crate) fn list(&self, directory: &str) -> &[String] {
        match self.lists.get(directory) {
            Some(known) => known,
            None => {
                let names = self.world.list(directory);
                self.lists.insert(directory.to_owned(), names)
            }
        }
    }

    /// How much room a catalog will take, by the last one.
    pub(crate) fn room(&self) -> Room {
        *self.room.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes note of how much room a catalog took.
    pub(crate) fn took(&self, room: Room) {
        *self.room.lock().unwrap_or_else(PoisonError::into_inner) = room;
    }

    /// A template, parsed.
    pub fn template(&self, path: &str) -> Option<&Loaded> {
        self.find(path, None, Parse::Template)
    }

    /// Text that stands in no file, parsed as a template.
    pub fn inline_template(&self, text: &str) -> Result<&Loaded, Box<Diagnostic>> {
        let name = format!("inline template:{text}");
        if let Some(Some(loaded)) = self.programs.get(&name) {
            return Ok(loaded);
        }
        let added = self.unit().sources.add("inline template", text);
        let file = added.map_err(|error| Box::new(self.unreadable(&name, error)))?;
        Ok(self.parse(name, file, None, Parse::Template))
    }

    /// A type that is written in data. None if it is not written well.
    pub(crate) fn type_in_data(&self, text: &str) -> Option<&Expression> {
        let name = format!("type in data:{text}");
        let loaded = match self.programs.get(&name) {
            Some(known) => known.as_ref()?,
            None => {
                let file = self.unit().sources.add("type in data", text).ok()?;
                self.parse(name, file, None, Parse::Manifest)
            }
        };
        match loaded.program.body.statements.as_slice() {
            [only] if loaded.mistakes.is_empty() => Some(only),
            _ => None,
        }
    }

    /// A file, if it is there.
    fn find(&self, path: &str, home: Option<Home>, parse: Parse) -> Option<&Loaded> {
        if let Some(known) = self.programs.get(path) {
            return known.as_ref();
        }
        let read = self.unit().sources.load(self.world, path);
        match read {
            Ok(file) => Some(self.parse(path.to_owned(), file, home, parse)),
            Err(ReadError::Missing | ReadError::Directory) => self
                .programs
                .insert(path.to_owned(), Box::new(None))
                .as_ref(),
            Err(error) => {
                let trouble = self.unreadable(path, error);
                let file = self.unit().sources.add(path, "").ok()?;
                let mut loaded = self.parsed(file, home, parse);
                loaded.mistakes.push(trouble);
                let kept = self
                    .programs
                    .insert(path.to_owned(), Box::new(Some(loaded)));
                kept.as_ref()
            }
        }
    }

    fn load(
        &self,
        path: &str,
        home: Option<Home>,
        parse: Parse,
    ) -> Result<&Loaded, Box<Diagnostic>> {
        if let Some(Some(known)) = self.programs.get(path) {
            return Ok(known);
        }
        let read = self.unit().sources.load(self.world, path);
        let file = read.map_err(|error| Box::new(self.unreadable(path, error)))?;
        Ok(self.parse(path.to_owned(), file, home, parse))
    }

    fn unreadable(&self, path: &str, error: ReadError) -> Diagnostic {
        self.unit().unreadable(path, error)
    }

    fn parse(&self, name: String, file: FileId, home: Option<Home>, parse: Parse) -> &Loaded {
        let loaded = self.parsed(file, home, parse);
        let kept = self.programs.insert(name, Box::new(Some(loaded)));
        kept.as_ref().expect("it was put there")
    }

    fn parsed(&self, file: FileId, home: Option<Home>, parse: Parse) -> Loaded {
        let mut unit = self.unit();
        let before = unit.diagnostics.len();
        let program = match parse {
            Parse::Manifest => parser::parse(&mut unit, file),
            Parse::Template => parser::parse_template(&mut unit, file),
        };
        let mut mistakes = unit.diagnostics.split_off(before);
        if let Some(home) = &home {
            mistakes.extend(home.mistakes(&program));
        }
        Loaded {
            program,
            module: home.map(|home| home.module),
            mistakes,
        }
    }

    /// The file of a module that defines a function in Ruby, of the new kind or the old. It is found, never run.
    pub(crate) fn ruby_function(&self, name: &str) -> Option<String> {
        let file = name.replace("::", "/");
        self.layout.modulepath.iter().find_map(|root| {
            let root = root.trim_end_matches('/');
            self.world.list(root).iter().find_map(|module| {
                let module = module.strip_suffix('/')?;
                let kinds = ["functions", "parser/functions"];
                let mut paths =
                    kinds.map(|kind| format!("{root}/{module}/lib/puppet/{kind}/{file}.rb"));
                let found = paths
                    .iter_mut()
                    .find(|path| self.world.read(path, &mut String::new()).is_ok());
                found.map(std::mem::take)
            })
        })
    }

    /// A built-in type of resources: of the distribution, or of a module.
    pub fn resource_type(&self, name: &str) -> Option<&ResourceType> {
        if name.contains(':') {
            return None;
        }
        if let Some(known) = resource_types::find(name) {
            return Some(known);
        }
        if let Some(known) = self.resource_types.get(name) {
            return known.as_ref();
        }
        let kind = self.layout.modulepath.iter().find_map(|root| {
            let root = root.trim_end_matches('/');
            self.world.list(root).iter().find_map(|module| {
                let module = module.strip_suffix('/')?;
                let path = format!("{root}/{module}/lib/puppet/type/{name}.rb");
                let mut text = String::new();
                self.world.read(&path, &mut text).ok()?;
                Some(ResourceType::read(&text))
            })
        });
        self.resource_types
            .insert(name.to_owned(), Box::new(kind))
            .as_ref()
    }

    /// A data file, if it is there.
    pub(crate) fn data(
        &self,
        path: &str,
        read: impl FnOnce(&mut Unit, FileId) -> Data,
    ) -> Option<&Data> {
        if let Some(known) = self.data.get(path) {
            return known.as_ref();
        }
        let mut unit = self.unit();
        // Somebody else may have read it while we waited.
        if let Some(known) = self.data.get(path) {
            return known.as_ref();
        }
        let data = match unit.sources.load(self.world, path) {
            Ok(file) => Some(read(&mut unit, file)),
            Err(ReadError::Missing) => None,
            Err(error) => {
                let trouble = unit.unreadable(path, error);
                Some(Data::unreadable(Span::at(0), trouble))
            }
        };
        self.data.insert(path.to_owned(), Box::new(data)).as_ref()
    }

    /// A hiera.yaml, if it is there.
    pub(crate) fn configuration(&self, path: &str, layer: Layer) -> Option<&Configuration> {
        if let Some(known) = self.configurations.get(path) {
            return known.as_ref();
        }
        let mut unit = self.unit();
        if let Some(known) = self.configurations.get(path) {
            return known.as_ref();
        }
        let configuration = match unit.sources.load(self.world, path) {
            Ok(file) => Some(Configuration::read(&unit, file, layer)),
            Err(ReadError::Missing) => None,
            Err(error) => Some(Configuration::wrong(unit.unreadable(path, error))),
        };
        let kept = self
            .configurations
            .insert(path.to_owned(), Box::new(configuration));
        kept.as_ref()
    }

    /// Where the text of a file stands, if there is such a file.
    pub(crate) fn text(&self, path: &str) -> Result<Option<Span>, Box<Diagnostic>> {
        if let Some(known) = self.texts.get(path) {
            return Ok(*known);
        }
        let mut unit = self.unit();
        if let Some(known) = self.texts.get(path) {
            return Ok(*known);
        }
        let span = match unit.sources.load(self.world, path) {
            Ok(file) => Some(unit.sources.span(file)),
            Err(ReadError::Missing) => None,
            Err(error) => return Err(Box::new(unit.unreadable(path, error))),
        };
        self.texts.insert(path.to_owned(), Box::new(span));
        Ok(span)
    }

    /// The text at a place.
    pub fn slice(&self, span: Span) -> String {
        self.unit().sources.slice(span).to_owned()
    }
}

#[derive(Clone, Copy)]
enum Parse {
    Manifest,
    Template,
}
