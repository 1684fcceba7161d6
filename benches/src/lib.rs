//! How fast Hence compiles, next to jrsonnet, to the least that printing the result can cost, and to the real compiler
//! of Puppet; how much its service carries; and what its closures add to web servers.
//!
//! cases          what is compiled: fleet, deep, wide, imports
//! configuration  … described once, with the value it denotes
//! smartfrog      … written for Hence
//! cf2            … and again, in its other language
//! jsonnet        … written for jrsonnet
//! nodes          … and one that is ten thousand files
//! catalogs       what is compiled in Puppet: a class of very many things
//! site           … and a site of very many nodes
//! contenders     the programs, and whether they agree        checked before anything is timed
//! floor          the one of them that is here
//! recording      Hence's compiler with the trace and without
//! measure        CPU time and peak memory of one process
//! rounds         many runs, interleaved, and their medians
//! instructions   a count that a busy machine does not change
//! reads          … and another: how many files are read
//! hash           a yardstick
//! service        a server under load, next to a bare one
//! http           web servers in a closure, next to ones that are configured by hand
//! bounds         what is promised
//! report         the tables
//! machine        what it was run on, and with which versions

pub mod bounds;
pub mod cases;
pub mod catalogs;
pub mod cf2;
pub mod configuration;
pub mod contenders;
pub mod floor;
pub mod hash;
pub mod http;
pub mod instructions;
pub mod jsonnet;
pub mod machine;
pub mod measure;
pub mod nodes;
pub mod pools;
pub mod reads;
pub mod recording;
pub mod report;
pub mod rounds;
pub mod service;
pub mod site;
pub mod smartfrog;
