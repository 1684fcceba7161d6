//! What transactions write, `xmllint` reads as it was meant, and as valid exactly if Hence says so.

use hence_model::random::Random;
use hence_model::source::Sources;
use hence_model::work::steps_of;
use hence_xml::command::{self, Command};
use hence_xml::reduction::reduce;
use hence_xml::state;
use hence_xml::transaction::{Nowhere, Work, commit};
use hence_xml::validity;

use crate::cases;
use crate::generate::{self, NAMES, Type, one};
use crate::judge::{canonical, read, xmllint};
use crate::simple::{self, Fault, Order, orders};
use crate::valid::unambiguous;

#[test]
fn the_judge_reads_what_a_simple_engine_would_write() {
    let (mut written, mut wanted) = (Vec::new(), Vec::new());
    for seed in 0..cases(6_000) {
        let mut random = Random::new(seed);
        let start = simple::document(&mut random);
        let sequence = orders(&mut random);
        let mut read = read(&start.canonical()).expect("it is well-formed");
        let lines: Vec<String> = sequence.iter().map(Order::print).collect();
        let file = read.sources.add("script", &lines.join("\n")).unwrap();
        let commands = command::parse(&read.sources, file).expect("these are commands");
        let Ok(kept) = reduce(&read.sources, &commands) else {
            continue;
        };
        let place = |kept: &&Command| commands.iter().position(|one| std::ptr::eq(one, *kept));
        let kept: Vec<usize> = kept.iter().filter_map(place).collect();
        let text = commit(
            &mut read.sources,
            read.document,
            &read.dtd,
            &commands,
            Nowhere::Allow,
        );
        let mut simply = start.clone();
        let done = kept
            .iter()
            .try_for_each(|place| simply.perform(&sequence[*place], Fault::None));
        // What is wrong on the way, and gone in the end, only Hence forgives.
        if done.is_none() {
            continue;
        }
        match text {
            Ok(new) => {
                written.push(new.text);
                wanted.push(simply.canonical());
            }
            Err(troubles) => panic!("{}\n{lines:?}\n{troubles:?}", start.canonical()),
        }
    }
    assert!(
        written.len() * 2 > cases(6_000) as usize,
        "{}",
        written.len()
    );
    let found = canonical("canonical", &written);
    if found != wanted.concat() {
        let differs = written
            .iter()
            .zip(&wanted)
            .find(|(one, two)| canonical("canonical-one", &[(*one).clone()]) != **two);
        panic!("{differs:?}");
    }
    println!("{} documents", written.len());
}

/// What is in an element, as text.
fn inside(text: &str) -> &str {
    let start = text.find('>').map_or(0, |place| place + 1);
    let end = text.rfind("</").unwrap_or(start);
    &text[start.min(end)..end]
}

fn line(random: &mut Random, kind: &Type) -> Option<String> {
    let name = one(random, &NAMES);
    let element = |random: &mut Random, name: &str| {
        let mut text = String::new();
        let wrong = if random.chance(70) { 0 } else { 6 };
        kind.element(random, name, 2, &mut 12, wrong, &mut text);
        text
    };
    Some(match random.below(5) {
        0 => format!("assert /r {}", inside(&element(random, "r"))),
        1 => format!("assert /r/{name} {}", inside(&element(random, name))),
        2 => format!(
            "assert /r/{name}[{}] {}",
            1 + random.below(2),
            inside(&element(random, name))
        ),
        3 => format!("subtract /r {name}"),
        _ => {
            let text = element(random, name);
            let head = &text[..text.find('>')?];
            let key = ["i", "n", "k"]
                .into_iter()
                .find(|key| head.contains(&format!(" {key}=\"")))?;
            format!("add /r @{key} {text}")
        }
    })
}

#[test]
fn the_judge_accepts_a_new_document_exactly_if_it_is_committed() {
    let (mut texts, mut verdicts, mut scripts) = (Vec::new(), Vec::new(), Vec::new());
    let wanted = cases(4_000) as usize;
    for seed in 0.. {
        if texts.len() == wanted {
            break;
        }
        let mut random = Random::new(seed);
        let kind = unambiguous(&mut random);
        let start = kind.document(&mut random);
        let mut read = read(&start).expect("it is well-formed");
        let lines: Vec<String> = (0..1 + random.below(2))
            .filter_map(|_| line(&mut random, &kind))
            .collect();
        let script = lines.join("\n");
        let file = read.sources.add("script", &script).unwrap();
        let commands = command::parse(&read.sources, file)
            .unwrap_or_else(|troubles| panic!("{script}\n{troubles:?}"));
        let Ok(kept) = reduce(&read.sources, &commands) else {
            continue;
        };
        let mut work = Work::new(&read.sources, read.document.clone(), &read.dtd);
        kept.iter().for_each(|command| work.perform(command));
        let (document, notes) = work.finish();
        if !notes.is_empty() {
            continue;
        }
        let troubles = validity::check(&read.sources, &document, &read.dtd);
        let text = document.write(&read.sources).text;
        let committed = commit(
            &mut read.sources,
            read.document,
            &read.dtd,
            &commands,
            Nowhere::Refuse,
        );
        assert_eq!(
            committed.is_ok(),
            troubles.is_empty(),
            "{start}\n{script}\n{committed:?}"
        );
        if let Ok(committed) = &committed {
            assert_eq!(committed.text, text);
        }
        texts.push(text);
        verdicts.push(committed.is_ok());
        scripts.push(format!("{start}\n{script}\n{troubles:?}"));
    }
    let judged = xmllint("committed", &["--valid"], &texts);
    for (place, judged) in judged.iter().enumerate() {
        let is_valid = !judged.is_malformed() && !judged.has("validity error :");
        assert_eq!(
            is_valid, verdicts[place],
            "{}\n{}\n{judged:?}",
            scripts[place], texts[place]
        );
    }
    let committed = verdicts.iter().filter(|verdict| **verdict).count();
    println!("{committed} of {wanted} committed");
    assert!(
        committed * 10 > wanted && committed * 10 < wanted * 9,
        "{committed} of {wanted}"
    );
}

