//! Groups and features: which installs which, as a picture and as tables.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use axum::response::IntoResponse;
use ecow::EcoString;
use hence_fleet::Kind;
use hence_fleet::token::Role;
use hence_ledger::key::fold;
use hence_ledger::{Keys, State as Asserted};
use hence_service::Service;
use hence_service::explained::shown;
use hence_service::pushed::Archive;
use serde::Deserialize;

use super::drawing::{Picture, Shape, rows};
use super::html::{Html, address, count, html, link, spelled};
use super::nodes::{Chosen, annotation, line_of, pages, standing, there, version};
use super::session::Signed;
use super::shell::{Area, Live, Sheet, Shown};
use super::value;
use crate::answer::No;
use crate::hub::Hub;
use crate::routes::{Asked, At};

/// So many groups and so many features are drawn, and told.
const DRAWN: usize = 40;
const TOLD: usize = 300;
/// So many names are told in a row, and so many nodes on the page of their group.
const NAMES: usize = 200;
const MEMBERS: usize = 50;
/// So much of a value is told.
const LONGEST: usize = 300;

/// What a group or a feature is made of, by their folded names.
#[derive(Default)]
struct Made {
    /// What is installed, or included: the highest priority first.
    features: Vec<String>,
    depends: Vec<String>,
    conflicts: Vec<String>,
    parameters: usize,
}

/// What all things of a kind are made of.
fn made(state: &Asserted, kind: Kind) -> BTreeMap<String, Made> {
    let mut all: BTreeMap<String, (Made, Vec<(i64, String)>)> = BTreeMap::new();
    let top = hence_ledger::Key::new([kind.word()]);
    for (key, assertion) in state.among(Keys::Under(top)) {
        let names: Vec<_> = key.names().collect();
        let [_, name, clause @ ..] = names.as_slice() else {
            continue;
        };
        let (thing, ranked) = all.entry(name.to_string()).or_default();
        let [word, other] = clause else {
            continue;
        };
        let other = other.to_string();
        match word.as_ref() {
            "feature" | "include" => {
                let rank = assertion.value.as_text().unwrap_or_default();
                ranked.push((rank.parse().unwrap_or(0), other));
            }
            "depend" => thing.depends.push(other),
            "conflict" => thing.conflicts.push(other),
            "param" => thing.parameters += 1,
            _ => {}
        }
    }
    let sorted = |(name, (mut made, mut ranked)): (String, (Made, Vec<(i64, String)>))| {
        ranked.sort();
        made.features = ranked.into_iter().map(|(_, name)| name).collect();
        (name, made)
    };
    all.into_iter().map(sorted).collect()
}

/// A name as it is spelled, and as a link.
fn named(service: &Service, kind: Kind, folded: &str) -> Html {
    let spelling = service.head().spelling(kind, folded);
    let name = spelling.unwrap_or_else(|| folded.into());
    match kind {
        Kind::Node => link(&address(&["nodes", &name]), &spelled(&name)),
        Kind::Group => link(&address(&["groups", &name]), &spelled(&called(&name))),
        Kind::Feature => link(&address(&["features", &name]), &spelled(&name)),
        Kind::Param | Kind::Subsystem => spelled(&name),
    }
}

/// What people call a group.
pub(super) fn called(group: &str) -> EcoString {
    match fold(group) == hence_fleet::words::DEFAULT {
        true => "all nodes".into(),
        false => group.into(),
    }
}

fn several(service: &Service, kind: Kind, names: &[String]) -> Html {
    let mut list = Html::default();
    for (number, name) in names.iter().take(NAMES).enumerate() {
        if number > 0 {
            list.add(", ", &[]);
        }
        list.add("{}", &[&named(service, kind, name)]);
    }
    match names.len() {
        0 => html("<span class=\"calm\">–</span>", &[]),
        many if many > NAMES => html("{} and {} more", &[&list, &(many - NAMES)]),
        _ => list,
    }
}

