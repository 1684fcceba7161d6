//! Provenance by mutation: what `explain` says is tried out.
//!
//! Every literal of a random manifest and of its data, and every fact, is replaced by another one, and the manifest is
//! compiled again. What changed must have been announced: by `explain` of the changed value, and by `impact` of the
//! literal. A *where* must be the literal that is the value. Mutations after which there is no catalog are counted
//! apart. `HENCE_CASES` says how many manifests, `HENCE_FIRST` from which one on.

mod memory;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use hence_model::explanation::{Dependence, Explanation, Expression, Role, Shown};
use hence_model::path::{Path, Segment};
use hence_model::source::Span;
use hence_model::value::{Builder, Value};
use hence_puppet::generate::{self, Random};
use hence_puppet::{Compiled, Layout, Node, Options, Site};
use memory::Memory;

/// The node that is compiled for.
const NODE: &str = "web1.example.org";

#[test]
fn what_changes_was_announced() {
    let (mut tally, mut of_asking) = (Tally::default(), Tally::default());
    let given = |name: &str| std::env::var(name).ok()?.parse::<u64>().ok();
    let first = given("HENCE_FIRST").unwrap_or(0);
    let cases = given("HENCE_CASES").unwrap_or(30);
    for seed in first..first + cases {
        if std::env::var_os("HENCE_LOOK").is_some() {
            println!("SEED {seed}");
        }
        let mut made = generate::site(seed, 1 + Random::new(seed).below(8));
        // A function of a module that the real compiler may not have.
        if generate::asks(seed) && !made.manifest.contains("\nnode ") {
            let number = 1 + seed % 7;
            let _ = writeln!(
                made.manifest,
                "notify {{ 'asked': message => defined_with_params(User['t{number}'], {{ 'shell' => 'web' }}), \
                 withpath => defined_with_params('User[t{number}]') }}"
            );
        }
        let checked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let mut own = Tally::default();
            check(&made, &mut own);
            own
        }));
        match checked {
            Ok(own) if generate::asks(seed) => of_asking.add(own),
            Ok(own) => tally.add(own),
            Err(_) => panic!(
                "seed {seed}:\n{}\n{}\n{:#?}",
                made.manifest, made.facts, made.data
            ),
        }
    }
    println!("{tally:#?}\n{of_asking:#?}");
    println!("precision {:.3}", tally.precision());
    println!(
        "precision where more than values is asked for {:.3}",
        of_asking.precision()
    );
    assert!(tally.mutations > 5 * cases as usize, "{tally:?}");
    assert!(of_asking.mutations > 5 * cases as usize, "{of_asking:?}");
    // A value that is only copied is exact; a condition often takes two literals to turn.
    assert!(tally.precision() >= 0.90, "{tally:?}");
    // What tags, queries and files answer could have been said at many places.
    assert!(of_asking.precision() >= 0.75, "{of_asking:?}");
}

