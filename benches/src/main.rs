//! `./bench` builds this program and the ones it measures, and runs it.

use hence_bench::bounds::{LARGEST_FLEET, bounds};
use hence_bench::cases::{self, CASES, Case, INHERITED_ATTRIBUTE, Selection};
use hence_bench::configuration::{Block, Configuration};
use hence_bench::contenders::{Agreement, Contender, Programs, Written};
use hence_bench::instructions::{Count, count};
use hence_bench::measure::{CommandLine, launch};
use hence_bench::nodes::{self, NODES, Nodes};
use hence_bench::reads::Reads;
use hence_bench::recording::{self, Recording};
use hence_bench::report::{self, Instructions, Measured, Results};
use hence_bench::rounds::{Measurements, Purpose};
use hence_bench::{floor, smartfrog};
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::Path;
use std::process::ExitCode;

const USAGE: &str = "\
Compares Hence, trace on, with jrsonnet and with serde_json reading and printing the same output.

usage: ./bench [options]
  --cases LIST        of fleet, deep, wide, imports, nodes; or one of them such as fleet-1000, deep-all
  --contenders LIST   of hence, hence-cf2, jrsonnet, floor
  --runs N            interleaved runs to take the median of (11)
  --deep              count instructions in every case, not only in the smallest
  --check             only check, on small cases, that the contenders print the same
  --json              results for machines

Ends with 0 if every promise holds, 1 if one does not or outputs differ, 2 if a program could not run.
";

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    let done = match arguments.split_first() {
        Some((word, rest)) if word == "floor" => match rest {
            [file] => floor::floor(Path::new(file)).map_err(Trouble::World),
            _ => Err(Trouble::Usage("usage: hence-bench floor FILE.json".into())),
        },
        Some((word, rest)) if word == "compile" => match rest {
            [file, recording] => {
                let named = |known: &Recording| recording == known.name();
                match Recording::ALL.into_iter().find(named) {
                    Some(recording) => {
                        recording::compile(Path::new(file), recording).map_err(Trouble::World)
                    }
                    None => Err(Trouble::Usage("recording is trace or none".into())),
                }
            }
            _ => Err(Trouble::Usage(
                "usage: hence-bench compile FILE.sf trace|none".into(),
            )),
        },
        Some((word, rest)) if word == "measure" => match rest {
            [output, program, arguments @ ..] => {
                let command = CommandLine::new(Path::new(program), arguments);
                launch(Path::new(output), &command).map_err(Trouble::World)
            }
            _ => Err(Trouble::Usage(
                "usage: hence-bench measure OUTPUT PROGRAM ARGUMENTS".into(),
            )),
        },
        _ => options(&arguments).and_then(|options| match options.task {
            Task::Help => {
                print!("{USAGE}");
                Ok(())
            }
            Task::Check => check(&options),
            Task::Measure => benchmark(&options),
        }),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(Trouble::Broken) => ExitCode::from(1),
        Err(Trouble::Usage(message) | Trouble::Differs(message)) => {
            eprintln!("{message}");
            ExitCode::from(1)
        }
        Err(Trouble::World(error)) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

/// Why the benchmark did not end well.
enum Trouble {
    /// It was asked for something that there is not.
    Usage(String),
    /// A contender printed something else than the others.
    Differs(String),
    /// A promise does not hold; the report says which.
    Broken,
    /// A program or a file was not there, or failed.
    World(io::Error),
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Trouble {
        Trouble::World(error)
    }
}

struct Options {
    task: Task,
    cases: Vec<&'static Case>,
    nodes: Option<Nodes>,
    contenders: Vec<Contender>,
    rounds: usize,
    counting: Counting,
    format: Format,
}

enum Task {
    Help,
    Check,
    Measure,
}

/// For which cases instructions are counted.
enum Counting {
    First,
    Every,
}

enum Format {
    Tables,
    Json,
}

impl Options {
    /// The nodes, if they and the one who can compile them are asked for.
    fn compiles_nodes(&self) -> Option<Nodes> {
        let can = self.contenders.contains(&Contender::HenceCf2);
        self.nodes.filter(|_| can)
    }
}

fn options(arguments: &[OsString]) -> Result<Options, Trouble> {
    let mut options = Options {
        task: Task::Measure,
        cases: CASES
            .iter()
            .filter(|case| case.selection == Selection::Promised)
            .collect(),
        nodes: Some(NODES),
        contenders: Contender::ALL.to_vec(),
        rounds: 11,
        counting: Counting::First,
        format: Format::Tables,
    };
    let mut words = arguments.iter().map(|word| word.to_string_lossy());
    while let Some(word) = words.next() {
        let mut value = || {
            words
                .next()
                .ok_or_else(|| Trouble::Usage(format!("{word} wants a value")))
        };
        match &*word {
            "--help" | "-h" => options.task = Task::Help,
            "--check" => options.task = Task::Check,
            "--cases" => {
                let list = value()?;
                let (nodes, cases): (Vec<&str>, Vec<&str>) =
                    list.split(',').partition(|&word| word == nodes::NAME);
                options.cases = named_cases(&cases)?;
                options.nodes = (!nodes.is_empty()).then_some(NODES);
            }
            "--contenders" => options.contenders = named_contenders(&value()?)?,
            "--runs" => {
                options.rounds = value()?
                    .parse()
                    .ok()
                    .filter(|&rounds| rounds > 0)
                    .ok_or_else(|| Trouble::Usage("--runs wants a number from 1".into()))?;
            }
            "--deep" => options.counting = Counting::Every,
            "--json" => options.format = Format::Json,
            _ => {
                return Err(Trouble::Usage(format!(
                    "there is no option {word}\n\n{USAGE}"
                )));
            }
        }
    }
    Ok(options)
}

/// A family stands for its promised cases, a name for that case.
fn named_cases(asked: &[&str]) -> Result<Vec<&'static Case>, Trouble> {
    let is_asked = |case: &Case, word: &str| {
        case.name == word || case.shape.family() == word && case.selection == Selection::Promised
    };
    match asked
        .iter()
        .find(|word| !CASES.iter().any(|case| is_asked(case, word)))
    {
        Some(word) => {
            let names = CASES.iter().map(|case| case.name);
            let names: Vec<_> = names.chain([nodes::NAME]).collect();
            Err(Trouble::Usage(format!(
                "there is no case {word}; there are {}",
                names.join(", ")
            )))
        }
        None => Ok(CASES
            .iter()
            .filter(|case| asked.iter().any(|word| is_asked(case, word)))
            .collect()),
    }
}

