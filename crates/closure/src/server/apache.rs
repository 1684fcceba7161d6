//! The configuration of Apache.
//!
//! What is said about single URLs stands in one map for each host, which Apache reads once and looks up by hashing: the
//! ten thousandth type costs other URLs nothing. A line of it is a URL, and `f` with a blob and its type, `t` with a type,
//! or `r` with a status, who may be led so, and where. If few patterns tell the URLs that may be in the map, all others
//! are not even looked up.
//!
//! Redirects are answered before Apache asks who may read, so a redirect below a directory that not everybody may read
//! asks by itself.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use hence_ledger::Hash;

use crate::address::{Endpoint, Url};
use crate::certificate;
use crate::media::{Media, TABLE};
use crate::server::{Configuration, GENERATION, Setting};
use crate::site::{Host, Mount, Site};
use crate::words::Who;

/// The name of the host that answers for all names that nobody asserted. No host can have it.
pub const UNKNOWN: &str = "_unknown_.invalid";

/// What Apache must have besides the modules of the directives in its configuration: these stand in arguments.
pub fn needs(site: &Site) -> Vec<&'static str> {
    let mut needs = vec!["mpm_prefork", "authz_core", "autoindex"];
    let whos = || site.hosts.values().flat_map(|host| host.accesses.values());
    if whos().any(|who| matches!(who, Who::Networks(_))) {
        needs.push("authz_host");
    }
    if whos().any(|who| matches!(who, Who::Users(_))) {
        needs.extend(["authn_file", "authz_user"]);
    }
    if site.has_proxies() {
        needs.push("proxy_http");
    }
    if !site.compressed.is_empty() {
        needs.push("deflate");
    }
    needs
}

/// The names that Apache says it serves, by endpoint, from what `-D DUMP_VHOSTS` prints.
pub fn names_served(said: &str) -> BTreeMap<String, Vec<String>> {
    let mut served: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut endpoint = String::new();
    for line in said.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            [at, "is", "a", "NameVirtualHost"] => endpoint = (*at).to_owned(),
            ["port", _, "namevhost", name, ..] | ["alias", name] => {
                served
                    .entry(endpoint.clone())
                    .or_default()
                    .push((*name).to_owned());
            }
            // An endpoint with one host has a line of its own.
            [at, name, place] if place.starts_with('(') && at.contains(':') => {
                served
                    .entry((*at).to_owned())
                    .or_default()
                    .push((*name).to_owned());
            }
            _ => {}
        }
    }
    for names in served.values_mut() {
        names.sort();
    }
    served
}

