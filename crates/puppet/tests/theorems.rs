//! The theorems of §3.4, as far as the whole language allows them.
//!
//! `HENCE_CASES` says how many random manifests.

mod memory;

use hence_model::value::{Builder, List, Map, Value};
use hence_puppet::generate::{self, Random};
use hence_puppet::{Layout, Node, Options, Site};
use memory::Memory;

/// Theorem 3.4.1: a manifest has one catalog. It is the same text each time, order included.
#[test]
fn compilation_is_deterministic() {
    each(|made| {
        let (once, again) = (catalog(made), catalog(made));
        assert_eq!(written(&once), written(&again), "{}", made.manifest);
    });
}

/// Theorem 3.4.2: what was declared and defined stays. Statements behind a manifest add to its catalog, and take
/// nothing away; what they declare may be collected, but changes nothing that was there before.
#[test]
fn compilation_is_monotonic() {
    let mut compared = 0;
    each(|made| {
        let before = catalog(made);
        let mut longer = made.clone();
        longer.manifest.push_str(ADDED);
        let after = catalog(&longer);
        let (Some(before), Some(after)) = (before, after) else {
            assert_eq!(
                catalog(made).is_some(),
                catalog(&longer).is_some(),
                "{}",
                made.manifest
            );
            return;
        };
        compared += 1;
        let added = [
            "Notify[added]",
            "File[/added]",
            "Class[Added]",
            "Added::Type[added]",
        ];
        let after: Vec<String> = resources(&after)
            .into_iter()
            .filter(|(reference, _)| !added.contains(&reference.as_str()))
            .map(|(reference, resource)| format!("{reference} {resource}"))
            .collect();
        let before: Vec<String> = resources(&before)
            .into_iter()
            .map(|(reference, resource)| format!("{reference} {resource}"))
            .collect();
        assert_eq!(before, after, "{}", made.manifest);
    });
    assert!(compared > 100, "only {compared} have a catalog");
}

/// What is added behind manifests: a variable, resources, a class and a defined type, all with names of their own.
const ADDED: &str = "
$added = 'added'
notify { $added: message => $added }
class added { file { '/added': content => $added } }
define added::type($text = $added) { $inner = $text }
include added
added::type { 'added': }
";

fn each(mut check: impl FnMut(&generate::Site)) {
    let cases = std::env::var("HENCE_CASES").ok();
    let cases: u64 = cases.and_then(|cases| cases.parse().ok()).unwrap_or(1_500);
    for seed in 0..cases {
        check(&generate::site(seed, 1 + Random::new(seed).below(10)));
    }
}

fn catalog(made: &generate::Site) -> Option<Value> {
    let mut files = vec![("site.pp", &*made.manifest), ("facts.json", &*made.facts)];
    files.extend(made.data.iter().map(|(name, text)| (&**name, &**text)));
    let world = Memory::of(&files);
    let layout = Layout {
        manifest: "site.pp".into(),
        hiera: (!made.data.is_empty()).then(|| "hiera.yaml".into()),
        ..Layout::default()
    };
    let site = Site::new(&world, layout, Default::default());
    let facts = hence_puppet::facts::read(&site, &world, "facts.json").expect("facts are JSON");
    let node = Node::new("web1.example.org", facts);
    let options = Options::default();
    let compiled = hence_puppet::compile(&site, &node, &options);
    if !compiled.is_good() {
        return None;
    }
    let mut builder = Builder::default();
    compiled.send(&mut builder);
    builder.finish()
}

fn written(catalog: &Option<Value>) -> Option<String> {
    catalog.as_ref().map(|catalog| format!("{catalog:?}"))
}

/// The resources of a catalog, in order, by reference.
fn resources(catalog: &Value) -> Vec<(String, String)> {
    let Value::Map(catalog) = catalog else {
        panic!("a catalog is a map");
    };
    let Some(Value::List(resources)) = catalog.get("resources") else {
        panic!("a catalog has resources");
    };
    let text = |resource: &Map, key: &str| match resource.get(key) {
        Some(Value::Text(text)) => text.clone(),
        _ => panic!("a resource has a {key}"),
    };
    let of = |list: &List| -> Vec<(String, String)> {
        let resources = list.as_slice().iter().map(|resource| match resource {
            Value::Map(map) => {
                let reference = format!("{}[{}]", text(map, "type"), text(map, "title"));
                (reference, format!("{resource:?}"))
            }
            _ => panic!("a resource is a map"),
        });
        resources.collect()
    };
    of(resources)
}