/// What random manifests seldom have: places where something that decides nothing by itself does so with something
/// else, or in another round, or by what it leaves behind.
#[test]
fn what_changes_was_announced_also_where_decisions_meet() {
    let manifests = [
        // What was not chosen in one round was in another, and decides there.
        "$r = [1, 2, 3].reduce(0) |$m, $x| { if $m > 0 { 1 } else { 1 } }\nnotify { 'n': message => $r }",
        "$r = ['a', 'b'].reduce('c') |$m, $x| { ($m == 'd' ? { true => 'd', default => 'e' }) }\nnotify { 'n': message => ($r == 'd') }",
        "[1, 2].each |$x| { if ($x == 1 or true) { notify { \"n ${x}\": message => ($x == 2 or true) } } }",
        "function f($x) { if $x { 'a' } else { 'a' } }\nnotify { 'n': message => f(f(false) == 'b') }",
        // One key, or one choice, reaches both sides.
        "$h = { 'a' => 1, 'b' => 2 }\n$g = { 'a' => 3, 'b' => 2 }\n$k = 'a'\nnotify { 'n': message => ($h[$k] == $g[$k]) }",
        "$v = { 'a' => 'x', 'b' => 'Y' }['a']\nnotify { 'n': message => ($v in [$v, 'z']), withpath => ($v =~ /^[xz]/) }",
        "$v = ['x', 'y'][0]\n$w = ['q', $v][1]\nnotify { 'n': message => ($v != $w), withpath => ([$v, 'y'] == ['x', $w]) }",
        "$c = ($facts['os'] == 'web' ? { true => 'p', default => 'q' })\nnotify { 'n': message => ($c == ($c ? { 'p' => 'q', default => 'q' })) }",
        "$r = ['a', 'b'].reduce({ 'a' => { 'a' => 'u', 'b' => 'v' }, 'b' => { 'a' => 'w', 'b' => 'z' } }) |$m, $x| { $m['a'] }\nnotify { 'n': message => ($r == 'z') }",
        // What a match leaves behind.
        "if ('x' =~ /(y)/) or ('z' =~ /(z)/) { if \"${1}\" == 'z' { notify { 'n': } } }\nnotify { 'y': }",
        "if ($facts['cloud']) or ('z' =~ /(z)/) { if \"${1}\" == '' { notify { 'n': } } }",
        "if (true or ('z' =~ /(z)/)) { if \"${1}\" == '' { notify { 'n': } } }",
        "case 'web' { /^(d)/, 'web': { if \"${1}\" == '' { notify { 'n': } } } default: { } }",
        "case 'web' { 'db', /^(w)/: { if \"${1}\" == 'w' { notify { 'n': } } } default: { } }",
        // Parts of texts are no elements.
        "$c = 'eb'\nnotify { 'n': message => ($c in ['web', 'db']), withpath => (['eb', 'web'][0] in ['web', 'db']) }",
        "notify { 'n': message => ('web' in [if $facts['cloud'] { 'web' } else { 'webs' }]) }",
        "notify { 'n': message => ('eb' in (if $facts['cloud'] { ['web', 'eb'] } else { ['web', 'db'] })) }",
        // Elements that are taken out of what was chosen.
        "$l = (if true { ['a', 'b'] } else { ['c', 'd'] })\nnotify { 'n': message => ['e', *$l], withpath => $l.length }",
        "(if true { ['a', 'b'] } else { ['c', 'd'] }).each |$i, $x| { notify { \"n ${i}\": message => $x } }",
        "$l = (if true { ['a'] } else { ['c', 'd'] }) + ['e', 'f']\nnotify { 'n': message => $l[1], withpath => $l[2] }",
        "$l = (if true { ['a', 'b'].map |$x| { if $x == 'c' { break() } $x } } else { ['c', 'd'] }) + ['e', 'f']\nnotify { 'n': message => $l[2] }",
        // Conditions of what is looked at are no choices of values.
        "if true { file { '/a': mode => '1' } }\nnotify { 'n': message => (File['/a']['mode'] == '2') }",
        "function f($x) { if $x { return('a') } 'b' }\nnotify { 'n': message => (f(false) == 'a') }",
        "$a = (if false { 'x' })\nnotify { 'n': message => ($a == 'x'), withpath => ($a == undef) }",
        "unless $facts['cloud'] { $a = 'x' } else { $a = 'y' }\nnotify { 'n': message => ($a == 'z' or $a == 'y') }",
        "case 'a' { 'b': { $a = 1 } 'c', default: { $a = 2 } 'd': { $a = 3 } }\nnotify { 'n': message => $a }",
        // What a side does besides holding.
        "$x = (false or ($y = true))\nnotify { 'n': message => $y, withpath => $x }",
        "node /^web(\\d)/ { if \"${1}\" == '1' { notify { 'n': } } }\nnode 'db' { notify { 'd': } }",
    ];
    let facts = r#"{"os": "web", "cloud": true, "roles": ["db", "web"], "net": {"a": "z"}}"#;
    let mut tally = Tally::default();
    for manifest in manifests {
        println!("{manifest}");
        let made = generate::Site {
            manifest: format!("{manifest}\n"),
            facts: facts.into(),
            data: Vec::new(),
            keys: Vec::new(),
        };
        let before = tally.manifests;
        check(&made, &mut tally);
        assert_eq!(tally.manifests, before + 1, "there is no catalog");
    }
}

