//! What the closure paper says of a language of commands, corrected, for transactions on XML: over random commands, from
//! random documents. And engines with known faults, in which these very tests find something.

use hence_model::random::Random;
use hence_model::source::Sources;
use hence_xml::command::{self, Command, Write};
use hence_xml::document::{self, Document};
use hence_xml::dtd::Dtd;
use hence_xml::path::NOT_STATELESS;
use hence_xml::reduction::{is_wider, reduce};
use hence_xml::state;
use hence_xml::transaction::{self, NOTHING_THERE, Nowhere, Work};

use crate::cases;
use crate::simple::{self, Element, Fault, Item, Order, order, orders, printed};

const CASES: u64 = 20_000;

/// Does commands on a document; none if something is against it.
trait Engine {
    fn run(&self, start: &Element, orders: &[&Order]) -> Option<Element>;
}

/// The one of Hence.
struct Hence;

/// The simple one, with a fault.
struct Simple(Fault);

impl Engine for Hence {
    fn run(&self, start: &Element, orders: &[&Order]) -> Option<Element> {
        let loaded = Loaded::new(start, orders);
        let commands: Vec<&Command> = loaded.commands.iter().collect();
        loaded.perform(&commands)
    }
}

impl Engine for Simple {
    fn run(&self, start: &Element, orders: &[&Order]) -> Option<Element> {
        let mut element = start.clone();
        for order in orders {
            element.perform(order, self.0)?;
        }
        Some(element)
    }
}

/// A document and a script, as Hence reads them.
struct Loaded {
    sources: Sources,
    document: Document,
    commands: Vec<Command>,
}

impl Loaded {
    fn new(start: &Element, orders: &[&Order]) -> Self {
        let mut sources = Sources::default();
        let file = sources.add("start.xml", &start.canonical()).unwrap();
        let (document, _) = document::read(&sources, file).unwrap();
        let lines: Vec<String> = orders.iter().map(|order| order.print()).collect();
        let file = sources.add("script", &lines.join("\n")).unwrap();
        let commands = command::parse(&sources, file).unwrap();
        assert_eq!(commands.len(), orders.len(), "{lines:?}");
        Self {
            sources,
            document,
            commands,
        }
    }

    fn perform(&self, commands: &[&Command]) -> Option<Element> {
        let dtd = Dtd::default();
        let mut work = Work::new(&self.sources, self.document.clone(), &dtd);
        commands.iter().for_each(|command| work.perform(command));
        let (document, notes) = work.finish();
        // That a command finds nothing is looked at when it is committed, and no part of what it does.
        let is_good = notes.iter().all(|note| note.code == NOTHING_THERE);
        is_good.then(|| Element::of(&self.sources, &document.tree, document.root()))
    }
}

/// How many of some random cases hold, and how many do not; some say nothing.
#[derive(Debug, Default, PartialEq, Eq)]
struct Tally {
    holds: u64,
    fails: u64,
    first: Option<String>,
}

impl Tally {
    /// Over some more cases than are wanted, as some say nothing.
    fn over(cases: u64, mut case: impl FnMut(&mut Random) -> Option<Result<(), String>>) -> Self {
        let mut tally = Self::default();
        for seed in 0..cases * 3 / 2 {
            match case(&mut Random::new(seed)) {
                None => {}
                Some(Ok(())) => tally.holds += 1,
                Some(Err(why)) => {
                    tally.fails += 1;
                    tally.first.get_or_insert(why);
                }
            }
        }
        tally
    }

    /// It always holds, and there was something to hold.
    fn always(&self, least: u64) {
        println!("{} cases", self.holds);
        assert_eq!(
            self.fails,
            0,
            "{}",
            self.first.as_deref().unwrap_or_default()
        );
        assert!(self.holds >= least, "only {} cases", self.holds);
    }
}

fn compared(one: &Element, other: &Element, what: impl FnOnce() -> String) -> Result<(), String> {
    match one.normal() == other.normal() {
        true => Ok(()),
        false => Err(format!(
            "{}\n{}\n{}",
            what(),
            one.canonical(),
            other.canonical()
        )),
    }
}

fn lines(orders: &[&Order]) -> String {
    let lines: Vec<String> = orders.iter().map(|order| order.print()).collect();
    lines.join("\n")
}

fn statelessness(engine: &dyn Engine, cases: u64) -> Tally {
    Tally::over(cases, |random| {
        let start = simple::document(random);
        let (first, between) = (order(random), orders(random));
        let once: Vec<&Order> = between.iter().chain([&first]).collect();
        let mut repeated = once.clone();
        repeated.insert(0, &first);
        let (one, two) = (engine.run(&start, &repeated)?, engine.run(&start, &once)?);
        Some(compared(&one, &two, || {
            format!("{}\n{}", start.canonical(), lines(&repeated))
        }))
    })
}