/// All groups and features.
pub async fn fleet(State(hub): State<Arc<Hub>>, signed: Signed) -> Shown {
    signed.access.must(Role::Read)?;
    let body = hub.work(|service| Ok(overview(service)));
    let sheet = Sheet::new("Fleet", Area::Fleet, body.await?);
    Ok(sheet.live(Live::Follows).into_response())
}

fn overview(service: &Service) -> Html {
    let groups = made(service.state(), Kind::Group);
    let features = made(service.state(), Kind::Feature);
    let mut sizes: BTreeMap<String, usize> = BTreeMap::new();
    for (key, _) in service
        .state()
        .among(Keys::Under(hence_ledger::Key::new(["node"])))
    {
        let names: Vec<_> = key.names().collect();
        if let [_, _, word, group] = names.as_slice()
            && word == "group"
        {
            *sizes.entry(group.to_string()).or_default() += 1;
        }
    }
    sizes.insert(
        hence_fleet::words::DEFAULT.to_owned(),
        service.head().node_count(),
    );
    let size = |group: &str| sizes.get(group).copied().unwrap_or(0);
    let mut group_rows = Html::default();
    for (name, made) in groups.iter().take(TOLD) {
        group_rows.add(
            "<tr><th scope=\"row\">{}</th><td class=\"number\" data-of=\"Nodes\">{}</td><td data-of=\"Installs\">{}</td>\
             <td class=\"number\" data-of=\"Sets\">{}</td></tr>\n",
            &[
                &named(service, Kind::Group, name),
                &size(name),
                &several(service, Kind::Feature, &made.features),
                &made.parameters,
            ],
        );
    }
    let mut feature_rows = Html::default();
    for (name, made) in features.iter().take(TOLD) {
        feature_rows.add(
            "<tr><th scope=\"row\">{}</th><td data-of=\"Includes\">{}</td><td data-of=\"Needs\">{}</td>\
             <td data-of=\"Not with\">{}</td><td class=\"number\" data-of=\"Sets\">{}</td></tr>\n",
            &[
                &named(service, Kind::Feature, name),
                &several(service, Kind::Feature, &made.features),
                &several(service, Kind::Feature, &made.depends),
                &several(service, Kind::Feature, &made.conflicts),
                &made.parameters,
            ],
        );
    }
    if groups.is_empty() && features.is_empty() {
        return html(
            "<h1>Fleet</h1>\n<p class=\"empty\">There are no groups and no features yet. \
             <code>hence add feature NAME</code> and <code>hence add group NAME</code> make them, and <code>hence push</code> \
             compiles them from sources.</p>\n",
            &[],
        );
    }
    html(
        "<h1>Fleet <span class=\"aside\">{}, {}</span></h1>\n\
         <section aria-labelledby=\"graph\">\n<h2 id=\"graph\">What installs what</h2>\n{}{}{}</section>\n\
         <section aria-labelledby=\"groups\">\n<h2 id=\"groups\">Groups</h2>\n\
         <div class=\"wide\"><table>\n<caption class=\"unseen\">Groups and what they install</caption>\n\
         <thead><tr><th scope=\"col\">Group</th><th scope=\"col\" class=\"number\">Nodes</th><th scope=\"col\">Installs</th>\
         <th scope=\"col\" class=\"number\">Sets</th></tr></thead>\n<tbody>\n{}</tbody>\n</table></div>\n{}</section>\n\
         <section aria-labelledby=\"features\">\n<h2 id=\"features\">Features</h2>\n\
         <div class=\"wide\"><table>\n<caption class=\"unseen\">Features and what they include</caption>\n\
         <thead><tr><th scope=\"col\">Feature</th><th scope=\"col\">Includes</th><th scope=\"col\">Needs</th>\
         <th scope=\"col\">Not with</th><th scope=\"col\" class=\"number\">Sets</th></tr></thead>\n<tbody>\n{}</tbody>\n\
         </table></div>\n{}</section>\n",
        &[
            &count(groups.len(), "group"),
            &count(features.len(), "feature"),
            &picture(service, &groups, &features),
            &more(
                groups.len(),
                DRAWN,
                "groups are not drawn; the table has them",
            ),
            &more(
                features.len(),
                DRAWN,
                "features are not drawn; the table has them",
            ),
            &group_rows,
            &more(groups.len(), TOLD, "are found by searching"),
            &feature_rows,
            &more(features.len(), TOLD, "are found by searching"),
        ],
    )
}