fn named_contenders(list: &str) -> Result<Vec<Contender>, Trouble> {
    let asked: Vec<&str> = list.split(',').collect();
    let named = |word: &str| {
        Contender::ALL
            .into_iter()
            .find(|contender| contender.name() == word)
    };
    match asked.iter().find(|word| named(word).is_none()) {
        Some(word) => Err(Trouble::Usage(format!(
            "there is no contender {word}; there are hence, hence-cf2, jrsonnet and floor"
        ))),
        None => Ok(Contender::ALL
            .into_iter()
            .filter(|contender| asked.contains(&contender.name()))
            .collect()),
    }
}

fn check(options: &Options) -> Result<(), Trouble> {
    let programs = Programs::around(std::env::current_exe()?);
    for case in &options.cases {
        let directory = programs.cases.join(format!("small-{}", case.name));
        let written = Written::write(&case.shape.small().configuration(), &directory)?;
        agree(options, &programs, case.name, &written)?;
        println!("{}: the outputs are equal", case.name);
    }
    if options.compiles_nodes().is_some() {
        written_nodes(NODES.small(), &programs, "small-nodes")?;
        println!("{}: the outputs are as expected", nodes::NAME);
    }
    Ok(())
}

fn written_nodes(
    nodes: Nodes,
    programs: &Programs,
    directory: &str,
) -> Result<nodes::Written, Trouble> {
    let written = nodes::Written::write(nodes, &programs.cases.join(directory))?;
    match written.check(programs)? {
        Agreement::Agrees => Ok(written),
        Agreement::Differs(how) => Err(Trouble::Differs(format!("{}: {how}", nodes::NAME))),
    }
}