fn idempotence(engine: &dyn Engine, cases: u64) -> Tally {
    Tally::over(cases, |random| {
        let start = simple::document(random);
        let sequence = orders(random);
        let once: Vec<&Order> = sequence.iter().collect();
        let twice: Vec<&Order> = sequence.iter().chain(&sequence).collect();
        let (one, two) = (engine.run(&start, &once)?, engine.run(&start, &twice)?);
        Some(compared(&one, &two, || {
            format!("{}\n{}", start.canonical(), lines(&once))
        }))
    })
}

#[test]
fn statelessness_only_the_last_time_counts_of_a_command_that_is_repeated() {
    statelessness(&Hence, cases(CASES)).always(cases(CASES));
}

#[test]
fn idempotence_a_sequence_may_be_repeated() {
    idempotence(&Hence, cases(CASES)).always(cases(CASES));
}

#[test]
fn idempotence_a_command_that_is_repeated_changes_no_byte() {
    let tally = Tally::over(cases(CASES), |random| {
        let start = simple::document(random);
        let command = order(random);
        let (once, twice) = (
            Hence.run(&start, &[&command])?,
            Hence.run(&start, &[&command, &command])?,
        );
        Some(match once.canonical() == twice.canonical() {
            true => Ok(()),
            false => Err(format!("{}\n{}", start.canonical(), command.print())),
        })
    });
    tally.always(cases(CASES));
}

#[test]
fn the_simple_engine_and_hence_do_the_same() {
    let tally = Tally::over(cases(CASES), |random| {
        let start = simple::document(random);
        let sequence = orders(random);
        let sequence: Vec<&Order> = sequence.iter().collect();
        let (one, two) = (
            Hence.run(&start, &sequence),
            Simple(Fault::None).run(&start, &sequence),
        );
        // What is wrong on the way, and gone in the end, only Hence forgives.
        two.as_ref()?;
        Some(match one == two {
            true => Ok(()),
            false => Err(format!(
                "{}\n{}\n{one:?}\n{two:?}",
                start.canonical(),
                lines(&sequence)
            )),
        })
    });
    tally.always(cases(CASES));
}

#[test]
fn planted_faults_are_found() {
    let cases = cases(CASES);
    statelessness(&Simple(Fault::None), cases).always(cases);
    for fault in [
        Fault::Precondition,
        Fault::FirstWins,
        Fault::Shifting,
        Fault::Appending,
    ] {
        let tally = statelessness(&Simple(fault), cases);
        println!(
            "{fault:?}: {} of {}",
            tally.fails,
            tally.fails + tally.holds
        );
        assert!(tally.fails > 0, "{fault:?} is not found");
    }
    assert!(idempotence(&Simple(Fault::Appending), cases).fails > 0);
}

/// The example of the paper for `add`, in which the text of a member is its key: with `assert` beside it, it is not
/// stateless. So a key is an attribute, which no command changes.
#[test]
fn a_key_that_commands_can_change_is_not_stateless() {
    let member = |text: &str| Element {
        name: "goo".into(),
        attributes: Default::default(),
        children: vec![Item::Text(text.into())],
    };
    let root = vec![("bar".to_owned(), simple::By::Name)];
    let goo = |by| ("goo".to_owned(), by);
    let add = Order::Add(
        root.clone(),
        goo(simple::By::Text("20".into())),
        member("20"),
    );
    let family = vec![root[0].clone(), goo(simple::By::Name)];
    let assert = Order::Assert(family, vec![Item::Text("16".into())]);
    let start = Element {
        name: "bar".into(),
        attributes: Default::default(),
        children: Vec::new(),
    };
    let engine = Simple(Fault::TextIsKey);
    let run = |orders: &[&Order]| engine.run(&start, orders).unwrap().canonical();
    assert_eq!(
        run(&[&add, &assert, &add]),
        "<bar><goo>16</goo><goo>20</goo></bar>"
    );
    assert_eq!(run(&[&assert, &add]), "<bar><goo>20</goo></bar>");
    let mut sources = Sources::default();
    let file = sources.add("script", &add.print()).unwrap();
    let refused = command::parse(&sources, file).unwrap_err();
    assert_eq!(refused[0].code, NOT_STATELESS);
}

/// In any order that has wider commands first.
fn shuffled<'c>(random: &mut Random, commands: &[&'c Command]) -> Vec<&'c Command> {
    let mut left = commands.to_vec();
    let mut made = Vec::new();
    while !left.is_empty() {
        let free: Vec<usize> = (0..left.len())
            .filter(|place| {
                !left.iter().any(|other| {
                    is_wider(other, left[*place]) && !std::ptr::eq(*other, left[*place])
                })
            })
            .collect();
        assert!(
            !free.is_empty(),
            "no command is wider than one that is wider"
        );
        made.push(left.remove(*random.pick(&free)));
    }
    made
}

