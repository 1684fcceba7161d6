//! Why a value is what it is: everybody who had a say in it, and the line that each of them wrote.

use std::sync::Arc;

use axum::extract::State;
use axum::response::IntoResponse;
use ecow::EcoString;
use hence_fleet::edit::NO_SUCH;
use hence_fleet::explain::{Contribution, Effect, Membership};
use hence_fleet::token::Role;
use hence_fleet::{Explanation, Kind};
use hence_service::Service;
use hence_service::moment::moment;
use hence_service::pushed::{Archive, Written};
use serde::Deserialize;

use super::drawing::{Picture, Shape};
use super::html::{Html, address, coded, html, link, shortened};
use super::nodes::{Which, deciding, line_of, there, version, who};
use super::session::Signed;
use super::shell::{Area, Live, Sheet, Shown};
use super::value::{legible, shown};
use crate::answer::No;
use crate::hub::Hub;
use crate::routes::{Asked, At};

/// So many of those who had a say are told, those that decide among them.
const MOST: usize = 50;
/// So many of them are in the picture.
const DRAWN: usize = 12;
/// So many features of a chain of features are in the picture.
const DEEP: usize = 5;
/// So many lines that one has something from are in the picture.
const ORIGINS: usize = 4;
/// So much of a value is told.
const LONGEST: usize = 2000;

#[derive(Deserialize)]
pub(crate) struct Looking {
    of: Option<String>,
}

pub async fn why(
    State(hub): State<Arc<Hub>>,
    signed: Signed,
    At((node, parameter)): At<(String, String)>,
    Asked(Looking { of }): Asked<Looking>,
) -> Shown {
    signed.access.must(Role::Read)?;
    let which = Which::of(of.as_deref());
    let (title, body) = hub
        .work(move |service| {
            let service = &*service;
            let node = there(service, Kind::Node, &node)?;
            let found = which.look(service, &node, |pool, archive| {
                let explanation = pool.explain(&node, &parameter)?;
                Some((
                    explanation.parameter.to_string(),
                    page(service, archive, &explanation, which),
                ))
            })?;
            found.ok_or_else(|| {
                let message = format!("`{parameter}` is not in the configuration of `{node}`");
                No::new(NO_SUCH, message)
            })
        })
        .await?;
    let sheet = Sheet::new(&format!("Why {title}"), Area::Nodes, body);
    Ok(sheet.live(Live::Follows).into_response())
}

fn page(service: &Service, archive: &Archive<'_>, explanation: &Explanation, which: Which) -> Html {
    let value = explanation.value.to_string();
    let first = explanation.chain.len().saturating_sub(MOST);
    let mut items = Html::default();
    for contribution in explanation.chain[first..].iter().rev() {
        items.add("{}", &[&item(service, archive, explanation, contribution)]);
    }
    let more = match first {
        0 => Html::default(),
        more => html("<p class=\"note\">And {} more below these.</p>\n", &[&more]),
    };
    let sentence = deciding(explanation).map(|contribution| {
        let sentence = contribution.sentence(&explanation.node, &explanation.parameter);
        legible(service, &sentence)
    });
    let tense = match which {
        Which::Active => "",
        Which::Asserted => ", after the next activation",
    };
    let node = format!(
        "{}{}",
        address(&["nodes", &explanation.node]),
        which.query()
    );
    html(
        "<p class=\"kicker\">{}{}</p>\n<h1><code>{}</code> <span class=\"is\">=</span> <code class=\"result\">{}</code></h1>\n\
         <p class=\"lead\">{}.</p>\n<section aria-labelledby=\"graph\">\n<h2 id=\"graph\">How it came here</h2>\n{}</section>\n\
         <section aria-labelledby=\"chain\">\n<h2 id=\"chain\">Who had a say <span class=\"aside\">the last word first</span></h2>\n\
         <ol class=\"chain\" reversed>\n{}</ol>\n{}</section>\n",
        &[
            &link(&node, &explanation.node),
            &tense,
            &explanation.parameter,
            &shown(service, &value, LONGEST),
            &sentence,
            &picture(service, archive, explanation),
            &items,
            &more,
        ],
    )
}

