//! Functions that the real compiler has and this one has not, each with the reason.
//!
//! A catalog comes from manifests, facts and data alone, the same whenever it is compiled and wherever: what reads
//! a clock, throws dice, runs programs or reads other files has no place in it.

use hence_model::diagnostic::{Code, Diagnostic};

use super::{ANY, Function, plain};
use crate::evaluate::{Invocation, Outcome, failed};

/// A function that this compiler does not have on purpose.
pub const REFUSED: Code = Code::new("puppet.refused-function");

pub(super) const FUNCTIONS: &[Function] = &[
    plain(
        "time",
        (0, ANY),
        "time(): refused, as it reads the clock; use a fact",
        |_, call| refuse(&call, "it reads the clock", "take the time from a fact"),
    ),
    plain(
        "shuffle",
        (0, ANY),
        "shuffle(): refused, as it comes out differently each time; use fqdn_rotate",
        |_, call| {
            let help = "`fqdn_rotate` comes out the same each time";
            refuse(&call, "it comes out differently each time", help)
        },
    ),
    plain(
        "str2saltedsha512",
        (0, ANY),
        "str2saltedsha512(): refused, as its salt is random; put the digest into data",
        |_, call| refuse(&call, "its salt is random", "put the digest into data"),
    ),
    plain(
        "str2saltedpbkdf2",
        (0, ANY),
        "str2saltedpbkdf2(): refused, as it is slow on purpose; put the digest into data",
        |_, call| refuse(&call, "it is slow on purpose", "put the digest into data"),
    ),
    plain(
        "pw_hash",
        (0, ANY),
        "pw_hash(): refused, as it needs the password itself; put its digest into data",
        |_, call| {
            refuse(
                &call,
                "it needs the password itself",
                "put its digest into data",
            )
        },
    ),
    plain(
        "loadyaml",
        (0, ANY),
        "loadyaml(): refused, as it reads a file that nobody knows of; use lookup",
        |_, call| {
            refuse(
                &call,
                "it reads a file that nobody knows of",
                "use `lookup`",
            )
        },
    ),
    plain(
        "loadjson",
        (0, ANY),
        "loadjson(): refused, as it reads a file that nobody knows of; use lookup",
        |_, call| {
            refuse(
                &call,
                "it reads a file that nobody knows of",
                "use `lookup`",
            )
        },
    ),
    plain(
        "glob",
        (0, ANY),
        "glob(): refused, as it reads a directory that nobody knows of; use a fact",
        |_, call| {
            let help = "take the names from a fact, or put them into data";
            refuse(&call, "it reads a directory that nobody knows of", help)
        },
    ),
    plain(
        "load_module_metadata",
        (0, ANY),
        "load_module_metadata(): refused, as it reads a file that nobody knows of; use lookup",
        |_, call| {
            refuse(
                &call,
                "it reads a file that nobody knows of",
                "use `lookup`",
            )
        },
    ),
    plain(
        "validate_cmd",
        (0, ANY),
        "validate_cmd(): refused, as it runs a program; use validate_cmd of the resource",
        |_, call| {
            let help = "the attribute `validate_cmd` of a file runs it on the node";
            refuse(&call, "it runs a program", help)
        },
    ),
    plain(
        "validate_augeas",
        (0, ANY),
        "validate_augeas(): refused, as it runs a program; use validate_cmd of the resource",
        |_, call| {
            let help = "the attribute `validate_cmd` of a file runs it on the node";
            refuse(&call, "it runs a program", help)
        },
    ),
    plain(
        "validate_x509_rsa_key_pair",
        (0, ANY),
        "validate_x509_rsa_key_pair(): refused, as keys are not compared here; check the pair where it is made",
        |_, call| {
            let help = "check the pair where it is made";
            refuse(&call, "keys are not compared here", help)
        },
    ),
    plain(
        "parsehocon",
        (0, ANY),
        "parsehocon(): refused, as HOCON is not read here; use parsejson or parseyaml",
        |_, call| {
            let help = "use `parsejson` or `parseyaml`";
            let why = "HOCON is not read here";
            refuse(&call, why, help)
        },
    ),
    plain(
        "annotate",
        (0, ANY),
        "annotate(): refused, as there are no annotations here",
        |_, call| refuse(&call, "there are no annotations here", "use a hash"),
    ),
    plain(
        "import",
        (0, ANY),
        "import(): refused, as the real compiler has it no longer; give a folder as the manifest, or make a module",
        |_, call| {
            let help = "give a folder as the manifest: all files in it are read; classes are found in modules by their names";
            refuse(&call, "the real compiler has it no longer", help)
        },
    ),
    plain(
        "scanf",
        (0, ANY),
        "scanf(): refused, as the real compiler has it no longer; use match or split",
        |_, call| {
            refuse(
                &call,
                "the real compiler has it no longer",
                "use `match` or `split`",
            )
        },
    ),
];

fn refuse(call: &Invocation<'_>, why: &str, help: &str) -> Outcome {
    let message = format!("`{}` is refused: {why}", call.name);
    let trouble = Diagnostic::error(REFUSED, message).at(call.at.span);
    Err(failed(trouble.help(help)))
}