/// The configuration for a site.
pub fn configure(site: &Site, setting: &Setting) -> Configuration {
    let mut configuration = Configuration::default();
    let root = setting.root.display();
    let types = configuration.part(&setting.root, types());
    let mut main = String::new();
    let _ = write!(
        main,
        r#"Define dollar $
ServerRoot "{root}"
ServerName closure.invalid
PidFile "{root}/run/server.pid"
DefaultRuntimeDir "{root}/run"
Mutex "file:{root}/run" default
ErrorLog "{root}/log/error.log"
LogFormat "%h %l %u %t \"%r\" %>s %b" common
CustomLog "{root}/log/access.log" common
TypesConfig /dev/null
Include "{types}"
DocumentRoot "{root}/file"
AccessFileName ".none"
DirectoryIndex disabled
IndexIgnore {}
IndexOptions ShowForbidden Charset=UTF-8
EnableMMAP Off
FileETag INode MTime Size
TraceEnable off
ServerTokens Prod
ServerSignature Off
UseCanonicalName Off
KeepAliveTimeout 2
Header always set {GENERATION} "{}"
<Directory "/">
  Options FollowSymLinks
  AllowOverride None
  AllowMethods GET HEAD
  Require all denied
</Directory>
"#,
        unlisted(),
        setting.generation
    );
    for name in ["file", "none", "tree"] {
        let _ = writeln!(
            main,
            "<Directory \"{root}/{name}\">\n  Require all granted\n</Directory>"
        );
    }
    for endpoint in &site.endpoints {
        let _ = writeln!(main, "Listen {endpoint}");
    }
    if site.has_proxies() {
        let forwarded = "RequestHeader set X-Forwarded-Proto expr=%{REQUEST_SCHEME}";
        let _ = writeln!(main, "{forwarded}");
    }
    if !site.compressed.is_empty() {
        let types: Vec<&str> = site.compressed.iter().map(String::as_str).collect();
        let _ = writeln!(main, "AddOutputFilterByType DEFLATE {}", types.join(" "));
    }
    if !site.secured.is_empty() {
        let _ = writeln!(
            main,
            "SSLProtocol -all +TLSv1.2 +TLSv1.3\nSSLSessionCache \"shmcb:{root}/run/sessions(512000)\""
        );
    }
    // Of itself Apache answers for a host only to whom its own certificate was shown, and says 421 to others.
    let speaks = |endpoint: &Endpoint, shown: Option<Hash>| match site.secured.contains(endpoint) {
        true => {
            let file = certificate::file(&setting.root, shown);
            let file = file.display();
            format!("  SSLEngine on\n  SSLCertificateFile \"{file}\"\n")
        }
        false => String::new(),
    };
    // The first one answers for all names that nobody asserted.
    for endpoint in &site.endpoints {
        let _ = writeln!(
            main,
            "<VirtualHost {endpoint}>\n  ServerName {UNKNOWN}\n{}  RedirectMatch 404 ^\n</VirtualHost>",
            speaks(endpoint, site.shown(*endpoint, None))
        );
    }
    let served = site.served();
    for (name, host) in &site.hosts {
        let text = describe(host, setting, &mut configuration);
        let part = configuration.part(&setting.root, text);
        for (endpoint, own) in served.get(name).into_iter().flatten() {
            let Some((first, others)) = own.split_first() else {
                continue;
            };
            let _ = writeln!(main, "<VirtualHost {endpoint}>\n  ServerName {first}");
            for other in others {
                let _ = writeln!(main, "  ServerAlias {other}");
            }
            main.push_str(&speaks(endpoint, host.certs.get(endpoint).copied()));
            let _ = writeln!(main, "  Include \"{part}\"\n</VirtualHost>");
        }
    }
    configuration.main = main;
    configuration
}

/// Patterns for the names that no listing shows, in which only `*` and `?` stand for something else. Of names with one character
/// behind the dot those are told one by one that somebody could have, as `.?` would be the way up, too.
fn unlisted() -> String {
    let short = ('0'..='9').chain('A'..='Z').chain('a'..='z');
    let short: String = short.map(|character| format!(" .{character}")).collect();
    format!(".??*{short}")
}

/// The types of files, by what stands behind the last dot of their names. Left to itself, Apache also looks behind the
/// others: `page.html.bak` would be a page.
fn types() -> String {
    let mut text = String::new();
    let mut known: Vec<&str> = Vec::new();
    for (media, names) in TABLE {
        let _ = writeln!(text, "AddType {media} {}", names.join(" "));
        known.extend(*names);
    }
    let _ = writeln!(
        text,
        "<FilesMatch \"(?i)\\.[^.]+\\.(?!({})$)[^.]*$\">\n  RemoveType {}\n</FilesMatch>",
        known.join("|"),
        known.join(" ")
    );
    text
}

