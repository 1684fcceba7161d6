//! What an activation would change, and the button that does it.
//!
//! The form carries the name of the plan that was seen. If anything was committed or activated since, it is refused, and the
//! plan as it would be now is shown instead.

use std::collections::HashMap;
use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::IntoResponse;
use ecow::EcoString;
use hence_api::words::Doing;
use hence_fleet::token::Role;
use hence_fleet::{Changed, Difference};
use hence_service::activation::{Planned, STALE};
use hence_service::{Extent, Pair, Service};
use hence_store::Receipt;
use serde::Deserialize;

use super::fleet::more;
use super::html::{Html, Piece, address, breaking, coded, count, html, link, spelled};
use super::session::{Filled, Signed, see};
use super::shell::{Area, Live, Sheet, Shown, troubles};
use super::value::{self, legible};
use crate::BAD_REQUEST;
use crate::answer::No;
use crate::hub::Hub;

/// So many different changes are shown, each with so many nodes and so many parameters.
const CHANGES: usize = 50;
const NODES: usize = 40;
const PARAMETERS: usize = 100;
/// So many of those that are new, gone or wrong are told.
const NAMES: usize = 100;
/// So much of a value is told.
const LONGEST: usize = 5000;
/// So long two lists may be for what differs in them to be marked.
const LONGEST_LISTS: usize = 600;
/// So long a reason may be.
const LONGEST_MESSAGE: usize = 10_000;

/// What would change now.
pub async fn plan(State(hub): State<Arc<Hub>>, signed: Signed) -> Shown {
    signed.access.must(Role::Read)?;
    let sheet = sheet(&hub, &signed, Html::default(), String::new());
    Ok(sheet.await?.into_response())
}

/// The plan below what is said, with the reason that somebody has typed already.
async fn sheet(hub: &Arc<Hub>, signed: &Signed, said: Html, reason: String) -> Result<Sheet, No> {
    let signed = signed.clone();
    let body = hub.work(move |service| {
        let planned = service.plan(&Extent::Everything)?;
        Ok(page(service, &planned, &signed, &said, &reason))
    });
    let sheet = Sheet::new("Plan", Area::Plan, body.await?);
    Ok(sheet.live(Live::Tells))
}

fn page(service: &Service, planned: &Planned, signed: &Signed, said: &Html, reason: &str) -> Html {
    let plan = &planned.plan;
    let is_empty = plan.is_empty() && !planned.strangers;
    let told = html(
        "<p class=\"flash soon\" id=\"told\" role=\"status\" hidden>Something happened since. \
         <a href=\"/plan\">Look at the plan again</a></p>\n",
        &[],
    );
    if is_empty && service.pending().is_empty() {
        return html(
            "<h1>Plan</h1>\n{}{}<p class=\"empty\">Nothing is pending: nodes are to run all that is asserted.</p>\n",
            &[said, &told],
        );
    }
    let totals = plan.totals();
    let restarting = plan.nodes.iter();
    let restarting = restarting.filter(|(_, difference)| !difference.restart.is_empty());
    html(
        "<h1>Plan <span class=\"aside\">{}</span></h1>\n{}{}\
         <dl class=\"facts\">\n<div><dt>Changes</dt><dd>{}</dd></div>\n<div><dt>New</dt><dd>{}</dd></div>\n\
         <div><dt>Gone</dt><dd>{}</dd></div>\n<div><dt>Restarts</dt><dd>{}</dd></div>\n\
         <div><dt>Re-reads</dt><dd>{}</dd></div>\n</dl>\n{}{}{}{}{}",
        &[
            &planned.pair.to_string(),
            said,
            &told,
            &count(plan.nodes.len(), "node"),
            &count(plan.new.len(), "node"),
            &count(plan.gone.len(), "node"),
            &restarts(restarting.count(), &totals.restart),
            &subsystems(&totals.reread),
            &decision(service, planned, signed, reason),
            &failures(planned),
            &differences(service, planned),
            &names("New nodes", &plan.new, true),
            &names("Nodes that are gone", &plan.gone, false),
        ],
    )
}

