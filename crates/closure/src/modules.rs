//! Which modules Apache must load, and in which order: what its own data says, and no list of ours.
//!
//! Each module has a file that loads it and names the modules that it depends on and those that it cannot stand beside.
//! Apache itself says which module has which directive, and the modules themselves whose symbols they want. Needed are the
//! modules of the directives in a configuration and those that stand in its arguments, with all that they depend on; each
//! comes behind those.
//!
//! ```text
//! hard    it wants a symbol of the other: without it, or before it, it cannot be loaded     also if nobody says so
//! soft    it is said to depend on the other: it can be loaded alone, and does not do its work
//! ```
//!
//! That the server tests every configuration is the judge of both.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use hence_model::diagnostic::{Code, Diagnostic};

use crate::host::Host;
use crate::symbols::Symbols;

/// Modules cannot be loaded as a configuration needs them.
pub const MODULES: Code = Code::new("http.modules");

/// The modules of an installed Apache.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Modules {
    modules: BTreeMap<String, Module>,
    /// The modules that have a directive, by its name in small letters.
    directives: BTreeMap<String, BTreeSet<String>>,
}

/// A module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Module {
    /// The line that loads it.
    pub load: String,
    /// What it is said to depend on.
    pub depends: BTreeSet<String>,
    /// What must be loaded before it, as it wants symbols of those.
    pub wants: BTreeSet<String>,
    /// What cannot be loaded beside it.
    pub conflicts: BTreeSet<String>,
}

/// Where Debian says what modules there are.
pub const AVAILABLE: &str = "/etc/apache2/mods-available";

impl Modules {
    /// The modules that are described in a directory, and the directives that the program says they have.
    pub fn learn(host: &dyn Host, available: &Path, program: &str) -> Result<Self, String> {
        let mut modules = Self::default();
        for entry in host.list(available).map_err(|error| error.to_string())? {
            if let Some(name) = entry.name.strip_suffix(".load") {
                let text = host.read(&available.join(&entry.name));
                let text = text.map_err(|error| error.to_string())?.unwrap_or_default();
                modules.add(name, &String::from_utf8_lossy(&text));
            }
        }
        if modules.modules.is_empty() {
            return Err(format!("{} describes no modules", available.display()));
        }
        modules.look(host);
        // It says so without a file of its own, and needs no room for one.
        let mut command = [program, "-f", "/dev/null", "-L"]
            .map(str::to_owned)
            .to_vec();
        let said = ["ErrorLog /dev/null", "ServerName closure.invalid"].map(str::to_owned);
        let all = modules.all().map_err(|trouble| trouble.message)?;
        for line in said.into_iter().chain(all) {
            command.extend(["-C".to_owned(), line]);
        }
        let ran = host.run(&command, Duration::from_secs(60));
        let said = ran.map_err(|error| error.to_string())?.well()?;
        modules.hear(&said);
        Ok(modules)
    }

    /// Finds out whose symbols each module wants. One that cannot be read wants nobody's, as far as is known here.
    fn look(&mut self, host: &dyn Host) {
        let mut symbols: BTreeMap<String, Symbols> = BTreeMap::new();
        for (name, module) in &self.modules {
            let file = module.load.split_whitespace().nth(2).unwrap_or_default();
            let file = host.read(Path::new(file)).ok().flatten();
            if let Some(read) = file.and_then(|bytes| Symbols::read(&bytes)) {
                symbols.insert(name.clone(), read);
            }
        }
        let mut offers: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (name, symbols) in &symbols {
            for symbol in &symbols.offers {
                offers.entry(symbol).or_default().push(name);
            }
        }
        for (name, symbols) in &symbols {
            let offered = symbols.wants.iter().filter_map(|symbol| {
                // What several offer says nothing about which of them is meant.
                match offers.get(symbol.as_str())?.as_slice() {
                    [only] if only != name => Some((*only).to_owned()),
                    _ => None,
                }
            });
            let offered = offered.collect();
            if let Some(module) = self.modules.get_mut(name) {
                module.wants = offered;
            }
        }
    }

    /// A module, by its name.
    pub fn module(&self, name: &str) -> Option<&Module> {
        self.modules.get(name)
    }