/// An iterator is used up, so a use depends on every other before it, and on those that could have been.
#[test]
fn what_changes_was_announced_also_where_iterators_are_used_twice() {
    let iterators = [
        "$it = ['a', 'b', 'c', 'd', 'e'].reverse_each",
        "$it = ['a', 'b', 'c', 'd', 'e'].step(2)",
        "$it = ['a', 'b', 'c', 'd', 'e'].reverse_each.step(2)",
        "$it = 6.step(2)",
        "$it = ['a', ['b', 'c'], 'd', 'e'].tree_each({ 'include_root' => false })",
        "$it = { 'a' => 1, 'b' => 2, 'c' => 3 }.reverse_each",
    ];
    let uses = [
        "*$it",
        "Array($it)",
        "Array.new($it)",
        "String($it)",
        "String([$it, 'x'])",
        "$it.map |$x| { \"${x}\" }",
        "$it.filter |$x| { \"${x}\" != 'b' }",
        "$it.reduce |$m, $x| { \"${m}${x}\" }",
        "$it.any |$x| { \"${x}\" == 'd' }",
        "$it.all |$x| { \"${x}\" != 'c' }",
        "$it.each |$x| { if \"${x}\" == 'c' { break() } }",
        "*$it.step(2)",
        "*$it.reverse_each",
        "$it.index |$x| { \"${x}\" == 'c' }",
        "joined(*$it)",
        "used($it)",
        "half($it)",
    ];
    let every = match std::env::var_os("HENCE_CASES") {
        Some(_) => 1,
        None => 97,
    };
    let (mut tally, mut number) = (Tally::default(), 0);
    let mut check_with = |iterator: &str, statements: &str, second: &str| {
        let manifest = format!(
            "function joined(*$all) {{ \"${{all}}\" }}\n\
             function used($one) {{ $one.map |$x| {{ \"${{x}}\" }} }}\n\
             function half($one) {{ $one.each |$x| {{ if \"${{x}}\" == 'c' {{ return('left') }} }} 'done' }}\n\
             {iterator}\nclass taker {{ $all = [*$::it.step(1)] }}\nclass idler {{ }}\n\
             {statements}\n\
             $second = [{second}]\nnotify {{ 'n': message => \"${{second}}\" }}\n"
        );
        let made = generate::Site {
            manifest,
            facts: r#"{"os": "web", "cloud": true}"#.into(),
            data: Vec::new(),
            keys: Vec::new(),
        };
        println!("{}", made.manifest);
        check(&made, &mut tally);
    };
    for iterator in iterators {
        for first in uses {
            for second in uses {
                let guarded = [
                    format!("$first = [{first}]"),
                    format!("if $facts['os'] == 'web' {{ $first = [{first}] }}"),
                    format!("if $facts['os'] == 'db' {{ $first = [{first}] }}"),
                    format!("$first = ($facts['os'] == 'web' and String([{first}]) == 'x')"),
                    format!("$first = ($facts['os'] == 'web' or String([{first}]) == 'x')"),
                    format!("$first = $facts['os'] ? {{ 'web' => 1, default => [{first}] }}"),
                    format!("unless $facts['cloud'] {{ include taker }}\n$first = [{first}]"),
                    format!("include idler\n$first = [{first}]"),
                ];
                for statements in guarded {
                    number += 1;
                    if number % every == 0 {
                        check_with(iterator, &statements, second);
                    }
                }
            }
        }
    }
    println!("{tally:#?}");
    assert!(tally.manifests > 5_000 / every, "{tally:?}");
}

