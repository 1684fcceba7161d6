//! What did not happen but could have: code that was passed by.

use ecow::EcoString;
use hence_model::explanation::Role;
use hence_model::work;
use rustc_hash::{FxHashMap, FxHashSet};

use super::{Extent, Reasons, Task};
use crate::effects::{self, Effect, Effects};
use crate::evaluate::Evaluator;
use crate::scope::ScopeId;
use crate::syntax::{Block, DefinitionKind, Expression, Kind, Part};
use crate::trace::{Cause, Code, ControlId};
use crate::value::Datum;

/// Something that could have happened.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Question {
    Could(Effect, u32),
    Assigns(ScopeId, EcoString, u32),
    Defaults(ScopeId, EcoString, EcoString, u32),
}

pub(super) const EVER: u32 = u32::MAX;

/// What is known about code that was passed by, for all questions.
#[derive(Default)]
pub(crate) struct Absences {
    /// The effects of each piece of code, by its address.
    effects: FxHashMap<usize, Effects>,
    /// The pieces that could have a certain effect.
    could: FxHashMap<Effect, Vec<u32>>,
    /// The pieces that could assign a variable in a scope.
    assigns: FxHashMap<(ScopeId, EcoString), Vec<u32>>,
    /// Pieces by the scope that they would have run in.
    by_scope: Option<FxHashMap<ScopeId, Vec<u32>>>,
    /// How often each conditional, `and` and `or` was decided, and the code that was passed by, by their addresses.
    ways: Option<(FxHashMap<usize, u32>, FxHashSet<usize>)>,
    /// The names of variables that lambdas and functions have of their own.
    local: Option<FxHashSet<EcoString>>,
    /// What expressions come to that need nothing but themselves, by their addresses.
    constants: FxHashMap<usize, Option<Datum>>,
}

impl Reasons<'_, '_> {
    pub(super) fn question(&mut self, question: Question) {
        let pieces = match question {
            Question::Could(effect, before) => {
                let pieces = self.absences.could(self.evaluator, effect);
                pieces
                    .into_iter()
                    .filter(|piece| *piece < before)
                    .collect::<Vec<u32>>()
            }
            Question::Assigns(scope, name, before) => {
                let pieces = self.absences.assigns(self.evaluator, scope, name);
                pieces.into_iter().filter(|piece| *piece < before).collect()
            }
            Question::Defaults(scope, type_name, name, before) => {
                let pieces = self.absences.in_scope(self.evaluator, scope);
                let mut could = Vec::new();
                for piece in pieces.into_iter().filter(|piece| *piece < before) {
                    let code = self.evaluator.trace.passed()[piece as usize].code;
                    let effects = self.absences.effects(self.evaluator, code);
                    if effects.defaults(&type_name, &name) {
                        could.push(piece);
                    }
                }
                could
            }
        };
        for piece in pieces {
            work::step();
            let passed = &self.evaluator.trace.passed()[piece as usize];
            let (outcome, control, code) = (passed.outcome, passed.control, passed.code);
            let extent = match code {
                Code::Lambda(_) => Extent::Structure,
                _ => Extent::Whole,
            };
            self.push(Task::Origin(outcome, extent), Role::Absence);
            // Conditions of what did not happen are told as what they are, too.
            let followed = self.current;
            let mut control = control;
            while control != ControlId::NONE
                && let Some(new) = self.reach(&Task::Control(control))
            {
                self.current = new;
                let this = self.evaluator.trace.control(control).clone();
                if let Some(at) = this.cause.written() {
                    self.happened(at);
                }
                match this.cause {
                    Cause::Test { outcome, at } => self.tested(at, outcome, Role::Absence),
                    Cause::Stayed { outcome } => {
                        self.push(Task::Origin(outcome, Extent::Whole), Role::Absence);
                    }
                    Cause::Element { of, .. } => {
                        self.push(Task::Origin(of, Extent::Structure), Role::Absence);
                    }
                    Cause::Declared(id) => self.condition(Task::Existence(id)),
                    Cause::Node(_) => self.node_names(false),
                    Cause::Always | Cause::Called(_) => {}
                }
                control = this.around;
            }
            self.current = followed;
        }
    }
}

