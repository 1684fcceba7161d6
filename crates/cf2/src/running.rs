//! What is being computed: a cycle is seen where it closes, and nothing goes deeper than allowed.

use hence_model::diagnostic::{Code, Diagnostic};
use hence_model::source::Span;
use hence_model::unit::TOO_DEEP;

use crate::datum::{EntryId, FrameId, ListId, State};
use crate::evaluate::{Evaluated, Evaluator};

/// A value needs itself.
pub const CYCLE: Code = Code::new("cf2.cycle");

/// Something that is being computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Running {
    Entry(EntryId),
    Element(ListId, usize),
    Argument(FrameId, usize),
}

impl Evaluator<'_> {
    /// Computes something, a level deeper.
    pub(crate) fn within<T>(
        &mut self,
        what: Running,
        asked: Span,
        compute: impl FnOnce(&mut Self) -> Evaluated<T>,
    ) -> Evaluated<T> {
        self.running.push((what, asked));
        let computed = compute(self);
        self.running.pop();
        computed
    }

    /// Goes a level deeper, if that is allowed.
    pub(crate) fn deeper<T>(
        &mut self,
        place: Span,
        compute: impl FnOnce(&mut Self) -> Evaluated<T>,
    ) -> Evaluated<T> {
        let limit = self.unit.limits.depth;
        if self.depth >= limit {
            let message = format!("evaluation is deeper than {limit} levels here");
            return self.stop(
                Diagnostic::error(TOO_DEEP, message)
                    .at(place)
                    .help("allow more with `--max-depth`"),
            );
        }
        self.depth += 1;
        let computed = compute(self);
        self.depth -= 1;
        computed
    }

    /// Forgets for a while that anything is being computed. Whoever waits for a block to be built waits for
    /// one name in it; an inline statement of the block may need the same value without waiting for itself,
    /// as it reads what is defined so far. So it does not matter who asks first.
    pub(crate) fn suspend(&mut self) -> Vec<Running> {
        let running: Vec<Running> = self.running.iter().map(|one| one.0).collect();
        let is_running = |&one: &Running| matches!(self.state_of(one), State::Running);
        let mut suspended: Vec<Running> = running.into_iter().filter(is_running).collect();
        suspended.dedup();
        for &one in &suspended {
            *self.state_of_mut(one) = State::Fresh;
        }
        suspended
    }

    /// Goes on with what was suspended, and is not known by now.
    pub(crate) fn resume(&mut self, suspended: &[Running]) {
        for &one in suspended {
            let state = self.state_of_mut(one);
            if let State::Fresh = state {
                *state = State::Running;
            }
        }
    }

    fn state_of(&self, running: Running) -> State {
        match running {
            Running::Entry(entry) => self.entry(entry).state,
            Running::Element(list, index) => self.lists[list.0 as usize].states[index],
            Running::Argument(frame, number) => self.frames[frame.0 as usize].states[number],
        }
    }

    fn state_of_mut(&mut self, running: Running) -> &mut State {
        match running {
            Running::Entry(entry) => &mut self.entries[entry.0 as usize].state,
            Running::Element(list, index) => &mut self.lists[list.0 as usize].states[index],
            Running::Argument(frame, number) => &mut self.frames[frame.0 as usize].states[number],
        }
    }

    /// Something needs itself: shows every step of the way round.
    pub(crate) fn cycle<T>(&mut self, what: Running, asked: Span) -> Evaluated<T> {
        let start = self.running.iter().position(|one| one.0 == what);
        let round = &self.running[start.unwrap_or(0)..];
        let name = |running: Running| match running {
            Running::Entry(entry) => format!("`{}`", self.path(entry)),
            Running::Element(..) => "an element of a list".to_owned(),
            Running::Argument(..) => "an argument of a macro".to_owned(),
        };
        let needs = round.iter().skip(1).map(|one| one.1).chain([asked]);
        let names: Vec<String> = round.iter().map(|one| name(one.0)).collect();
        let next = names.iter().cycle().skip(1);
        let labels: Vec<(Span, String)> = needs
            .zip(names.iter().zip(next))
            .map(|(span, (this, next))| (span, format!("{this} needs {next}")))
            .collect();
        let mut diagnostic = Diagnostic::error(CYCLE, format!("{} needs itself", names[0]));
        const SHOWN: usize = 8;
        for (span, text) in labels.iter().take(SHOWN) {
            diagnostic = diagnostic.label(*span, text.clone());
        }
        if labels.len() > SHOWN {
            let more = labels.len() - SHOWN;
            diagnostic = diagnostic.help(format!("{more} more steps lead back to {}", names[0]));
        }
        self.stop(diagnostic.help("one of them must be given a value of its own"))
    }

    pub(crate) fn path_of_running(&self) -> Option<String> {
        let entry = self
            .running
            .iter()
            .rev()
            .find_map(|running| match running.0 {
                Running::Entry(entry) => Some(entry),
                _ => None,
            })?;
        Some(self.path(entry))
    }
}