/// What is asked about the catalog, about variables and about files: each could have come out otherwise elsewhere.
#[test]
fn what_changes_was_announced_also_where_others_are_asked() {
    let manifests = [
        // References to what is declared in the same place.
        "notify { 'a': } -> notify { 'b': }",
        "$r = notify { 'q': }\nnotify { 'x': message => $r, require => $r }",
        "$l = ['a', 'b']\nnotify { $l: } ~> notify { 'c': }\n$c = class { 'k': }\nclass k { }\nnotify { 'x': require => $c }",
        // Collectors on either side of an arrow.
        "user { 'u': uid => 10 }\nuser { 'w': uid => 11 }\nnotify { 'n': }\nUser <| uid == 10 |> -> Notify['n']",
        "user { 'u': uid => 10 }\nuser { 'w': uid => 11 }\nnotify { 'n': }\nNotify['n'] ~> User <| uid == 10 or title == 'x' |>",
        "notify { 'a': }\nuser { 'u': uid => 10 }\nnotify { 'b': }\nNotify['a'] -> User <| uid == 9 |> -> Notify['b']",
        "$on = false\nif $on { user { 'u': } }\nnotify { 'a': }\nnotify { 'b': }\nNotify['a'] -> User <| |> -> Notify['b']",
        // Parameters that others set, or could have.
        "define site($port, $host = 'h') { file { \"/etc/${title}.conf\": content => \"${host} ${port}\" } }\nsite { 'a': port => 80 }\nSite <| title == 'a' |> { port => 99 }",
        "define site($port, $host = 'h') { file { \"/etc/${title}.conf\": content => \"${host} ${port}\" } }\nsite { 'a': port => 80 }\n$on = false\nif $on { Site <| title == 'a' |> { port => 99, host => 'i' } }",
        "class k($p = 1) { notify { 'n': message => $p } }\n$on = false\nif $on { class { 'k': p => 2 } }\ninclude k\nnotify { 'm': message => $k::p }",
        // Tags of what is around.
        "class k { notify { 'x': } }\nclass { 'k': tag => 'foo' }\nNotify <| tag == 'foo' |> { message => 'tagged' }",
        "class k { notify { 'x': } }\nclass { 'k': tag => 'fob' }\nnotify { 'y': tag => 'foo' }\nNotify <| tag == 'foo' |> { message => 'tagged' }",
        "class k { tag('bar') if tagged('bar') { notify { 'x': } } notify { 'y': message => tagged('foo', 'bar') } }\ninclude k",
        "class k { if false { tag('bar') } notify { 'y': message => tagged('bar') } }\ninclude k",
        "class bar { }\nclass k { if true { include bar } notify { 'y': message => tagged('bar') } }\ninclude k",
        "class bar { }\nclass k { if false { include bar } notify { 'y': message => tagged('bar') } }\ninclude k",
        // Whether something is defined.
        "$on = true\nif $on { $v = 1 }\nnotify { 'r': message => defined('$v'), withpath => getvar('v', 2) }",
        "$on = false\nif $on { $v = 1 }\nnotify { 'r': message => defined('$v'), withpath => getvar('v', 2) }",
        "class k { if true { $v = 1 } }\nclass l { $v = 2 }\n$on = false\nif $on { include k }\nnotify { 'r': message => defined('$k::v') }",
        "user { 'u': uid => 5 }\nnotify { 'n': message => defined_with_params(User['u'], { 'uid' => 5 }) }",
        "if true { user { 'u': uid => 5 } }\nif false { user { 'w': } }\nnotify { 'n': message => defined_with_params('User[u]'), withpath => defined_with_params(User['w'], { 'uid' => 5 }) }",
        "if true { user { 'u': uid => 5 } }\nensure_resource('user', 'u', { 'uid' => 5 })\nif false { package { 'p': ensure => 'x' } }\nensure_packages(['p', 'q'])\nnotify { 'n': message => User['u']['uid'] }",
        "if true { user { 'u': uid => 5, shell => 's' } }\nensure_resource('user', 'u', { 'uid' => 5 })",
        "if false { user { 'u': uid => 5, shell => 's' } }\nensure_resource('user', 'u', { 'uid' => 5 })",
        "class k { user { 'u': } }\nclass l { }\ninclude l\nif false { include k }\nnotify { 'n': message => defined_with_params('User[u]'), withpath => defined(User['u']) }",
        // Files, and what templates are given.
        "file { '/f': content => file('m/f.txt') }\nfile { '/g': content => upcase(file('m/none.txt', 'm/f.txt')) }",
        "file { '/c': content => inline_epp('port=<%= $p %>', { 'p' => 80 }) }",
        "$p = 1\nfile { '/c': content => inline_epp('port=<%= $p %>', { 'q' => 80, 'r' => 3 }) }",
        "file { '/c': content => inline_epp('<%- | $p, $q = 2 | -%>port=<%= $p + $q %>', { 'p' => 80 }) }",
        // How values are merged.
        "notify { 'n': message => lookup('uniq', { merge => unique }), withpath => lookup('uniq', { merge => unique }).length }",
        "notify { 'n': message => lookup('uniq', { merge => first }) }",
        "notify { 'n': message => lookup('other', Any, 'hash') }\nnotify { 'm': message => lookup('uniq', Any, { 'strategy' => 'unique' }) }",
        "notify { 'n': message => lookup({ name => 'other', merge => { strategy => deep } }), withpath => lookup('plain', { default_value => 'first' }) }",
        // An iterator that would be used up by what runs only without data, or only when something is realised.
        "$it = ['a', 'b', 'c'].step(2)\n$x = lookup('plain') |$k| { $it.map |$e| { $e } }\nnotify { 'n': message => [*$it] }",
        "$it = ['a', 'b', 'c'].step(2)\nclass taker($all = [*$::it]) { }\ninclude taker\nnotify { 'n': message => [*$it] }",
        "$it = ['a', 'b', 'c'].step(2)\nfunction f($x, $y = Array($::it)) { $x }\n$f = f(*lookup('plain'))\nnotify { 'n': message => [*$it] }",
        "$it = ['a', 'b', 'c'].step(2)\ndefine taker() { $all = [*$::it] }\n@taker { 't': }\ndefine late() { notify { 'n': message => [*$::it] } }\nclass k { late { 'l': } }\nif false { realize(Taker['t']) }\ninclude k",
        "$it = ['a', 'b', 'c'].step(2)\ndefine taker($all = [*$::it]) { }\ntaker { 't': all => 1 }\ndefine late() { notify { 'n': message => [*$::it] } }\nlate { 'l': }",
        "$it = ['a', 'b', 'c'].step(2)\n$x = getvar('facts.os') |$e| { [*$it] }\nnotify { 'n': message => [*$it] }",
        "$it = ['a', 'b', 'c'].step(2)\n$x = lookup('other')['x'].then |$e| { [*$it] }\nnotify { 'n': message => [*$it] }",
        "$it = ['a', 'b', 'c'].step(2)\n$x = $facts['os'] ? { 'web' => 1, Array($it) => 2, default => 3 }\nnotify { 'n': message => [*$it] }",
        "$it = ['a', 'b', 'c'].step(2)\ncase $facts['os'] { 'web', Array($it): { } default: { } }\nnotify { 'n': message => [*$it] }",
        // What stands for templates in ERB.
        "$a = 1\nclass k { if $facts['cloud'] { $a = 2 } notify { 'n': message => template('m/t.erb'), withpath => inline_template('<%= @b %>') =~ /x/ } }\ninclude k",
        "$b = [1, { 'x' => 2 }]\nclass m::p($port = 80) { }\nif $facts['os'] == 'web' { include m::p }\nnotify { 'n': message => template('m/t.erb', \"m/${facts['os']}.erb\") }",
        // Options of data.
        "notify { 'u': message => lookup('uniq') }\nnotify { 'o': message => lookup('other') }\nnotify { 'p': message => lookup('plain') }\nnotify { 'q': message => lookup('a_pattern') }",
    ];
    let facts = r#"{"os": "web", "cloud": true}"#;
    let data = [
        (
            "hiera.yaml",
            "version: 5\nhierarchy:\n  - name: all\n    paths: [a.yaml, b.yaml]\n",
        ),
        (
            "data/a.yaml",
            "unused: 1\nlookup_options:\n  uniq:\n    merge: unique\n  other:\n    merge: hash\n  plain:\n    merge: first\nuniq: [a]\ntaker::all: e\nother: {x: 1}\nplain: [c]\n",
        ),
        (
            "data/b.yaml",
            "unused: 1\nlookup_options:\n  ^a_:\n    convert_to: Array\nuniq: [b]\nother: {y: 1}\nplain: [d]\na_pattern: e\n",
        ),
        ("modules/m/files/f.txt", "hello\nworld\n"),
        (
            "modules/m/templates/t.erb",
            "<%= @a %> <%= scope['m::p::port'] %> <%= scope.function_template(['m/web.erb']) %>\n",
        ),
        (
            "modules/m/templates/web.erb",
            "<% @b.each do |c| %><%= @facts['os'] %><% end %>\n",
        ),
    ];
    let data = data.map(|(name, text)| (name.to_owned(), text.to_owned()));
    let mut tally = Tally::default();
    let mut failed = Vec::new();
    for manifest in manifests {
        println!("{manifest}");
        let made = generate::Site {
            manifest: format!("{manifest}\n"),
            facts: facts.into(),
            data: data.to_vec(),
            keys: ["uniq", "other", "plain", "a_pattern", "taker::all"]
                .map(str::to_owned)
                .to_vec(),
        };
        let checked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let mut own = Tally::default();
            check(&made, &mut own);
            assert_eq!(own.manifests, 1, "there is no catalog");
            own
        }));
        match checked {
            Ok(own) => tally.add(own),
            Err(_) => failed.push(manifest),
        }
    }
    println!("{tally:#?}\nprecision {:.3}", tally.precision());
    assert!(failed.is_empty(), "{failed:#?}");
}

