//! Activations in stages.
//!
//! Nothing of a rollout is remembered outside the ledger: any server that reads its newest entry, and what nodes reported,
//! can do what is due next. If two try, one of them is refused and looks again.

use std::collections::{BTreeMap, BTreeSet};

use ecow::EcoString;
use hence_api::words::{self, NewRollout, Report, RolloutStage};
use hence_fleet::Kind;
use hence_ledger::entry::{Active, Extent, Nodes, Origin, Scope};
use hence_ledger::key::fold;
use hence_ledger::rollout::{Became, Counts, Next, Otherwise, Stage, Status, Terms};
use hence_ledger::{Act, Rollout};
use hence_model::diagnostic::{Code, Diagnostic};
use hence_store::{Error, MOVED, Receipt, Refused, Request};

use crate::Service;
use crate::activation::Pair;
use crate::aim::Aim;
use crate::history::STRANGERS;

/// A rollout is under way, so nothing else can be activated.
pub const UNDER_WAY: Code = Code::new("rollout.under-way");
/// There is no rollout that could be told that.
pub const NONE: Code = Code::new("rollout.none");
/// A rollout cannot be meant like this.
pub const TERMS: Code = Code::new("rollout.terms");

/// So many nodes are remembered that failed.
const ENOUGH: usize = 20;

/// What a rollout can be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// To wait.
    Pause,
    /// To go on, from where it paused or stopped.
    Resume,
    /// To go no further.
    Stop,
    /// To give all nodes what they were to run before it.
    RollBack,
}

impl Order {
    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            Order::Pause => "pause",
            Order::Resume => "resume",
            Order::Stop => "stop",
            Order::RollBack => "roll-back",
        }
    }

    /// The order of this word.
    pub fn of(word: &str) -> Option<Order> {
        let all = [Order::Pause, Order::Resume, Order::Stop, Order::RollBack];
        all.into_iter().find(|order| order.word() == word)
    }
}

/// A step of a rollout: what becomes of it, and of nodes.
struct Step {
    rollout: Rollout,
    act: Act,
    active: Active,
}

impl Service {
    /// The newest rollout, unless something else was activated since.
    pub fn rollout(&self) -> Option<&Rollout> {
        self.repository().head()?.rollout.as_ref()
    }

    /// Nothing else can be activated while a rollout is under way.
    pub(crate) fn must_be_free(&self) -> Result<(), Refused> {
        match self.rollout().filter(|rollout| rollout.is_under_way()) {
            None => Ok(()),
            Some(rollout) => {
                let message = format!(
                    "a rollout of version {} is under way, which {} began",
                    rollout.target, rollout.author
                );
                let help = "`hence rollout` shows how far it is, and `hence rollout stop` ends it";
                Err(Diagnostic::error(UNDER_WAY, message).help(help).into())
            }
        }
    }

    /// Begins to activate a version in stages. All other nodes follow after the last one.
    pub fn begin_rollout(
        &mut self,
        request: &Request,
        wanted: &NewRollout,
    ) -> Result<Receipt, Refused> {
        if let Some(done) = self.elsewhere(|remote| remote.begin_rollout(request, wanted)) {
            return done;
        }
        let terms = terms(wanted)?;
        let seen: Option<Pair> = match wanted.plan.as_deref().map(str::parse) {
            None => None,
            Some(Ok(pair)) => Some(pair),
            Some(Err(message)) => return Err(Diagnostic::error(TERMS, message).into()),
        };
        let receipt = self.until_first(request, |service, request| {
            service.begin(request, wanted, &terms, seen)
        })?;
        self.step_rollout(request.time)?;
        Ok(receipt)
    }

    fn begin(
        &mut self,
        request: &Request,
        wanted: &NewRollout,
        terms: &Terms,
        seen: Option<Pair>,
    ) -> Result<Receipt, Refused> {
        self.must_be_free()?;
        let pair = self.must_be_fresh(seen)?;
        let newest = self.repository.version();
        let target = wanted.target.unwrap_or(pair.head);
        if target == 0 || target > newest {
            return Err(self.repository.no_such(target).into());
        }
        let other = self.other_pool(target)?;
        let aim = Aim::new(self, target, other.as_ref());
        let target = aim.version;
        let mut stages = Vec::new();
        for extent in &wanted.stages {
            let extent = Extent::try_from(extent.clone());
            let extent = match extent.map_err(|message| Diagnostic::error(TERMS, message))? {
                Extent::Percent(100) => Extent::Everything,
                extent => extent,
            };
            aim.scope(&extent)?;
            stages.push(extent);
        }
        if stages.last() != Some(&Extent::Everything) {
            stages.push(Extent::Everything);
        }
        aim.must_be_valid(&Scope::Everything)?;
        let active = self.repository.active();
        if active.base == target && active.apart.is_empty() {
            return Ok(Receipt::Nothing);
        }
        let stage = |extent| Stage {
            extent,
            activations: Vec::new(),
            whole: false,
            became: None,
        };
        let rollout = Rollout {
            target,
            began: newest + 1,
            author: request.author.clone(),
            stages: stages.into_iter().map(stage).collect(),
            terms: terms.clone(),
            behind: 0,
            since: request.time,
            status: Status::Running,
            back: None,
        };
        let result = self
            .repository
            .roll_out(request, Act::Rollout, active.clone(), rollout);
        self.notice(&result);
        result
    }

