//! The results as tables for people, on a terminal or on a page, or as JSON for machines.

use crate::bounds::{Bound, LARGEST_FLEET};
use crate::catalogs;
use crate::contenders::Contender;
use crate::http;
use crate::measure::Usage;
use crate::pools::{Figures, Pool};
use crate::rounds::{Cost, Measurements, Purpose, milliseconds};
use crate::service::agents::PAUSE;
use crate::service::requests::{CONNECTIONS, Compared, Rate};
use crate::service::{self, Demand};
use crate::site::{self, SITE};
use hence_closure::server::Server;
use serde_json::{Map, Value, json};
use std::time::Duration;

/// Everything a benchmark found out.
pub struct Results {
    /// How many rounds the medians are taken of.
    pub rounds: usize,
    /// In the order of measuring.
    pub contenders: Vec<Contender>,
    /// In the order of measuring.
    pub cases: Vec<Measured>,
    /// The medians.
    pub measurements: Measurements,
    /// The promises.
    pub bounds: Vec<Bound>,
    /// All nodes with one command and with a process for each.
    pub nodes: Option<Nodes>,
    /// Classes in Puppet, in the order of measuring.
    pub catalogs: Vec<Catalog>,
    /// Fleets on the embedded store, in the order of measuring.
    pub pools: Vec<(Pool, Figures)>,
    /// A server under load.
    pub service: Option<service::Figures>,
    /// Web servers in a closure.
    pub http: Option<http::Figures>,
    /// What hashing takes, if it is compared with.
    pub hash: Option<Duration>,
    /// Instruction counts, if they could be taken.
    pub instructions: Option<Vec<Instructions>>,
}

/// A case that was measured.
pub struct Measured {
    /// As it is asked for.
    pub name: &'static str,
    /// SmartFrog to read, in bytes.
    pub source_bytes: usize,
    /// Compact JSON to print, in bytes.
    pub output_bytes: usize,
}

/// A class in Puppet that was measured.
pub struct Catalog {
    /// As it is asked for.
    pub name: &'static str,
    /// Puppet to read, in bytes.
    pub source_bytes: usize,
}

/// What compiling very many small files takes.
pub struct Nodes {
    /// How many files there are to read.
    pub files: usize,
    /// How many the one command reads, if that could be counted.
    pub reads: Option<usize>,
    /// One command for all of them.
    pub together: Usage,
    /// A process for each.
    pub apart: Usage,
}

/// What one command executed.
pub struct Instructions {
    /// The case.
    pub case: &'static str,
    /// Who compiled it, and how.
    pub by: &'static str,
    /// Instructions of the whole process.
    pub count: u64,
}

/// The tables, for a terminal.
pub fn text(results: &Results) -> String {
    let sections = sections(results);
    let sections = sections.map(|section| format!("{}\n{}", section.title, aligned(&section.rows)));
    sections.collect::<Vec<_>>().join("\n")
}

/// The tables, for a page in Markdown.
pub fn page(results: &Results) -> String {
    let sections = sections(results);
    let sections =
        sections.map(|section| format!("## {}\n\n{}", section.title, piped(&section.rows)));
    sections.collect::<Vec<_>>().join("\n")
}

/// A table and what it is about; the first row says what is in the columns.
struct Section {
    title: String,
    rows: Rows,
}

type Rows = Vec<Vec<String>>;