#[derive(Debug, Default)]
struct Tally {
    manifests: usize,
    mutations: usize,
    without_catalog: usize,
    places: usize,
    /// Values that were computed again from their expressions.
    replayed: usize,
    /// Literals that some value listed, and those of them that changed it, by how it depends on them. If there is
    /// never a catalog with another literal, that is not known.
    listed: BTreeMap<&'static str, (usize, usize)>,
    unknown: usize,
}

impl Tally {
    fn add(&mut self, other: Tally) {
        self.manifests += other.manifests;
        self.mutations += other.mutations;
        self.without_catalog += other.without_catalog;
        self.places += other.places;
        self.replayed += other.replayed;
        self.unknown += other.unknown;
        for (role, (listed, changed)) in other.listed {
            let sum = self.listed.entry(role).or_default();
            *sum = (sum.0 + listed, sum.1 + changed);
        }
    }

    fn precision(&self) -> f64 {
        let sum =
            |part: fn(&(usize, usize)) -> usize| self.listed.values().map(part).sum::<usize>();
        sum(|one| one.1) as f64 / sum(|one| one.0).max(1) as f64
    }
}

/// The attributes of a catalog by path; elements of containers are paths of their own, and so are resources without
/// attributes.
type Leaves = BTreeMap<Vec<Segment>, Value>;

/// Compiles, and hands on what came of it.
fn compiled<T>(made: &generate::Site, then: impl FnOnce(&Site<'_>, &mut Compiled<'_>) -> T) -> T {
    let mut files = vec![("site.pp", &*made.manifest), ("facts.json", &*made.facts)];
    files.extend(made.data.iter().map(|(name, text)| (&**name, &**text)));
    let world = Memory::of(&files);
    let layout = Layout {
        manifest: "site.pp".into(),
        modulepath: vec!["modules".into()],
        hiera: (!made.data.is_empty()).then(|| "hiera.yaml".into()),
        ..Layout::default()
    };
    let site = Site::new(&world, layout, Default::default());
    let facts = hence_puppet::facts::read(&site, &world, "facts.json").expect("facts are JSON");
    let node = Node::new(NODE, facts);
    let options = Options {
        without_erb: true,
        ..Options::default()
    };
    let mut compiled = hence_puppet::compile(&site, &node, &options);
    then(&site, &mut compiled)
}

