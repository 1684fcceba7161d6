//! One specification, two evaluators.

use hence_model::source::Files;
use hence_model::trace::Recorder;
use hence_model::unit::{Limits, Unit};
use hence_model::value::{Builder, Value};
use hence_smartfrog::definitional::{self, Budget, ErrorRule};
use hence_smartfrog::generate::Kind;
use hence_smartfrog::lexer::Dialect;
use hence_smartfrog::{Compiled, Options, Semantics, compile_file, tree};

/// A value, or the name of the first thing that is wrong: the paper's rule where it has one.
pub type Outcome = Result<Value, &'static str>;

/// Compiles with the fast evaluator.
pub fn compiled<R: Recorder>(
    files: &dyn Files,
    main: &str,
    kind: Kind,
    limits: Limits,
) -> Compiled<R> {
    let semantics = match kind {
        Kind::Core => Semantics::Core,
        Kind::Forward => Semantics::Forward,
    };
    compile_file(
        files,
        main,
        &Options {
            semantics,
            limits,
            ..Options::default()
        },
    )
}

/// What the fast evaluator says.
pub fn fast<R: Recorder>(compiled: &Compiled<R>) -> Outcome {
    if let Some(first) = compiled.unit.diagnostics.iter().find(|d| d.is_error()) {
        return Err(first.code.rule.unwrap_or(first.code.name));
    }
    let mut builder = Builder::default();
    compiled.send(&mut builder);
    Ok(builder.finish().expect("what has no errors has a value"))
}

/// What the definitions say; nothing if that would take too long.
pub fn slow(files: &dyn Files, main: &str, kind: Kind, limits: Limits) -> Option<Outcome> {
    let mut unit = Unit::with_limits(limits);
    let file = unit.load(files, main).expect("it was read before");
    let body = tree::read(&mut unit, files, file, Dialect::Core);
    assert!(!unit.has_errors(), "it was compiled before");
    let value = definitional::evaluate(&unit, &body, kind.links(), Budget(100_000));
    named(value)
}

/// An outcome with the fast evaluator's names for what is wrong.
pub fn named(value: Result<Value, ErrorRule>) -> Option<Outcome> {
    match value {
        Err(ErrorRule::TooLarge) => None,
        Err(ErrorRule::Cycle) => Some(Err("sf.link-cycle")),
        Err(ErrorRule::Order) => Some(Err("sf.order-cycle")),
        Err(rule) => Some(Err(rule.name())),
        Ok(value) => Some(Ok(value)),
    }
}