/// A word about what is left out.
pub(super) fn more(all: usize, most: usize, words: &str) -> Html {
    match all.saturating_sub(most) {
        0 => Html::default(),
        more => html("<p class=\"note\">{} more {}.</p>\n", &[&more, &words]),
    }
}

/// Groups on the left, and features the further to the right the more features include them.
fn picture(
    service: &Service,
    groups: &BTreeMap<String, Made>,
    features: &BTreeMap<String, Made>,
) -> Html {
    let of = |kind| match kind {
        Kind::Group => groups,
        _ => features,
    };
    let drawn = drawn(groups, features);
    let mut columns: BTreeMap<&str, usize> = drawn.iter().map(|name| (*name, 1)).collect();
    // Nothing includes itself, so this ends; if it did, it would end all the same.
    for _ in 0..drawn.len() {
        let mut moved = false;
        for name in &drawn {
            let column = columns[name];
            for included in &features[*name].features {
                if let Some(other) = columns.get_mut(included.as_str())
                    && *other <= column
                    && column < DRAWN
                {
                    *other = column + 1;
                    moved = true;
                }
            }
        }
        if !moved {
            break;
        }
    }
    let groups_drawn = groups.keys().take(DRAWN);
    let all: Vec<(Kind, &str, usize)> = groups_drawn
        .map(|name| (Kind::Group, name.as_str(), 0))
        .chain(columns.iter().map(|(name, at)| (Kind::Feature, *name, *at)))
        .collect();
    let numbers: BTreeMap<&str, usize> = all
        .iter()
        .enumerate()
        .filter(|(_, (kind, ..))| *kind == Kind::Feature)
        .map(|(number, (_, name, _))| (*name, number))
        .collect();
    let mut lines = Vec::new();
    let mut ordered: Vec<Vec<usize>> = Vec::new();
    let mut hidden = vec![0; all.len()];
    for (number, (kind, name, column)) in all.iter().enumerate() {
        ordered.resize(ordered.len().max(column + 1), Vec::new());
        ordered[*column].push(number);
        for other in &of(*kind)[*name].features {
            match numbers.get(other.as_str()) {
                Some(other) => lines.push((number, *other)),
                None => hidden[number] += 1,
            }
        }
    }
    // A line has a place of its own in every column that it goes past; lines to the same box share it.
    let mut bends: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    let mut joined = Vec::new();
    for &(from, to) in &lines {
        let mut last = from;
        let past = all[from].2 + 1..all[to].2;
        for column in past {
            let number = all.len() + bends.len();
            let bend = *bends.entry((to, column)).or_insert_with(|| {
                ordered[column].push(number);
                number
            });
            joined.push((last, bend));
            last = bend;
        }
        joined.push((last, to));
    }
    let rows = rows(&ordered, &joined);
    // Keys go from box to box down a column, and then to the next.
    let mut order: Vec<usize> = (0..all.len()).collect();
    order.sort_by_key(|&number| (all[number].2, rows[number]));
    let mut picture = Picture::default();
    let mut boxes = vec![0; all.len()];
    for number in order {
        let (kind, name, column) = &all[number];
        let spelling = service.head().spelling(*kind, name);
        let spelling = spelling.unwrap_or_else(|| (*name).into());
        let (class, title, top) = match kind {
            Kind::Group => ("group", called(&spelling), "groups"),
            _ => ("feature", spelling.clone(), "features"),
        };
        // What has no line for want of room must not look as if it had none.
        let detail = match hidden[number] {
            0 => format!("{class}, sets {}", of(*kind)[*name].parameters),
            more => format!("{class}, and {more} not drawn"),
        };
        boxes[number] = picture.shape(Shape {
            column: *column,
            row: rows[number],
            class,
            title: title.to_string(),
            detail,
            to: Some(address(&[top, &spelling])),
        });
    }
    for (from, to) in lines {
        let through = all[from].2 + 1..all[to].2;
        let through = through.map(|column| (column, rows[bends[&(to, column)]]));
        picture.route(boxes[from], through.collect(), boxes[to], "stands");
    }
    picture.drawn(
        "Groups on the left and the features that they install; the tables below say the same",
    )
}