/// One of those who had a say.
fn item(
    service: &Service,
    archive: &Archive<'_>,
    explanation: &Explanation,
    contribution: &Contribution,
) -> Html {
    let (class, word) = became(contribution);
    let sentence = contribution.sentence(&explanation.node, &explanation.parameter);
    // What overrides it stands above here, and that it lost is said already.
    let sentence = legible(
        service,
        sentence.trim_end_matches("; this is overridden below"),
    );
    let mut item = html(
        "<li class=\"{}\">\n<p><span class=\"state {}\">{}</span> {}</p>\n\
         <p class=\"step\">{}</p>\n<p class=\"note\">{}. {}</p>\n",
        &[
            &class,
            &class,
            &word,
            &who(contribution),
            &step(service, contribution),
            &sentence,
            &made(archive, contribution),
        ],
    );
    let assertion = archive.assertion(&contribution.key);
    let written = assertion.and_then(|assertion| archive.written(&contribution.key, &assertion));
    if let Some(written) = written {
        item.add("{}", &[&source(&written)]);
    }
    item.add("</li>\n", &[]);
    item
}

/// What was there before, and after; of what does not count, what it said.
fn step(service: &Service, contribution: &Contribution) -> Html {
    let before = contribution.before.as_ref().map(ToString::to_string);
    let before = before.unwrap_or_default();
    let after = contribution.after.to_string();
    let [old, new] = [&before, &after].map(|text| shown(service, text, LONGEST));
    if contribution.effect != Effect::Stands {
        return html("<span class=\"calm\">{}</span>", &[&new]);
    }
    match after.strip_prefix(before.as_str()) {
        Some("") => html("{}", &[&new]),
        Some(_) if before.is_empty() => html("<ins>{}</ins>", &[&new]),
        Some(more) => html("{}<ins>{}</ins>", &[&old, &shortened(more, LONGEST)]),
        None => html(
            "<del>{}</del> <span aria-hidden=\"true\">→</span> <ins>{}</ins>",
            &[&old, &new],
        ),
    }
}

/// What became of what somebody said.
fn became(contribution: &Contribution) -> (&'static str, &'static str) {
    match contribution.effect {
        Effect::Stands => ("good", "counts"),
        Effect::Lost => ("lost", "lost"),
        Effect::None => ("calm", "no effect"),
    }
}

/// Who asserted it, when and why.
fn made(archive: &Archive<'_>, contribution: &Contribution) -> Html {
    let assertion = archive.assertion(&contribution.key);
    let Some((assertion, made)) = assertion.and_then(|assertion| {
        let made = archive.made(&assertion)?;
        Some((assertion, made))
    }) else {
        return Html::default();
    };
    let message = match made.message.is_empty() {
        true => Html::default(),
        false => html(": “{}”", &[&made.message]),
    };
    html(
        "Asserted by {} in version {}, {}{}.",
        &[
            &made.author,
            &version(assertion.since),
            &moment(made.time),
            &message,
        ],
    )
}

/// Where it is written, and how it came from there.
fn source(written: &Written) -> Html {
    let mut lines = line(&written.place, written.line.as_deref(), "");
    if let Some(computed) = &written.computed {
        lines.add(
            "<p class=\"note\">computed as <code>{}</code></p>\n",
            &[computed],
        );
    }
    if let Some(commit) = &written.commit {
        lines.add("<p class=\"note\">{}</p>\n", &[commit]);
    }
    let mut told = vec![line_of(&written.place)];
    for step in &written.steps {
        // A line that was shown already says no more.
        if !told.contains(&line_of(&step.step.place)) {
            told.push(line_of(&step.step.place));
            lines.add(
                "{}",
                &[&line(
                    &step.step.place,
                    step.line.as_deref(),
                    &step.step.words,
                )],
            );
        }
    }
    html("<div class=\"source\">\n{}</div>\n", &[&lines])
}

/// A line of a source with its place in the margin.
fn line(place: &str, text: Option<&str>, words: &str) -> Html {
    let words = match words.is_empty() {
        true => Html::default(),
        false => html(" <span class=\"note\">{}</span>", &[&coded(words)]),
    };
    html(
        "<p class=\"written\"><code class=\"place\">{}</code> <code class=\"text\">{}</code>{}</p>\n",
        &[&place, &text.map(|text| shortened(text, LONGEST)), &words],
    )
}

