//! Temporary.
use hence_model::print::json::Json;
use hence_model::source::{Files, ReadError};
use hence_model::trace::Trace;
use std::io::Read;
struct Disk;
impl Files for Disk {
    fn read(&self, name: &str, text: &mut String) -> Result<(), ReadError> {
        let mut f = std::fs::File::open(name).map_err(|_| ReadError::Missing)?;
        f.read_to_string(text)
            .map_err(|e| ReadError::Refused(e.to_string()))?;
        Ok(())
    }
}
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let mut o = hence_smartfrog::Options::default();
    if a.get(3).is_some() {
        o.semantics = if a[3] == "prod" {
            hence_smartfrog::Semantics::Production
        } else {
            hence_smartfrog::Semantics::Forward
        };
    }
    let c = hence_smartfrog::compile_file::<Trace>(&Disk, &a[2], &o);
    for d in &c.unit.diagnostics {
        eprintln!(
            "{} {:?} {} {:?}",
            d.code.name,
            d.code.rule,
            d.message,
            d.labels
                .iter()
                .map(|l| (c.unit.sources.location(l.span.start).to_string(), &l.text))
                .collect::<Vec<_>>()
        );
    }
    let mut j = Json::compact(std::io::stdout().lock());
    c.send(&mut j);
    if c.configuration.is_some() {
        let _ = j.finish().unwrap();
    }
}