impl Absences {
    pub(super) fn effects<'t>(
        &mut self,
        evaluator: &mut Evaluator<'t>,
        code: Code<'t>,
    ) -> &Effects {
        self.effects
            .entry(code.address())
            .or_insert_with(|| effects::of(evaluator, code))
    }

    pub(super) fn ways(
        &mut self,
        evaluator: &Evaluator<'_>,
    ) -> &(FxHashMap<usize, u32>, FxHashSet<usize>) {
        self.ways.get_or_insert_with(|| {
            let mut times: FxHashMap<usize, u32> = FxHashMap::default();
            for at in evaluator.trace.decided_tests() {
                *times.entry(std::ptr::from_ref(at).addr()).or_default() += 1;
            }
            for at in evaluator.trace.computed_logic() {
                *times.entry(std::ptr::from_ref(at).addr()).or_default() += 1;
            }
            let passed = evaluator.trace.passed().iter();
            (times, passed.map(|passed| passed.code.address()).collect())
        })
    }

    /// Whether a conditional, an `and` or an `or` was met once.
    pub(super) fn is_decided_once(&mut self, evaluator: &Evaluator<'_>, at: &Expression) -> bool {
        let (times, _) = self.ways(evaluator);
        times.get(&std::ptr::from_ref(at).addr()) == Some(&1)
    }

    /// Whether some code was passed by.
    pub(super) fn is_passed(&mut self, evaluator: &Evaluator<'_>, code: Code<'_>) -> bool {
        let (_, passed) = self.ways(evaluator);
        passed.contains(&code.address())
    }

    /// What an expression comes to that needs nothing but itself.
    pub(super) fn constant<'t>(
        &mut self,
        evaluator: &mut Evaluator<'t>,
        at: &'t Expression,
    ) -> Option<Datum> {
        self.constants
            .entry(std::ptr::from_ref(at).addr())
            .or_insert_with(|| evaluator.constant(at))
            .clone()
    }

    /// Whether some lambda, function or match could have a variable of that name.
    pub(super) fn is_local(&mut self, evaluator: &Evaluator<'_>, name: &str) -> bool {
        let local = self.local.get_or_insert_with(|| {
            let mut names = FxHashSet::default();
            for program in evaluator.loaded.iter().map(|loaded| &loaded.program) {
                let definitions = program.definitions.iter();
                for definition in definitions.clone() {
                    let is_function = matches!(definition.kind, DefinitionKind::Function { .. });
                    if is_function {
                        names.extend(definition.parameters.iter().map(|one| one.name.clone()));
                    }
                    local_names(&definition.body, is_function, &mut names);
                }
                local_names(&program.body, false, &mut names);
            }
            names
        });
        name.starts_with(|first: char| first.is_ascii_digit()) || local.contains(name)
    }

    /// The pieces of passed code that could have an effect.
    pub(super) fn could(&mut self, evaluator: &mut Evaluator<'_>, effect: Effect) -> Vec<u32> {
        if let Some(known) = self.could.get(&effect) {
            return known.clone();
        }
        let mut found = Vec::new();
        for number in 0..evaluator.trace.passed().len() {
            work::step();
            let code = evaluator.trace.passed()[number].code;
            if self.effects(evaluator, code).could(&effect) {
                found.push(number as u32);
            }
        }
        self.could.insert(effect, found.clone());
        found
    }

    /// The pieces of passed code that would have run in a scope.
    fn in_scope(&mut self, evaluator: &Evaluator<'_>, scope: ScopeId) -> Vec<u32> {
        let by_scope = self.by_scope.get_or_insert_with(|| {
            let mut by_scope: FxHashMap<ScopeId, Vec<u32>> = FxHashMap::default();
            for (number, passed) in evaluator.trace.passed().iter().enumerate() {
                by_scope
                    .entry(passed.scope)
                    .or_default()
                    .push(number as u32);
            }
            by_scope
        });
        by_scope.get(&scope).cloned().unwrap_or_default()
    }

    /// The pieces of passed code that could assign a variable in a scope.
    fn assigns(
        &mut self,
        evaluator: &mut Evaluator<'_>,
        scope: ScopeId,
        name: EcoString,
    ) -> Vec<u32> {
        let key = (scope, name);
        if let Some(known) = self.assigns.get(&key) {
            return known.clone();
        }
        let here = self.in_scope(evaluator, scope);
        let mut found = Vec::new();
        for number in here {
            let code = evaluator.trace.passed()[number as usize].code;
            if self.effects(evaluator, code).assigns(&key.1) {
                found.push(number);
            }
        }
        self.assigns.insert(key, found.clone());
        found
    }
}

/// The names of the variables of lambdas in some code, and those that it assigns if it is that of a lambda itself.
fn local_names(block: &Block, is_local: bool, names: &mut FxHashSet<EcoString>) {
    for statement in &block.statements {
        local_names_in(statement, is_local, names);
    }
}

fn local_names_in(at: &Expression, is_local: bool, names: &mut FxHashSet<EcoString>) {
    work::step();
    if let (Kind::Assign(sides), true) = (&at.kind, is_local) {
        assigned_names(&sides[0], names);
    }
    at.parts(&mut |part| match part {
        Part::Expression(inner) => local_names_in(inner, is_local, names),
        Part::Lambda(lambda) => {
            names.extend(lambda.parameters.iter().map(|one| one.name.clone()));
            local_names(&lambda.body, true, names);
        }
    });
}

/// The variables on the left of an assignment.
fn assigned_names(at: &Expression, names: &mut FxHashSet<EcoString>) {
    if let Kind::Variable(name) = &at.kind {
        names.insert(name.clone());
    }
    at.parts(&mut |part| {
        if let Part::Expression(inner) = part {
            assigned_names(inner, names);
        }
    });
}
