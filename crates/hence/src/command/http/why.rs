//! `hence http why`: from a URL back to who said so.

use clap::Args;
use hence_closure::language::{located, said};
use hence_closure::level2::meant;
use hence_closure::model::{Answer, Body, Request, behaviour};
use hence_closure::probe;
use hence_ledger::entry::Origin;

use super::Http;
use crate::command::fleet::{faulty, moment};
use crate::console::Console;
use crate::{Exit, Stop};

/// Say what a URL answers, and why
#[derive(Args)]
pub struct Why {
    /// The URL, such as `http://foo.test/products/`
    url: String,
}

impl Why {
    /// Says it.
    pub fn run(&self, http: &Http, console: &mut Console<'_>) -> Result<Exit, Stop> {
        let (host, url) = located(&self.url).map_err(faulty)?;
        let closure = http.open(console)?;
        let site = closure.site();
        let (path, mut lines) = (url.to_string(), Vec::new());
        let endpoints: Vec<_> = site.endpoints.iter().copied().collect();
        if endpoints.is_empty() {
            lines.push("the server listens nowhere".to_owned());
        }
        for endpoint in endpoints {
            let request = Request {
                endpoint,
                host: host.as_str(),
                path: &path,
                from: probe::near(endpoint).ip(),
                user: None,
            };
            let answer = behaviour(&site, closure.content(), &request);
            lines.push(format!(
                "http://{host}{path} at {endpoint} answers {}",
                worded(&answer)
            ));
            let Some(by) = &answer.by else {
                lines.push(format!("  as `host {host}` is not asserted"));
                continue;
            };
            let key = by.key();
            let Some(assertion) = closure.repository().state().get(&key) else {
                continue;
            };
            lines.push(format!("  by `{}`", said(&key, &assertion.value)));
            let entry = closure.repository().entry(assertion.since);
            let entry = entry.map_err(|error| Stop::Failed(Box::new(error.into())))?;
            if let Some(entry) = entry {
                let reason = match entry.message.is_empty() {
                    true => String::new(),
                    false => format!(": {}", entry.message),
                };
                lines.push(format!(
                    "  of `{}`, since generation {}, by {} on {}{reason}",
                    assertion.owner,
                    entry.version,
                    entry.author,
                    moment(entry.time)
                ));
                if let Origin::Command(text) = &entry.origin
                    && let Some(words) = meant(text, &key, &assertion.owner)
                {
                    lines.push(format!("  with `{words}`"));
                }
            }
            if closure.process().is_ok_and(|process| process.is_some()) {
                lines.push(
                    match probe::ask(
                        &hence_closure::host::Machine,
                        endpoint,
                        host.as_str(),
                        &path,
                    ) {
                        Ok(response) => match probe::differs(&answer, &response) {
                            None => "  the server was asked, and answers so".to_owned(),
                            Some(wrong) => {
                                format!("  the server was asked, and breaks this promise: {wrong}")
                            }
                        },
                        Err(error) => {
                            format!("  the server was asked, and does not answer: {error}")
                        }
                    },
                );
            }
        }
        for line in lines {
            writeln!(console.data(), "{line}")?;
        }
        Ok(Exit::Done)
    }
}

/// An answer in words.
fn worded(answer: &Answer) -> String {
    let what = match &answer.body {
        Body::Words => match &answer.location {
            Some(location) => format!(", to {location}"),
            None => String::new(),
        },
        Body::Content(hash) => format!(", blob:{hash}"),
        Body::Listing(names) => format!(", a list of {}", names.len()),
        Body::Other(upstream, path) => {
            return format!("what http://{}{path} says", upstream.endpoint);
        }
    };
    let media = answer.media.as_ref().map(|media| format!(", {media}"));
    format!("{}{}{what}", answer.status, media.unwrap_or_default())
}
