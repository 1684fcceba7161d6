//! The page of `hence why --format html` in a real browser: what is seen, clicked, typed and read aloud there.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::chromium::{Browser, Script, text};

#[test]
fn the_page_answers_in_a_real_browser() {
    let mut browser = Browser::start("why");
    let questions: [&[&str]; 5] = [
        &["examples/site.sf", "web2:web:port"],
        &["examples/site.cf2", "Shop.Memory"],
        &["examples/site.cf2", "Web.Users"],
        &[
            "examples/site.pp",
            "File[/etc/nginx/intern].mode",
            "--node",
            "www.example.org",
        ],
        &[
            "examples/site.pp",
            "File[/etc/nginx/intern].content",
            "--node",
            "www.example.org",
        ],
    ];
    for question in questions {
        let page = Page::of(&workspace(), question);
        open(&mut browser, &page, Script::On);
        let drawn = positions(&mut browser);
        the_sentence_and_the_table_are_those_of_the_answer(&mut browser, &page);
        the_picture_has_the_nodes_of_the_graph(&mut browser, &page);
        the_list_has_what_the_picture_has(&mut browser);
        nodes_are_called_what_is_seen(&mut browser);
        a_click_on_a_node_shows_its_source(&mut browser);
        a_click_on_a_source_chooses_its_node(&mut browser);
        keys_go_along_the_edges(&mut browser);
        nodes_grow_and_fold(&mut browser);
        it_is_read_aloud(&mut browser, &page);
        it_can_be_taken_along(&mut browser, &page);
        browser.assert_letters_stand_out();
        browser.assert_fits_a_telephone();
        assert_quiet(&mut browser);

        open(&mut browser, &page, Script::Off);
        the_sentence_and_the_table_are_those_of_the_answer(&mut browser, &page);
        the_picture_has_the_nodes_of_the_graph(&mut browser, &page);
        the_list_has_what_the_picture_has(&mut browser);
        links_lead_to_lines(&mut browser);
        the_picture_stays_where_it_is(&mut browser, &drawn);
        assert_quiet(&mut browser);
    }
    a_filter_leaves_what_was_overridden(&mut browser);
    what_is_written_stays_text(&mut browser);
    a_large_answer_is_a_page_of_bounded_size(&mut browser);
}

fn the_sentence_and_the_table_are_those_of_the_answer(browser: &mut Browser, page: &Page) {
    let headline = page.text.lines().next().expect("the answer has a line");
    let sentence = browser.evaluate("document.querySelector('h1').getAttribute('aria-label')");
    assert_eq!(sentence, headline.replace("   ", ", "));

    let rows = browser.evaluate(
        "[...document.querySelectorAll('.layers tbody tr')].map((row) => [
           row.cells[1].querySelector('a').textContent, row.querySelector('s') !== null, row.cells[2].textContent])",
    );
    let place = |of: &Value| format!("{}:{}:{}", text(&of["file"]), of["line"], of["column"]);
    let mut expected = Vec::new();
    let winner = match &page.json["where"] {
        Value::Null => &page.json["expression"]["tree"],
        place => place,
    };
    expected.push(json!([place(winner), false, "counts"]));
    for lost in page.json["lost"].as_array().expect("a list") {
        let rule = format!("lost: {}", text(&lost["rule"]));
        expected.push(json!([place(lost), true, rule]));
    }
    assert_eq!(rows, Value::from(expected));

    let parts = browser.evaluate(
        "[...document.querySelectorAll('.parts tbody tr')].map((row) => row.cells[0].textContent)",
    );
    let elements = page.json["elements"].as_array().expect("a list");
    let elements: Vec<Value> = elements
        .iter()
        .map(|element| element["name"].clone())
        .collect();
    assert_eq!(parts, Value::from(elements));
}

fn the_picture_has_the_nodes_of_the_graph(browser: &mut Browser, page: &Page) {
    let nodes = page.dot.lines().filter(|line| line.contains("[label="));
    let seen = browser.evaluate(
        "[...document.querySelectorAll('.node')].filter((node) => node.getClientRects().length > 0).length",
    );
    assert_eq!(seen, nodes.count());
    let edges = page.dot.lines().filter(|line| line.contains(" -> "));
    let seen = browser.evaluate(
        "[...document.querySelectorAll('.edge')].filter((edge) => edge.getClientRects().length > 0).length",
    );
    assert_eq!(seen, edges.count());
}