fn sections(results: &Results) -> impl Iterator<Item = Section> {
    let rounds = results.rounds;
    let configurations = !results.cases.is_empty();
    let counts = results.instructions.as_deref();
    let counts = counts.filter(|counts| !counts.is_empty());
    let found = [
        (!results.bounds.is_empty()).then(|| ("Promises".to_string(), promises(&results.bounds))),
        configurations.then(|| {
            let title = format!(
                "CPU time, user and system, in ms: median of {rounds} interleaved rounds, an empty file subtracted"
            );
            (title, times(results))
        }),
        configurations.then(|| {
            let title = "Peak memory in MB, an empty file subtracted".to_string();
            (title, memory(results))
        }),
        (!results.catalogs.is_empty()).then(|| {
            let title = "Catalogs of Puppet: CPU time in ms and peak memory in MB, an empty manifest subtracted";
            (title.to_string(), catalog_costs(results))
        }),
        site_times(results).map(|rows| ("A site in Puppet: CPU time in ms".to_string(), rows)),
        questions(results).map(|rows| {
            let title = "Questions: CPU time of the whole process in ms, and in times of hashing 100 MB with BLAKE3";
            (title.to_string(), rows)
        }),
        results.nodes.as_ref().map(|measured| {
            let title = format!(
                "A configuration for each of many nodes, from {} files; time of whole processes in ms",
                measured.files
            );
            (title, nodes(measured))
        }),
        pools(results).map(|rows| {
            let title = "Fleets on the embedded store: CPU time in ms, and in times of hashing 100 MB with BLAKE3";
            (title.to_string(), rows)
        }),
        results.service.as_ref().map(|figures| {
            let options = service::OPTIONS.join(" ");
            let title = format!("The service on this machine (`hence serve {options}`), medians");
            (title, served(figures))
        }),
        results.http.as_ref().map(|figures| {
            let title = "Web servers in a closure, in all runs; the closure's own CPU time in ms, medians";
            (title.to_string(), closures(figures))
        }),
        counts.map(|counts| {
            let title = "Instructions of the whole process, in millions".to_string();
            (title, instructions(counts))
        }),
    ];
    let found = found.into_iter().flatten();
    found.map(|(title, rows)| Section { title, rows })
}

