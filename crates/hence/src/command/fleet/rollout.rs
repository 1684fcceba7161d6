//! `hence rollout`: an activation in stages, each of which must go well before the next.

use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use hence_api::words::{self, NewRollout, RolloutStage};
use hence_ledger::rollout;
use hence_service::rollout::{NONE, Order};
use hence_service::{Extent, Pair, Service};
use hence_store::{Receipt, Refused};

use super::{Changing, Format, Ledger, many, print_json, stop};
use crate::command::token::duration;
use crate::console::Console;
use crate::{Exit, Stop};

/// So many nodes are named that failed, or did not say yet.
const ENOUGH: usize = 10;
/// So often somebody who waits looks again.
const PAUSE: Duration = Duration::from_millis(500);

/// Activate in stages, each of which must go well before the next
#[derive(Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Rollout {
    #[command(subcommand)]
    what: Option<What>,
    /// How to answer
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    #[command(flatten)]
    ledger: Ledger,
}

#[derive(Subcommand)]
enum What {
    /// Begin; all other nodes follow after the last stage
    Start {
        /// The nodes of a stage: so many in a hundred, as `10%`, or the members of groups, as `canary` or `rack1,rack2`
        #[arg(long = "stage", value_name = "STAGE", value_parser = stage)]
        stages: Vec<Extent>,
        #[command(flatten)]
        terms: Terms,
        /// Activate this version instead of the newest
        #[arg(long, value_name = "VERSION")]
        target: Option<u64>,
        /// Refuse if something else would happen than this plan, as `hence plan` names it
        #[arg(long, value_name = "PLAN")]
        plan: Option<Pair>,
        /// Wait for the end of it
        #[arg(long)]
        wait: bool,
        #[command(flatten)]
        changing: Changing,
    },
    /// Let it wait
    Pause {
        #[command(flatten)]
        changing: Changing,
    },
    /// Let it go on from where it paused or stopped
    Resume {
        #[command(flatten)]
        changing: Changing,
    },
    /// Let it go no further: nodes keep what they have
    Stop {
        #[command(flatten)]
        changing: Changing,
    },
    /// Give all nodes what they were to run before it
    RollBack {
        #[command(flatten)]
        changing: Changing,
    },
    /// Do what is due now; servers do it by themselves
    Step {
        #[command(flatten)]
        changing: Changing,
    },
    /// Wait for the end of it
    Wait {
        #[command(flatten)]
        changing: Changing,
    },
}

/// When a stage is good.
#[derive(Args)]
pub struct Terms {
    /// So many in a hundred of the nodes of a stage must run what they were given
    #[arg(long, value_name = "PERCENT", default_value_t = 100, value_parser = clap::value_parser!(u8).range(0..=100))]
    success: u8,
    /// So soon: `90s`, `15m`, `8h`
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = duration)]
    within: u64,
    /// While at most so many fail
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    failures: u64,
    /// What happens otherwise
    #[arg(long, value_enum, default_value = "stop")]
    otherwise: Otherwise,
    /// At most so many nodes that must restart something do so at a time
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u64).range(1..))]
    restarts: Option<u64>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Otherwise {
    /// It goes no further
    Stop,
    /// All nodes get what they were to run before
    RollBack,
}

impl Terms {
    /// So long a stage may take.
    pub fn within(&self) -> Duration {
        Duration::from_secs(self.within)
    }

    /// A rollout on these terms.
    pub fn rollout(&self) -> NewRollout {
        NewRollout {
            target: None,
            stages: Vec::new(),
            success: self.success,
            within: self.within,
            failures: self.failures,
            otherwise: match self.otherwise {
                Otherwise::Stop => rollout::Otherwise::Stop,
                Otherwise::RollBack => rollout::Otherwise::RollBack,
            },
            restarts: self.restarts,
            plan: None,
            doing: words::Doing::default(),
        }
    }
}

impl Rollout {
    /// Does it, or shows how far it is.
    pub fn run(&self, console: &mut Console<'_>) -> Result<Exit, Stop> {
        match &self.what {
            None => {
                let service = self.ledger.open(console)?;
                show(console, &service, self.format)?;
                Ok(Exit::Done)
            }
            Some(What::Start {
                stages,
                terms,
                target,
                plan,
                wait,
                changing,
            }) => {
                let wanted = NewRollout {
                    target: *target,
                    stages: stages.iter().map(words::Extent::from).collect(),
                    plan: plan.map(|pair| pair.to_string()),
                    ..terms.rollout()
                };
                let request = changing.request(console, "rollout start");
                let mut service = changing.ledger.open(console)?;
                let begun = service.begin_rollout(&request, &wanted);
                let begun = begun.map_err(|refused| stop(console, refused))?;
                match (begun, wait) {
                    (Receipt::Nothing, _) => {
                        console.say("nothing changed since the last activation");
                        Ok(Exit::Done)
                    }
                    (Receipt::Done(_), true) => until_over(console, service, changing),
                    (Receipt::Done(_), false) => {
                        show(console, &service, changing.format)?;
                        Ok(Exit::Done)
                    }
                }
            }
            Some(What::Wait { changing }) => {
                let service = changing.ledger.open(console)?;
                until_over(console, service, changing)
            }
            Some(What::Step { changing }) => {
                let mut service = changing.ledger.open(console)?;
                let stepped = service.step_rollout(console.now());
                stepped.map_err(|refused| stop(console, refused))?;
                show(console, &service, changing.format)?;
                Ok(Exit::Done)
            }
            Some(What::Pause { changing }) => order(console, changing, Order::Pause),
            Some(What::Resume { changing }) => order(console, changing, Order::Resume),
            Some(What::Stop { changing }) => order(console, changing, Order::Stop),
            Some(What::RollBack { changing }) => order(console, changing, Order::RollBack),
        }
    }
}