    /// The names of all modules.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.modules.keys().map(String::as_str)
    }

    /// Takes in the description of a module.
    pub fn add(&mut self, name: &str, text: &str) {
        let mut module = Module::default();
        for line in text.lines().map(str::trim) {
            let words = |line: &str| {
                line.split_whitespace()
                    .map(str::to_owned)
                    .collect::<BTreeSet<_>>()
            };
            if let Some(depends) = line.strip_prefix("# Depends:") {
                module.depends.extend(words(depends));
            } else if let Some(wants) = line.strip_prefix("# Wants:") {
                module.wants.extend(words(wants));
            } else if let Some(conflicts) = line.strip_prefix("# Conflicts:") {
                module.conflicts.extend(words(conflicts));
            } else if line.starts_with("LoadModule ") {
                module.load = line.to_owned();
            }
        }
        if !module.load.is_empty() {
            self.modules.insert(name.to_owned(), module);
        }
    }

    /// Takes in what the program says about directives: `NAME (mod_X.c)`, and what they are for.
    pub fn hear(&mut self, said: &str) {
        for line in said
            .lines()
            .filter(|line| !line.starts_with(char::is_whitespace))
        {
            let Some((directive, source)) = line.split_once(" (") else {
                continue;
            };
            let source = source.trim_end_matches(')').trim_end_matches(".c");
            let plain = source.strip_prefix("mod_").unwrap_or(source);
            let names = [plain.to_owned(), format!("mpm_{plain}")];
            // What is built in needs no loading.
            let Some(name) = names
                .into_iter()
                .find(|name| self.modules.contains_key(name))
            else {
                continue;
            };
            let directive = directive.trim_start_matches('<').to_lowercase();
            let by = self.directives.entry(directive).or_default();
            // Only one of those could speak that cannot stand together: the others have it, too, or the test will say.
            by.extend(self.modules[&name].conflicts.iter().cloned());
            by.insert(name);
        }
    }

    /// The lines that load what a configuration needs, in order.
    pub fn choose<'t>(
        &self,
        texts: impl IntoIterator<Item = &'t str>,
        needs: &[&str],
    ) -> Result<Vec<String>, Box<Diagnostic>> {
        let mut wanted: BTreeMap<String, String> = BTreeMap::new();
        for need in needs {
            wanted.insert((*need).to_owned(), "the configuration".to_owned());
        }
        let mut either = Vec::new();
        for directive in texts.into_iter().flat_map(directives) {
            let Some(modules) = self.directives.get(&directive) else {
                continue;
            };
            match modules.first() {
                Some(only) if modules.len() == 1 => {
                    wanted
                        .entry(only.clone())
                        .or_insert_with(|| format!("the directive `{directive}`"));
                }
                _ => either.push((directive, modules)),
            }
        }
        for (directive, modules) in either {
            if !modules.iter().any(|module| wanted.contains_key(module))
                && let Some(last) = modules.last()
            {
                wanted.insert(last.clone(), format!("the directive `{directive}`"));
            }
        }
        self.order(&wanted)
    }

    /// Modules with all that they depend on, each behind those. Each is wanted by something.
    fn order(&self, wanted: &BTreeMap<String, String>) -> Result<Vec<String>, Box<Diagnostic>> {
        let mut chosen: Vec<&str> = Vec::new();
        let mut chains: BTreeMap<&str, String> = BTreeMap::new();
        for (name, by) in wanted {
            self.visit(
                name,
                &format!("{by} needs `{name}`"),
                &mut chosen,
                &mut chains,
            )?;
        }
        for name in &chosen {
            let conflicts = &self.modules[*name].conflicts;
            if let Some(other) = conflicts
                .iter()
                .find(|other| chosen.contains(&other.as_str()))
            {
                let message = format!("`{name}` and `{other}` cannot be loaded together");
                return Err(Diagnostic::error(MODULES, message)
                    .help(chains[name].clone())
                    .help(chains[other.as_str()].clone())
                    .into());
            }
        }
        Ok(chosen
            .iter()
            .map(|name| self.modules[*name].load.clone())
            .collect())
    }

    fn visit<'m>(
        &'m self,
        name: &str,
        chain: &str,
        chosen: &mut Vec<&'m str>,
        chains: &mut BTreeMap<&'m str, String>,
    ) -> Result<(), Box<Diagnostic>> {
        let Some((name, module)) = self.modules.get_key_value(name) else {
            let message = format!("the module `{name}` is not installed");
            return Err(Diagnostic::error(MODULES, message)
                .help(chain.to_owned())
                .into());
        };
        if chains.insert(name, chain.to_owned()).is_some() {
            return Ok(());
        }
        for other in module.wants.union(&module.depends) {
            let need = match module.wants.contains(other) {
                true => "cannot be loaded without",
                false => "needs",
            };
            let chain = format!("{chain}, which {need} `{other}`");
            self.visit(other, &chain, chosen, chains)?;
        }
        chosen.push(name);
        Ok(())
    }

    /// The lines that load everything, with one of those that cannot stand together.
    fn all(&self) -> Result<Vec<String>, Box<Diagnostic>> {
        let mut wanted: BTreeMap<String, String> = BTreeMap::new();
        for (name, module) in &self.modules {
            if !module
                .conflicts
                .iter()
                .any(|other| wanted.contains_key(other))
            {
                wanted.insert(name.clone(), "everything".to_owned());
            }
        }
        self.order(&wanted)
    }

    /// As it is kept.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        let list = |names: &BTreeSet<String>| names.iter().cloned().collect::<Vec<_>>().join(" ");
        for (name, module) in &self.modules {
            text.push_str(&format!(
                "module {name}\n# Depends: {}\n# Wants: {}\n",
                list(&module.depends),
                list(&module.wants)
            ));
            text.push_str(&format!(
                "# Conflicts: {}\n{}\n",
                list(&module.conflicts),
                module.load
            ));
        }
        for (directive, modules) in &self.directives {
            text.push_str(&format!("directive {directive} {}\n", list(modules)));
        }
        text
    }

    /// What was kept so.
    pub fn from_text(text: &str) -> Self {
        let mut modules = Self::default();
        let mut name = "";
        let mut described = String::new();
        for line in text.lines() {
            if let Some(next) = line.strip_prefix("module ") {
                modules.add(name, &std::mem::take(&mut described));
                name = next;
            } else if let Some(rest) = line.strip_prefix("directive ") {
                let mut words = rest.split(' ').map(str::to_owned);
                let directive = words.next().unwrap_or_default();
                modules.directives.insert(directive, words.collect());
            } else {
                described.push_str(line);
                described.push('\n');
            }
        }
        modules.add(name, &described);
        modules
    }
}