/// The same, with nothing rounded.
pub fn json(results: &Results) -> Value {
    let cases = results.cases.iter().map(|case| {
        let costs: Map<String, Value> = results
            .contenders
            .iter()
            .filter_map(|&contender| {
                let cost = results.measurements.cost(case.name, contender)?;
                let value = json!({"milliseconds": cost.milliseconds, "bytes": cost.bytes});
                Some((contender.name().to_string(), value))
            })
            .collect();
        json!({
            "case": case.name,
            "source_bytes": case.source_bytes,
            "output_bytes": case.output_bytes,
            "beyond_empty": costs,
        })
    });
    let whole = |purpose| results.measurements.usage(purpose).map(milliseconds);
    let catalogs = results.catalogs.iter().map(|catalog| {
        let costs: Map<String, Value> = Contender::OF_CATALOGS
            .iter()
            .filter_map(|&contender| {
                let cost = results.measurements.cost(catalog.name, contender)?;
                let value = json!({"milliseconds": cost.milliseconds, "bytes": cost.bytes});
                Some((contender.name().to_string(), value))
            })
            .collect();
        json!({
            "case": catalog.name,
            "source_bytes": catalog.source_bytes,
            "beyond_empty": costs,
        })
    });
    let asked = ASKED.iter().filter_map(|&(case, by)| {
        Some(json!({
            "case": case,
            "by": by.name(),
            "compile_milliseconds": whole(Purpose::Compile(case, by))?,
            "why_milliseconds": whole(Purpose::Why(by))?,
            "impact_milliseconds": whole(Purpose::Impact(by))?,
        }))
    });
    let bounds = results.bounds.iter().map(|bound| {
        json!({
            "what": bound.what,
            "measured": bound.measured,
            "at_most": bound.at_most,
            "unit": bound.unit,
            "holds": bound.holds(),
        })
    });
    let nodes = results.nodes.as_ref().map(|nodes| {
        let usage = |usage: Usage| {
            json!({
                "milliseconds": milliseconds(usage),
                "elapsed_milliseconds": usage.elapsed.as_secs_f64() * 1e3,
                "bytes": usage.peak,
            })
        };
        json!({
            "files": nodes.files,
            "files_read": nodes.reads,
            "one_command": usage(nodes.together),
            "a_process_each": usage(nodes.apart),
        })
    });
    let pools = results.pools.iter().map(|(pool, figures)| {
        let steps = figures.steps.iter();
        let steps: Map<String, Value> = steps
            .map(|(step, time)| (step.clone(), json!(time)))
            .collect();
        json!({"pool": pool.name(), "milliseconds": steps, "bytes": figures.peak})
    });
    let service = results.service.as_ref().map(|figures| {
        let rate =
            |rate: Rate| json!({"per_second": rate.per_second, "cpu_microseconds": rate.cpu});
        let requests = figures.requests.iter().map(|compared| {
            json!({
                "path": compared.form.path("NODE"),
                "bytes": compared.bytes,
                "hence": rate(compared.hence),
                "bare": rate(compared.bare),
                "bare_over_hence": compared.ratio,
            })
        });
        json!({
            "nodes": figures.demand.nodes,
            "connections": CONNECTIONS,
            "requests": requests.collect::<Vec<_>>(),
            "watchers": figures.demand.watchers,
            "heard_seconds": figures.heard.map(|heard| heard.as_secs_f64()),
            "agents": figures.demand.agents,
            "converged": figures.converged.map(|converged| json!({
                "seconds": converged.time.as_secs_f64(),
                "requests": converged.requests,
                "bytes": converged.peak,
            })),
        })
    });
    let http = results.http.as_ref().map(|figures| {
        let rate =
            |rate: Rate| json!({"per_second": rate.per_second, "cpu_microseconds": rate.cpu});
        let compared = figures.compared.iter().map(|compared| {
            json!({
                "requests": compared.what(),
                "hence": rate(compared.hence),
                "other": rate(compared.other),
                "other_over_hence": compared.ratio(),
            })
        });
        let commits = figures.commits.iter().map(|(server, commit)| {
            json!({
                "server": server.word(),
                "open_milliseconds": commit.open.as_secs_f64() * 1e3,
                "commit_milliseconds": commit.commit.as_secs_f64() * 1e3,
            })
        });
        let staging = figures.staging;
        json!({
            "requests": compared.collect::<Vec<_>>(),
            "hosts": figures.size.hosts,
            "files": figures.size.hosts * figures.size.files,
            "commits": commits.collect::<Vec<_>>(),
            "staging": {
                "bytes": staging.bytes,
                "hash_milliseconds": staging.hashed.as_secs_f64() * 1e3,
                "copy_milliseconds": staging.copied.as_secs_f64() * 1e3,
                "first_milliseconds": staging.first.as_secs_f64() * 1e3,
                "again_milliseconds": staging.again.as_secs_f64() * 1e3,
            },
        })
    });
    let instructions = results.instructions.iter().flatten().map(
        |counted| json!({"case": counted.case, "by": counted.by, "instructions": counted.count}),
    );
    json!({
        "rounds": results.rounds,
        "cases": cases.collect::<Vec<_>>(),
        "catalogs": catalogs.collect::<Vec<_>>(),
        "site": {
            "nodes": SITE.nodes,
            "hence_puppet_milliseconds": whole(Purpose::Site(SITE.nodes, Contender::HencePuppet)),
            "puppet_nodes": site::MORE,
            "puppet_milliseconds": site::warm(&results.measurements),
        },
        "questions": asked.collect::<Vec<_>>(),
        "hash_milliseconds": results.hash.map(|hash| hash.as_secs_f64() * 1e3),
        "nodes": nodes,
        "pools": pools.collect::<Vec<_>>(),
        "service": service,
        "http": http,
        "instructions": instructions.collect::<Vec<_>>(),
        "bounds": bounds.collect::<Vec<_>>(),
    })
}