/// What can be read in a node is in its name, so that it can be chosen by voice.
fn nodes_are_called_what_is_seen(browser: &mut Browser) {
    let others = browser.evaluate(
        "[...document.querySelectorAll('.node:not(.away)')].map((node) => [
            [...node.querySelectorAll('text')].map((text) => text.textContent).filter(Boolean).join(' '),
            node.getAttribute('aria-label'), node.dataset.name])
           .filter(([seen, label, whole]) => !label.startsWith(seen) || seen.includes('…') && !label.includes(whole))",
    );
    assert_eq!(others, json!([]));
}

fn the_list_has_what_the_picture_has(browser: &mut Browser) {
    let both = browser.evaluate(
        "[[...document.querySelectorAll('.node')].map((node) => node.id.slice(1) + ' ' + node.dataset.name.split(', ').pop()),
          [...document.querySelectorAll('.tree a')].map((link) => link.dataset.node + ' ' + link.textContent)]",
    );
    let set = |of: &Value| {
        let all = of.as_array().expect("a list").iter().map(text);
        all.map(str::to_owned).collect::<BTreeSet<String>>()
    };
    assert_eq!(set(&both[0]), set(&both[1]));
}

/// For the chosen node: its place as it is called, the lines that are marked, and whether the first can be seen.
const CHOSEN: &str = "(() => {
    const node = document.querySelector('.node.chosen');
    const marks = [...document.querySelectorAll('mark.chosen-mark')];
    const pane = document.querySelector('.pane').getBoundingClientRect();
    const first = marks[0].getBoundingClientRect();
    return {
      node: node.id, to: 'n' + node.dataset.to,
      line: node.dataset.name.split(':').slice(-2)[0],
      marked: marks[0].closest('.line').id.split('-')[1],
      seen: pane.top <= first.top && first.bottom <= pane.bottom,
    };
  })()";

fn a_click_on_a_node_shows_its_source(browser: &mut Browser) {
    let nodes = browser.evaluate(
        "[...document.querySelectorAll('.node')].filter((node) => node.getClientRects().length > 0).map((node) => node.id)",
    );
    for node in nodes.as_array().expect("a list") {
        // What a click made grow or shrink before may have moved it.
        let is_there = format!("document.getElementById({node}).getClientRects().length > 0");
        if browser.evaluate(&is_there) == false {
            continue;
        }
        browser.click(&format!(
            "document.getElementById({node}).querySelector('rect')"
        ));
        let chosen = browser.evaluate(CHOSEN);
        assert_eq!(chosen["node"], *node);
        assert_eq!(chosen["line"], chosen["marked"], "{chosen}");
        assert_eq!(chosen["seen"], true, "{chosen}");
    }
}

fn a_click_on_a_source_chooses_its_node(browser: &mut Browser) {
    let count = browser.evaluate("document.querySelectorAll('mark[data-nodes]').length");
    for at in 0..count.as_u64().expect("a number").min(12) {
        let mark = format!("document.querySelectorAll('mark[data-nodes]')[{at}]");
        browser.click(&mark);
        let of = browser.evaluate(&format!(
            "{mark}.dataset.nodes.split(' ').map((node) => 'n' + node)"
        ));
        let chosen = browser.evaluate("document.querySelector('.node.chosen').id");
        assert!(
            of.as_array().expect("a list").contains(&chosen),
            "{chosen} of {of}"
        );
        let marked = browser.evaluate(&format!("{mark}.classList.contains('chosen-mark')"));
        assert_eq!(marked, true);
    }
}