fn order(console: &mut Console<'_>, changing: &Changing, order: Order) -> Result<Exit, Stop> {
    let request = changing.request(console, format!("rollout {}", order.word()));
    let mut service = changing.ledger.open(console)?;
    let done = service.order_rollout(&request, order);
    done.map_err(|refused| stop(console, refused))?;
    show(console, &service, changing.format)?;
    Ok(Exit::Done)
}

/// Waits for the end of a rollout, and says how far it is whenever that changes.
fn until_over(
    console: &mut Console<'_>,
    mut service: Service,
    changing: &Changing,
) -> Result<Exit, Stop> {
    let format = changing.format;
    let mut said = None;
    loop {
        let told = told(console, &service)?;
        let is_over = !matches!(&told.status[..], "running" | "paused");
        if said.as_ref() != Some(&told) && (format == Format::Text || is_over) {
            write(console, &told, format)?;
            console.data().flush()?;
        }
        if is_over {
            return Ok(match &told.status[..] {
                "done" => Exit::Done,
                _ => Exit::Input,
            });
        }
        said = Some(told);
        service = later(console, &changing.ledger, service)?;
    }
}

/// The fleet a moment later, when what is due was done. Meanwhile others can use a ledger that is here.
pub fn later(
    console: &mut Console<'_>,
    ledger: &Ledger,
    service: Service,
) -> Result<Service, Stop> {
    let kept = service.is_elsewhere().then_some(service);
    std::thread::sleep(PAUSE);
    let mut service = match kept {
        Some(service) => service,
        None => loop {
            match ledger.open(console) {
                Err(Stop::Failed(trouble)) if trouble.code == hence_store::LOCKED => {
                    std::thread::sleep(PAUSE);
                }
                opened => break opened?,
            }
        },
    };
    let stepped = service.step_rollout(console.now());
    stepped.map_err(|refused| stop(console, refused))?;
    Ok(service)
}

/// How far the rollout is.
pub fn told(console: &mut Console<'_>, service: &Service) -> Result<words::Rollout, Stop> {
    let told = service.rollout_told().map_err(Refused::from);
    let told = told.map_err(|refused| stop(console, refused))?;
    told.ok_or_else(|| {
        let message = "there is no rollout, or something else was activated since";
        let trouble = hence_model::diagnostic::Diagnostic::error(NONE, message);
        Stop::Refused(Box::new(trouble.help("`hence rollout start` begins one")))
    })
}

fn show(console: &mut Console<'_>, service: &Service, format: Format) -> Result<(), Stop> {
    let told = told(console, service)?;
    write(console, &told, format)
}

fn write(console: &mut Console<'_>, told: &words::Rollout, format: Format) -> Result<(), Stop> {
    if format == Format::Json {
        return print_json(console, told);
    }
    let why = told.why.as_ref().map(|why| format!(": {why}"));
    writeln!(
        console.data(),
        "rollout of version {} by {}: {}{}",
        told.target,
        told.author,
        told.status,
        why.unwrap_or_default()
    )?;
    for (number, stage) in told.stages.iter().enumerate() {
        let progress = match &stage.status[..] {
            "waiting" => "waiting".to_owned(),
            _ => progress(stage),
        };
        writeln!(
            console.data(),
            "{:>3}  {:<12}  {progress}",
            number + 1,
            named(&stage.extent)
        )?;
        let failed = stage.failed.iter();
        let failed = failed.map(|(node, why)| format!("{node} failed: {why}"));
        let silent = stage.silent.iter();
        let silent = silent.map(|node| format!("{node} did not say yet"));
        for line in few(failed.collect())
            .into_iter()
            .chain(few(silent.collect()))
        {
            writeln!(console.data(), "     {line}")?;
        }
    }
    Ok(())
}

fn progress(stage: &RolloutStage) -> String {
    let mut words = match stage.changed {
        0 => "no node changed".to_owned(),
        changed => format!(
            "{} of {} run it",
            stage.succeeded,
            many(changed as usize, "node")
        ),
    };
    if !stage.failed.is_empty() {
        words += &format!(", {} failed", stage.failed.len());
    }
    if stage.more {
        words += ", more to come";
    }
    words
}

fn few(mut lines: Vec<String>) -> Vec<String> {
    let more = lines.len().saturating_sub(ENOUGH);
    if more > 0 {
        lines.truncate(ENOUGH);
        lines.push(format!("and {more} more"));
    }
    lines
}

fn named(extent: &words::Extent) -> String {
    match (&extent.percent, extent.nodes.len() + extent.groups.len()) {
        (Some(percent), _) => format!("{percent}%"),
        (None, 0) => "everything".to_owned(),
        (None, _) => [&extent.groups[..], &extent.nodes[..]].concat().join(","),
    }
}

/// `10%`, or `canary,db`.
fn stage(text: &str) -> Result<Extent, String> {
    if let Some(number) = text.strip_suffix('%') {
        return match number.trim().parse() {
            Ok(percent @ 1..=100) => Ok(Extent::Percent(percent)),
            _ => Err("a share is between `1%` and `100%`".to_owned()),
        };
    }
    let groups: Vec<String> = text.split(',').map(|name| name.trim().to_owned()).collect();
    match groups.iter().any(String::is_empty) {
        true => Err("a stage is a share as `10%`, or groups as `canary,db`".to_owned()),
        false => Ok(Extent::Some {
            nodes: Vec::new(),
            groups,
        }),
    }
}