fn times(results: &Results) -> Rows {
    let compilers = Contender::OURS
        .into_iter()
        .filter(|contender| results.contenders.contains(contender));
    let pairs = compilers.flat_map(|compiler| {
        [Contender::Jrsonnet, Contender::Floor].map(|other| (compiler, other))
    });
    let pairs: Vec<(Contender, Contender)> = pairs.collect();
    let names = pairs
        .iter()
        .map(|(compiler, other)| format!("{}/{}", compiler.name(), other.name()));
    let mut rows = vec![heading(results, names)];
    for case in &results.cases {
        let time = |contender| {
            results
                .measurements
                .cost(case.name, contender)
                .map(|cost: Cost| cost.milliseconds)
        };
        let ratio = |over: Option<f64>, under: Option<f64>| Some(over? / under?);
        let mut row = vec![case.name.to_string()];
        row.extend(
            results
                .contenders
                .iter()
                .map(|&contender| figure(time(contender), 2)),
        );
        row.extend(
            pairs
                .iter()
                .map(|&(compiler, other)| figure(ratio(time(compiler), time(other)), 3)),
        );
        rows.push(row);
    }
    let mut row = vec!["(empty)".to_string()];
    row.extend(results.contenders.iter().map(|&contender| {
        figure(
            results
                .measurements
                .usage(Purpose::Empty(contender))
                .map(milliseconds),
            2,
        )
    }));
    rows.push(row);
    rows
}

fn memory(results: &Results) -> Rows {
    let further = ["source", "output", "hence/output"].map(String::from);
    let mut rows = vec![heading(results, further)];
    for case in &results.cases {
        let bytes = |contender| {
            results
                .measurements
                .cost(case.name, contender)
                .map(|cost| cost.bytes)
        };
        let output = case.output_bytes as f64;
        let mut row = vec![case.name.to_string()];
        row.extend(
            results
                .contenders
                .iter()
                .map(|&contender| figure(bytes(contender).map(megabytes), 2)),
        );
        row.push(figure(Some(megabytes(case.source_bytes as f64)), 2));
        row.push(figure(Some(megabytes(output)), 2));
        row.push(figure(
            bytes(Contender::Hence).map(|bytes| bytes / output),
            2,
        ));
        rows.push(row);
    }
    let mut row = vec!["(empty)".to_string()];
    row.extend(results.contenders.iter().map(|&contender| {
        let empty = results.measurements.usage(Purpose::Empty(contender));
        figure(empty.map(|usage| megabytes(usage.peak as f64)), 2)
    }));
    rows.push(row);
    rows
}

fn catalog_costs(results: &Results) -> Rows {
    let heading = [
        "case",
        "hence-puppet",
        "puppet",
        "ratio",
        "hence-puppet MB",
        "puppet MB",
        "ratio",
        "source MB",
    ];
    let mut rows = vec![heading.map(String::from).to_vec()];
    let [ours, real] = Contender::OF_CATALOGS;
    for catalog in &results.catalogs {
        let cost = |contender| results.measurements.cost(catalog.name, contender);
        let (ours, real) = (cost(ours), cost(real));
        let ratio = |of: fn(Cost) -> f64| Some(of(ours?) / of(real?));
        let times = |cost: Option<Cost>| figure(cost.map(|cost| cost.milliseconds), 2);
        let sizes = |cost: Option<Cost>| figure(cost.map(|cost| megabytes(cost.bytes)), 2);
        rows.push(vec![
            catalog.name.to_string(),
            times(ours),
            times(real),
            figure(ratio(|cost| cost.milliseconds), 4),
            sizes(ours),
            sizes(real),
            figure(ratio(|cost| cost.bytes), 3),
            figure(Some(megabytes(catalog.source_bytes as f64)), 2),
        ]);
    }
    let empty = |contender| results.measurements.usage(Purpose::Empty(contender));
    let (ours, real) = (empty(ours), empty(real));
    let times = |usage: Option<Usage>| figure(usage.map(milliseconds), 2);
    let sizes = |usage: Option<Usage>| figure(usage.map(|usage| megabytes(usage.peak as f64)), 2);
    rows.push(vec![
        "(empty)".to_string(),
        times(ours),
        times(real),
        String::new(),
        sizes(ours),
        sizes(real),
    ]);
    rows
}

