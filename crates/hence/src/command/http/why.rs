//! `hence http why`: from a URL back to who said so.

use clap::Args;
use hence_closure::address::{Endpoint, Name};
use hence_closure::closure::Closure;
use hence_closure::language::{Address, said};
use hence_closure::level2::meant;
use hence_closure::model::{Answer, Body, Request, behaviour};
use hence_closure::probe;
use hence_closure::site::Site;
use hence_closure::words::Subject;
use hence_ledger::entry::Origin;
use hence_model::diagnostic::Diagnostic;
use serde::Serialize;

use super::Http;
use crate::command::fleet::{Format, faulty, moment, print_json};
use crate::command::why::url::NOT_SERVED;
use crate::console::Console;
use crate::{Exit, Stop};

/// Say what a URL answers, and why
#[derive(Args)]
pub struct Why {
    /// The URL, such as `http://foo.test/products/`
    url: String,
}

/// What a URL answers at an endpoint, and why.
#[derive(Serialize)]
pub struct Told {
    url: String,
    endpoint: String,
    status: u16,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    media: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    location: Option<String>,
    /// The certificate that is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    cert: Option<String>,
    /// In words.
    answer: String,
    /// Whether anything that is asserted decides it.
    asserted: bool,
    /// What is missing if none does.
    #[serde(skip_serializing_if = "Option::is_none")]
    missing: Option<String>,
    /// The assertion that decides it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<Decided>,
    /// What the server was found to do, if it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    asked: Option<Asked>,
}

/// An assertion, and where it comes from.
#[derive(Serialize)]
pub struct Decided {
    /// What it is about.
    #[serde(skip)]
    pub subject: Subject,
    assertion: String,
    /// Whose it is.
    pub owner: String,
    generation: u64,
    /// Who made it.
    pub author: String,
    time: String,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<String>,
}

/// What a server does when it is asked.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
enum Asked {
    AsPromised,
    Otherwise(String),
    NoAnswer(String),
}

impl Why {
    /// Says it.
    pub fn run(&self, http: &Http, console: &mut Console<'_>) -> Result<Exit, Stop> {
        let address = Address::asked(&self.url).map_err(faulty)?;
        let closure = http.open(console)?;
        let all = all(&closure, &address)?;
        if http.format == Format::Json {
            print_json(console, &all)?;
            return Ok(Exit::Done);
        }
        for told in &all {
            told.write(console)?;
        }
        Ok(Exit::Done)
    }
}

/// What a closure answers to an address, at each endpoint that may be meant.
pub fn all(closure: &Closure<'_>, address: &Address) -> Result<Vec<Told>, Stop> {
    let site = closure.site();
    let mut meant = site.endpoints.clone();
    meant.retain(|endpoint| address.may_be(*endpoint, site.secured.contains(endpoint)));
    if meant.is_empty() {
        return Err(Stop::Refused(Box::new(nobody_listens(address, &site))));
    }
    let path = address.url.to_string();
    meant
        .into_iter()
        .map(|endpoint| told(closure, &site, endpoint, &address.host, &path))
        .collect()
}

/// That the server does not listen where an address leads.
fn nobody_listens(address: &Address, site: &Site) -> Diagnostic {
    let by = match address.is_secured {
        true => " by TLS",
        false => "",
    };
    let at = match address.port {
        Some(port) => format!("at port {port}"),
        None => "anywhere".to_owned(),
    };
    let message = format!("the server does not listen{by} {at}");
    let trouble = Diagnostic::error(NOT_SERVED, message);
    let listens = site.endpoints.iter().map(|endpoint| {
        let scheme = site.scheme(*endpoint);
        format!("{scheme}://{endpoint}")
    });
    let listens: Vec<String> = listens.collect();
    trouble.help(match listens.is_empty() {
        true => "`hence http assert listen ADDRESS:PORT` lets it listen".to_owned(),
        false => format!("it listens at {}", listens.join(", ")),
    })
}