fn restarts(nodes: usize, all: &std::collections::BTreeMap<EcoString, usize>) -> Html {
    match nodes {
        0 => html("<span class=\"calm\">none</span>", &[]),
        _ => html("<b class=\"impact\">{}</b>", &[&subsystems(all)]),
    }
}

/// Which subsystems, and on how many nodes.
fn subsystems(all: &std::collections::BTreeMap<EcoString, usize>) -> Html {
    let mut list = Html::default();
    for (name, nodes) in all.iter().take(NAMES) {
        if !list.is_empty() {
            list.add(", ", &[]);
        }
        list.add("{} on {}", &[name, &count(*nodes, "node")]);
    }
    match list.is_empty() {
        true => html("<span class=\"calm\">none</span>", &[]),
        false => list,
    }
}

/// The button, or why there is none.
fn decision(service: &Service, planned: &Planned, signed: &Signed, reason: &str) -> Html {
    let no = |words: &str| html("<p class=\"flash soon\">{}</p>\n", &[&words]);
    if !planned.failures.is_empty() {
        return no("It cannot be activated like this.");
    }
    if service
        .rollout()
        .is_some_and(|rollout| rollout.is_under_way())
    {
        return no("A rollout is under way, so nothing else can be activated until it is over.");
    }
    if !signed.access.0.may_everywhere(Role::Activate) {
        return no("Your token may not activate everything.");
    }
    html(
        "<form class=\"decision\" method=\"post\" action=\"/plan\">{}\
         <input type=\"hidden\" name=\"plan\" value=\"{}\">\n\
         <label for=\"message\">Why, for the history</label>\n\
         <input id=\"message\" name=\"message\" type=\"text\" value=\"{}\" autocomplete=\"off\">\n\
         <button class=\"main\">Activate on {}</button>\n</form>\n",
        &[
            &signed.field(),
            &planned.pair.to_string(),
            &reason,
            &count(planned.plan.nodes.len(), "node"),
        ],
    )
}

fn failures(planned: &Planned) -> Html {
    if planned.failures.is_empty() {
        return Html::default();
    }
    let mut list = Html::default();
    for failure in planned.failures.iter().take(NAMES) {
        list.add(
            "<li>{} <code class=\"code\">{}</code></li>\n",
            &[&coded(&failure.message()), &failure.code.name],
        );
    }
    html(
        "<section aria-labelledby=\"wrong\">\n<h2 id=\"wrong\">What stands in the way</h2>\n\
         <ul class=\"flash wrong\">\n{}</ul>\n{}</section>\n",
        &[
            &list,
            &more(planned.failures.len(), NAMES, "are like these"),
        ],
    )
}

fn names(words: &'static str, all: &[EcoString], are_there: bool) -> Html {
    if all.is_empty() {
        return Html::default();
    }
    html(
        "<section>\n<h2>{}</h2>\n<p>{}</p>\n</section>\n",
        &[&words, &listed(all, NAMES, are_there)],
    )
}

fn listed<N: AsRef<str>>(all: &[N], most: usize, are_there: bool) -> Html {
    let mut list = Html::default();
    for (number, name) in all.iter().take(most).enumerate() {
        if number > 0 {
            list.add(", ", &[]);
        }
        let name = name.as_ref();
        match are_there {
            true => list.add("{}", &[&link(&address(&["nodes", name]), &spelled(name))]),
            false => list.add("{}", &[&spelled(name)]),
        }
    }
    match all.len().saturating_sub(most) {
        0 => list,
        more => html("{} and {} more", &[&list, &more]),
    }
}