/// What a host serves, wherever it does.
fn describe(host: &Host, setting: &Setting, configuration: &mut Configuration) -> String {
    let root = setting.root.display();
    // Said of the whole server, it would count for no host of it.
    let mut text = String::from("AllowEncodedSlashes On\n");
    let mut rules = Rules::default();
    let map = rules.map(host);
    // A URL that would have to be escaped is in no map where no URL is.
    let is_plain = map.keys().all(|url| escaped(url.as_str()) == url.as_str());
    if !map.is_empty() || !host.proxies.is_empty() {
        text.push_str("RewriteEngine On\n");
    }
    if !is_plain || !host.proxies.is_empty() {
        text.push_str("RewriteMap escape int:escape\n");
    }
    if !map.is_empty() {
        let lines = map.iter();
        let lines = lines.map(|(url, what)| format!("{} {what}\n", escaped(url.as_str())));
        let file = configuration.part(&setting.root, lines.collect());
        let _ = writeln!(text, "RewriteMap said \"txt:{file}\"");
        let said = match is_plain {
            true => "${said:%{REQUEST_URI}}",
            false => "${said:${escape:%{REQUEST_URI}}}",
        };
        if host.proxies.is_empty() {
            text.push_str(&shortcuts(&map, said, setting));
        }
        let _ = write!(
            text,
            r#"RewriteCond {said} ^f(.{{64}}),(.+)
RewriteRule ^ {root}/file/%1 [T=%2,L]
RewriteRule ^ - [E=said:{said}]
RewriteCond %{{ENV:said}} ^f(.{{64}}),$
RewriteRule ^ {root}/file/%1 [L]
RewriteCond %{{ENV:said}} ^t(.+)$
RewriteRule ^ - [T=%1]
"#
        );
    }
    for ((status, near, has_query), number) in &rules.redirects {
        // A question mark that comes out of a map is not believed.
        let (pattern, target) = match has_query {
            true => ("([^?]+)[?](.*)", "%1?%2"),
            false => ("(.+)", "%1"),
        };
        // What `%1` means is what was matched last, so who asks is asked first.
        if !near.is_empty() {
            let _ = writeln!(text, "RewriteCond expr \"{near}\"");
        }
        let _ = writeln!(text, "RewriteCond %{{ENV:said}} ^r{number},{pattern}$");
        let _ = writeln!(
            text,
            "RewriteRule ^ {target} [R={status},NE,{}L]",
            if *has_query { "" } else { "QSD," }
        );
    }
    mounts(host, setting, &mut text);
    for directory in &host.listings {
        let _ = writeln!(
            text,
            "<LocationMatch \"^{}$\">\n  Options +Indexes\n</LocationMatch>",
            pattern(directory)
        );
    }
    // Of two that speak about a URL the later one counts, so the longer comes later.
    for (directory, who) in &host.accesses {
        let _ = writeln!(text, "<LocationMatch \"^{}\">", pattern(directory));
        text.push_str(&require(host, who, setting, configuration));
        text.push_str("</LocationMatch>\n");
    }
    for (url, status, target) in rules.known {
        // Inside of a section Apache rewrites late, when it knows who asks.
        let _ = writeln!(
            text,
            "<LocationMatch \"^{}$\">\n  RewriteEngine On\n  RewriteRule ^ \"{}\" [R={status},NE,QSD,L]\n\
             </LocationMatch>",
            pattern(&url),
            target.replace('%', "\\%")
        );
    }
    text
}

/// What answers below directories: the longest first, as the first one counts.
fn mounts(host: &Host, setting: &Setting, text: &mut String) {
    let root = setting.root.display();
    let directories = host.trees.keys().chain(host.proxies.keys());
    let mut directories: Vec<&Url> = directories.collect();
    directories.sort_by_key(|directory| std::cmp::Reverse(directory.segments().count()));
    if !host.proxies.is_empty() {
        for directory in &directories {
            let pattern = pattern(directory);
            let Some(Mount::Proxy(upstream)) = host.mount_at(directory) else {
                let _ = writeln!(text, "RewriteRule \"^{pattern}\" - [L]");
                continue;
            };
            let (endpoint, path) = (upstream.endpoint, &upstream.path);
            let directory = quoted(directory.as_str());
            // Left to itself, Apache takes a question mark that was escaped for one that was not, and refuses it.
            let _ = writeln!(
                text,
                "RewriteRule \"^{pattern}(.*)$\" \"http://{endpoint}{path}${{escape:$1}}\" [P,NE,L]\n\
                 ProxyPassReverse \"{directory}\" \"http://{endpoint}{path}\"\n\
                 ProxyPassReverseCookiePath \"{path}\" \"{directory}\""
            );
        }
    }
    // No file has such a name. Apache would refuse it instead of looking for it.
    let _ = writeln!(
        text,
        "AliasMatch \"/[^/]{{256}}|^.{{3000}}\" \"{root}/none/none\""
    );
    for directory in directories {
        if let Some(Mount::Tree(tree)) = host.mount_at(directory) {
            let directory = quoted(directory.as_str());
            let _ = writeln!(text, "Alias \"{directory}\" \"{root}/tree/{tree}/\"");
        }
    }
    if host.mount_at(&Url::root()).is_none() {
        // Nothing is there, whatever the name.
        let _ = writeln!(text, "Alias \"/\" \"{root}/none/none/\"");
    }
}