#[test]
fn all_but_the_content_that_is_asserted_stays_byte_for_byte() {
    let mut changed = 0;
    for seed in 0..cases(8_000) {
        let mut random = Random::new(seed);
        let text = crate::generate::document(&mut random);
        let Ok(mut read) = read(&text) else { continue };
        // A way to some element, by positions.
        let mut path = String::new();
        let mut at = read.document.root();
        let mut place = 1;
        loop {
            let tree = &read.document.tree;
            let element = tree.element(at).expect("only elements are walked to");
            path.push_str(&format!("/{}[{place}]", read.sources.slice(element.name)));
            let children: Vec<usize> = element
                .children
                .iter()
                .copied()
                .filter(|id| tree.element(*id).is_some())
                .collect();
            if children.is_empty() || random.chance(40) {
                break;
            }
            at = *random.pick(&children);
            let name = |id: usize| tree.element(id).map(|one| read.sources.slice(one.name));
            let family: Vec<usize> = children
                .into_iter()
                .filter(|id| name(*id) == name(at))
                .collect();
            place = 1 + family.iter().position(|id| *id == at).expect("it is there");
        }
        let node = read.document.tree.node(at).span;
        let close = read
            .document
            .tree
            .element(at)
            .and_then(|element| element.close);
        let script = format!("assert {path} <new a='1'/>&amp;");
        let file = read.sources.add("script", &script).unwrap();
        let commands = command::parse(&read.sources, file).unwrap();
        let mut work = Work::new(&read.sources, read.document.clone(), &read.dtd);
        work.perform(&commands[0]);
        let (document, notes) = work.finish();
        if !notes.is_empty() {
            continue;
        }
        let head = &text[..node.end as usize];
        let wanted = match close {
            Some(close) => format!("{head}><new a='1'/>&amp;{}", &text[close.start as usize..]),
            None => {
                let name = path
                    .rsplit('/')
                    .next()
                    .and_then(|step| step.split('[').next());
                let behind = &text[node.end as usize + 2..];
                format!(
                    "{}><new a='1'/>&amp;</{}>{behind}",
                    head.trim_end(),
                    name.unwrap_or_default()
                )
            }
        };
        assert_eq!(document.write(&read.sources).text, wanted, "{script}");
        changed += 1;
    }
    assert!(changed as u64 * 4 > cases(8_000), "{changed}");
}

/// A document whose root has several families, most of them with a key, and whatever can stand between.
fn families(random: &mut Random) -> String {
    const BETWEEN: [&str; 8] = [
        "\n",
        "\n  ",
        "\n    ",
        "",
        "text",
        "<!-- - -->",
        "<?pi?>",
        "&amp;",
    ];
    let mut text = one(random, &["", "<!-- before -->\n", "<?pi?>"]).to_owned();
    text.push_str("<r>");
    // In most files there is only one thing between elements.
    let usual = one(random, &BETWEEN);
    let is_sorted = random.chance(60);
    let mut members: Vec<(&str, usize)> = Vec::new();
    for number in 0..random.below(8) {
        members.push((one(random, &["a", "b", "c"]), number));
    }
    if is_sorted {
        members.sort_by_key(|(name, _)| *name);
    }
    for (name, number) in members {
        let between = if random.chance(10) {
            one(random, &BETWEEN)
        } else {
            usual
        };
        text.push_str(between);
        let key = match random.chance(90) {
            true => format!(" k='{number}'"),
            false => String::new(),
        };
        let content = one(
            random,
            &["/>", "></NAME>", ">\n  <x/>\n</NAME>", ">text</NAME>"],
        );
        text.push_str(&format!("<{name}{key}{}", content.replace("NAME", name)));
    }
    text.push_str(one(random, &["\n", "", " ", usual]));
    text.push_str("</r>");
    text.push_str(one(random, &["", "\n", "<!-- behind -->"]));
    text
}