#[test]
fn reducibility_a_sequence_comes_to_a_set_of_its_commands_in_any_order_with_wider_ones_first() {
    let (mut left_out, mut matters) = (0, 0);
    let tally = Tally::over(cases(CASES), |random| {
        let start = simple::document(random);
        let sequence = orders(random);
        let sequence: Vec<&Order> = sequence.iter().collect();
        let loaded = Loaded::new(&start, &sequence);
        let kept = reduce(&loaded.sources, &loaded.commands).ok()?;
        let all: Vec<&Command> = loaded.commands.iter().collect();
        let (one, two) = (
            loaded.perform(&all)?,
            loaded.perform(&shuffled(random, &kept))?,
        );
        left_out += all.len() - kept.len();
        let reversed: Vec<&Command> = kept.iter().rev().copied().collect();
        let three = loaded.perform(&reversed);
        matters += usize::from(three.is_some_and(|three| three.normal() != one.normal()));
        Some(compared(&one, &two, || {
            format!("{}\n{}", start.canonical(), lines(&sequence))
        }))
    });
    tally.always(cases(CASES));
    assert!(left_out > 1_000, "{left_out} commands are left out");
    assert!(
        matters > 1_000,
        "the other way round, {matters} come to something else"
    );
}

#[test]
fn reducibility_where_nothing_is_there_to_subtract_the_assertions_alone_do_it() {
    let mut subtractions = 0;
    let tally = Tally::over(cases(CASES), |random| {
        let mut start = simple::document(random);
        let sequence = orders(random);
        for order in &sequence {
            if let Order::Subtract(..) = order {
                start.perform(order, Fault::Shifting);
            }
        }
        let sequence: Vec<&Order> = sequence.iter().collect();
        let loaded = Loaded::new(&start, &sequence);
        let kept = reduce(&loaded.sources, &loaded.commands).ok()?;
        let all: Vec<&Command> = loaded.commands.iter().collect();
        let is_assertion = |command: &&&Command| !matches!(command.write, Write::Without(_));
        let assertions: Vec<&Command> = kept.iter().filter(is_assertion).copied().collect();
        let (one, two) = (
            loaded.perform(&all)?,
            loaded.perform(&shuffled(random, &assertions))?,
        );
        subtractions += kept.len() - assertions.len();
        Some(compared(&one, &two, || {
            format!("{}\n{}", start.canonical(), lines(&sequence))
        }))
    });
    tally.always(cases(CASES));
    assert!(
        subtractions > 1_000,
        "{subtractions} subtractions are left out"
    );
}

#[test]
fn convergence_what_is_in_effect_changes_nothing_when_it_is_done_again() {
    let tally = Tally::over(cases(CASES), |random| {
        let start = simple::document(random);
        let sequence = orders(random);
        let sequence: Vec<&Order> = sequence.iter().collect();
        let loaded = Loaded::new(&start, &sequence);
        let kept = reduce(&loaded.sources, &loaded.commands).ok()?;
        let twice: Vec<&Command> = kept.iter().chain(&kept).copied().collect();
        let (one, two) = (loaded.perform(&kept)?, loaded.perform(&twice)?);
        Some(compared(&one, &two, || {
            format!("{}\n{}", start.canonical(), lines(&sequence))
        }))
    });
    tally.always(cases(CASES));
}

#[test]
fn representability_a_document_is_the_commands_that_make_it_and_none_of_them_takes_back() {
    let mut members = 0;
    let tally = Tally::over(cases(CASES), |random| {
        let element = simple::document(random);
        let loaded = Loaded::new(&element, &[]);
        let script = state::commands(&loaded.sources, loaded.document, &Dtd::default());
        let mut sources = Sources::default();
        let file = sources.add("other.xml", "<other/>").unwrap();
        let (document, dtd) = document::read(&sources, file).unwrap();
        let file = sources.add("state", &script).unwrap();
        let commands = command::parse(&sources, file).unwrap();
        assert!(
            !commands
                .iter()
                .any(|one| matches!(one.write, Write::Without(_)))
        );
        members += commands.len() - 1;
        // The document first, and the rest in any order.
        let mut work = Work::new(&sources, document, &dtd);
        let set: Vec<&Command> = commands.iter().collect();
        shuffled(random, &set)
            .into_iter()
            .for_each(|command| work.perform(command));
        let (document, notes) = work.finish();
        assert!(notes.is_empty(), "{script}{notes:?}");
        let again = Element::of(&sources, &document.tree, document.root());
        Some(compared(&element, &again, || script))
    });
    tally.always(cases(CASES));
    assert!(members > 1_000, "{members}");
}