    /// Tells the rollout something.
    pub fn order_rollout(&mut self, request: &Request, order: Order) -> Result<Receipt, Refused> {
        if let Some(done) = self.elsewhere(|remote| remote.order_rollout(request, order)) {
            return done;
        }
        self.until_first(request, |service, request| service.order(request, order))
    }

    fn order(&mut self, request: &Request, order: Order) -> Result<Receipt, Refused> {
        let none = |message: &str| Err(Diagnostic::error(NONE, message).into());
        let Some(mut rollout) = self.rollout().cloned() else {
            return none("there is no rollout, or something else was activated since");
        };
        let why = || match request.message.is_empty() {
            true => format!("{} said so", request.author),
            false => request.message.clone(),
        };
        rollout.status = match (order, &rollout.status) {
            (Order::Pause, Status::Paused) | (Order::Resume, Status::Running) => {
                return Ok(Receipt::Nothing);
            }
            (Order::Stop, Status::Stopped(_)) | (Order::RollBack, Status::RolledBack(_)) => {
                return Ok(Receipt::Nothing);
            }
            (Order::RollBack, _) => {
                let step = self.taken_back(rollout, why())?;
                return self.take(request, step);
            }
            (_, Status::Done) => return none("the rollout is done: it can only be rolled back"),
            (_, Status::RolledBack(_)) => return none("the rollout was rolled back"),
            (Order::Pause, Status::Running) => Status::Paused,
            (Order::Pause, Status::Stopped(_)) => {
                return none("the rollout has stopped: it can be resumed, or rolled back");
            }
            (Order::Resume, _) => {
                rollout.since = request.time;
                Status::Running
            }
            (Order::Stop, _) => Status::Stopped(why()),
        };
        let active = self.repository.active().clone();
        let result = self
            .repository
            .roll_out(request, Act::Rollout, active, rollout);
        self.notice(&result);
        result
    }

    /// Does what is due now; whether anything was.
    pub fn step_rollout(&mut self, now: u64) -> Result<bool, Refused> {
        if self.is_elsewhere() {
            // The server does it.
            return self.follow();
        }
        let mut any = false;
        while let Some(rollout) = self.rollout().filter(|it| it.status == Status::Running) {
            let rollout = rollout.clone();
            let reports = self.reports()?;
            let mut counts = Vec::new();
            for stage in rollout.stages.iter().take(rollout.behind + 1) {
                counts.push(self.standing(stage, &reports)?.counts());
            }
            let next = rollout.next(&counts, now);
            let all = rollout.stages.len();
            let number = match next {
                Next::Advance => rollout.behind + 2,
                _ => rollout.behind + 1,
            };
            let mut request = Request {
                author: rollout.author.clone(),
                owner: "rollout".to_owned(),
                time: now,
                message: format!("stage {number} of {all}"),
                origin: Origin::Command("rollout".to_owned()),
                objects: Vec::new(),
                if_version: Some(self.repository.version()),
            };
            let step = match next {
                Next::Wait => break,
                Next::Activate(room) => self.more(rollout, room, now)?,
                Next::Advance => self.advanced(rollout, now)?,
                Next::Fail(why) => {
                    request.message = why.clone();
                    match rollout.terms.otherwise {
                        Otherwise::Stop => self.resting(rollout, Status::Stopped(why)),
                        Otherwise::RollBack => self.taken_back(rollout, why)?,
                    }
                }
            };
            if step.rollout.status == Status::Done {
                request.message = format!("all {all} stages are done");
            }
            match self.take(&request, step) {
                // Another server was first, or somebody else; what is due now may be another thing.
                Err(refused) if refused.is(MOVED) => drop(self.follow()?),
                done => drop(done?),
            }
            any = true;
        }
        Ok(any)
    }

