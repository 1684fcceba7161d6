//! Where data come from: layers, places, and what decided that a value was found there.

mod memory;

use hence_puppet::trace::{Node as Trail, Origin, Source};
use hence_puppet::value::Datum;
use hence_puppet::{Compiled, Layout, Node, Options, Site};
use memory::Memory;

const TWO_LEVELS: &str = "version: 5\nhierarchy:\n\
     - {name: node, path: \"nodes/%{trusted.certname}.yaml\"}\n\
     - {name: role, path: \"%{role}.yaml\"}\n\
     - {name: common, path: common.yaml}\n";

/// Compiles with an environment, and hands on what came of it.
fn compiled<T>(files: &[(&str, &str)], then: impl FnOnce(&Site<'_>, &Compiled<'_>) -> T) -> T {
    let world = Memory::of(files);
    let layout = Layout {
        manifest: "site.pp".into(),
        modulepath: vec!["env/modules".into()],
        environment: Some("env".into()),
        hiera: None,
    };
    let site = Site::new(&world, layout, Default::default());
    let node = Node::new("web1.example.org", Default::default());
    let options = Options::default();
    let compiled = hence_puppet::compile(&site, &node, &options);
    then(&site, &compiled)
}

fn message<'c>(compiled: &'c Compiled<'_>, title: &str) -> &'c hence_puppet::value::Value {
    let troubles = &compiled.diagnostics;
    let mut resources = compiled.resources();
    let found = resources.find(|(_, resource)| resource.title == title);
    let (_, resource) = found.unwrap_or_else(|| panic!("{troubles:?}"));
    &resource.attribute("message").expect("it has one").value
}

/// The text at the place that a value comes from, and all that decided on the way.
fn way(site: &Site<'_>, compiled: &Compiled<'_>, origin: Origin) -> (String, Vec<String>) {
    let trace = &compiled.evaluator.trace;
    let line = |at: u32| {
        let unit = site.unit();
        let place = unit.sources.location(at).to_string();
        let text = &unit.sources.text()[at as usize..];
        format!("{place} {}", text.lines().next().unwrap_or_default())
    };
    let mut origin = origin;
    let mut decided = Vec::new();
    loop {
        match trace.source(origin) {
            Source::Written(at) => return (line(at), decided),
            Source::Node(Trail::Variable { definition, .. }) => {
                origin = trace.definition(*definition).value.origin;
            }
            Source::Node(Trail::Outcome { value, .. } | Trail::Chosen { value, .. }) => {
                origin = *value
            }
            Source::Node(Trail::Found {
                value,
                decided: why,
                ..
            }) => {
                for one in trace.decided(*why) {
                    match trace.source(*one) {
                        Source::Node(Trail::Lacking { start }) => {
                            decided.push(format!("not in {}", line(*start)))
                        }
                        Source::Node(Trail::Outside(words)) => decided.push(words.to_string()),
                        _ => {}
                    }
                }
                origin = *value;
            }
            other => return (format!("{other:?}"), decided),
        }
    }
}

#[test]
fn a_value_is_at_its_place_in_a_data_file() {
    let files = [
        (
            "site.pp",
            "$x = lookup('größe')\nnotify { 'a': message => $x }\n",
        ),
        ("env/hiera.yaml", TWO_LEVELS),
        (
            "env/data/common.yaml",
            "# ä\nüber: [1, 2]\ngröße: \"zwölf\"\n",
        ),
        ("env/data/nodes/web1.example.org.yaml", "andere: 1\n"),
    ];
    compiled(&files, |site, compiled| {
        let value = message(compiled, "a");
        assert_eq!(value.datum, Datum::from("zwölf"));
        let (place, decided) = way(site, compiled, value.origin);
        assert_eq!(place, "env/data/common.yaml:3:8 \"zwölf\"");
        assert_eq!(
            decided,
            [
                "not in env/data/nodes/web1.example.org.yaml:1:1 andere: 1",
                "that there is no file `env/data/.yaml`",
            ]
        );
    });
}