fn benchmark(options: &Options) -> Result<(), Trouble> {
    let programs = Programs::around(std::env::current_exe()?);

    let empty = Configuration {
        prototypes: Vec::new(),
        config: Block::new(Vec::new()),
    };
    let empty = Written::write(&empty, &programs.cases.join("empty"))?;
    agree(options, &programs, "empty", &empty)?;
    let mut written = Vec::new();
    for case in &options.cases {
        eprintln!("{}: writing it, and comparing the outputs", case.name);
        let case_directory = programs.cases.join(case.name);
        let case_written = Written::write(&case.shape.configuration(), &case_directory)?;
        agree(options, &programs, case.name, &case_written)?;
        written.push((*case, case_written));
    }

    let mut commands = commands(options, &programs, &empty, &written)?;
    let nodes = match options.compiles_nodes() {
        None => None,
        Some(nodes) => {
            eprintln!("{}: writing them, and comparing the outputs", nodes::NAME);
            let written = written_nodes(nodes, &programs, nodes::NAME)?;
            commands.extend(written.commands(&programs));
            Some((nodes, written))
        }
    };
    let measurements = Measurements::take(&commands, options.rounds, |round| {
        eprintln!("round {} of {}", round + 1, options.rounds);
    })?;
    let largest_fleet = written.iter().find(|(case, _)| case.name == LARGEST_FLEET);
    let nodes = match &nodes {
        None => None,
        Some((nodes, written)) => Some(report::Nodes {
            files: written.files(),
            reads: match written.reads(&programs)? {
                Reads::Files(count) => Some(count),
                Reads::NoStrace => {
                    eprintln!("strace is not installed here: files are not counted");
                    None
                }
            },
            together: measurements
                .usage(Purpose::Nodes)
                .expect("it was run in every round"),
            apart: nodes
                .apart(&measurements)
                .expect("the sample was run in every round"),
        }),
    };
    let results = Results {
        rounds: options.rounds,
        nodes,
        contenders: options.contenders.clone(),
        bounds: bounds(
            &measurements,
            largest_fleet.map(|(_, written)| written.expected.len()),
        ),
        measurements,
        instructions: instructions(options, &programs, &written)?,
        cases: written
            .iter()
            .map(|(case, written)| Measured {
                name: case.name,
                source_bytes: written.source_bytes,
                output_bytes: written.expected.len(),
            })
            .collect(),
    };

    match options.format {
        Format::Tables => print!("{}", report::text(&results)),
        Format::Json => println!("{:#}", report::json(&results)),
    }
    match results.bounds.iter().all(|bound| bound.holds()) {
        true => Ok(()),
        false => Err(Trouble::Broken),
    }
}

fn agree(
    options: &Options,
    programs: &Programs,
    name: &str,
    written: &Written,
) -> Result<(), Trouble> {
    for contender in &options.contenders {
        if let Agreement::Differs(how) = contender.check(programs, written)? {
            let message = format!("{name}: {} prints something else: {how}", contender.name());
            return Err(Trouble::Differs(message));
        }
    }
    Ok(())
}

/// Everything that is run in a round.
fn commands(
    options: &Options,
    programs: &Programs,
    empty: &Written,
    written: &[(&Case, Written)],
) -> Result<Vec<(Purpose, CommandLine)>, Trouble> {
    let mut commands = Vec::new();
    for &contender in &options.contenders {
        commands.push((
            Purpose::Empty(contender),
            contender.compile(programs, empty),
        ));
    }
    for (case, written) in written {
        for &contender in &options.contenders {
            let purpose = Purpose::Compile(case.name, contender);
            commands.push((purpose, contender.compile(programs, written)));
        }
        if case.name == LARGEST_FLEET && options.contenders.contains(&Contender::Hence) {
            commands.extend(questions(case, programs, written)?);
        }
    }
    Ok(commands)
}