fn keys_go_along_the_edges(browser: &mut Browser) {
    browser.evaluate("document.getElementById('copy').focus()");
    browser.key("Tab");
    let focused = "document.activeElement.classList.contains('node') && document.activeElement.matches(':focus-visible')";
    assert_eq!(
        browser.evaluate(focused),
        true,
        "the picture is the next stop"
    );
    browser.key("Home");
    assert_eq!(browser.evaluate(CHOSEN)["node"], "n0");
    browser.key("ArrowLeft");
    let left = browser.evaluate(CHOSEN);
    assert_eq!(left["to"], "n0");
    let outline = "getComputedStyle(document.activeElement.querySelector('rect')).outlineStyle";
    assert_eq!(browser.evaluate(outline), "solid", "where one is, is seen");
    browser.key("ArrowDown");
    let below = browser.evaluate(CHOSEN);
    browser.key("ArrowUp");
    assert_eq!(browser.evaluate(CHOSEN), left);
    assert_ne!(below["node"], "n0");
    browser.key("ArrowRight");
    assert_eq!(browser.evaluate(CHOSEN)["node"], "n0");
    let announced = browser.evaluate("document.getElementById('chosen').textContent");
    let name = browser.evaluate("document.getElementById('n0').dataset.name");
    assert_eq!(announced, name);
}

fn nodes_grow_and_fold(browser: &mut Browser) {
    let seen = "[...document.querySelectorAll('.node')].filter((node) => node.getClientRects().length > 0).length";
    let all = browser.evaluate("document.querySelectorAll('.node').length");
    browser.click("document.getElementById('grow')");
    assert_eq!(browser.evaluate(seen), all);
    // The node that the first operands lead to: a key takes them away, and brings them back.
    let inner = browser.evaluate(
        "(() => { const inner = [...document.querySelectorAll('.node')].find((node) => node.dataset.to !== '0' && node.id !== 'n0');
                  return inner ? 'n' + inner.dataset.to : null; })()",
    );
    if inner != Value::Null {
        browser.evaluate(&format!("document.getElementById({inner}).focus()"));
        browser.click(&format!(
            "document.getElementById({inner}).querySelector('rect')"
        ));
        let first = browser.evaluate(seen);
        browser.key("Enter");
        let second = browser.evaluate(seen);
        assert_ne!(first, second);
        let more = browser.evaluate(
            "[...document.querySelectorAll('.node')].filter((node) => node.getAttribute('aria-expanded') === 'false').length",
        );
        assert_eq!(more, 1, "a node says that there is more behind it");
        browser.click("document.getElementById('grow')");
        assert_eq!(browser.evaluate(seen), all);
    }
    browser.click("document.getElementById('fold')");
    let pressed = "document.getElementById('fold').getAttribute('aria-pressed')";
    assert_eq!(browser.evaluate(pressed), "true");
    let folded = browser.evaluate(
        "[...document.querySelectorAll('.node')].filter((node) => node.getClientRects().length > 0).map((node) => [node.id, node.dataset.to, node.dataset.file])",
    );
    let folded = folded.as_array().expect("a list");
    let files: BTreeMap<&str, &str> = folded
        .iter()
        .map(|node| (text(&node[0]), text(&node[2])))
        .collect();
    for node in folded {
        let to = format!("n{}", text(&node[1]));
        let is_first = to == "n0";
        let next = files.get(to.as_str());
        assert!(
            is_first || next != Some(&text(&node[2])),
            "{node} is not folded"
        );
    }
    browser.click("document.getElementById('fold')");
    assert_eq!(browser.evaluate(seen), all);
}

