//! `./bench` builds this program and the ones it measures, and runs it.

use hence_bench::bounds::{EMPTY, LARGEST_FLEET, bounds, is_counted};
use hence_bench::cases::{self, CASES, Case, INHERITED_ATTRIBUTE, Selection};
use hence_bench::catalogs::{self, DEFINES, Defines};
use hence_bench::configuration::{Block, Configuration};
use hence_bench::contenders::{Agreement, Contender, Programs, Written};
use hence_bench::http::{self, SIZE};
use hence_bench::instructions::{Count, count};
use hence_bench::measure::{CommandLine, launch};
use hence_bench::nodes::{self, NODES, Nodes};
use hence_bench::pools::{self, Pool};
use hence_bench::reads::Reads;
use hence_bench::recording::{self, Recording};
use hence_bench::report::{self, Instructions, Measured, Results};
use hence_bench::rounds::{Measurements, Purpose, median};
use hence_bench::service::{self, DEMAND, Demand, Part, SMALL, bare};
use hence_bench::site::{self, SITE, Site};
use hence_bench::{floor, hash, machine, smartfrog};
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::Path;
use std::process::ExitCode;

const USAGE: &str = "\
Compares Hence, trace on, with jrsonnet, with serde_json reading and printing the same output, and with the real compiler
of Puppet; its service with a bare server that has the answers; and web servers in a closure with ones configured by hand.

usage: ./bench [options]
  --cases LIST        of fleet, deep, wide, imports, nodes, defines, site, pools, service, http; or one such as
                      fleet-1000, deep-all, service-agents
  --contenders LIST   of hence, hence-cf2, jrsonnet, floor; and hence-puppet, puppet for defines and site
  --runs N            interleaved rounds to take the median of (21); puppet runs in 3 at most
  --deep              count instructions in every case, not only in the smallest
  --check             only check, on small cases, that the contenders print the same
  --json              results for machines

A run of everything also writes docs/benchmarks.md.

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
        Some((word, rest)) if word == pools::NAME => match rest {
            [pool, directory] => {
                let pool = pool.to_string_lossy();
                pools::run(&pool, Path::new(directory)).map_err(Trouble::World)
            }
            _ => Err(Trouble::Usage("usage: hence-bench pools POOL DIR".into())),
        },
        Some((word, rest)) if word == bare::NAME => match rest {
            [file] => bare::serve(Path::new(file)).map_err(Trouble::World),
            _ => Err(Trouble::Usage("usage: hence-bench bare FILE.json".into())),
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
    defines: Vec<Defines>,
    site: Option<Site>,
    pools: Vec<Pool>,
    service: Vec<Part>,
    http: Option<http::Size>,
    contenders: Vec<Contender>,
    rounds: usize,
    counting: Counting,
    format: Format,
    extent: Extent,
}