    fn take(&mut self, request: &Request, step: Step) -> Result<Receipt, Refused> {
        let moves_base = step.active.base != self.base;
        let result = self
            .repository
            .roll_out(request, step.act, step.active, step.rollout);
        match (&result, moves_base) {
            // What is done is done, also if what is active cannot be read now.
            (Ok(Receipt::Done(_)), true) => drop(self.catch_up()),
            _ => self.notice(&result),
        }
        result
    }

    /// Nothing is activated, and the rollout rests.
    fn resting(&self, rollout: Rollout, status: Status) -> Step {
        Step {
            rollout: Rollout { status, ..rollout },
            act: Act::Rollout,
            active: self.repository.active().clone(),
        }
    }

    /// One more stage is behind it.
    fn advanced(&self, mut rollout: Rollout, now: u64) -> Result<Step, Refused> {
        rollout.behind += 1;
        if rollout.stage().is_none() {
            return Ok(self.resting(rollout, Status::Done));
        }
        let room = rollout.terms.restarts;
        self.more(rollout, room, now)
    }

    /// More of the stage is activated: if not all of its nodes that must restart something may at once, then only so many
    /// of these.
    fn more(&self, mut rollout: Rollout, room: Option<u64>, now: u64) -> Result<Step, Refused> {
        let other = self.other_pool(rollout.target)?;
        let aim = Aim::new(self, rollout.target, other.as_ref());
        let behind = rollout.behind;
        let stage = &mut rollout.stages[behind];
        let mut scope = aim.scope(&stage.extent)?;
        stage.whole = true;
        if let Some(room) = room {
            let plan = aim.plan(&scope)?;
            let restarting = plan.nodes.iter();
            let restarting = restarting.filter(|(_, difference)| !difference.restart.is_empty());
            let restarting: Vec<String> = restarting.map(|(node, _)| fold(node)).collect();
            if restarting.len() as u64 > room {
                stage.whole = false;
                scope = Scope::Only(restarting.into_iter().take(room as usize).collect());
            }
        }
        let changed = aim.changed(&scope)?;
        let active = self.repository.active().after(rollout.target, &scope);
        rollout.since = now;
        let act = match active == *self.repository.active() {
            true => Act::Rollout,
            false => {
                stage.activations.push(self.repository.version() + 1);
                Act::Activation {
                    target: rollout.target,
                    changed: aim.said(&scope, &changed),
                    gone: aim.gone(&scope)?,
                    scope,
                }
            }
        };
        Ok(Step {
            rollout,
            act,
            active,
        })
    }

    /// All nodes are to run again what they were to run before the rollout.
    fn taken_back(&self, rollout: Rollout, why: String) -> Result<Step, Refused> {
        let entry = self.repository.entry(rollout.began)?;
        let before = entry.map(|entry| entry.active).unwrap_or_default();
        let mut rollout = Rollout {
            status: Status::RolledBack(why),
            ..rollout
        };
        let reports = self.reports()?;
        for stage in &mut rollout.stages {
            let standing = self.standing(stage, &reports)?;
            stage.became = Some(Became {
                changed: standing.counts().meant,
                succeeded: standing.succeeded,
                failed: standing.failed.into_iter().take(ENOUGH).collect(),
            });
        }
        if before == *self.repository.active() {
            let act = Act::Rollout;
            return Ok(Step {
                rollout,
                act,
                active: before,
            });
        }
        let scope = Scope::Everything;
        let other = self.other_pool(before.base)?;
        let aim = Aim::new(self, before.base, other.as_ref());
        let mut changed: Vec<EcoString> = aim.changed(&scope)?;
        changed.retain(|node| !before.apart.contains_key(&fold(node)));
        let mut apart: BTreeMap<u64, BTreeSet<String>> = BTreeMap::new();
        for (node, version) in &before.apart {
            apart.entry(*version).or_default().insert(node.clone());
        }
        for (version, nodes) in apart {
            let other = self.other_pool(version)?;
            let aim = Aim::new(self, version, other.as_ref());
            changed.extend(aim.changed(&Scope::Only(nodes))?);
        }
        let mut gone = aim.gone(&scope)?;
        gone.retain(|node| !before.apart.contains_key(node));
        rollout.back = Some(self.repository.version() + 1);
        let act = Act::Activation {
            target: before.base,
            changed: match before.apart.is_empty() {
                true => aim.said(&scope, &changed),
                // Not all of them are known to that version.
                false => Nodes::Only(aim.folded(&scope, &changed)),
            },
            gone,
            scope,
        };
        Ok(Step {
            rollout,
            act,
            active: before,
        })
    }

