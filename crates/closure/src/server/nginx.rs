//! The configuration of nginx.
//!
//! Every URL about which something is said is a location of its own, found by hashing, and so is every directory from
//! which on something else answers, or others may read. `return` comes before nginx asks for a password, so what leads
//! elsewhere and needs one does it by a detour.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use hence_ledger::Hash;

use crate::address::{Endpoint, Url};
use crate::certificate;
use crate::media::{Media, TABLE};
use crate::server::{Configuration, GENERATION, LEAST, Setting};
use crate::site::{Host, Mount, Site};
use crate::words::Who;

/// The name of the server that answers for all names that nobody asserted.
pub const UNKNOWN: &str = "_";

/// The names that nginx says it serves, by endpoint, from what `-T` prints: the files that it reads, one after another,
/// of which the first names all servers.
pub fn names_served(said: &str) -> BTreeMap<String, Vec<String>> {
    let mut served: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut endpoint = String::new();
    let is_heading = |line: &&str| line.starts_with("# configuration file ");
    let lines = said.lines().skip_while(|line| !is_heading(line)).skip(1);
    for line in lines.take_while(|line| !is_heading(line)) {
        let words: Vec<&str> = line.trim().trim_end_matches(';').split(' ').collect();
        match words.as_slice() {
            ["listen", at, ..] => endpoint = (*at).to_owned(),
            ["server_name", names @ ..] => {
                let here = served.entry(endpoint.clone()).or_default();
                here.extend(names.iter().map(|name| (*name).to_owned()));
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
    let mut main = format!(
        r#"daemon on;
pid {root}/run/server.pid;
error_log {root}/log/error.log warn;
worker_processes 2;
events {{
  worker_connections 1024;
}}
http {{
  access_log {root}/log/access.log combined;
  client_body_temp_path {root}/run/body;
  proxy_temp_path {root}/run/proxy;
  fastcgi_temp_path {root}/run/fastcgi;
  uwsgi_temp_path {root}/run/uwsgi;
  scgi_temp_path {root}/run/scgi;
  client_max_body_size 0;
  proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
  proxy_set_header X-Forwarded-Host $http_host;
  proxy_set_header X-Forwarded-Proto $scheme;
  server_tokens off;
  absolute_redirect off;
  sendfile on;
  tcp_nopush on;
  keepalive_timeout 5;
  server_names_hash_max_size 65536;
  server_names_hash_bucket_size 512;
  types_hash_max_size 4096;
  variables_hash_max_size 8192;
  default_type "";
  index "no	index";
  add_header {GENERATION} {} always;
  geo $dollar {{
    default "$";
  }}
  types {{
"#,
        setting.generation
    );
    for (media, names) in TABLE {
        let _ = writeln!(main, "    {media} {};", names.join(" "));
    }
    main.push_str("  }\n");
    let mut networks = Networks::default();
    let mut servers = String::new();
    let speaks = |endpoint: &Endpoint| match site.secured.contains(endpoint) {
        true => " ssl",
        false => "",
    };
    // A host answers only to whom its own certificate was shown.
    let shows = |endpoint: &Endpoint, cert: Option<Hash>| match site.secured.contains(endpoint) {
        true => {
            let file = certificate::file(&setting.root, cert);
            let file = file.display();
            format!(
                "    ssl_certificate {file};\n    ssl_certificate_key {file};\n    if (${} != {}) {{ return 421; }}\n",
                shown(endpoint),
                certified(cert)
            )
        }
        false => String::new(),
    };
    for endpoint in &site.endpoints {
        let _ = writeln!(
            servers,
            "  server {{\n    listen {endpoint}{} default_server;\n    server_name {UNKNOWN};\n{}    return 404;\n  }}",
            speaks(endpoint),
            shows(endpoint, site.shown(*endpoint, None)),
        );
    }
    let served = site.served();
    for (name, host) in &site.hosts {
        let text = describe(host, setting, &mut networks, &mut configuration);
        let part = configuration.part(&setting.root, text);
        for (endpoint, own) in served.get(name).into_iter().flatten() {
            let own: Vec<&str> = own.iter().map(|name| name.as_str()).collect();
            let cert = host.certs.get(endpoint).copied();
            let _ = writeln!(
                servers,
                "  server {{\n    listen {endpoint}{};\n    server_name {};\n{}    include {part};\n  }}",
                speaks(endpoint),
                own.join(" "),
                shows(endpoint, cert)
            );
        }
    }
    for networks in &networks.0 {
        let _ = writeln!(main, "  geo ${} {{\n    default 0;", variable(networks));
        for network in networks.split(' ') {
            let _ = writeln!(main, "    {network} 1;");
        }
        main.push_str("  }\n");
    }
    main.push_str(&compression(site));
    if !site.secured.is_empty() {
        main.push_str(
            "  ssl_protocols TLSv1.2 TLSv1.3;\n  map_hash_max_size 65536;\n  map_hash_bucket_size 512;\n",
        );
    }
    for endpoint in &site.secured {
        main.push_str(&certificates(site, *endpoint));
    }
    main.push_str(&servers);
    main.push_str("}\n");
    configuration.main = main;
    configuration
}

/// What is sent compressed. nginx looks for a type with all its parameters.
fn compression(site: &Site) -> String {
    if site.compressed.is_empty() {
        return String::new();
    }
    let said = site.hosts.values().flat_map(|host| {
        let indexes = host.indexes.values().map(|(_, media)| media);
        indexes.chain(host.types.values())
    });
    let said = said.filter(|media| site.compresses(Some(media)));
    let mut types: BTreeSet<&str> = said.map(Media::as_str).collect();
    types.extend(site.compressed.iter().map(String::as_str));
    // It is always one of them.
    types.remove("text/html");
    let mut text = format!(
        "  types_hash_bucket_size 512;\n  gzip on;\n  gzip_vary on;\n  gzip_min_length {LEAST};\n"
    );
    if !types.is_empty() {
        let types: Vec<String> = types.iter().map(|media| format!("\"{media}\"")).collect();
        let _ = writeln!(text, "  gzip_types {};", types.join(" "));
    }
    text
}

/// Which certificate is shown to who names which host.
fn certificates(site: &Site, endpoint: Endpoint) -> String {
    let mut text = format!(
        "  map $ssl_server_name ${} {{\n    default {};\n",
        shown(&endpoint),
        certified(site.shown(endpoint, None))
    );
    for (name, host) in site.names(endpoint) {
        let is_special = ["default", "hostnames", "include", "volatile"].contains(&name.as_str());
        let escape = if is_special { "\\" } else { "" };
        let cert = site.hosts[host].certs.get(&endpoint).copied();
        let _ = writeln!(text, "    {escape}{name} {};", certified(cert));
    }
    text.push_str("  }\n");
    text
}

/// A certificate in one word.
fn certified(cert: Option<Hash>) -> String {
    cert.map_or_else(|| "unknown".to_owned(), |cert| cert.to_string())
}

/// The variable that says which certificate was shown at an endpoint.
fn shown(endpoint: &Endpoint) -> String {
    let hash = Hash::of(endpoint.to_string().as_bytes()).to_string();
    format!("shown_{}", &hash[..16])
}

/// The sets of networks that may read something.
#[derive(Default)]
struct Networks(BTreeSet<String>);

/// The variable that says whether a request comes from one of them. It is named after them, so that what a host serves is
/// the same text whatever others do.
fn variable(networks: &str) -> String {
    let hash = Hash::of(networks.as_bytes()).to_string();
    format!("near_{}", &hash[..16])
}

/// What a host serves, wherever it does.
fn describe(
    host: &Host,
    setting: &Setting,
    networks: &mut Networks,
    configuration: &mut Configuration,
) -> String {
    let root = setting.root.display();
    let mut text = String::new();
    let mut access = |url: &Url| {
        let who = host.access(url).map(|(_, who)| who);
        let users = |sums: String| configuration.part(&setting.root, sums);
        gate(host, who, networks, users)
    };
    for (url, blob) in &host.files {
        let media = host.types.get(url).cloned();
        let media = media.or_else(|| Media::by_name(url.as_str()));
        let path = format!("alias {root}/file/{blob};");
        text.push_str(&exactly(
            url,
            &access(url).text,
            &typed(media.as_ref(), &path),
        ));
    }
    for (url, (blob, media)) in &host.indexes {
        let path = format!("root {root}/file; try_files /{blob} =404;");
        text.push_str(&exactly(url, &access(url).text, &typed(Some(media), &path)));
    }
    for (url, media) in &host.types {
        if let Some((directory, Mount::Tree(tree))) = host.mount(url)
            && !host.files.contains_key(url)
            && !host.redirects.contains_key(url)
            && !host.has_directory(&url.as_directory())
        {
            let below = url.below(&directory).expect("a mount is above its URLs");
            let path = format!("alias \"{root}/tree/{tree}/{}\";", path(below));
            text.push_str(&exactly(url, &access(url).text, &typed(Some(media), &path)));
        }
    }
    for url in &host.listings {
        if let Some((directory, Mount::Tree(tree))) = host.mount(url) {
            let below = url.below(&directory).expect("a mount is above its URLs");
            let path = format!(
                "alias \"{root}/tree/{tree}/{}\"; autoindex on; charset utf-8;",
                path(below)
            );
            text.push_str(&exactly(url, &access(url).text, &path));
        }
    }
    for (number, (url, status, target)) in host.ways().iter().enumerate() {
        let gate = access(url);
        let lead = format!("return {status} \"{target}\";");
        match gate.asks {
            false => text.push_str(&exactly(url, &gate.text, &lead)),
            true => {
                let detour = format!("root {root}/none; try_files /none @lead{number};");
                text.push_str(&exactly(url, &gate.text, &detour));
                let _ = writeln!(text, "location @lead{number} {{ {lead} }}");
            }
        }
    }
    let mut directories: BTreeSet<&Url> = host.accesses.keys().collect();
    directories.extend(host.trees.keys().chain(host.proxies.keys()));
    let top = Url::root();
    directories.insert(&top);
    for directory in directories {
        let content = match host.mount(directory) {
            Some((top, Mount::Tree(tree))) => {
                let below = directory.below(&top).expect("a mount is above its URLs");
                format!("alias \"{root}/tree/{tree}/{}\";", path(below))
            }
            Some((top, Mount::Proxy(upstream))) => {
                let below = directory.below(&top).expect("a mount is above its URLs");
                let below = crate::address::encode(below);
                let (endpoint, path) = (upstream.endpoint, &upstream.path);
                let top = quoted(top.as_str());
                format!(
                    "proxy_pass http://{endpoint}{path}{below}; \
                     proxy_redirect \"http://{endpoint}{path}\" \"{top}\"; proxy_cookie_path \"{path}\" \"{top}\";"
                )
            }
            None => format!("root {root}/none/none;"),
        };
        let gate = access(directory).text;
        let _ = writeln!(
            text,
            "location \"{}\" {{ {gate}{content} }}",
            quoted(directory.as_str())
        );
    }
    text
}

/// What stands before content that not everybody may read.
struct Gate {
    text: String,
    /// Whether it asks for a password, which comes late.
    asks: bool,
}

fn gate(
    host: &Host,
    who: Option<&Who>,
    known: &mut Networks,
    mut users_file: impl FnMut(String) -> String,
) -> Gate {
    let text = match who {
        None | Some(Who::All) => String::new(),
        Some(Who::None) => "return 403; ".to_owned(),
        Some(Who::Networks(networks)) => {
            let networks: Vec<String> =
                networks.iter().map(|network| network.to_string()).collect();
            let networks = networks.join(" ");
            let variable = variable(&networks);
            known.0.insert(networks);
            format!("if (${variable} = 0) {{ return 403; }} ")
        }
        Some(Who::Users(users)) => {
            let sums = users.iter().filter_map(|user| {
                let sum = host.users.get(user)?;
                Some(format!("{user}:{sum}\n"))
            });
            let file = users_file(sums.collect());
            format!("auth_basic restricted; auth_basic_user_file {file}; ")
        }
    };
    let asks = matches!(who, Some(Who::Users(_)));
    Gate { text, asks }
}

fn exactly(url: &Url, gate: &str, content: &str) -> String {
    format!(
        "location = \"{}\" {{ {gate}{content} }}\n",
        quoted(url.as_str())
    )
}

fn typed(media: Option<&Media>, content: &str) -> String {
    let media = media.map_or("", Media::as_str);
    format!("types {{ }} default_type \"{media}\"; {content}")
}

/// A text between quotes in which nothing stands for anything else.
fn quoted(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

/// The same where variables are replaced.
fn path(text: &str) -> String {
    quoted(text).replace('$', "${dollar}")
}