/// What changes, once for all nodes that it changes on alike.
fn differences(service: &Service, planned: &Planned) -> Html {
    let mut numbers: HashMap<*const Difference, usize> = HashMap::new();
    let mut alike: Vec<(&Difference, Vec<&str>)> = Vec::new();
    for (node, difference) in &planned.plan.nodes {
        let number = *numbers.entry(Arc::as_ptr(difference)).or_insert_with(|| {
            alike.push((difference, Vec::new()));
            alike.len() - 1
        });
        alike[number].1.push(node);
    }
    // What most nodes share comes first.
    alike.sort_by_key(|(_, nodes)| std::cmp::Reverse(nodes.len()));
    let mut sections = Html::default();
    for (difference, nodes) in alike.iter().take(CHANGES) {
        let mut rows = Html::default();
        for changed in difference.parameters.iter().take(PARAMETERS) {
            rows.add("{}", &[&row(service, changed, nodes[0])]);
        }
        let restart = impact("restarts", &difference.restart);
        let reread = impact("re-reads", &difference.reread);
        sections.add(
            "<section class=\"change\" aria-label=\"{}\">\n<h2>{} {}{}</h2>\n\
             <p class=\"note\">{}</p>\n<div class=\"wide\"><table class=\"diff\">\n<caption class=\"unseen\">What changes</caption>\n\
             <thead><tr><th scope=\"col\">Parameter</th><th scope=\"col\">Now</th><th scope=\"col\">Then</th></tr></thead>\n\
             <tbody>\n{}</tbody>\n</table></div>\n{}</section>\n",
            &[
                &title(nodes),
                &count(nodes.len(), "node"),
                &restart,
                &reread,
                &listed(nodes, NODES, true),
                &rows,
                &more(difference.parameters.len(), PARAMETERS, "change here"),
            ],
        );
    }
    html(
        "{}{}",
        &[
            &sections,
            &more(alike.len(), CHANGES, "sets of changes are not shown"),
        ],
    )
}

/// What a set of changes is called: no two are alike on the same node.
fn title(nodes: &[&str]) -> String {
    let (first, many) = (nodes[0], count(nodes.len(), "node"));
    match nodes.len() {
        1 => format!("{many}: {first}"),
        _ => format!("{many}: {first} and others"),
    }
}

fn impact(verb: &str, subsystems: &[EcoString]) -> Html {
    match subsystems.is_empty() {
        true => Html::default(),
        false => html(
            "<span class=\"impact\">{} {}</span> ",
            &[&verb, &subsystems.join(", ")],
        ),
    }
}

/// A parameter before and after; of a list, what leaves it and what comes.
fn row(service: &Service, changed: &Changed, node: &str) -> Html {
    let text = |value: &Option<hence_fleet::Resolved>| value.as_ref().map(ToString::to_string);
    let (before, after) = (text(&changed.before), text(&changed.after));
    let words = |value: &Option<String>| value.as_ref().map(|value| legible(service, value));
    let (old, new) = (words(&before), words(&after));
    let [now, then] = match (&old, &new) {
        (Some(now), Some(then)) if old == before && new == after => marked(now, then),
        (Some(now), Some(then)) => value::compared(now, then, LONGEST, [del, ins]),
        (now, then) => [
            now.as_deref().map_or_else(absent, deleted),
            then.as_deref().map_or_else(absent, inserted),
        ],
    };
    let why = format!(
        "{}?of=asserted",
        address(&["nodes", node, "why", &changed.name])
    );
    let name = match after.is_some() {
        true => link(&why, &breaking(&changed.name)),
        false => breaking(&changed.name),
    };
    html(
        "<tr><th scope=\"row\"><code>{}</code></th><td class=\"value\" data-of=\"Now\">{}</td>\
         <td class=\"value\" data-of=\"Then\">{}</td></tr>\n",
        &[&name, &now, &then],
    )
}

fn absent() -> Html {
    html("<span class=\"calm\">not set</span>", &[])
}

pub(super) fn del(words: &dyn Piece) -> Html {
    html("<del>{}</del>", &[words])
}

pub(super) fn ins(words: &dyn Piece) -> Html {
    html("<ins>{}</ins>", &[words])
}