fn leaves(compiled: &Compiled<'_>) -> Leaves {
    let mut builder = Builder::default();
    compiled.send(&mut builder);
    let Some(Value::Map(whole)) = builder.finish() else {
        panic!("a catalog is a map");
    };
    let Some(Value::List(resources)) = whole.get("resources") else {
        panic!("a catalog has resources");
    };
    let mut leaves = Leaves::new();
    for resource in resources.as_slice() {
        let Value::Map(resource) = resource else {
            panic!("a resource is a map");
        };
        let (Some(Value::Text(kind)), Some(Value::Text(title)), Some(attributes)) = (
            resource.get("type"),
            resource.get("title"),
            resource.get("parameters"),
        ) else {
            panic!("a resource has a type, a title and attributes");
        };
        let mut pending = vec![(vec![Segment::Key(format!("{kind}[{title}]"))], attributes)];
        while let Some((path, value)) = pending.pop() {
            let inside = |segment: Segment| [&path[..], &[segment]].concat();
            match value {
                Value::Map(map) if !map.is_empty() => {
                    let keys = map.iter();
                    pending
                        .extend(keys.map(|(key, value)| (inside(Segment::Key(key.into())), value)));
                }
                Value::List(list) if !list.as_slice().is_empty() => {
                    let elements = list.as_slice().iter().enumerate();
                    pending.extend(elements.map(|(at, value)| (inside(Segment::Index(at)), value)));
                }
                leaf => drop(leaves.insert(path, leaf.clone())),
            }
        }
    }
    leaves
}

fn check(made: &generate::Site, tally: &mut Tally) {
    compiled(made, |site, original| {
        if !original.is_good() {
            return;
        }
        tally.manifests += 1;
        let before = leaves(original);
        let explained: BTreeMap<&Vec<Segment>, Explanation> = before
            .keys()
            .map(|path| {
                let explanation = original.explain(&Path(path.clone()));
                (
                    path,
                    explanation.unwrap_or_else(|_| panic!("{path:?} cannot be explained")),
                )
            })
            .collect();
        replay(&explained, tally);
        for (path, explanation) in &explained {
            check_place(site, &before[*path], explanation, tally);
        }
        let literals = original.literals_written();
        // A stretch of data in which something could have been said counts once: whether it changed the value, and
        // whether there was no catalog with a key in it that somebody asks for. Then it is not known.
        let mut silences: BTreeMap<(&Vec<Segment>, Span), (bool, bool)> = BTreeMap::new();
        let texts: Vec<String> = literals.iter().map(|span| site.slice(*span)).collect();
        for (number, span) in literals.iter().enumerate() {
            let listing: BTreeMap<&Vec<Segment>, Dependence> = explained
                .iter()
                .filter_map(|(path, explanation)| Some((*path, dependence(explanation, *span)?)))
                .collect();
            let mut impacted: BTreeSet<Vec<Segment>> = BTreeSet::new();
            original.impact(*span, &mut |path| {
                impacted.insert(path.to_vec());
            });
            let announced: BTreeSet<Vec<Segment>> =
                listing.keys().map(|path| (*path).clone()).collect();
            assert_eq!(
                announced, impacted,
                "explain and impact differ about {}",
                texts[number]
            );
            let mut changed: BTreeSet<&Vec<Segment>> = BTreeSet::new();
            let mut survived = false;
            let mut failed = false;
            for other in others(number, &texts, &made.keys) {
                tally.mutations += 1;
                let Some(after) = mutated(site, made, *span, &other) else {
                    tally.without_catalog += 1;
                    failed = true;
                    continue;
                };
                survived = true;
                for (path, value) in &before {
                    let stays = match path.len() {
                        1 => after.keys().any(|other| other[0] == path[0]),
                        _ => after.get(path) == Some(value),
                    };
                    if stays {
                        continue;
                    }
                    assert!(
                        listing.contains_key(path),
                        "{path:?} is {value:?}, and with {other} for {} at {:?} it is {:?}, which was not announced",
                        texts[number],
                        site.unit().sources.location(span.start).to_string(),
                        after.get(path)
                    );
                    changed.insert(path);
                }
            }
            match survived {
                false => tally.unknown += listing.len(),
                true => {
                    for (path, dependence) in listing {
                        let role = dependence.role;
                        if dependence.span != *span {
                            let spoke = silences.entry((path, dependence.span)).or_default();
                            spoke.0 |= changed.contains(path);
                            spoke.1 |= failed;
                            continue;
                        }
                        let sum = tally.listed.entry(role.word()).or_default();
                        sum.0 += 1;
                        sum.1 += usize::from(changed.contains(path));
                        // `HENCE_LOOK` shows what is listed and did not change anything.
                        if !changed.contains(path) && std::env::var_os("HENCE_LOOK").is_some() {
                            let place = site.unit().sources.location(span.start);
                            let line = made
                                .manifest
                                .lines()
                                .nth(place.line as usize - 1)
                                .unwrap_or("");
                            println!(
                                "LOOK {} {path:?} {} in {}:{}",
                                role.word(),
                                texts[number],
                                place.line,
                                line.trim()
                            );
                        }
                    }
                }
            }
        }
        for (changed, failed) in silences.into_values() {
            match (changed, failed) {
                (false, true) => tally.unknown += 1,
                _ => {
                    let sum = tally.listed.entry("silence").or_default();
                    *sum = (sum.0 + 1, sum.1 + usize::from(changed));
                }
            }
        }
    });
}