fn questions(
    case: &Case,
    programs: &Programs,
    written: &Written,
) -> io::Result<[(Purpose, CommandLine); 2]> {
    let file = written.smartfrog();
    let cases::Shape::Fleet { machines } = case.shape else {
        unreachable!("questions are asked about a fleet");
    };
    let value = format!("{}:net:mtu", cases::machine_name(machines - 1));
    let literal = smartfrog::position_of_value(&fs::read_to_string(&file)?, INHERITED_ATTRIBUTE)
        .expect("the base prototype has the attribute");
    let mut place = file.clone();
    place.push(format!(":{literal}"));
    Ok([
        (
            Purpose::Why,
            CommandLine::new(&programs.hence, ["why".into(), file.clone(), value.into()]),
        ),
        (
            Purpose::Impact,
            CommandLine::new(
                &programs.hence,
                ["impact".into(), place, "--in".into(), file],
            ),
        ),
    ])
}

/// Counts what Hence and the floor execute. Jrsonnet would take minutes under valgrind.
fn instructions(
    options: &Options,
    programs: &Programs,
    written: &[(&Case, Written)],
) -> Result<Option<Vec<Instructions>>, Trouble> {
    let counted = match options.counting {
        Counting::First => &written[..written.len().min(1)],
        Counting::Every => written,
    };
    let mut counts = Vec::new();
    for (case, written) in counted {
        for (by, command) in counted_commands(options, programs, written)? {
            let profile = written.directory.join(format!("callgrind.{by}"));
            match count(&command, &profile)? {
                Count::Instructions(count) => {
                    counts.push(Instructions {
                        case: case.name,
                        by,
                        count,
                    });
                }
                Count::NoValgrind => {
                    eprintln!("valgrind is not installed here: instructions are not counted");
                    return Ok(None);
                }
            }
        }
    }
    Ok(Some(counts))
}

/// The commands whose instructions are counted: Hence as it is, the compiler alone with the trace and
/// without, and the floor.
fn counted_commands(
    options: &Options,
    programs: &Programs,
    written: &Written,
) -> io::Result<Vec<(&'static str, CommandLine)>> {
    let mut commands = Vec::new();
    for contender in [Contender::Hence, Contender::HenceCf2, Contender::Floor] {
        if options.contenders.contains(&contender) {
            commands.push((contender.name(), contender.compile(programs, written)));
        }
    }
    if options.contenders.contains(&Contender::Hence) {
        let program = std::env::current_exe()?;
        for recording in Recording::ALL {
            let source = written.directory.join("main.sf");
            let arguments: [OsString; 3] =
                ["compile".into(), source.into(), recording.name().into()];
            commands.push((recording.name(), CommandLine::new(&program, &arguments)));
        }
    }
    Ok(commands)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(list: &str) -> Option<Vec<&'static str>> {
        Some(
            named_cases(&list.split(',').collect::<Vec<_>>())
                .ok()?
                .iter()
                .map(|case| case.name)
                .collect(),
        )
    }

    #[test]
    fn a_family_stands_for_its_promised_cases() {
        assert_eq!(
            names("deep,fleet"),
            Some(vec!["fleet-1000", "fleet-10000", "deep"])
        );
        assert_eq!(names("deep-all"), Some(vec!["deep-all"]));
        assert_eq!(names("fleet,steep"), None);
    }

    #[test]
    fn eleven_rounds_unless_told_otherwise() {
        let rounds = |words: &[&str]| {
            let words: Vec<OsString> = words.iter().map(OsString::from).collect();
            options(&words).ok().map(|options| options.rounds)
        };
        assert_eq!(rounds(&[]), Some(11));
        assert_eq!(rounds(&["--runs", "3"]), Some(3));
        assert_eq!(rounds(&["--runs", "0"]), None);
        assert_eq!(rounds(&["--runs"]), None);
    }
}