fn site_times(results: &Results) -> Option<Rows> {
    let ours = Purpose::Site(SITE.nodes, Contender::HencePuppet);
    let ours = milliseconds(results.measurements.usage(ours)?);
    let real = site::warm(&results.measurements)?;
    let row = |by: Contender, nodes: usize, words: &str, time: f64| {
        vec![
            format!("{nodes} nodes by {}{words}", by.name()),
            figure(Some(time), 0),
        ]
    };
    Some(vec![
        ["", "time"].map(String::from).to_vec(),
        row(Contender::HencePuppet, SITE.nodes, "", ours),
        row(Contender::Puppet, site::MORE, ", warm", real),
    ])
}

/// What questions are asked about, and in which language it is written.
const ASKED: [(&str, Contender); 3] = [
    (LARGEST_FLEET, Contender::Hence),
    (LARGEST_FLEET, Contender::HenceCf2),
    (catalogs::LARGE, Contender::HencePuppet),
];

fn questions(results: &Results) -> Option<Rows> {
    let hash = results.hash?.as_secs_f64() * 1e3;
    let heading = [
        "case",
        "compile",
        "why",
        "impact",
        "why/BLAKE3",
        "impact/BLAKE3",
    ];
    let mut rows = vec![heading.map(String::from).to_vec()];
    for (case, by) in ASKED {
        let time = |purpose| results.measurements.usage(purpose).map(milliseconds);
        let (why, impact) = (time(Purpose::Why(by)), time(Purpose::Impact(by)));
        if why.is_none() {
            continue;
        }
        rows.push(vec![
            format!("{case} by {}", by.name()),
            figure(time(Purpose::Compile(case, by)), 2),
            figure(why, 2),
            figure(impact, 2),
            figure(why.map(|why| why / hash), 2),
            figure(impact.map(|impact| impact / hash), 2),
        ]);
    }
    rows.push(vec![
        "(BLAKE3 of 100 MB)".to_string(),
        figure(Some(hash), 2),
    ]);
    Some(rows)
}

fn pools(results: &Results) -> Option<Rows> {
    let hash = results.hash?.as_secs_f64() * 1e3;
    let heading = ["fleet", "time", "time/BLAKE3"];
    let mut rows = vec![heading.map(String::from).to_vec()];
    for (pool, figures) in &results.pools {
        for (step, time) in &figures.steps {
            rows.push(vec![
                format!("{}: {step}", pool.name()),
                figure(Some(*time), 2),
                figure(Some(time / hash), 2),
            ]);
        }
        rows.push(vec![
            format!("{}: peak memory in MB", pool.name()),
            figure(Some(megabytes(figures.peak as f64)), 0),
        ]);
    }
    (rows.len() > 1).then_some(rows)
}

fn served(figures: &service::Figures) -> Rows {
    let heading = ["", "hence", "bare", "bare/hence"];
    let mut rows = vec![heading.map(String::from).to_vec()];
    let Demand {
        nodes,
        watchers,
        agents,
        ..
    } = figures.demand;
    for compared in &figures.requests {
        let Compared { hence, bare, .. } = compared;
        rows.push(vec![
            format!(
                "GET {} of {nodes}, {} bytes: requests/s",
                compared.form.path("NODE"),
                compared.bytes
            ),
            figure(Some(hence.per_second), 0),
            figure(Some(bare.per_second), 0),
            figure(Some(compared.ratio), 2),
        ]);
        rows.push(vec![
            "  CPU time of the server for each, in µs".to_string(),
            figure(Some(hence.cpu), 1),
            figure(Some(bare.cpu), 1),
        ]);
    }
    let mut alone = |what: String, value: f64, decimals| {
        rows.push(vec![what, figure(Some(value), decimals)]);
    };
    if let Some(heard) = figures.heard {
        let what = format!("{watchers} watchers hear of an activation, from its request, in s");
        alone(what, heard.as_secs_f64(), 2);
    }
    if let Some(converged) = figures.converged {
        let (seconds, pause) = (converged.time.as_secs_f64(), PAUSE.as_secs());
        let what = format!("{agents} agents run what is activated, {pause} s of politeness, in s");
        alone(what, seconds, 2);
        let rate = converged.requests as f64 / seconds;
        alone("  requests/s meanwhile".to_string(), rate, 0);
        let peak = megabytes(converged.peak as f64);
        alone("  peak memory of the server in MB".to_string(), peak, 0);
    }
    rows
}

