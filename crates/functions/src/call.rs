//! What one call has at hand and what it may still spend.
//!
//! Rhai counts operations, but forgets those of a closure that a library function calls, and it counts
//! the copy of a long list as one. So we count ourselves, in units of fuel: one for an operation, and one
//! for every [`UNIT`] bytes that are read or made. As no memory is made without fuel, fuel bounds it too.
//!
//! Rhai has no place that operations, variables and library functions can all reach; the thread has.
//! A call takes the place when it begins to run and gives it back when it stops.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use regex::Regex;
use rhai::{Dynamic, EvalAltResult, ImmutableString, Position};

use crate::data;

/// The fuel of a call, over all its runs.
pub(crate) const FUEL: u64 = 1_000_000;
/// How many bytes cost as much as an operation.
const UNIT: usize = 128;

/// What a library function answers.
pub(crate) type Answer<T> = Result<T, Box<EvalAltResult>>;

/// The constants of a file, by name.
pub(crate) type Constants = BTreeMap<ImmutableString, Dynamic>;

/// The state of a call.
#[derive(Default)]
pub(crate) struct Call {
    fuel: u64,
    stop: Option<Stop>,
    /// The arguments that are evaluated, of those that the function takes as objects.
    pub answers: Vec<Option<Dynamic>>,
    pub constants: Arc<Constants>,
    /// The regular expressions that it has used so far.
    pub patterns: Vec<(ImmutableString, Regex, u64)>,
}

/// Why a script was stopped. No script can catch that.
pub(crate) enum Stop {
    /// It asks for the value of this argument, and runs again when that is known.
    Asks(usize),
    /// It refuses, with these words.
    Refuses(String),
    /// It has spent its fuel.
    Spent,
}

thread_local! {
    static CURRENT: RefCell<Call> = RefCell::default();
}

impl Call {
    /// A call with all its fuel.
    pub fn new(constants: Arc<Constants>) -> Self {
        Self::with(FUEL, constants)
    }

    /// A call with this much fuel.
    pub fn with(fuel: u64, constants: Arc<Constants>) -> Self {
        Self {
            fuel,
            constants,
            ..Self::default()
        }
    }

    /// Lets a script run, and says why it was stopped, if it was.
    pub fn run<T>(&mut self, script: impl FnOnce() -> T) -> (T, Option<Stop>) {
        let outer = CURRENT.replace(std::mem::take(self));
        let result = script();
        *self = CURRENT.replace(outer);
        (result, self.stop.take())
    }

    /// Spends fuel, or says that there is not enough left.
    pub fn spend(&mut self, units: u64) -> bool {
        let left = self.fuel.checked_sub(units);
        self.fuel = left.unwrap_or(0);
        left.is_some()
    }
}

/// Looks at the call that runs.
pub(crate) fn current<T>(look: impl FnOnce(&mut Call) -> T) -> T {
    CURRENT.with_borrow_mut(look)
}

/// Stops the script.
pub(crate) fn stop<T>(why: Stop) -> Answer<T> {
    // The first reason counts: what was stopped may still stumble on its way out.
    current(|call| {
        call.stop.get_or_insert(why);
    });
    Err(EvalAltResult::ErrorTerminated(Dynamic::UNIT, Position::NONE).into())
}

/// Spends fuel, or stops the script.
pub(crate) fn spend(units: u64) -> Answer<()> {
    if current(|call| call.spend(units)) {
        return Ok(());
    }
    stop(Stop::Spent)
}

/// Spends what it costs to read or make so many bytes.
pub(crate) fn spend_bytes(bytes: usize) -> Answer<()> {
    spend((bytes / UNIT) as u64)
}

/// Spends what it costs to read or copy a value.
pub(crate) fn spend_on(value: &Dynamic) -> Answer<()> {
    spend_measured(data::bytes(value))
}

/// A copy of a value that the call has at hand, once it is paid for.
pub(crate) fn copy(of: impl Fn(&Call) -> Option<&Dynamic>) -> Answer<Option<Dynamic>> {
    match current(|call| of(call).map(data::bytes)) {
        None => Ok(None),
        Some(bytes) => {
            spend_measured(bytes)?;
            Ok(current(|call| of(call).cloned()))
        }
    }
}

/// Spends what it costs to read or copy a list.
pub(crate) fn spend_on_list(list: &[Dynamic]) -> Answer<()> {
    spend_measured(data::list_bytes(list))
}

/// Spends what it costs to read or copy a map.
pub(crate) fn spend_on_map(map: &rhai::Map) -> Answer<()> {
    spend_measured(data::map_bytes(map))
}

fn spend_measured(bytes: Option<usize>) -> Answer<()> {
    match bytes {
        Some(bytes) => spend_bytes(bytes),
        None => Err(data::too_deep().into()),
    }
}