/// How much of what there is was asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Extent {
    /// Everything that is promised: what came of it is worth a page.
    Whole,
    /// Some of it.
    Part,
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

    /// The site, if it and those who are compared on it are asked for.
    fn compiles_site(&self) -> Option<Site> {
        let can = |contender| self.contenders.contains(contender);
        self.site.filter(|_| Contender::OF_CATALOGS.iter().all(can))
    }

    /// Those who are asked for, among some.
    fn among(&self, contenders: &[Contender]) -> Vec<Contender> {
        let asked = |contender: &&Contender| self.contenders.contains(contender);
        contenders.iter().filter(asked).copied().collect()
    }

    /// Whether the real compiler of Puppet is to run.
    fn needs_puppet(&self) -> bool {
        let compares = |defines: &Defines| !self.among(defines.contenders).is_empty();
        self.contenders.contains(&Contender::Puppet)
            && (self.site.is_some() || self.defines.iter().any(compares))
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
        defines: DEFINES.to_vec(),
        site: Some(SITE),
        pools: Pool::ALL.to_vec(),
        service: Part::ALL.to_vec(),
        http: Some(SIZE),
        contenders: Contender::all().collect(),
        rounds: 21,
        counting: Counting::First,
        format: Format::Tables,
        extent: Extent::Whole,
    };
    let mut words = arguments.iter().map(|word| word.to_string_lossy());
    while let Some(word) = words.next() {
        let mut value = || {
            words
                .next()
                .ok_or_else(|| Trouble::Usage(format!("{word} wants a value")))
        };
        if ["--cases", "--contenders", "--runs"].contains(&&*word) {
            options.extent = Extent::Part;
        }
        match &*word {
            "--help" | "-h" => options.task = Task::Help,
            "--check" => options.task = Task::Check,
            "--cases" => {
                let list = value()?;
                let mut words: Vec<&str> = list.split(',').collect();
                let mut take = |name: &str| {
                    let before = words.len();
                    words.retain(|word| *word != name);
                    words.len() < before
                };
                options.nodes = take(nodes::NAME).then_some(NODES);
                options.site = take(site::NAME).then_some(SITE);
                options.http = take(http::NAME).then_some(SIZE);
                let all_parts = take(service::NAME);
                options.service = Part::ALL.to_vec();
                options
                    .service
                    .retain(|part| take(part.name()) || all_parts);
                let all_pools = take(pools::NAME);
                options.pools = Pool::ALL.to_vec();
                options.pools.retain(|pool| take(pool.name()) || all_pools);
                let family = take(catalogs::FAMILY);
                options.defines = DEFINES.to_vec();
                options
                    .defines
                    .retain(|defines| take(defines.name) || family);
                options.cases = named_cases(&words)?;
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
            let names = names.chain([nodes::NAME, site::NAME, http::NAME]);
            let names = names.chain(DEFINES.iter().map(|defines| defines.name));
            let names = names.chain(Pool::ALL.map(Pool::name));
            let names = names.chain(Part::ALL.map(Part::name));
            let names: Vec<_> = names.collect();
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
    let named = |word: &str| Contender::all().find(|contender| contender.name() == word);
    match asked.iter().find(|word| named(word).is_none()) {
        Some(word) => {
            let names: Vec<_> = Contender::all().map(Contender::name).collect();
            let names = names.join(", ");
            Err(Trouble::Usage(format!(
                "there is no contender {word}; there are {names}"
            )))
        }
        None => Ok(Contender::all()
            .filter(|contender| asked.contains(&contender.name()))
            .collect()),
    }
}

fn check(options: &Options) -> Result<(), Trouble> {
    let programs = Programs::around(std::env::current_exe()?);
    prepare_puppet(options, &programs)?;
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
    if let Some(first) = options.defines.first() {
        written_defines(options, first.small(), &programs, "small-defines")?;
        println!("{}: the outputs are equal", catalogs::FAMILY);
    }
    if let Some(site) = options.compiles_site() {
        written_site(site.small(), &programs, "small-site")?;
        println!("{}: the outputs are equal", site::NAME);
    }
    if !options.service.is_empty() {
        measured_service(options, SMALL, &programs, 1)?;
        println!("{}: the answers are equal, and all hear", service::NAME);
    }
    if options.http.is_some() {
        http::measure(http::SMALL, 1)?;
        println!("{}: the answers are equal", http::NAME);
    }
    Ok(())
}

/// Says what to install if the real compiler of Puppet is asked for and not there.
fn prepare_puppet(options: &Options, programs: &Programs) -> Result<(), Trouble> {
    if !options.needs_puppet() {
        return Ok(());
    }
    if !catalogs::is_installed() {
        let words = "the real compiler of Puppet is not installed here: install puppet-agent, \
                     or name other cases with `--cases fleet,deep,wide,imports,nodes`";
        return Err(Trouble::World(io::Error::other(words)));
    }
    fs::create_dir_all(&programs.cases)?;
    Ok(programs.write_real_compiler()?)
}

fn written_defines(
    options: &Options,
    defines: Defines,
    programs: &Programs,
    directory: &str,
) -> Result<catalogs::Written, Trouble> {
    let written = catalogs::Written::write(defines, &programs.cases.join(directory))?;
    match written.check(programs, &options.among(defines.contenders))? {
        Agreement::Agrees => Ok(written),
        Agreement::Differs(how) => Err(Trouble::Differs(format!("{}: {how}", defines.name))),
    }
}

fn written_site(
    site: Site,
    programs: &Programs,
    directory: &str,
) -> Result<site::Written, Trouble> {
    let written = site::Written::write(site, &programs.cases.join(directory))?;
    match written.check(programs)? {
        Agreement::Agrees => Ok(written),
        Agreement::Differs(how) => Err(Trouble::Differs(format!("{}: {how}", site::NAME))),
    }
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

fn measured_service(
    options: &Options,
    demand: Demand,
    programs: &Programs,
    rounds: usize,
) -> Result<service::Figures, Trouble> {
    let directory = programs.cases.join(service::NAME);
    let processes = [&*programs.hence, &*programs.bench];
    Ok(service::measure(
        &options.service,
        demand,
        processes,
        &directory,
        rounds,
    )?)
}

fn benchmark(options: &Options) -> Result<(), Trouble> {
    let programs = Programs::around(std::env::current_exe()?);
    prepare_puppet(options, &programs)?;

    let empty = Configuration {
        prototypes: Vec::new(),
        config: Block::new(Vec::new()),
    };
    let empty = Written::write(&empty, &programs.cases.join("empty"))?;
    if !options.cases.is_empty() {
        agree(options, &programs, "empty", &empty)?;
    }
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
    let mut defines = Vec::new();
    for one in &options.defines {
        eprintln!("{}: writing it, and comparing the outputs", one.name);
        defines.push((*one, written_defines(options, *one, &programs, one.name)?));
    }
    commands.extend(catalog_commands(options, &programs, &defines)?);
    if let Some(site) = options.compiles_site() {
        eprintln!("{}: writing it, and comparing the outputs", site::NAME);
        commands.extend(written_site(site, &programs, site::NAME)?.commands(&programs));
    }
    let asks = commands
        .iter()
        .any(|(purpose, _)| matches!(purpose, Purpose::Why(_)));
    let mut hashed = Vec::new();
    let measurements = Measurements::take(&commands, options.rounds, |round| {
        eprintln!("round {} of {}", round + 1, options.rounds);
        if asks {
            hashed.push(hash::hash()?);
        }
        Ok(())
    })?;
    let mut figures = Vec::new();
    for &pool in &options.pools {
        eprintln!("{}: changing it, and activating", pool.name());
        let directory = programs.cases.join(pool.name());
        let rounds = options.rounds.min(5);
        let program = std::env::current_exe()?;
        figures.push((pool, pools::measure(pool, &program, &directory, rounds)?));
    }
    let service = match options.service.is_empty() {
        true => None,
        false => Some(measured_service(
            options,
            DEMAND,
            &programs,
            options.rounds,
        )?),
    };
    let http = match options.http {
        None => None,
        Some(size) => Some(http::measure(size, options.rounds)?),
    };
    if hashed.is_empty() && !figures.is_empty() {
        hashed.push(hash::hash()?);
    }
    let instructions = instructions(options, &programs, &commands, &written, &defines)?;
    let counts = instructions.as_deref().unwrap_or_default();
    let mut bounds = bounds(&measurements, largest_fleet_output(&written), counts);
    for (pool, figures) in &figures {
        bounds.extend(figures.bounds(*pool));
    }
    bounds.extend(service.iter().flat_map(service::Figures::bounds));
    bounds.extend(http.iter().flat_map(http::Figures::bounds));
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
        hash: (!hashed.is_empty()).then(|| median(hashed.into_iter())),
        contenders: options.among(&Contender::OF_CONFIGURATIONS),
        bounds,
        pools: figures,
        service,
        http,
        measurements,
        instructions,
        catalogs: defines
            .iter()
            .map(|(defines, written)| report::Catalog {
                name: defines.name,
                source_bytes: written.source_bytes(),
            })
            .collect(),
        cases: written
            .iter()
            .map(|(case, written)| Measured {
                name: case.name,
                source_bytes: written.source_bytes,
                output_bytes: written.expected.len(),
            })
            .collect(),
    };

    if options.extent == Extent::Whole {
        fs::write(PAGE, page(&programs, &results))?;
        eprintln!("{PAGE} is written");
    }
    match options.format {
        Format::Tables => print!("{}", report::text(&results)),
        Format::Json => println!("{:#}", report::json(&results)),
    }
    match results.bounds.iter().all(|bound| bound.holds()) {
        true => Ok(()),
        false => Err(Trouble::Broken),
    }
}

/// Where the results of a whole run stand, for people.
const PAGE: &str = "docs/benchmarks.md";

fn page(programs: &Programs, results: &Results) -> String {
    let described = machine::described(programs).into_iter();
    let described = described.map(|(what, value)| format!("| {what} | {value} |\n"));
    format!(
        "# Benchmarks\n\n\
         What `./bench` measured, written by it. It installs what it compares with, measures everything in one run, one\n\
         after the other in turns, and compares the medians: ratios of one run say something on other machines, too.\n\
         `./bench --deep` adds instruction counts in every case, and tries many more random inputs than the tests do.\n\n\
         | | |\n|---|---|\n{}\n{}",
        described.collect::<String>(),
        report::page(results)
    )
}

/// How much the largest fleet prints, if it is among the cases.
fn largest_fleet_output(written: &[(&Case, Written)]) -> Option<usize> {
    let mut cases = written.iter();
    let largest = cases.find(|(case, _)| case.name == LARGEST_FLEET);
    largest.map(|(_, written)| written.expected.len())
}

fn agree(
    options: &Options,
    programs: &Programs,
    name: &str,
    written: &Written,
) -> Result<(), Trouble> {
    for contender in options.among(&Contender::OF_CONFIGURATIONS) {
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
    if written.is_empty() {
        return Ok(commands);
    }
    let contenders = options.among(&Contender::OF_CONFIGURATIONS);
    for &contender in &contenders {
        commands.push((
            Purpose::Empty(contender),
            contender.compile(programs, empty),
        ));
    }
    for (case, written) in written {
        for &contender in &contenders {
            let purpose = Purpose::Compile(case.name, contender);
            commands.push((purpose, contender.compile(programs, written)));
        }
        if case.name == LARGEST_FLEET {
            for &contender in contenders
                .iter()
                .filter(|one| Contender::OURS.contains(one))
            {
                commands.extend(questions(case, programs, written, contender)?);
            }
        }
    }
    Ok(commands)
}

fn questions(
    case: &Case,
    programs: &Programs,
    written: &Written,
    contender: Contender,
) -> io::Result<[(Purpose, CommandLine); 2]> {
    let cases::Shape::Fleet { machines } = case.shape else {
        unreachable!("questions are asked about a fleet");
    };
    let machine = cases::machine_name(machines - 1);
    let (file, assigned, value) = match contender {
        Contender::HenceCf2 => (
            written.cf2(),
            format!("{INHERITED_ATTRIBUTE} =>"),
            format!("{machine}.net.mtu"),
        ),
        _ => (
            written.smartfrog(),
            INHERITED_ATTRIBUTE.to_string(),
            format!("{machine}:net:mtu"),
        ),
    };
    let literal = smartfrog::position_of_value(&fs::read_to_string(&file)?, &assigned)
        .expect("the base prototype has the attribute");
    let mut place = file.clone();
    place.push(format!(":{literal}"));
    Ok([
        (
            Purpose::Why(contender),
            CommandLine::new(&programs.hence, ["why".into(), file.clone(), value.into()]),
        ),
        (
            Purpose::Impact(contender),
            CommandLine::new(
                &programs.hence,
                ["impact".into(), place, "--in".into(), file],
            ),
        ),
    ])
}

/// What is run in a round for catalogs.
fn catalog_commands(
    options: &Options,
    programs: &Programs,
    defines: &[(Defines, catalogs::Written)],
) -> Result<Vec<(Purpose, CommandLine)>, Trouble> {
    let mut commands = Vec::new();
    if defines.is_empty() {
        return Ok(commands);
    }
    let empty = catalogs::Written::empty(&programs.cases.join("empty-catalog"))?;
    for contender in options.among(&Contender::OF_CATALOGS) {
        let command = empty.compile(programs, contender);
        commands.push((Purpose::Empty(contender), command));
    }
    let ours = Contender::HencePuppet;
    for (defines, written) in defines {
        for contender in options.among(defines.contenders) {
            let purpose = Purpose::Compile(defines.name, contender);
            commands.push((purpose, written.compile(programs, contender)));
        }
        if defines.name == catalogs::LARGE && options.contenders.contains(&ours) {
            commands.push((Purpose::Why(ours), written.why(programs)));
            commands.push((Purpose::Impact(ours), written.impact(programs)));
        }
    }
    Ok(commands)
}

/// Counts what Hence and the floor execute: in some cases, and in those that tell how something grows. Jrsonnet and the real
/// compiler of Puppet would take minutes under valgrind.
fn instructions(
    options: &Options,
    programs: &Programs,
    measured: &[(Purpose, CommandLine)],
    written: &[(&Case, Written)],
    defines: &[(Defines, catalogs::Written)],
) -> Result<Option<Vec<Instructions>>, Trouble> {
    let counted = |all: usize| match options.counting {
        Counting::First => all.min(1),
        Counting::Every => all,
    };
    let mut commands = Vec::new();
    for (case, written) in &written[..counted(written.len())] {
        for (by, command) in counted_commands(options, programs, written)? {
            commands.push((case.name, by, command, written.directory.as_path()));
        }
    }
    let ours = Contender::HencePuppet;
    if options.contenders.contains(&ours) {
        for (defines, written) in &defines[..counted(defines.len())] {
            let command = written.compile(programs, ours);
            commands.push((defines.name, ours.name(), command, written.directory()));
        }
    }
    for (purpose, command) in measured {
        let (case, by) = match *purpose {
            Purpose::Empty(by) => (EMPTY, by),
            Purpose::Compile(case, by) => (case, by),
            _ => continue,
        };
        let is_there = |(known, of, ..): &(&str, &str, _, _)| *known == case && *of == by.name();
        if is_counted(case, by) && !commands.iter().any(is_there) {
            commands.push((case, by.name(), command.clone(), programs.cases.as_path()));
        }
    }
    let mut counts = Vec::new();
    for (case, by, command, directory) in commands {
        let profile = directory.join(format!("callgrind.{by}"));
        match count(&command, &profile)? {
            Count::Instructions(count) => counts.push(Instructions { case, by, count }),
            Count::NoValgrind => {
                eprintln!("valgrind is not installed here: instructions are not counted");
                return Ok(None);
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
    fn catalogs_are_asked_for_by_name() {
        let asked = |words: &[&str]| {
            let words: Vec<OsString> = words.iter().map(OsString::from).collect();
            let options = options(&words).ok()?;
            let defines = options.defines.iter().map(|defines| defines.name);
            let names: Vec<&str> = defines.chain(options.site.map(|_| site::NAME)).collect();
            Some((names.join(" "), options.cases.len(), options.needs_puppet()))
        };
        let found = |names: &str, cases, puppet| Some((names.to_owned(), cases, puppet));
        assert_eq!(
            asked(&["--cases", "defines-1000,fleet"]),
            found("defines-1000", 2, true)
        );
        assert_eq!(
            asked(&["--cases", "defines,site"]),
            found("defines-1000 defines-10000 defines-50000 site", 0, true)
        );
        assert_eq!(asked(&["--cases", "fleet"]), found("", 2, false));
        assert_eq!(
            asked(&["--cases", "defines-1000", "--contenders", "hence-puppet"]),
            found("defines-1000", 0, false)
        );
    }

    #[test]
    fn the_service_is_asked_for_whole_or_in_parts() {
        let parts = |words: &[&str]| {
            let words: Vec<OsString> = words.iter().map(OsString::from).collect();
            options(&words).ok().map(|options| options.service)
        };
        let agents = ["--cases", "service-agents,fleet"];
        assert_eq!(parts(&agents), Some(vec![Part::Agents]));
        assert_eq!(parts(&["--cases", "service"]), Some(Part::ALL.to_vec()));
        assert_eq!(parts(&["--cases", "fleet"]), Some(Vec::new()));
        assert_eq!(parts(&[]), Some(Part::ALL.to_vec()));
    }

    #[test]
    fn eleven_rounds_unless_told_otherwise() {
        let rounds = |words: &[&str]| {
            let words: Vec<OsString> = words.iter().map(OsString::from).collect();
            options(&words).ok().map(|options| options.rounds)
        };
        assert_eq!(rounds(&[]), Some(21));
        assert_eq!(rounds(&["--runs", "3"]), Some(3));
        assert_eq!(rounds(&["--runs", "0"]), None);
        assert_eq!(rounds(&["--runs"]), None);
    }
}