#[test]
fn a_document_is_left_as_it_is_by_its_own_state() {
    let (mut documents, mut members) = (0, 0);
    for seed in 0..cases(20_000) {
        let mut random = Random::new(seed);
        let text = match random.chance(70) {
            true => families(&mut random),
            false => generate::document(&mut random),
        };
        let Ok(mut read) = read(&text) else {
            continue;
        };
        let script = state::commands(&read.sources, read.document.clone(), &read.dtd);
        let file = read.sources.add("state", &script).unwrap();
        let commands = command::parse(&read.sources, file).expect("these are commands");
        let (sources, document, dtd) = (&read.sources, &read.document, &read.dtd);
        let mut work = Work::new(sources, document.clone(), dtd);
        for command in reduce(sources, &commands).expect("they are one document") {
            work.perform(command);
        }
        let (made, notes) = work.finish();
        assert!(notes.is_empty(), "{text}\n{script}{notes:?}");
        assert_eq!(made.write(sources).text, text, "{script}");
        documents += 1;
        members += commands.len() - 1;
    }
    assert!(
        documents > 1_000 && members > 1_000,
        "{documents} {members}"
    );
}

/// What performing a script looks at.
fn looked(document: &str, script: &str) -> usize {
    let mut read = read(document).unwrap();
    let file = read.sources.add("script", script).unwrap();
    let commands = command::parse(&read.sources, file).unwrap();
    let kept = reduce(&read.sources, &commands).unwrap();
    let mut work = Work::new(&read.sources, read.document.clone(), &read.dtd);
    kept.iter().for_each(|command| work.perform(command));
    let looked = work.looked();
    assert!(work.finish().1.is_empty());
    looked
}

#[test]
fn many_commands_on_a_large_family_look_at_each_member_a_few_times() {
    let count = 2000;
    let members: String = (0..count)
        .map(|number| format!("  <c k='{number}'/>\n"))
        .collect();
    let document = format!("<r>\n{members}</r>");
    let line = |number: usize| match number % 4 {
        0 => format!("add /r @k <c k='{number}'>again</c>\n"),
        1 => format!("add /r @k <c k='new{number}'/>\n"),
        2 => format!("subtract /r c[@k='{number}']\n"),
        _ => format!("assert /r/c[@k='{number}'] text\n"),
    };
    let script: String = (0..count).map(line).collect();
    let looked = looked(&document, &script);
    // The members and what stands between them, when they are opened; and then little for each command.
    assert!(looked <= 10 * count, "{looked}");
}

#[test]
fn many_members_are_added_to_nothing() {
    let count = 2000;
    let script: String = (0..count)
        .map(|number| format!("add /r @k <c k='{number}'/>\n"))
        .collect();
    let looked = looked("<r/>", &script);
    assert!(looked <= 10 * count, "{looked}");
}

#[test]
fn many_positions_of_a_family_look_at_each_member_a_few_times() {
    let count = 2000;
    let document = format!("<r>{}</r>", "<c>text</c>\n".repeat(count));
    let line = |number: usize| format!("assert /r/c[{}] {number}\n", number + 1);
    let script: String = (0..count).map(line).collect();
    let looked = looked(&document, &script);
    assert!(looked <= 10 * count, "{looked}");
}

#[test]
fn many_families_are_begun_without_a_look_at_the_others() {
    let count = 2000;
    let line = |number: usize| format!("add /r @k <c{number} k='1'/>\n");
    let script: String = (0..count).map(line).collect();
    let looked = looked("<r>\n  <d/>\n</r>", &script);
    assert!(looked <= 10 * count, "{looked}");
}

#[test]
fn many_mistakes_are_found_in_as_many_looks() {
    let count = 2000;
    let members = (0..count).map(|number| format!("<c k='{number}'/><d{number}/>"));
    let mut read = read(&format!("<r>{}</r>", members.collect::<String>())).unwrap();
    let lines = (0..count).map(|number| match number % 2 {
        0 => format!("assert /r/e{number} text\n"),
        _ => format!("assert /r/c[{number}] text\n"),
    });
    let script: String = lines.collect();
    let file = read.sources.add("script", &script).unwrap();
    let commands = command::parse(&read.sources, file).unwrap();
    let mut work = Work::new(&read.sources, read.document, &read.dtd);
    commands.iter().for_each(|command| work.perform(command));
    let looked = work.looked();
    assert!(looked <= 10 * count, "{looked}");
    assert_eq!(work.finish().1.len(), count);
}

#[test]
fn each_line_of_a_script_is_read_once() {
    for count in [100, 10_000] {
        let line = |number: usize| format!("assert /r/c[{}] text {number}\n", number + 1);
        let script: String = (0..count).map(line).collect();
        let mut sources = Sources::default();
        let file = sources.add("script", &script).unwrap();
        let steps = steps_of(|| {
            let commands = command::parse(&sources, file).unwrap();
            assert_eq!(commands.len(), count);
        });
        assert!(steps <= script.len() as u64, "{steps} of {}", script.len());
    }
}