fn deleted(text: &str) -> Html {
    value::marked(text, LONGEST, del)
}

fn inserted(text: &str) -> Html {
    value::marked(text, LONGEST, ins)
}

/// Two values with what differs marked.
fn marked(before: &str, after: &str) -> [Html; 2] {
    fn parts(text: &str) -> Vec<&str> {
        text.split(',').map(str::trim).collect()
    }
    let is_short = before.len() + after.len() <= LONGEST_LISTS;
    let (old, new) = (parts(before), parts(after));
    if !is_short || old.len().max(new.len()) < 2 {
        return value::compared(before, after, LONGEST, [del, ins]);
    }
    let list = |of: &[&str], others: &[&str], mark: value::Mark| {
        let mut list = Html::default();
        for (number, part) in of.iter().enumerate() {
            if number > 0 {
                list.add(", ", &[]);
            }
            match others.contains(part) {
                true => list.add("{}", &[part]),
                false => list.add("{}", &[&mark(part)]),
            }
        }
        html("<code>{}</code>", &[&list])
    };
    [list(&old, &new, del), list(&new, &old, ins)]
}

#[derive(Deserialize)]
pub(crate) struct Decision {
    #[serde(default)]
    form: String,
    plan: String,
    #[serde(default)]
    message: String,
}

/// Makes it so, if it is still what was seen.
pub async fn activate(
    State(hub): State<Arc<Hub>>,
    signed: Signed,
    Filled(decision): Filled<Decision>,
) -> Shown {
    signed.must_be_ours(&decision.form)?;
    signed.access.must(Role::Activate)?;
    let pair: Result<Pair, No> = decision
        .plan
        .parse()
        .map_err(|message| No::new(BAD_REQUEST, message));
    let pair = pair?;
    if decision.message.len() > LONGEST_MESSAGE {
        return Err(No::new(BAD_REQUEST, "the reason is too long").into());
    }
    let reason = decision.message.trim().to_owned();
    let doing = Doing {
        message: reason.clone(),
        ..Doing::default()
    };
    let request = hub.request(&signed.access.0, doing, "activate");
    let activated = hub.work(move |service| {
        let activated = service.activate(&request, &Extent::Everything, Some(pair))?;
        Ok(match activated.receipt {
            Receipt::Done(done) => Some(done.version),
            Receipt::Nothing => None,
        })
    });
    match activated.await {
        Ok(Some(version)) => Ok(see(&format!("/history/{version}?done=activated"))),
        Ok(None) => Ok(see("/plan")),
        Err(no) => {
            // What would happen now is shown below what is wrong with what was seen.
            let status = no.status();
            if status == StatusCode::SERVICE_UNAVAILABLE
                || !signed.access.0.may_everywhere(Role::Read)
            {
                return Err(no.into());
            }
            let sheet = sheet(&hub, &signed, troubles(&here(no)), reason).await?;
            Ok(sheet.with(status).into_response())
        }
    }
}

/// What is wrong, to somebody who has the plan as it is now before them.
fn here(no: No) -> No {
    match no.troubles() {
        [stale] if stale.code == STALE => No::new(STALE, stale.message.clone())
            .help("look at what would happen now, below, and activate that"),
        _ => no,
    }
}

#[cfg(test)]
mod tests {
    use super::marked;

    #[test]
    fn of_a_list_only_what_differs_is_marked() {
        let [now, then] = marked("MASTER, STARTD", "MASTER, SCHEDD").map(|html| html.into_string());
        assert_eq!(now, "<code>MASTER, <del>STARTD</del></code>");
        assert_eq!(then, "<code>MASTER, <ins>SCHEDD</ins></code>");
        let [now, then] = marked("80", "8080").map(|html| html.into_string());
        assert_eq!(
            (now.as_str(), then.as_str()),
            ("<code><del>80</del></code>", "<code><ins>8080</ins></code>")
        );
    }
}