/// How a value depends on a literal: on that, or on a stretch in which something could have been said.
fn dependence(explanation: &Explanation, span: Span) -> Option<Dependence> {
    let mut depends = explanation.depends.iter();
    let own = depends.clone().find(|one| one.span == span);
    let around = |one: &&Dependence| {
        one.role == Role::Absence && one.span.start <= span.start && span.end <= one.span.end
    };
    own.or_else(|| depends.find(around)).copied()
}

/// A value that was only copied is the literal in its place.
fn check_place(site: &Site<'_>, value: &Value, explanation: &Explanation, tally: &mut Tally) {
    let Some(place) = explanation.place else {
        return;
    };
    tally.places += 1;
    let text = site.slice(place);
    let bare = text.trim_matches(['\'', '"']);
    let same = match value {
        // A reference to a class is written as its name.
        Value::Text(value) => value == bare || value.starts_with("Class["),
        Value::Integer(value) => value.to_string() == text,
        Value::Bool(value) => value.to_string() == text,
        Value::Null => text == "undef" || text == "null",
        _ => true,
    };
    assert!(same, "{value:?} is not {text}, where it is said to be");
    if let Shown::Value(shown) = &explanation.value {
        assert_eq!(shown, value);
    }
}

/// What a literal is replaced with: what may turn a decision first, then others of its kind, then one of another.
fn others(number: usize, texts: &[String], keys: &[String]) -> Vec<String> {
    let text = &texts[number];
    let is_quoted = |text: &str| text.starts_with(['\'', '"']);
    let is_bare = |text: &str| {
        text.chars()
            .all(|char| char.is_alphanumeric() || char == ':')
    };
    let mut others: Vec<String> = match text.as_str() {
        "true" => vec!["false".into()],
        "false" => vec!["true".into()],
        "undef" => vec!["'set'".into()],
        "default" => Vec::new(),
        number if number.parse::<i64>().is_ok() => {
            let others = (-3..=20).chain([100]);
            let others = others.map(|other: i64| other.to_string());
            others.chain(["\"mutated\"".into()]).collect()
        }
        quoted if is_quoted(quoted) => {
            let quote = &quoted[..1];
            let words = texts.iter().filter(|other| is_quoted(other));
            let words = words.map(|word| word.trim_matches(['\'', '"']));
            let words = [NODE, "mutated"].into_iter().chain(words);
            let others = words.map(|word| format!("{quote}{word}{quote}"));
            others.chain(["7".into()]).collect()
        }
        pattern if pattern.starts_with('/') && pattern.ends_with('/') => {
            vec!["/mutated/".into(), "/^w/".into(), "/./".into()]
        }
        bare if is_bare(bare) => {
            let is_key = bare == "unused" || keys.iter().any(|key| key == bare);
            let alike = texts.iter().filter(|other| is_bare(other));
            match is_key {
                true => keys.to_vec(),
                false => alike.cloned().collect(),
            }
        }
        // A piece of a text.
        _ => vec![" mutated ".into(), " ".into()],
    };
    let mut seen = BTreeSet::from([text.clone()]);
    others.retain(|other| seen.insert(other.clone()));
    // Enough to find what matters, and no more than can be waited for.
    others.truncate(30);
    others
}

/// The catalog with something else for a literal, of the manifest, the facts or the data.
fn mutated(site: &Site<'_>, made: &generate::Site, span: Span, other: &str) -> Option<Leaves> {
    let (file, start) = {
        let unit = site.unit();
        let file = unit.sources.file_at(span.start);
        (
            unit.sources.name(file).to_owned(),
            unit.sources.span(file).start,
        )
    };
    let mut made = made.clone();
    let text = match file.as_str() {
        "site.pp" => &mut made.manifest,
        "facts.json" => &mut made.facts,
        _ => {
            let mut data = made.data.iter_mut();
            // A text that is a template is no file of its own.
            &mut data.find(|(name, _)| *name == file)?.1
        }
    };
    let (from, to) = (span.start - start, span.end - start);
    text.replace_range(from as usize..to as usize, other);
    compiled(&made, |_, compiled| {
        compiled.is_good().then(|| leaves(compiled))
    })
}

