//! The catalog as an agent takes it.

mod memory;

use hence_model::print::json::Json;
use hence_model::source::{Files, ReadError};
use hence_puppet::{Layout, Node, Options, Site, World};
use memory::Memory;

#[test]
fn an_agent_gets_values_as_they_are() {
    for (value, sent) in [
        (
            "Deferred('sprintf', ['%s', 'hi'])",
            r#"{"__ptype":"Deferred","name":"sprintf","arguments":["%s","hi"]}"#,
        ),
        ("Deferred('f')", r#"{"__ptype":"Deferred","name":"f"}"#),
        (
            "[Sensitive('s3cr3t')]",
            r#"[{"__ptype":"Sensitive","__pvalue":"s3cr3t"}]"#,
        ),
        (
            "{ 'a' => Sensitive([Sensitive(1)]) }",
            r#"{"a":{"__ptype":"Sensitive","__pvalue":[{"__ptype":"Sensitive","__pvalue":1}]}}"#,
        ),
        (
            "Timestamp('2020-01-01')",
            r#"{"__ptype":"Timestamp","__pvalue":"2020-01-01T00:00:00.000000000 UTC"}"#,
        ),
        (
            "Timespan(3)",
            r#"{"__ptype":"Timespan","__pvalue":"0-00:00:03.0"}"#,
        ),
        (
            "[SemVer('1.2.3'), SemVerRange('1.x')]",
            r#"[{"__ptype":"SemVer","__pvalue":"1.2.3"},{"__ptype":"SemVerRange","__pvalue":"1.x"}]"#,
        ),
        (
            "[Binary('aGk='), URI('http://a/b')]",
            r#"[{"__ptype":"Binary","__pvalue":"aGk="},{"__ptype":"URI","__pvalue":"http://a/b"}]"#,
        ),
        (
            "[/ab/, default]",
            r#"[{"__ptype":"Regexp","__pvalue":"ab"},{"__ptype":"Default"}]"#,
        ),
        (
            "{ 1 => 2, [1] => 'a' }",
            r#"{"__ptype":"Hash","__pvalue":[1,2,[1],"a"]}"#,
        ),
        (
            "{ '__ptype' => 'x' }",
            r#"{"__ptype":"Hash","__pvalue":["__ptype","x"]}"#,
        ),
        ("[File['/a'], [1]]", r#"["File[/a]",1]"#),
    ] {
        let catalog = catalog(&format!("notify {{ 'n': message => {value} }}"));
        let sent = format!(r#""parameters":{{"message":{sent}}}"#);
        assert!(catalog.contains(&sent), "{value}:\n{sent}\n{catalog}");
    }
}

#[test]
fn the_main_stage_is_in_nothing() {
    let catalog = catalog("notify { 'n': }");
    let stage = r#"{"type":"Stage","title":"main","tags":["stage"]"#;
    assert!(catalog.contains(stage), "{catalog}");
}

#[test]
fn a_name_that_is_the_title_is_not_sent() {
    let told = catalog("file { '/a': path => '/a', mode => '0644' } notify { 'n': name => 'n' }");
    let file = r#""kind":"compilable_type","parameters":{"mode":"0644"}}"#;
    assert!(told.contains(file), "{told}");
    assert!(!told.contains(r#""name":"n""#), "{told}");
}

#[test]
fn a_title_may_be_a_number_where_a_function_declares() {
    let told = catalog("ensure_resource('notify', [80, '81'])");
    assert!(told.contains(r#""type":"Notify","title":"80""#), "{told}");
    assert!(told.contains(r#""parameters":{"name":"80"}"#), "{told}");
    assert!(!told.contains(r#""name":"81""#), "{told}");
}

/// Files in a directory that manifests may know.
struct Below(Memory);

impl Files for Below {
    fn read(&self, name: &str, text: &mut String) -> Result<(), ReadError> {
        self.0.read(name, text)
    }
}

impl World for Below {
    fn list(&self, directory: &str) -> Vec<String> {
        self.0.list(directory)
    }

    fn directory(&self) -> Option<String> {
        Some("/srv/code".to_owned())
    }
}

#[test]
fn manifests_are_told_paths_from_the_root_and_people_as_they_were_given() {
    let manifest = "notify { 'n': message => file(\"${get_module_path('ntp')}/data.json\") }
        notify { module_directory('ntp'): }
        notify { find_file('ntp/motd'): }";
    let world = Below(Memory::of(&[
        ("site.pp", manifest),
        ("sub/../modules/ntp/data.json", "written here"),
        ("sub/../modules/ntp/files/motd", "hello"),
    ]));
    let layout = Layout {
        manifest: "site.pp".into(),
        modulepath: vec!["sub/../modules/".into()],
        ..Layout::default()
    };
    let site = Site::new(&world, layout, Default::default());
    let told = sent(&site);
    for title in ["/srv/code/modules/ntp", "/srv/code/modules/ntp/files/motd"] {
        assert!(told.contains(&format!(r#""title":"{title}""#)), "{told}");
    }
    assert!(told.contains(r#""message":"written here""#), "{told}");
    let unit = site.unit();
    let files = unit.sources.files();
    let names: Vec<&str> = files.map(|file| unit.sources.name(file)).collect();
    assert_eq!(names, ["site.pp", "sub/../modules/ntp/data.json"]);
}

fn catalog(manifest: &str) -> String {
    let world = Memory::of(&[("site.pp", manifest)]);
    let layout = Layout {
        manifest: "site.pp".into(),
        ..Layout::default()
    };
    sent(&Site::new(&world, layout, Default::default()))
}

fn sent(site: &Site<'_>) -> String {
    let node = Node::new("web1.example.org", Default::default());
    let options = Options::default();
    let compiled = hence_puppet::compile(site, &node, &options);
    assert!(compiled.is_good(), "{:?}", compiled.diagnostics);
    let mut json = Json::compact(Vec::new());
    compiled.send_whole(&site.unit().sources, &mut json);
    let printed = json.finish().expect("a list takes everything");
    String::from_utf8(printed).expect("JSON is text")
}