fn told(
    closure: &Closure<'_>,
    site: &Site,
    endpoint: Endpoint,
    host: &Name,
    path: &str,
) -> Result<Told, Stop> {
    let request = Request {
        endpoint,
        named: Some(host.as_str()),
        host: host.as_str(),
        path,
        from: probe::near(endpoint).ip(),
        user: None,
    };
    let answer = behaviour(site, closure.content(), &request);
    let mut told = Told {
        url: format!("{}://{host}{path}", site.scheme(endpoint)),
        endpoint: endpoint.to_string(),
        status: answer.status,
        media: answer.media.as_ref().map(ToString::to_string),
        content: match &answer.body {
            Body::Content(hash) => Some(format!("blob:{hash}")),
            _ => None,
        },
        location: answer.location.clone(),
        answer: worded(&answer),
        cert: site
            .shown(endpoint, Some(host))
            .map(|hash| format!("cert:{hash}")),
        asserted: answer.by.is_some(),
        missing: match site.hosts.get(host) {
            _ if answer.by.is_some() => None,
            None => Some(format!("`host {host}` is not asserted")),
            Some(site) if site.held.is_some() => Some(format!("`host {host}` is held")),
            Some(site) if !site.is_on(endpoint) => Some(format!("`host {host}` is not there")),
            Some(_) => Some(format!("`host {host}` has no `cert` there")),
        },
        by: None,
        asked: None,
    };
    let held = site.hosts.get(host).filter(|host| host.held.is_some());
    let held = held.map(|_| Subject::Hold(host.clone()));
    let Some(by) = &answer.by.clone().or(held) else {
        return Ok(told);
    };
    let key = by.key();
    if let Some(assertion) = closure.repository().state().get(&key) {
        let entry = closure.repository().entry(assertion.since);
        let entry = entry.map_err(|error| Stop::Failed(Box::new(error.into())))?;
        told.by = entry.map(|entry| Decided {
            subject: by.clone(),
            assertion: said(&key, &assertion.value),
            owner: assertion.owner.to_string(),
            generation: entry.version,
            time: moment(entry.time),
            command: match &entry.origin {
                Origin::Command(text) => meant(text, &key, &assertion.owner).map(str::to_owned),
                Origin::Sources(_) => None,
            },
            author: entry.author,
            message: entry.message,
        });
    }
    if matches!(closure.process(), Ok(Some(_))) || matches!(closure.is_down(), Ok(true)) {
        let asked = closure.breaks(site, &request, &answer);
        told.asked = Some(match asked {
            Ok(None) => Asked::AsPromised,
            Ok(Some(wrong)) => Asked::Otherwise(wrong),
            Err(error) => Asked::NoAnswer(error.to_string()),
        });
    }
    Ok(told)
}

impl Told {
    /// Says it.
    pub fn write(&self, console: &mut Console<'_>) -> Result<(), Stop> {
        let Self {
            url,
            endpoint,
            answer,
            ..
        } = self;
        writeln!(console.data(), "{url} at {endpoint} answers {answer}")?;
        if let Some(missing) = &self.missing {
            writeln!(console.data(), "  as {missing}")?;
        }
        if let Some(cert) = &self.cert {
            writeln!(console.data(), "  under {cert}")?;
        }
        let Some(by) = &self.by else {
            return Ok(());
        };
        writeln!(console.data(), "  by `{}`", by.assertion)?;
        let reason = match by.message.is_empty() {
            true => String::new(),
            false => format!(": {}", by.message),
        };
        writeln!(
            console.data(),
            "  of `{}`, since generation {}, by {} on {}{reason}",
            by.owner,
            by.generation,
            by.author,
            by.time
        )?;
        if let Some(words) = &by.command {
            writeln!(console.data(), "  with `{words}`")?;
        }
        let asked = match &self.asked {
            None => return Ok(()),
            Some(Asked::AsPromised) => "answers so".to_owned(),
            Some(Asked::Otherwise(wrong)) => format!("breaks this promise: {wrong}"),
            Some(Asked::NoAnswer(error)) => format!("does not answer: {error}"),
        };
        writeln!(console.data(), "  the server was asked, and {asked}")?;
        Ok(())
    }
}

/// An answer in words.
pub fn worded(answer: &Answer) -> String {
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