#[test]
fn independence_commands_that_write_nothing_in_common_may_change_places() {
    let tally = Tally::over(cases(CASES) * 2, |random| {
        let start = simple::document(random);
        let (first, second) = (order(random), order(random));
        let loaded = Loaded::new(&start, &[&first, &second]);
        let [one, two] = &loaded.commands[..] else {
            unreachable!("there are two")
        };
        let steps = one.target().into_iter().zip(two.target());
        if steps.clone().all(|(one, two)| one.meets(two)) {
            return None;
        }
        let (here, there) = (loaded.perform(&[one, two])?, loaded.perform(&[two, one])?);
        Some(compared(&here, &there, || lines(&[&first, &second])))
    });
    tally.always(cases(CASES));
}

#[test]
fn clarity_what_a_command_says_is_so_whatever_the_document_was() {
    let tally = Tally::over(cases(CASES), |random| {
        let start = simple::document(random);
        let command = order(random);
        let end = Hence.run(&start, &[&command])?;
        let loaded = Loaded::new(&end, &[&command]);
        let dtd = Dtd::default();
        let mut path = loaded.commands[0].path.clone();
        let wanted = match &command {
            Order::Document(element) => vec![element.canonical(); 1],
            Order::Assert(_, items) => {
                let found =
                    transaction::show(&loaded.sources, loaded.document.clone(), &dtd, &path)
                        .unwrap_or_default();
                let is_so = |one: &String| {
                    one.ends_with(&format!(
                        ">{}</{}>",
                        printed(items),
                        path.steps.last().unwrap().name
                    ))
                };
                return Some(match found.iter().all(is_so) {
                    true => Ok(()),
                    false => Err(format!(
                        "{}\n{}\n{found:?}",
                        start.canonical(),
                        command.print()
                    )),
                });
            }
            Order::Add(_, _, member) => {
                let parents =
                    transaction::show(&loaded.sources, loaded.document.clone(), &dtd, &path)
                        .unwrap_or_default();
                vec![member.canonical(); parents.len()]
            }
            Order::Subtract(..) => Vec::new(),
        };
        path.steps = loaded.commands[0].target().into_iter().cloned().collect();
        let found = transaction::show(&loaded.sources, loaded.document.clone(), &dtd, &path)
            .unwrap_or_default();
        Some(match found == wanted {
            true => Ok(()),
            false => Err(format!(
                "{}\n{}\n{found:?}",
                start.canonical(),
                command.print()
            )),
        })
    });
    tally.always(cases(CASES));
}

#[test]
fn a_committed_transaction_does_what_its_commands_do_one_by_one() {
    let tally = Tally::over(cases(CASES), |random| {
        let start = simple::document(random);
        let sequence = orders(random);
        let sequence: Vec<&Order> = sequence.iter().collect();
        let mut loaded = Loaded::new(&start, &sequence);
        let one = Hence.run(&start, &sequence)?;
        let dtd = Dtd::default();
        let text = transaction::commit(
            &mut loaded.sources,
            loaded.document,
            &dtd,
            &loaded.commands,
            Nowhere::Allow,
        );
        let text = text.ok()?.text;
        let file = loaded.sources.add("end.xml", &text).unwrap();
        let (document, _) = document::read(&loaded.sources, file).unwrap();
        let two = Element::of(&loaded.sources, &document.tree, document.root());
        Some(compared(&one, &two, || lines(&sequence)))
    });
    tally.always(cases(CASES));
}

#[test]
fn a_committed_transaction_is_committed_again_and_changes_nothing() {
    let tally = Tally::over(cases(CASES), |random| {
        let start = simple::document(random);
        let sequence = orders(random);
        let sequence: Vec<&Order> = sequence.iter().collect();
        let commit = |text: &str| {
            let mut sources = Sources::default();
            let file = sources.add("start.xml", text).unwrap();
            let (document, dtd) = document::read(&sources, file).unwrap();
            let file = sources.add("script", &lines(&sequence)).unwrap();
            let commands = command::parse(&sources, file).unwrap();
            let new = transaction::commit(&mut sources, document, &dtd, &commands, Nowhere::Allow);
            Some(new.ok()?.text)
        };
        let once = commit(&start.canonical())?;
        let Some(twice) = commit(&once) else {
            return Some(Err(format!(
                "{}\n{}\n{once}",
                start.canonical(),
                lines(&sequence)
            )));
        };
        let element = |text: &str| {
            let mut sources = Sources::default();
            let file = sources.add("end.xml", text).unwrap();
            let (document, _) = document::read(&sources, file).unwrap();
            Element::of(&sources, &document.tree, document.root())
        };
        Some(compared(&element(&once), &element(&twice), || {
            lines(&sequence)
        }))
    });
    tally.always(cases(CASES));
}