    /// How far the rollout is, with what became of each node; nothing if there is none.
    pub fn rollout_told(&self) -> Result<Option<words::Rollout>, Error> {
        let Some(rollout) = self.rollout() else {
            return Ok(None);
        };
        let reports = self.reports()?;
        let mut stages = Vec::new();
        for (number, stage) in rollout.stages.iter().enumerate() {
            let standing = match &stage.became {
                None => self.standing(stage, &reports)?,
                Some(became) => Standing {
                    succeeded: became.succeeded,
                    failed: became.failed.clone(),
                    silent: Vec::new(),
                },
            };
            let changed = match &stage.became {
                None => standing.counts().meant,
                Some(became) => became.changed,
            };
            let status = match number.cmp(&rollout.behind) {
                std::cmp::Ordering::Less => "done",
                std::cmp::Ordering::Equal if !stage.activations.is_empty() => "under-way",
                _ => "waiting",
            };
            stages.push(RolloutStage {
                extent: (&stage.extent).into(),
                status: status.to_owned(),
                changed,
                succeeded: standing.succeeded,
                failed: standing.failed,
                silent: standing.silent,
                more: !stage.activations.is_empty() && !stage.whole,
            });
        }
        Ok(Some(words::Rollout {
            target: rollout.target,
            began: rollout.began,
            author: rollout.author.clone(),
            status: rollout.status.word().to_owned(),
            why: rollout.status.why().map(str::to_owned),
            stages,
            returning: self.returning(rollout, &reports)?,
        }))
    }

    /// The nodes that do not say yet that they run again what they had.
    fn returning(
        &self,
        rollout: &Rollout,
        reports: &BTreeMap<String, Report>,
    ) -> Result<Vec<String>, Error> {
        let back = match rollout.status {
            Status::RolledBack(_) => rollout.back,
            _ => None,
        };
        let stage = Stage {
            extent: Extent::Everything,
            activations: back.into_iter().collect(),
            whole: true,
            became: None,
        };
        let standing = self.standing(&stage, reports)?;
        Ok(standing.failed.into_keys().chain(standing.silent).collect())
    }

    /// What became of the nodes that a stage gave another configuration. Who is no longer asserted is not waited for.
    fn standing(
        &self,
        stage: &Stage,
        reports: &BTreeMap<String, Report>,
    ) -> Result<Standing, Error> {
        let mut standing = Standing::default();
        for &version in &stage.activations {
            let entry = self.repository().entry(version)?;
            let Some(Act::Activation { changed, .. }) = entry.map(|entry| entry.act) else {
                continue;
            };
            let nodes: Vec<String> = match changed {
                Nodes::Only(nodes) => nodes.into_iter().filter(|node| node != STRANGERS).collect(),
                all_but => {
                    let nodes = self.head().nodes();
                    let nodes = nodes.iter().map(|node| fold(node));
                    nodes.filter(|node| all_but.contains(node)).collect()
                }
            };
            for node in nodes {
                let Some(spelling) = self.head().spelling(Kind::Node, &node) else {
                    continue;
                };
                let report = reports.get(&node);
                if report.is_some_and(|report| report.applied == Some(version)) {
                    standing.succeeded += 1;
                } else if let Some(report) = report.filter(|it| it.refused == Some(version)) {
                    let why = report.error.clone().unwrap_or_default();
                    standing.failed.insert(spelling.to_string(), why);
                } else {
                    standing.silent.push(spelling.to_string());
                }
            }
        }
        Ok(standing)
    }
}

/// What became of the nodes of a stage.
#[derive(Default)]
struct Standing {
    succeeded: u64,
    failed: BTreeMap<String, String>,
    silent: Vec<String>,
}

impl Standing {
    fn counts(&self) -> Counts {
        let failed = self.failed.len() as u64;
        Counts {
            meant: self.succeeded + failed + self.silent.len() as u64,
            succeeded: self.succeeded,
            failed,
        }
    }
}

/// The terms that somebody means, if they can be meant.
fn terms(wanted: &NewRollout) -> Result<Terms, Refused> {
    let not = |message: &str| Err(Diagnostic::error(TERMS, message).into());
    if wanted.success > 100 {
        return not("more than 100 % cannot succeed");
    }
    if wanted.restarts == Some(0) {
        return not("if no node may restart, no stage would ever end");
    }
    if wanted.stages.iter().any(|stage| stage.percent == Some(0)) {
        return not("a stage of 0 % has no nodes");
    }
    let Some(within) = wanted.within.checked_mul(1000) else {
        return not("that is too long to wait for a stage");
    };
    Ok(Terms {
        success: wanted.success,
        within,
        failures: wanted.failures,
        otherwise: wanted.otherwise,
        restarts: wanted.restarts,
    })
}