/// Who may read.
fn require(host: &Host, who: &Who, setting: &Setting, configuration: &mut Configuration) -> String {
    match who {
        Who::All => "  Require all granted\n".to_owned(),
        Who::None => "  Require all denied\n".to_owned(),
        Who::Networks(networks) => {
            let networks: Vec<String> =
                networks.iter().map(|network| network.to_string()).collect();
            format!("  Require ip {}\n", networks.join(" "))
        }
        Who::Users(users) => {
            let sums = users.iter().filter_map(|user| {
                let sum = host.users.get(user)?;
                Some(format!("{user}:{sum}\n"))
            });
            let file = configuration.part(&setting.root, sums.collect());
            format!(
                "  AuthType Basic\n  AuthName \"restricted\"\n  AuthBasicProvider file\n  AuthUserFile \"{file}\"\n  \
                 Require user {}\n",
                users.join(" ")
            )
        }
    }
}

/// What is said about single URLs, as far as a map can say it.
#[derive(Default)]
struct Rules {
    /// Numbers of statuses and who may be led with them: an expression, or nothing for everybody.
    redirects: BTreeMap<(u16, String, bool), usize>,
    /// Where those are led who must first say who they are.
    known: Vec<(Url, u16, String)>,
}

impl Rules {
    fn map(&mut self, host: &Host) -> BTreeMap<Url, String> {
        let ways = host.ways();
        let mut said: BTreeMap<Url, String> = BTreeMap::new();
        for (url, media) in &host.types {
            said.insert(url.clone(), format!("t{media}"));
        }
        for (url, blob) in &host.files {
            let media = host.types.get(url).cloned();
            let media = media.or_else(|| Media::by_name(url.as_str()));
            let media = media.as_ref().map_or("", Media::as_str);
            said.insert(url.clone(), format!("f{blob},{media}"));
        }
        for (url, (blob, media)) in &host.indexes {
            said.insert(url.clone(), format!("f{blob},{media}"));
        }
        for (url, status, target) in &ways {
            if let Some(near) = self.near(host, url, *status, target) {
                let number = self.redirects.len();
                let kind = (*status, near, target.contains('?'));
                let number = *self.redirects.entry(kind).or_insert(number);
                said.insert(url.clone(), format!("r{number},{target}"));
            } else {
                // Nobody may know, or not yet.
                said.remove(url);
            }
        }
        said
    }

    /// Who may be led by the map.
    fn near(&mut self, host: &Host, url: &Url, status: u16, target: &str) -> Option<String> {
        match host.access(url).map(|(_, who)| who) {
            None | Some(Who::All) => Some(String::new()),
            Some(Who::None) => None,
            Some(Who::Networks(networks)) => {
                let near: Vec<String> = networks
                    .iter()
                    .map(|network| format!("-R '{network}'"))
                    .collect();
                Some(near.join(" || "))
            }
            Some(Who::Users(_)) => {
                self.known.push((url.clone(), status, target.to_owned()));
                None
            }
        }
    }
}

