//! What is around every page, and how pages are sent.

use std::sync::{Arc, LazyLock};

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use hence_fleet::token::{Bearer, Role, Token};

use super::html::{Html, address, coded, html};
use super::session::{self, Jar, Signed, Visitor};
use crate::NOT_FOUND;
use crate::answer::{No, typed};
use crate::hub::Hub;
use crate::routes::At;

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");

/// Only what comes from here, and nothing that stands in a page itself.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; \
                      img-src 'self' data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

/// The sign for *hence*, in the colour of links.
const ICON: &str = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16' fill='%232f7fb5'%3E\
                    %3Ccircle cx='8' cy='4' r='2.5'/%3E%3Ccircle cx='3.5' cy='12' r='2.5'/%3E\
                    %3Ccircle cx='12.5' cy='12' r='2.5'/%3E%3C/svg%3E";

/// What a route of the page answers.
pub(crate) type Shown = Result<Response, Refusal>;

/// A page, without what is around it.
#[derive(Clone)]
pub(crate) struct Sheet {
    title: String,
    area: Area,
    live: Live,
    status: StatusCode,
    body: Html,
}

/// Where a page belongs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Area {
    Nodes,
    Fleet,
    Plan,
    History,
    /// None of these.
    Other,
    /// Where people sign in.
    Door,
}

/// What a page does when something happens.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Live {
    /// Nothing.
    Still,
    /// It shows what is so now.
    Follows,
    /// It says that something happened. What somebody is about to press must not change under their finger.
    Tells,
}

impl Sheet {
    pub fn new(title: &str, area: Area, body: Html) -> Self {
        Self {
            title: title.to_owned(),
            area,
            live: Live::Still,
            status: StatusCode::OK,
            body,
        }
    }

    /// One that does something when something happens.
    pub fn live(self, live: Live) -> Self {
        Self { live, ..self }
    }

    /// Under another status.
    pub fn with(self, status: StatusCode) -> Self {
        Self { status, ..self }
    }
}

impl IntoResponse for Sheet {
    /// It is dressed on its way out, where it is known who asked.
    fn into_response(self) -> Response {
        let mut response = self.status.into_response();
        response.extensions_mut().insert(self);
        response
    }
}

/// Why there is no such page.
#[derive(Debug)]
pub(crate) struct Refusal {
    title: &'static str,
    no: No,
}

impl From<No> for Refusal {
    fn from(no: No) -> Self {
        Self {
            title: title(no.status()),
            no,
        }
    }
}

impl Refusal {
    /// Under another title.
    pub fn under(self, title: &'static str) -> Self {
        Self { title, ..self }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let status = self.no.status();
        let body = html(
            "<h1>{}</h1>\n{}{}",
            &[&self.title, &troubles(&self.no), &way_on(status)],
        );
        let sheet = Sheet::new(self.title, Area::Other, body);
        sheet.with(status).into_response()
    }
}

/// Where to go from a page that is none.
fn way_on(status: StatusCode) -> Html {
    match status {
        StatusCode::UNAUTHORIZED => html("<p><a href=\"/sign-in\">Sign in</a></p>\n", &[]),
        _ => html("<p><a href=\"/\">All nodes</a></p>\n", &[]),
    }
}

/// What is wrong, each with what to do.
pub(crate) fn troubles(no: &No) -> Html {
    /// So many are worth reading at once.
    const MOST: usize = 50;
    let mut list = Html::default();
    for trouble in no.troubles().iter().take(MOST) {
        let help = trouble.help.iter();
        let help: Vec<Html> = help
            .map(|help| html("<span class=\"help\">{}</span>", &[&coded(help)]))
            .collect();
        list.add(
            "<li><b>{}</b> <code class=\"code\">{}</code>{}</li>\n",
            &[&coded(&trouble.message), &trouble.code.name, &help],
        );
    }
    let more = no.troubles().len().saturating_sub(MOST);
    if more > 0 {
        list.add("<li>and {} more</li>\n", &[&more]);
    }
    html(
        "<div class=\"flash wrong\" role=\"alert\"><ul>\n{}</ul></div>\n",
        &[&list],
    )
}