fn it_is_read_aloud(browser: &mut Browser, page: &Page) {
    let tree = browser.call("Accessibility.getFullAXTree", json!({}));
    let nodes = tree["nodes"].as_array().expect("a tree");
    let by_id: BTreeMap<&str, &Value> = nodes
        .iter()
        .map(|node| (text(&node["nodeId"]), node))
        .collect();
    let role = |node: &Value| node["role"]["value"].as_str().unwrap_or("").to_owned();
    let name = |node: &Value| node["name"]["value"].as_str().unwrap_or("").to_owned();
    let named = |wanted: &str| {
        let found = nodes.iter().filter(|node| role(node) == wanted);
        found.map(&name).collect::<Vec<String>>()
    };
    let buttons = named("button");
    for button in ["Show everything", "Fold by file", "Save SVG", "Copy JSON"] {
        assert!(
            buttons.iter().any(|name| name == button),
            "{button}: {buttons:?}"
        );
    }
    assert!(buttons.iter().all(|name| !name.is_empty()), "{buttons:?}");
    for landmark in ["main", "banner", "contentinfo"] {
        assert_eq!(named(landmark).len(), 1, "{landmark}");
    }
    let headings = named("heading");
    let headline = page.text.lines().next().expect("the answer has a line");
    assert!(
        headings.contains(&headline.replace("   ", ", ")),
        "{headings:?}"
    );
    assert!(headings.iter().any(|name| name == "The same as a list"));
    assert_eq!(named("table").len(), browser_tables(page));

    // Each item of the list says where it is, in a link.
    let items: Vec<&Value> = nodes
        .iter()
        .filter(|node| role(node) == "listitem")
        .collect();
    let mut speaking = 0;
    for item in &items {
        let mut pending = vec![*item];
        let mut words = Vec::new();
        while let Some(node) = pending.pop() {
            if role(node) == "link" || role(node) == "StaticText" {
                words.push(name(node));
            }
            let children = node["childIds"].as_array().into_iter().flatten();
            pending.extend(children.filter_map(|id| by_id.get(text(id)).copied()));
        }
        assert!(words.iter().any(|word| !word.is_empty()));
        speaking += usize::from(words.iter().any(|word| word.contains(':')));
    }
    assert!(
        speaking
            >= page
                .dot
                .lines()
                .filter(|line| line.contains("[label="))
                .count()
    );
}

fn browser_tables(page: &Page) -> usize {
    let elements = page.json["elements"].as_array().expect("a list");
    1 + usize::from(!elements.is_empty())
}