/// Most URLs are in no map, and are soon done with: by patterns, if few of these are enough, or by a look.
fn shortcuts(map: &BTreeMap<Url, String>, said: &str, setting: &Setting) -> String {
    let root = setting.root.display();
    let mut text = String::new();
    let patterns = patterns(map);
    let is_exact = patterns.len() == map.len();
    if patterns.len() <= MOST {
        let patterns = patterns.join("|");
        let _ = writeln!(text, "RewriteRule \"!^(?:{patterns})$\" - [L]");
    }
    if is_exact && patterns.len() <= MOST {
        let files = map.iter().filter_map(|(url, what)| {
            let (blob, media) = what.strip_prefix('f')?.split_once(',')?;
            (!media.is_empty()).then_some((url, blob, media))
        });
        for (url, blob, media) in files.take(FEW) {
            let pattern = pattern(url);
            let _ = writeln!(
                text,
                "RewriteRule \"^{pattern}$\" {root}/file/{blob} [T={media},L]"
            );
        }
        return text;
    }
    let _ = write!(
        text,
        r#"RewriteCond {said} ^f(.{{64}}),(.+)
RewriteRule /$ {root}/file/%1 [T=%2,L]
RewriteCond {said} =""
RewriteRule ^ - [L]
"#
    );
    text
}

/// More rules for single URLs cost more than to look into a map.
const FEW: usize = 6;
/// More patterns in one cost more than to look into a map.
const MOST: usize = 16;

/// Patterns of the URLs that may be in a map: the URLs themselves; or, if these are many, all of a directory in which
/// several are, and with their extensions if these are few.
fn patterns(map: &BTreeMap<Url, String>) -> Vec<String> {
    if map.len() <= MOST {
        return map.keys().map(pattern).collect();
    }
    let mut directories: BTreeMap<Url, Vec<&Url>> = BTreeMap::new();
    for url in map.keys() {
        let directory = url.directories().next().unwrap_or_else(Url::root);
        directories.entry(directory).or_default().push(url);
    }
    let mut patterns = Vec::new();
    for (directory, urls) in directories {
        match urls.len() {
            1 => patterns.extend(urls.into_iter().map(pattern)),
            _ => {
                let names = match extensions(&directory, &urls) {
                    Some(extensions) => format!("[^/]*\\.(?:{extensions})"),
                    None => "[^/]*".to_owned(),
                };
                // What is said about the directory itself has no name.
                let optional = if urls.contains(&&directory) { "?" } else { "" };
                patterns.push(format!("{}(?:{names}){optional}", pattern(&directory)));
            }
        }
    }
    patterns
}

/// More extensions are no shorter than all names.
const MOST_EXTENSIONS: usize = 4;

/// The extensions of URLs in a directory, if each has one and they are few.
fn extensions(directory: &Url, urls: &[&Url]) -> Option<String> {
    let files = urls.iter().filter(|url| **url != directory);
    let extension = |url: &&Url| {
        let (_, extension) = url.as_str().rsplit_once('.')?;
        (!extension.contains('/')).then(|| literal(extension))
    };
    let extensions: Option<BTreeSet<String>> = files.map(extension).collect();
    let extensions = extensions.filter(|all| (1..=MOST_EXTENSIONS).contains(&all.len()))?;
    Some(extensions.into_iter().collect::<Vec<_>>().join("|"))
}

/// A path as Apache's `int:escape` writes it.
fn escaped(path: &str) -> String {
    let mut escaped = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte.is_ascii_alphanumeric() || b"$-_.+!*'(),:;@&=/~".contains(&byte) {
            true => escaped.push(byte.into()),
            false => escaped.push_str(&format!("%{byte:02x}")),
        }
    }
    escaped
}

/// A path as a regular expression between quotes.
fn pattern(url: &Url) -> String {
    literal(url.as_str())
}

/// A text as a regular expression between quotes.
fn literal(text: &str) -> String {
    let mut pattern = String::new();
    for character in text.chars() {
        match character {
            // Quotes and backslashes would have to be escaped twice.
            '"' => pattern.push_str("\\x22"),
            '\\' => pattern.push_str("\\x5c"),
            '$' => pattern.push_str("\\x24"),
            ' ' => pattern.push_str("\\x20"),
            character if ".+*?()[]{}|^".contains(character) => {
                pattern.push('\\');
                pattern.push(character);
            }
            character => pattern.push(character),
        }
    }
    pattern
}

/// A text between quotes in which nothing stands for anything else. Apache puts variables in before it looks at quotes.
fn quoted(text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('"', "\\\"");
    text.replace('$', "${dollar}")
}