/// The directives in a configuration, in small letters.
fn directives(text: &str) -> impl Iterator<Item = String> {
    let words = text
        .lines()
        .filter_map(|line| line.split_whitespace().next());
    let words = words.map(|word| {
        word.trim_start_matches('<')
            .trim_end_matches('>')
            .to_lowercase()
    });
    words.filter(|word| !word.starts_with(['/', '#']))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn modules() -> Modules {
        let mut modules = Modules::default();
        modules.add("alias", "LoadModule alias_module /a.so");
        modules.add(
            "dav",
            "<IfModule !mod_dav.c>\n\tLoadModule dav_module d.so\n</IfModule>",
        );
        modules.add(
            "dav_fs",
            "# Depends: dav\n# Wants: dav\nLoadModule dav_fs_module f.so",
        );
        modules.add(
            "mpm_event",
            "# Conflicts: mpm_prefork\nLoadModule mpm_event_module e.so",
        );
        modules.add(
            "mpm_prefork",
            "# Conflicts: mpm_event\nLoadModule mpm_prefork_module p.so",
        );
        modules.hear("Alias (mod_alias.c)\n\tmaps\nDAVLockDB (mod_dav_fs.c)\n<Location (core.c)\nMaxX (prefork.c)");
        modules
    }

    #[test]
    fn what_is_depended_on_comes_first() {
        let lines = modules().choose(["Alias / /x\nDavLockDB y\n<Location /z>"], &["mpm_prefork"]);
        let names: Vec<String> = lines
            .unwrap()
            .iter()
            .map(|line| line.split(' ').nth(1).unwrap().to_owned())
            .collect();
        assert_eq!(
            names,
            [
                "alias_module",
                "dav_module",
                "dav_fs_module",
                "mpm_prefork_module"
            ]
        );
    }

    #[test]
    fn a_conflict_is_explained_by_the_way_to_it() {
        let trouble = modules()
            .choose([], &["mpm_event", "mpm_prefork"])
            .unwrap_err();
        assert_eq!(
            trouble.message,
            "`mpm_event` and `mpm_prefork` cannot be loaded together"
        );
        assert_eq!(
            trouble.help,
            [
                "the configuration needs `mpm_event`",
                "the configuration needs `mpm_prefork`"
            ]
        );
        let trouble = modules().choose([], &["nothing"]).unwrap_err();
        assert_eq!(trouble.message, "the module `nothing` is not installed");
    }

    #[test]
    fn what_is_kept_is_read_again() {
        assert_eq!(Modules::from_text(&modules().to_text()), modules());
    }
}