/// The features that are drawn: those that the groups beside them install come first, then those that are included, then
/// the others.
fn drawn<'a>(
    groups: &'a BTreeMap<String, Made>,
    features: &'a BTreeMap<String, Made>,
) -> Vec<&'a str> {
    let installed = groups.values().take(DRAWN).flat_map(|made| &made.features);
    let mut drawn: Vec<&str> = Vec::new();
    let add = |name: &'a str, drawn: &mut Vec<&'a str>| {
        if drawn.len() < DRAWN && features.contains_key(name) && !drawn.contains(&name) {
            drawn.push(name);
        }
    };
    for name in installed {
        add(name, &mut drawn);
    }
    let mut at = 0;
    while let Some(name) = drawn.get(at).copied() {
        for included in &features[name].features {
            add(included, &mut drawn);
        }
        at += 1;
    }
    for name in features.keys() {
        add(name, &mut drawn);
    }
    drawn
}

/// From which parameter on it is told what something sets.
#[derive(Deserialize)]
pub(crate) struct Part {
    #[serde(default)]
    from: usize,
}

/// A group: who is in it, what it installs, what it sets.
pub async fn group(
    State(hub): State<Arc<Hub>>,
    signed: Signed,
    At(name): At<String>,
    Asked(Part { from }): Asked<Part>,
) -> Shown {
    thing(&hub, &signed, Kind::Group, name, from).await
}

/// A feature: what it includes, who installs it, what it sets.
pub async fn feature(
    State(hub): State<Arc<Hub>>,
    signed: Signed,
    At(name): At<String>,
    Asked(Part { from }): Asked<Part>,
) -> Shown {
    thing(&hub, &signed, Kind::Feature, name, from).await
}

async fn thing(hub: &Arc<Hub>, signed: &Signed, kind: Kind, name: String, from: usize) -> Shown {
    signed.access.must(Role::Read)?;
    let now = hub.now();
    let (name, body) = hub
        .work(move |service| {
            let name = there(service, kind, &name)?;
            let facts = match kind {
                Kind::Group => of_group(service, &name),
                _ => of_feature(service, &name),
            };
            let nodes = match kind {
                Kind::Group => members(service, &name, now)?,
                _ => Html::default(),
            };
            let (kicker, called) = match kind {
                Kind::Group => ("Group", called(&name)),
                _ => ("Feature", name.clone()),
            };
            let body = html(
                "<p class=\"kicker\"><a href=\"/fleet\">{}</a></p>\n<h1>{}</h1>\n{}{}{}{}",
                &[
                    &kicker,
                    &called,
                    &annotation(service, kind, &name),
                    &facts,
                    &assertions(service, kind, &name, from)?,
                    &nodes,
                ],
            );
            Ok((called, body))
        })
        .await?;
    let sheet = Sheet::new(&name, Area::Fleet, body).live(Live::Follows);
    Ok(sheet.into_response())
}

fn of_group(service: &Service, name: &str) -> Html {
    let groups = made(service.state(), Kind::Group);
    let none = Made::default();
    let made = groups.get(&fold(name)).unwrap_or(&none);
    html(
        "<dl class=\"facts\">\n<div class=\"broad\"><dt>Installs</dt><dd>{}</dd></div>\n</dl>\n",
        &[&several(service, Kind::Feature, &made.features)],
    )
}

/// The nodes of a group and how they stand; all of them are on a page of their own.
fn members(service: &mut Service, group: &str, now: u64) -> Result<Html, No> {
    let members = service.head().members(group);
    let many = members.len();
    let chosen = Chosen {
        group: Some(group.into()),
        most: MEMBERS,
        ..Chosen::default()
    };
    let nodes = match many {
        0 => html("<p class=\"empty\">No node is in it.</p>\n", &[]),
        _ => standing(service, members, &chosen, now, true)?,
    };
    Ok(html(
        "<section aria-labelledby=\"members\">\n<h2 id=\"members\">Nodes <span class=\"aside\">{}</span></h2>\n{}</section>\n",
        &[&count(many, "node"), &nodes],
    ))
}