/// Sources on the left, what is written before what is made of it; then features, from those that say it to those that are
/// installed, then groups, and the value on the right.
fn picture(service: &Service, archive: &Archive<'_>, explanation: &Explanation) -> Html {
    let mut picture = Picture::default();
    let first = explanation.chain.len().saturating_sub(DRAWN);
    let chain = &explanation.chain[first..];
    let written: Vec<Option<Written>> = chain
        .iter()
        .map(|contribution| {
            let assertion = archive.assertion(&contribution.key)?;
            archive.written(&contribution.key, &assertion)
        })
        .collect();
    let sources: Vec<Option<Sources<'_>>> = written
        .iter()
        .map(|written| written.as_ref().map(Sources::of))
        .collect();
    let said = sources.iter().flatten();
    let origins = usize::from(said.clone().any(|sources| !sources.origins.is_empty()));
    let before = origins + usize::from(said.count() > 0);
    let features = chain.iter().map(|one| one.features.len().min(DEEP));
    let features = features.max().unwrap_or(0);
    let heights = sources.iter().map(|sources| {
        let origins = sources.as_ref().map_or(0, |sources| sources.origins.len());
        origins.max(1)
    });
    let value = picture.shape(Shape {
        column: before + features + 1,
        row: heights.clone().sum::<usize>().saturating_sub(1),
        class: "value",
        title: legible(service, &explanation.value.to_string()),
        detail: explanation.parameter.to_string(),
        to: None,
    });
    let mut top = 0;
    for ((contribution, sources), height) in chain.iter().zip(&sources).zip(heights).rev() {
        let (class, _) = became(contribution);
        let row = top + height - 1;
        let to = Some(address(&["groups", &contribution.group]));
        let (title, detail, to) = match contribution.membership {
            Membership::Identity => (explanation.node.as_str(), "node", None),
            Membership::Default => ("all nodes", "group", to),
            _ => (contribution.group.as_str(), "group", to),
        };
        let group = picture.shape(Shape {
            column: before + features,
            row,
            class,
            title: title.to_owned(),
            detail: detail.to_owned(),
            to,
        });
        picture.line(group, value, class);
        let mut last = group;
        for (depth, feature) in drawn(&contribution.features).into_iter().enumerate() {
            let feature = picture.shape(Shape {
                column: before + features - 1 - depth,
                row,
                class,
                title: feature.to_string(),
                detail: "feature".to_owned(),
                to: Some(address(&["features", feature])),
            });
            picture.line(feature, last, class);
            last = feature;
        }
        if let Some(sources) = sources {
            let said = picture.shape(sources.said.shape(origins, row, class));
            picture.line(said, last, class);
            for (at, origin) in sources.origins.iter().enumerate() {
                let origin = picture.shape(origin.shape(0, top + 2 * at, class));
                picture.line(origin, said, class);
            }
        }
        top += 2 * height;
    }
    picture.drawn("The way of the value, from its sources on the left; the same is said below")
}

/// The lines of sources behind an assertion that are in the picture.
struct Sources<'w> {
    /// The one that says it,
    said: Line<'w>,
    /// and those that it has it from.
    origins: Vec<Line<'w>>,
}

/// A line of a source.
#[derive(Clone, Copy)]
struct Line<'w> {
    place: &'w str,
    text: &'w str,
}

impl<'w> Sources<'w> {
    /// What is computed is said where that happens, of parts from elsewhere. What is not is said where its way ends, and
    /// written where it begins.
    fn of(written: &'w Written) -> Self {
        let line = |place: &'w str, text: &'w Option<String>| Line {
            place: line_of(place),
            text: text.as_deref().unwrap_or_default(),
        };
        let here = line(&written.place, &written.line);
        let steps = written.steps.iter();
        let mut steps = steps.map(|step| line(&step.step.place, &step.line));
        let (said, others): (Line<'w>, Vec<Line<'w>>) = match written.computed {
            Some(_) => (here, steps.collect()),
            None => (steps.next_back().unwrap_or(here), vec![here]),
        };
        let mut origins: Vec<Line<'w>> = Vec::new();
        for other in others {
            let is_known = |known: &Line<'_>| known.place == other.place;
            if origins.len() < ORIGINS && !is_known(&said) && !origins.iter().any(is_known) {
                origins.push(other);
            }
        }
        Self { said, origins }
    }
}

impl Line<'_> {
    fn shape(self, column: usize, row: usize, class: &'static str) -> Shape {
        Shape {
            column,
            row,
            class,
            title: self.place.to_owned(),
            detail: self.text.to_owned(),
            to: None,
        }
    }
}

/// The features of a chain that are in the picture: the one that says it, and those that lead to it as far as there is room.
fn drawn(features: &[EcoString]) -> Vec<&EcoString> {
    let Some((last, leading)) = features.split_last() else {
        return Vec::new();
    };
    leading.iter().take(DEEP - 1).chain([last]).collect()
}