fn title(status: StatusCode) -> &'static str {
    match status {
        StatusCode::NOT_FOUND => "There is no such page",
        StatusCode::FORBIDDEN => "Your token does not allow this",
        StatusCode::UNAUTHORIZED => "Sign in first",
        StatusCode::METHOD_NOT_ALLOWED => "That cannot be done here",
        StatusCode::CONFLICT | StatusCode::PRECONDITION_FAILED => "Something else happened first",
        status if status.is_server_error() => "It does not work at the moment",
        _ => "This cannot be understood",
    }
}

/// What to make of it, where nothing else is said.
fn advice(status: StatusCode) -> &'static str {
    match status {
        StatusCode::BAD_REQUEST => {
            "The address says something that this page cannot read, such as a word for a number."
        }
        StatusCode::METHOD_NOT_ALLOWED => "This address is not for forms, or only for them.",
        StatusCode::PAYLOAD_TOO_LARGE => "What was sent is too large.",
        StatusCode::TOO_MANY_REQUESTS => {
            "There were too many requests; wait a little, and try again."
        }
        status if status.is_server_error() => {
            "Try again in a while; the log of the server says more."
        }
        _ => "Look at the address, and try again from the page before.",
    }
}

/// Whether who asks would rather have a page.
pub(crate) fn is_for_people(request: &Request) -> bool {
    let accept = request.headers().get(header::ACCEPT);
    let accept = accept.and_then(|accept| accept.to_str().ok());
    !request.uri().path().starts_with("/api/")
        && accept.is_some_and(|accept| accept.contains("text/html"))
}

/// There is nothing there.
pub(crate) fn nothing(hub: &Hub, request: &Request) -> Response {
    let path = request.uri().path();
    let no = No::new(NOT_FOUND, format!("there is nothing at {path}"));
    let visitor = session::visitor(hub, request);
    dressed(hub, &visitor, &Jar::of(request), Refusal::from(no))
}

/// Finds out who asks, and puts around a page what belongs there.
pub async fn dress(State(hub): State<Arc<Hub>>, mut request: Request, next: Next) -> Response {
    let jar = Jar::of(&request);
    let visitor = session::visitor(&hub, &request);
    request.extensions_mut().insert(visitor.clone());
    request.extensions_mut().insert(jar.clone());
    dressed(&hub, &visitor, &jar, next.run(request).await)
}