fn of_feature(service: &Service, name: &str) -> Html {
    let features = made(service.state(), Kind::Feature);
    let groups = made(service.state(), Kind::Group);
    let folded = fold(name);
    let none = Made::default();
    let made = features.get(&folded).unwrap_or(&none);
    let with = |all: &BTreeMap<String, Made>| -> Vec<String> {
        let having = all.iter();
        let having = having.filter(|(_, made)| made.features.contains(&folded));
        having.map(|(name, _)| name.clone()).collect()
    };
    html(
        "<dl class=\"facts\">\n<div><dt>Installed by</dt><dd>{}</dd></div>\n<div><dt>Included by</dt><dd>{}</dd></div>\n\
         <div><dt>Includes</dt><dd>{}</dd></div>\n<div><dt>Needs</dt><dd>{}</dd></div>\n\
         <div><dt>Not with</dt><dd>{}</dd></div>\n</dl>\n",
        &[
            &several(service, Kind::Group, &with(&groups)),
            &several(service, Kind::Feature, &with(&features)),
            &several(service, Kind::Feature, &made.features),
            &several(service, Kind::Feature, &made.depends),
            &several(service, Kind::Feature, &made.conflicts),
        ],
    )
}

/// The parameters that a group or a feature sets, and where that is written.
fn assertions(service: &Service, kind: Kind, name: &str, from: usize) -> Result<Html, No> {
    let archive = Archive::new(service);
    let top = kind.key(name).child("param");
    let all: Vec<_> = service.state().among(Keys::Under(top)).collect();
    let mut rows = Html::default();
    for (key, assertion) in all.iter().skip(from).take(TOLD) {
        let parameter = key.names().next_back().unwrap_or_default().into_owned();
        let spelling = service.head().spelling(Kind::Param, &parameter);
        let parameter = spelling.unwrap_or_else(|| parameter.into());
        let value = match shown(&assertion.value) {
            Some(value) => html(
                "<code>{}</code>",
                &[&value::shown(service, &value, LONGEST)],
            ),
            None => html("<span class=\"calm\">its default</span>", &[]),
        };
        let author = archive.made(assertion);
        let author = author.map(|made| made.author.clone()).unwrap_or_default();
        let place = archive.written(key, assertion).map(|written| {
            html(
                "<code class=\"place\">{}</code> ",
                &[&line_of(&written.place)],
            )
        });
        rows.add(
            "<tr><th scope=\"row\"><code>{}</code></th><td class=\"value\">{}</td><td data-of=\"Owner\">{}</td>\
             <td class=\"from\">{}<span class=\"by\">{} in {}</span></td></tr>\n",
            &[
                &spelled(&parameter),
                &value,
                &assertion.owner.as_str(),
                &place,
                &author,
                &version(assertion.since),
            ],
        );
    }
    if all.is_empty() {
        return Ok(html(
            "<p class=\"empty\">It sets nothing itself.</p>\n",
            &[],
        ));
    }
    let top = if kind == Kind::Group {
        "groups"
    } else {
        "features"
    };
    let here = address(&[top, name]);
    Ok(html(
        "<h2>Sets <span class=\"aside\">{}</span></h2>\n<div class=\"wide\"><table class=\"config\">\n\
         <caption class=\"unseen\">Parameters that it sets</caption>\n<thead><tr><th scope=\"col\">Parameter</th>\
         <th scope=\"col\">Value</th><th scope=\"col\">Owner</th><th scope=\"col\">Written</th></tr></thead>\n\
         <tbody>\n{}</tbody>\n</table></div>\n{}",
        &[
            &count(all.len(), "parameter"),
            &rows,
            &pages(&here, from, TOLD, all.len()),
        ],
    ))
}
