//! The pages about diagnostics, as they stand in `docs/diagnostics`.

macro_rules! pages {
    ($($code:literal)*) => {
        /// Every code and its page, sorted.
        pub const PAGES: &[(&str, &str)] = &[
            $(($code, include_str!(concat!("../../../docs/diagnostics/", $code, ".md"))),)*
        ];
    };
}

pages! {
    "cf2.arguments"
    "cf2.broken-function"
    "cf2.cycle"
    "cf2.database"
    "cf2.division-by-zero"
    "cf2.duplicate"
    "cf2.fail"
    "cf2.import-cycle"
    "cf2.import-missing"
    "cf2.import-name"
    "cf2.inline-conflict"
    "cf2.macro-name"
    "cf2.mutation-order"
    "cf2.no-such-element"
    "cf2.not-a-mutation"
    "cf2.number-range"
    "cf2.signature"
    "cf2.stray-character"
    "cf2.syntax"
    "cf2.type"
    "cf2.unchecked-signature"
    "cf2.undefined"
    "cf2.unknown-function"
    "cf2.unresolved-reference"
    "cf2.unterminated-string"
    "cf2.warn"
    "compare.cannot-run"
    "facts.not-json"
    "help.unknown-topic"
    "impact.not-a-place"
    "impact.not-involved"
    "impact.nothing-there"
    "input.needs-out"
    "input.no-sources"
    "input.unknown-language"
    "limit.depth"
    "limit.mistakes"
    "limit.output"
    "output.cannot-sign"
    "output.overwrites-source"
    "output.unwritable"
    "sf.arithmetic"
    "sf.bad-bytes"
    "sf.include-unreadable"
    "sf.link-cycle"
    "sf.no-configuration"
    "sf.number-range"
    "sf.order-absent"
    "sf.order-cycle"
    "sf.order-differs"
    "sf.parent-missing"
    "sf.parent-not-block"
    "sf.production-only"
    "sf.prototype-cycle"
    "sf.prototype-missing"
    "sf.prototype-not-block"
    "sf.recursive-include"
    "sf.stray-character"
    "sf.syntax"
    "sf.to-be-defined"
    "sf.unknown-escape"
    "sf.unresolved-reference"
    "sf.unterminated-comment"
    "sf.unterminated-string"
    "source.not-utf8"
    "source.too-large"
    "source.unreadable"
    "why.no-such-path"
}

/// The page about a code.
pub fn page(code: &str) -> Option<&'static str> {
    let found = PAGES.iter().find(|(known, _)| *known == code)?;
    Some(found.1)
}