fn dressed(hub: &Hub, visitor: &Visitor, jar: &Jar, answer: impl IntoResponse) -> Response {
    let mut response = answer.into_response();
    if is_bare(&response) {
        let status = response.status();
        let body = html(
            "<h1>{}</h1>\n<p>{}</p>\n{}",
            &[&title(status), &advice(status), &way_on(status)],
        );
        let sheet = Sheet::new(title(status), Area::Other, body);
        response = sheet.with(status).into_response();
    }
    if let Some(sheet) = response.extensions_mut().remove::<Sheet>() {
        let (mut parts, _) = response.into_parts();
        parts.headers.insert(
            header::CONTENT_TYPE,
            HeaderValue::from_static("text/html; charset=utf-8"),
        );
        let document = document(hub, visitor, sheet).into_string();
        response = Response::from_parts(parts, Body::from(document));
    }
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (
            HeaderName::from_static("cross-origin-opener-policy"),
            "same-origin",
        ),
        (
            HeaderName::from_static("cross-origin-resource-policy"),
            "same-origin",
        ),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers
        .entry(header::CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-store"));
    if let Visitor::Stale = visitor
        && !headers.contains_key(header::SET_COOKIE)
    {
        jar.forget(&mut response);
    }
    response
}

/// Whether something went wrong before a page could say so.
fn is_bare(response: &Response) -> bool {
    let status = response.status();
    let is_error = status.is_client_error() || status.is_server_error();
    is_error && response.extensions().get::<Sheet>().is_none()
}

/// The whole document.
fn document(hub: &Hub, visitor: &Visitor, sheet: Sheet) -> Html {
    let bar = match visitor {
        Visitor::Signed(signed) if sheet.area != Area::Door => bar(signed, sheet.area),
        _ => Html::default(),
    };
    let live = match (visitor, sheet.live) {
        (Visitor::Signed(_), Live::Follows) => "follows",
        (Visitor::Signed(_), Live::Tells) => "tells",
        _ => "still",
    };
    let reload = match live {
        "still" => Html::default(),
        _ => html(
            "<p id=\"news\"><a id=\"reload\" href=\"\">Reload</a></p>\n",
            &[],
        ),
    };
    let version = match visitor {
        Visitor::Signed(_) => html(
            "<p>Hence {} · version {} of the ledger</p>",
            &[&hub.parts.release, &hub.view().version],
        ),
        _ => Html::default(),
    };
    let assets = &*ASSETS;
    html(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{} · Hence</title>\n\
         <link rel=\"icon\" href=\"{}\">\n<link rel=\"stylesheet\" href=\"/assets/{}\">\n\
         <script src=\"/assets/{}\" defer></script>\n</head>\n<body>\n\
         <a class=\"skip\" href=\"#main\">Skip to the content</a>\n{}\
         <main id=\"main\" tabindex=\"-1\" data-live=\"{}\">\n{}</main>\n<footer>\n{}{}\n</footer>\n</body>\n</html>\n",
        &[
            &sheet.title,
            &ICON,
            &assets.style,
            &assets.script,
            &bar,
            &live,
            &sheet.body,
            &reload,
            &version,
        ],
    )
}

/// Where one can go, what can be searched, and who is signed in.
fn bar(signed: &Signed, area: Area) -> Html {
    let token = &signed.access.0;
    let home = home(token);
    let places = [
        ("Nodes", home.as_str(), Area::Nodes),
        ("Fleet", "/fleet", Area::Fleet),
        ("Plan", "/plan", Area::Plan),
        ("History", "/history", Area::History),
    ];
    let reads = token.may_everywhere(Role::Read);
    let mut list = Html::default();
    for (words, to, of) in places {
        if !reads && of != Area::Nodes {
            continue;
        }
        let current = match of == area {
            true => html(" aria-current=\"page\"", &[]),
            false => Html::default(),
        };
        list.add(
            "<li><a href=\"{}\"{}>{}</a></li>\n",
            &[&to, &current, &words],
        );
    }
    let search = match reads {
        false => Html::default(),
        true => html(
            "<form class=\"search\" role=\"search\" aria-label=\"Names and values\" action=\"/search\">\
             <label class=\"unseen\" for=\"q\">Search names and values</label>\
             <input id=\"q\" name=\"q\" type=\"search\" placeholder=\"Search\" spellcheck=\"false\" autocomplete=\"off\">\
             <button>Search</button></form>\n",
            &[],
        ),
    };
    html(
        "<header>\n<a class=\"brand\" href=\"/\"><span aria-hidden=\"true\">∴</span> Hence</a>\n\
         <nav aria-label=\"Pages\"><ul>\n{}</ul></nav>\n{}\
         <form class=\"who\" method=\"post\" action=\"/sign-out\">{}\
         <span>{}</span> <button>Sign out</button></form>\n</header>\n",
        &[&list, &search, &signed.field(), &token.name],
    )
}

/// The first page of who bears a token: a node has only its own.
pub(super) fn home(token: &Token) -> String {
    match &token.bearer {
        Bearer::Node(node) => address(&["nodes", node]),
        _ => "/".to_owned(),
    }
}

/// Files that pages need, by names that change with them.
struct Assets {
    style: String,
    script: String,
}

static ASSETS: LazyLock<Assets> = LazyLock::new(|| {
    let name = |text: &str, ending: &str| {
        let hash = blake3::hash(text.as_bytes()).to_hex();
        format!("{}.{ending}", &hash[..16])
    };
    Assets {
        style: name(STYLE, "css"),
        script: name(SCRIPT, "js"),
    }
});

/// A file that pages need. It never changes, so it is asked for once.
pub async fn asset(At(name): At<String>) -> Shown {
    let mut response = if name == ASSETS.style {
        typed("text/css; charset=utf-8", STYLE)
    } else if name == ASSETS.script {
        typed("text/javascript; charset=utf-8", SCRIPT)
    } else {
        return Err(No::new(NOT_FOUND, "there is no such file").into());
    };
    let forever = HeaderValue::from_static("public, max-age=31536000, immutable");
    response
        .headers_mut()
        .insert(header::CACHE_CONTROL, forever);
    Ok(response)
}