/// Evaluates the expression of every value again, from its literals.
fn replay(explained: &BTreeMap<&Vec<Segment>, Explanation>, tally: &mut Tally) {
    let mut manifest = String::new();
    let mut expected = Vec::new();
    let attributes = explained.iter().filter(|(path, _)| path.len() > 1);
    for (number, (_, explanation)) in attributes.enumerate() {
        let Shown::Value(value) = &explanation.value else {
            continue;
        };
        let mut operators = 0;
        let text = source(&explanation.expression, &mut operators);
        manifest.push_str(&format!("notify {{ 'n{number}': message => {text} }}\n"));
        expected.push((number, value.clone(), operators > 0));
    }
    let made = generate::Site {
        manifest: manifest.clone(),
        facts: "{}".into(),
        data: Vec::new(),
        keys: Vec::new(),
    };
    compiled(&made, |_, compiled| {
        assert!(compiled.is_good(), "an expression is none:\n{manifest}");
        let again = leaves(compiled);
        for (number, value, computed) in expected {
            tally.replayed += usize::from(computed);
            let path = [format!("Notify[n{number}]"), "message".into()];
            let found = again.get(path.map(Segment::Key).as_slice());
            // An attribute that is `undef` is not in the catalog.
            let found = found.cloned().unwrap_or(Value::Null);
            assert_eq!(found, value, "n{number} of\n{manifest}");
        }
    });
}

/// An expression as Puppet has it. What a function does with a lambda is not told by its operands: there, the value
/// stands for itself.
fn source(expression: &Expression, operators: &mut usize) -> String {
    let literal = || written(expression.value.seen().expect("nothing is hidden here"));
    let Some(operator) = expression.operator.as_deref() else {
        return literal();
    };
    let operands = |operators: &mut usize| -> Vec<String> {
        let operands = expression.operands.iter();
        operands.map(|operand| source(operand, operators)).collect()
    };
    match (operator, expression.operands.len()) {
        ("=~", 2) => {
            *operators += 1;
            let both = operands(operators);
            // A regular expression is shown as it is written.
            format!("({} =~ {})", both[0], both[1].trim_matches('\''))
        }
        ("+" | "-" | "*" | "/" | "==" | "!=" | "<" | ">" | "<=" | ">=" | "in", 2) => {
            *operators += 1;
            let both = operands(operators);
            format!("({} {operator} {})", both[0], both[1])
        }
        ("and" | "or", 1 | 2) => {
            *operators += 1;
            format!("({})", operands(operators).join(&format!(" {operator} ")))
        }
        ("!", 1) => {
            *operators += 1;
            format!("!{}", operands(operators)[0])
        }
        ("\"…\"", _) => {
            *operators += 1;
            let pieces = operands(operators);
            let pieces: Vec<String> = pieces
                .iter()
                .map(|piece| format!("${{({piece})}}"))
                .collect();
            format!("\"{}\"", pieces.join(""))
        }
        ("[ ]", _) => {
            *operators += 1;
            format!("[{}]", operands(operators).join(", "))
        }
        ("{ }", _) => {
            *operators += 1;
            let parts = operands(operators);
            let entries = parts.chunks(2).map(|entry| entry.join(" => "));
            format!("{{ {} }}", entries.collect::<Vec<_>>().join(", "))
        }
        ("upcase", 1) => {
            *operators += 1;
            format!("upcase({})", operands(operators)[0])
        }
        (other, _) => {
            if std::env::var_os("HENCE_LOOK").is_some() {
                println!("OPAQUE {other} {}", expression.operands.len());
            }
            literal()
        }
    }
}

fn written(value: &Value) -> String {
    match value {
        Value::Null => "undef".into(),
        Value::Bool(value) => value.to_string(),
        Value::Integer(value) => value.to_string(),
        Value::Float(value) => value.to_string(),
        Value::Text(value) | Value::Reference(value) => {
            format!("'{}'", value.replace('\\', "\\\\").replace('\'', "\\'"))
        }
        Value::List(list) => {
            let elements: Vec<String> = list.as_slice().iter().map(written).collect();
            format!("[{}]", elements.join(", "))
        }
        Value::Map(map) => {
            let entries = map.iter();
            let entries = entries.map(|(key, value)| format!("'{key}' => {}", written(value)));
            format!("{{ {} }}", entries.collect::<Vec<_>>().join(", "))
        }
    }
}