fn it_can_be_taken_along(browser: &mut Browser, page: &Page) {
    browser.click("document.getElementById('copy')");
    browser.wait_for("document.getElementById('done').textContent === 'copied'");
    let copied = browser.evaluate("navigator.clipboard.readText()");
    let copied: Value = serde_json::from_str(text(&copied)).expect("JSON was copied");
    assert_eq!(copied, page.json);

    let saved = browser.folder.join("why.svg");
    let _ = fs::remove_file(&saved);
    browser.click("document.getElementById('save')");
    let begun = Instant::now();
    let svg = loop {
        match fs::read_to_string(&saved) {
            Ok(svg) if svg.ends_with("</svg>") => break svg,
            _ => assert!(
                begun.elapsed() < Duration::from_secs(20),
                "nothing was saved"
            ),
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    let trouble = browser.evaluate(&format!(
        "new DOMParser().parseFromString({}, 'image/svg+xml').querySelector('parsererror')?.textContent ?? ''",
        json!(svg)
    ));
    assert_eq!(trouble, "");
}

fn positions(browser: &mut Browser) -> Value {
    browser.evaluate(
        "[...document.querySelectorAll('.node, .edge')].filter((shape) => shape.getClientRects().length > 0)
           .map((shape) => shape.getAttribute('transform') ?? shape.getAttribute('d'))",
    )
}

/// What the script draws at first is what was drawn without it.
fn the_picture_stays_where_it_is(browser: &mut Browser, drawn: &Value) {
    assert_eq!(positions(browser), *drawn);
}

fn links_lead_to_lines(browser: &mut Browser) {
    let lost = browser.evaluate(
        "[...document.querySelectorAll('a[href^=\"#\"]')].filter((link) => !document.getElementById(link.hash.slice(1))).map((link) => link.hash)",
    );
    assert_eq!(lost, json!([]));
    let tools = browser.evaluate("document.querySelector('.tools').checkVisibility()");
    assert_eq!(tools, false, "buttons that do nothing are not shown");
}

fn a_filter_leaves_what_was_overridden(browser: &mut Browser) {
    let page = Page::of(&workspace(), &["examples/site.sf", "web2:web"]);
    open(browser, &page, Script::On);
    let rows = "[...document.querySelectorAll('.parts tbody tr')].filter((row) => row.getClientRects().length > 0).map((row) => row.cells[0].textContent)";
    assert!(browser.evaluate(rows).as_array().expect("a list").len() > 1);
    browser.click("document.getElementById('only')");
    assert_eq!(browser.evaluate(rows), json!(["port"]));
    assert_quiet(browser);
}

fn what_is_written_stays_text(browser: &mut Browser) {
    let hostile = "</script><script>window.broken = 1</script><img src='x' onerror='window.broken = 2'>\u{202e}\u{2028}]]>-->";
    let source = format!("sfConfig extends {{\n  // {hostile}\n  a \"{hostile}\";\n  b a;\n}}\n");
    let folder = browser.folder.clone();
    fs::write(folder.join("hostile.sf"), source).expect("the target directory can be written");
    let page = Page::of(&folder, &["hostile.sf", "b"]);
    open(browser, &page, Script::On);
    assert_eq!(browser.evaluate("window.broken ?? null"), Value::Null);
    let title = browser.evaluate("document.querySelector('.result').textContent");
    assert!(
        text(&title).starts_with("\"</script><script>window.broken"),
        "{title}"
    );
    let source = browser.evaluate("document.querySelector('.pane').textContent");
    assert!(text(&source).contains("⟨U+202E⟩⟨U+2028⟩]]>-->"), "{source}");
    let unseen = browser.evaluate("/[\\u202e\\u2028]/.test(document.body.innerText)");
    assert_eq!(unseen, false);
    let carried = browser.evaluate("JSON.parse(document.getElementById('answer').textContent)");
    assert_eq!(carried, page.json);
    assert_quiet(browser);
}

fn a_large_answer_is_a_page_of_bounded_size(browser: &mut Browser) {
    let terms: Vec<String> = (0..10_000).map(|term| format!("$T{term}")).collect();
    let definitions: String = (0..10_000)
        .map(|term| format!("private T{term} => {term}\n"))
        .collect();
    let source = format!("{definitions}All => {}\n", terms.join(" + "));
    let list: Vec<String> = (0..20_000).map(|item| item.to_string()).collect();
    let source = format!("{source}List => [{}]\n", list.join(", "));
    let folder = browser.folder.clone();
    fs::write(folder.join("large.cf2"), source).expect("the target directory can be written");
    for (path, dependences) in [("All", 20_000), ("List", 1)] {
        let begun = Instant::now();
        let page = Page::of(&folder, &["large.cf2", path]);
        let depends = page.json["depends"].as_array().expect("a list").len();
        assert!(depends >= dependences, "{depends}");
        assert!(page.html.len() < 6 << 20, "{} bytes", page.html.len());
        open(browser, &page, Script::On);
        let seen = browser.evaluate(
            "[[...document.querySelectorAll('.node')].filter((node) => node.getClientRects().length > 0).length,
              document.querySelectorAll('.node').length, document.querySelectorAll('*').length,
              [...document.querySelectorAll('.note')].some((note) => /more/.test(note.textContent))]",
        );
        let number = |at: usize| seen[at].as_u64().expect("a number");
        assert!(
            number(0) <= 50 && number(1) <= 500 && number(2) < 12_000,
            "{seen}"
        );
        assert_eq!(seen[3], true, "it says how many more there are");
        assert_quiet(browser);
        assert!(
            begun.elapsed() < Duration::from_secs(60),
            "{:?}",
            begun.elapsed()
        );
    }
}

/// A question, and its answers in all forms.
struct Page {
    text: String,
    json: Value,
    dot: String,
    html: String,
}

impl Page {
    fn of(folder: &Path, question: &[&str]) -> Self {
        let ask = |format: &str| {
            let output = Command::new(env!("CARGO_BIN_EXE_hence"))
                .arg("why")
                .args(question)
                .args(["--format", format])
                .current_dir(folder)
                .output()
                .expect("hence can be run");
            assert!(
                output.status.success(),
                "{}",
                String::from_utf8_lossy(&output.stderr)
            );
            String::from_utf8(output.stdout).expect("answers are text")
        };
        Self {
            text: ask("text"),
            json: serde_json::from_str(&ask("json")).expect("it is JSON"),
            dot: ask("dot"),
            html: ask("html"),
        }
    }
}

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn open(browser: &mut Browser, page: &Page, script: Script) {
    let file = browser.folder.join("page.html");
    fs::write(&file, &page.html).expect("the target directory can be written");
    let file = file.canonicalize().expect("it was just written");
    browser.go(&format!("file://{}", file.display()), script);
}

/// A picture that is saved is handed over inside of the browser; else a page asks for nothing but itself.
fn assert_quiet(browser: &mut Browser) {
    assert_eq!(browser.assert_quiet(&["file://", "blob:"]), 1);
}