fn closures(figures: &http::Figures) -> Rows {
    let heading = ["", "hence", "other", "other/hence"];
    let mut rows = vec![heading.map(String::from).to_vec()];
    for compared in &figures.compared {
        rows.push(vec![
            format!("requests/s of {}", compared.what()),
            figure(Some(compared.hence.per_second), 0),
            figure(Some(compared.other.per_second), 0),
            figure(Some(compared.ratio()), 3),
        ]);
        rows.push(vec![
            "  CPU time of the server for each, in µs".to_string(),
            figure(Some(compared.hence.cpu), 1),
            figure(Some(compared.other.cpu), 1),
            figure(Some(compared.other.cpu / compared.hence.cpu), 3),
        ]);
    }
    let milliseconds = |time: Duration| time.as_secs_f64() * 1e3;
    let (hosts, server) = (figures.size.hosts, Server::word);
    for (one, commit) in &figures.commits {
        let mut row = |what: String, time| rows.push(vec![what, figure(Some(time), 1)]);
        let name = server(*one);
        row(
            format!("one host of {hosts} changes, {name}: to open"),
            milliseconds(commit.open),
        );
        row("  to commit".to_string(), milliseconds(commit.commit));
    }
    let staging = figures.staging;
    let least = staging.hashed + staging.copied;
    let megabytes = megabytes(staging.bytes as f64);
    for (what, time, least) in [
        ("new, and hashing and copying them", staging.first, least),
        (
            "that are there, and hashing them",
            staging.again,
            staging.hashed,
        ),
    ] {
        rows.push(vec![
            format!("staging {megabytes:.0} MB {what}"),
            figure(Some(milliseconds(time)), 1),
            figure(Some(milliseconds(least)), 1),
            figure(Some(milliseconds(least) / milliseconds(time)), 3),
        ]);
    }
    rows
}

fn nodes(measured: &Nodes) -> Rows {
    let row = |what: &str, usage: Usage, reads: Option<usize>| {
        vec![
            what.to_string(),
            figure(Some(milliseconds(usage)), 0),
            figure(Some(usage.elapsed.as_secs_f64() * 1e3), 0),
            figure(Some(megabytes(usage.peak as f64)), 2),
            reads.map_or("-".to_string(), |reads| reads.to_string()),
        ]
    };
    let heading = ["", "CPU", "elapsed", "MB", "files read"];
    vec![
        heading.map(String::from).to_vec(),
        row("one command for all", measured.together, measured.reads),
        row("a process for each", measured.apart, None),
    ]
}

fn instructions(counts: &[Instructions]) -> Rows {
    let heading = ["", "millions"].map(String::from).to_vec();
    let counts = counts.iter().map(|counted| {
        let millions = counted.count as f64 / 1e6;
        vec![
            format!("{} by {}", counted.case, counted.by),
            figure(Some(millions), 2),
        ]
    });
    [heading].into_iter().chain(counts).collect()
}

fn promises(bounds: &[Bound]) -> Rows {
    let heading = ["", "measured", "promised", ""].map(String::from).to_vec();
    let bounds = bounds.iter().map(|bound| {
        let promised = format!("at most {} {}", bound.at_most, bound.unit);
        vec![
            bound.what.clone(),
            figure(Some(bound.measured), 3),
            promised.trim_end().to_string(),
            if bound.holds() { "holds" } else { "BROKEN" }.to_string(),
        ]
    });
    [heading].into_iter().chain(bounds).collect()
}