#[test]
fn elements_of_merged_values_keep_their_places() {
    let files = [
        (
            "site.pp",
            "$all = lookup('all', Hash, 'deep')\nnotify { 'a': message => $all['list'][2] }\n\
             notify { 'b': message => $all['text'] }\n",
        ),
        ("env/hiera.yaml", TWO_LEVELS),
        ("env/data/common.yaml", "all: {list: [é, ö], text: under}\n"),
        (
            "env/data/nodes/web1.example.org.yaml",
            "all: {list: [ü], text: \"%{trusted.hostname}\"}\n",
        ),
    ];
    compiled(&files, |site, compiled| {
        let value = message(compiled, "a");
        assert_eq!(value.datum, Datum::from("ü"));
        let Source::Node(Trail::Element { operands, .. }) =
            compiled.evaluator.trace.source(value.origin)
        else {
            panic!("it is an element");
        };
        let element = compiled.evaluator.trace.operands(*operands)[0].origin;
        let (place, _) = way(site, compiled, element);
        assert_eq!(
            place,
            "env/data/nodes/web1.example.org.yaml:1:14 ü], text: \"%{trusted.hostname}\"}"
        );
        assert_eq!(message(compiled, "b").datum, Datum::from("web1"));
    });
}

#[test]
fn a_default_that_is_used_knows_who_was_asked() {
    let files = [
        (
            "site.pp",
            "class a($x = 'own') { notify { 'n': message => $x } }\ninclude a\n",
        ),
        ("env/hiera.yaml", TWO_LEVELS),
        ("env/data/common.yaml", "b: 1\n"),
    ];
    compiled(&files, |_, compiled| {
        assert_eq!(message(compiled, "n").datum, Datum::from("own"));
        let parameter = files[0].1.find("$x").expect("it is there") as u32;
        let span = hence_model::source::Span::at(parameter);
        let missed = compiled.evaluator.trace.missed(span);
        let lacking = missed.iter().filter(|origin| {
            let source = compiled.evaluator.trace.source(**origin);
            matches!(source, Source::Node(Trail::Lacking { .. }))
        });
        assert_eq!(lacking.count(), 1);
    });
}

#[test]
fn the_environment_counts_more_than_a_module_and_less_than_the_site() {
    let module = "version: 5\n";
    let world = Memory::of(&[
        (
            "site.pp",
            "notify { 'a': message => [lookup('web::a'), lookup('web::b'), lookup('web::c')] }\n\
             notify { 'b': message => lookup('web::d') }\nnotify { 'c': message => hiera('web::c', 'none') }\n",
        ),
        ("hiera.yaml", "version: 5\n"),
        ("data/common.yaml", "web::a: site\nweb::d: [1]\n"),
        ("env/hiera.yaml", "version: 5\n"),
        (
            "env/data/common.yaml",
            "web::a: environment\nweb::b: environment\nweb::d: [2]\nlookup_options: {\"web::d\": {merge: unique}}\n",
        ),
        ("env/modules/web/hiera.yaml", module),
        (
            "env/modules/web/data/common.yaml",
            "web::b: module\nweb::c: module\nweb::d: [3]\n",
        ),
    ]);
    let layout = Layout {
        manifest: "site.pp".into(),
        modulepath: vec!["env/modules".into()],
        environment: Some("env/".into()),
        hiera: Some("hiera.yaml".into()),
    };
    let site = Site::new(&world, layout, Default::default());
    let node = Node::new("web1.example.org", Default::default());
    let options = Options::default();
    let compiled = hence_puppet::compile(&site, &node, &options);
    let text = |title| hence_puppet::text::text(&message(&compiled, title).datum).to_string();
    assert_eq!(text("a"), "[site, environment, module]");
    assert_eq!(text("b"), "[1, 2, 3]");
    assert_eq!(text("c"), "module");
}