fn heading(results: &Results, further: impl IntoIterator<Item = String>) -> Vec<String> {
    let contenders = results.contenders.iter().map(|contender| contender.name());
    ["case"]
        .into_iter()
        .chain(contenders)
        .map(String::from)
        .chain(further)
        .collect()
}

fn figure(value: Option<f64>, decimals: usize) -> String {
    value.map_or("-".to_string(), |value| format!("{value:.decimals$}"))
}

fn megabytes(bytes: f64) -> f64 {
    bytes / 1e6
}

/// Aligns the first column to the left and all others to the right.
fn aligned(rows: &Rows) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns)
        .map(|column| {
            let cells = rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        })
        .collect();
    let mut text = String::new();
    for row in rows {
        for (column, (cell, &width)) in row.iter().zip(&widths).enumerate() {
            match column {
                0 => text.push_str(&format!("  {cell:<width$}")),
                _ => text.push_str(&format!("  {cell:>width$}")),
            }
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
    }
    text
}

/// The same as Markdown has it.
fn piped(rows: &Rows) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let line = |row: &Vec<String>| {
        let cells = (0..columns).map(|column| row.get(column).map_or("", |cell| cell.trim()));
        format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "))
    };
    let mut text = String::new();
    for (number, row) in rows.iter().enumerate() {
        text.push_str(&line(row));
        if number == 0 {
            text.push_str(&format!("|---|{}\n", "--:|".repeat(columns - 1)));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bounds::bounds;
    use crate::rounds::Measurements;

    fn results() -> Results {
        let measurements = Measurements::invented(&[
            (Purpose::Empty(Contender::Hence), 1, 2_000_000),
            (Purpose::Empty(Contender::Floor), 2, 2_000_000),
            (Purpose::Compile("imports", Contender::Hence), 21, 3_000_000),
            (
                Purpose::Compile("imports", Contender::Floor),
                10,
                22_000_000,
            ),
        ]);
        Results {
            rounds: 11,
            contenders: vec![Contender::Hence, Contender::Floor],
            cases: vec![Measured {
                name: "imports",
                source_bytes: 900_000,
                output_bytes: 2_000_000,
            }],
            bounds: bounds(&measurements, None, &[]),
            measurements,
            nodes: None,
            pools: Vec::new(),
            service: None,
            http: None,
            catalogs: Vec::new(),
            hash: None,
            instructions: Some(vec![Instructions {
                case: "imports",
                by: "floor",
                count: 91_400_000,
            }]),
        }
    }

    #[test]
    fn the_tables_are_aligned_and_say_what_does_not_hold() {
        let expected = "\
Promises
                                  measured   promised
  imports: time of hence / floor     2.500  at most 2  BROKEN

CPU time, user and system, in ms: median of 11 interleaved rounds, an empty file subtracted
  case     hence  floor  hence/jrsonnet  hence/floor
  imports  20.00   8.00               -        2.500
  (empty)   1.00   2.00

Peak memory in MB, an empty file subtracted
  case     hence  floor  source  output  hence/output
  imports   1.00  20.00    0.90    2.00          0.50
  (empty)   2.00   2.00

Instructions of the whole process, in millions
                    millions
  imports by floor     91.40
";
        assert_eq!(text(&results()), expected);
        let page = page(&results());
        let table = "|  | measured | promised |  |\n|---|--:|--:|--:|\n";
        assert!(
            page.starts_with(&format!("## Promises\n\n{table}")),
            "{page}"
        );
    }

    #[test]
    fn machines_get_the_same_figures() {
        let json = json(&results());
        assert_eq!(
            json["cases"][0]["beyond_empty"]["hence"]["milliseconds"],
            20.0
        );
        assert_eq!(json["bounds"][0]["holds"], false);
        assert_eq!(json["hash_milliseconds"], Value::Null);
    }
}
