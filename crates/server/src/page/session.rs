//! Who is signed in.
//!
//! The cookie holds the token itself, so any server over the same ledger knows who it is, and a token that is revoked is
//! worth nothing here at once. Forms that change something carry a word that only who knows the token can compute, so
//! that no other site can send them (see `docs/decisions/page.md`).

use std::sync::Arc;

use axum::extract::{FromRequest, FromRequestParts, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::html::{Html, encoded, html};
use super::shell::{Area, Refusal, Sheet, Shown};
use crate::access::{Access, Name, Peer};
use crate::answer::No;
use crate::connection::Transport;
use crate::hub::Hub;
use crate::routes::Asked;
use crate::{BAD_REQUEST, FORBIDDEN, TOO_SLOW, UNAUTHORISED};

/// What the name of the cookie begins with.
const COOKIE: &str = "hence";
/// So many seconds somebody stays signed in.
const LASTS: u64 = 24 * 60 * 60;

/// Somebody who is signed in.
#[derive(Clone)]
pub(crate) struct Signed {
    /// What they may.
    pub access: Access,
    /// What their forms carry.
    pub form: String,
}

/// What a request says about who sends it.
#[derive(Clone)]
pub(crate) enum Visitor {
    /// Nothing.
    Nobody,
    /// Something that is worth nothing, or no longer.
    Stale,
    /// A token that is known.
    Signed(Signed),
}

/// How the cookie of a request is called, and who may carry it.
#[derive(Clone)]
pub(crate) struct Jar {
    name: String,
    transport: Transport,
}

impl Jar {
    /// The one of whoever sends a request.
    pub fn of(request: &Request) -> Self {
        let transport = request.extensions().get().copied();
        Self {
            name: name(request.headers()),
            transport: transport.expect("connections say how they are"),
        }
    }

    /// Takes a cookie that is worth nothing.
    pub fn forget(&self, response: &mut Response) {
        self.set(response, "", 0);
    }

    fn set(&self, response: &mut Response, token: &str, lasts: u64) {
        let secure = match self.transport {
            Transport::Encrypted => "; Secure",
            Transport::Plain => "",
        };
        let cookie = format!(
            "{}={token}; Path=/; Max-Age={lasts}; HttpOnly; SameSite=Strict{secure}",
            self.name
        );
        let cookie = HeaderValue::from_str(&cookie).expect("tokens that are known are plain");
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
}

/// The name of the cookie. Browsers send a cookie to all ports of a host, so each port has one of its own.
fn name(headers: &HeaderMap) -> String {
    let port = host(headers).and_then(|host| host.rsplit_once(':'));
    let port: Option<u16> = port.and_then(|(_, port)| port.parse().ok());
    match port {
        Some(port) => format!("{COOKIE}-{port}"),
        None => COOKIE.to_owned(),
    }
}

/// The host that a browser means.
fn host(headers: &HeaderMap) -> Option<&str> {
    headers.get(header::HOST)?.to_str().ok()
}

/// Who sends a request.
pub(super) fn visitor(hub: &Hub, request: &Request) -> Visitor {
    let Some(token) = cookie(request.headers()) else {
        return Visitor::Nobody;
    };
    match signed(hub, token) {
        Some(signed) => {
            if let Some(Name(name)) = request.extensions().get() {
                let _ = name.set(signed.access.0.name.clone());
            }
            Visitor::Signed(signed)
        }
        None => {
            guessed(hub, request.extensions().get().copied());
            Visitor::Stale
        }
    }
}

fn cookie(headers: &HeaderMap) -> Option<&str> {
    let name = name(headers);
    let cookies = headers.get_all(header::COOKIE).into_iter();
    let mut pairs = cookies
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'));
    pairs.find_map(|pair| pair.trim().strip_prefix(name.as_str())?.strip_prefix('='))
}

fn signed(hub: &Hub, token: &str) -> Option<Signed> {
    let access = hub.access(token)?;
    let form = blake3::derive_key("hence 2026 forms of the page", token.as_bytes());
    let digits = form[..16].iter().map(|byte| format!("{byte:02x}"));
    Some(Signed {
        access,
        form: digits.collect(),
    })
}

fn guessed(hub: &Hub, peer: Option<Peer>) {
    if let Some(Peer(from)) = peer {
        hub.counts.guess(from, hub.now());
    }
}

impl Signed {
    /// The hidden field of a form.
    pub fn field(&self) -> Html {
        html(
            "<input type=\"hidden\" name=\"form\" value=\"{}\">",
            &[&self.form],
        )
    }

    /// A form must be one of those that were shown to them.
    pub fn must_be_ours(&self, form: &str) -> Result<(), Refusal> {
        if form == self.form {
            return Ok(());
        }
        let no = No::new(FORBIDDEN, "it was not made for who is signed in now")
            .help("reload the page that it is on, and try again");
        Err(Refusal::from(no).under("This form is out of date"))
    }
}

impl FromRequestParts<Arc<Hub>> for Signed {
    type Rejection = Response;

    /// Whoever is not signed in is led to where that is done, and back.
    async fn from_request_parts(parts: &mut Parts, _: &Arc<Hub>) -> Result<Self, Response> {
        if let Some(Visitor::Signed(signed)) = parts.extensions.get() {
            return Ok(signed.clone());
        }
        if parts.method == axum::http::Method::POST {
            return Err(sign_in_again());
        }
        let here = parts.uri.path_and_query().map_or("/", |path| path.as_str());
        let mut asked = Vec::new();
        if let Some(Visitor::Stale) = parts.extensions.get() {
            asked.push("ended=1".to_owned());
        }
        if here != "/" {
            asked.push(format!("next={}", encoded(here)));
        }
        Err(match asked.is_empty() {
            true => see("/sign-in"),
            false => see(&format!("/sign-in?{}", asked.join("&"))),
        })
    }
}

fn sign_in_again() -> Response {
    let no = No::new(UNAUTHORISED, "you are not signed in any more");
    let no = no.help("sign in, and do it again from the page");
    Refusal::from(no).into_response()
}

/// Look there instead.
pub(super) fn see(address: &str) -> Response {
    let mut response = StatusCode::SEE_OTHER.into_response();
    let address = HeaderValue::from_str(address).unwrap_or(HeaderValue::from_static("/"));
    response.headers_mut().insert(header::LOCATION, address);
    response
}

/// An address of ours, or the first page.
fn own(address: Option<&str>) -> &str {
    let is_own = |address: &&str| {
        let mut letters = address.bytes();
        letters.next() == Some(b'/')
            && letters
                .next()
                .is_none_or(|second| !b"/\\".contains(&second))
            && address.bytes().all(|byte| byte.is_ascii_graphic())
    };
    address.filter(is_own).unwrap_or("/")
}

#[derive(Deserialize)]
pub(crate) struct Next {
    next: Option<String>,
    /// Whether somebody was signed in until now.
    ended: Option<String>,
}

/// The form that takes a token.
pub async fn form(Asked(Next { next, ended }): Asked<Next>) -> Sheet {
    let trouble = ended.map(|_| "You were signed out: your token was revoked, or has expired.");
    sheet(own(next.as_deref()), trouble)
}

fn sheet(next: &str, trouble: Option<&str>) -> Sheet {
    let trouble = trouble.map(|words| {
        html(
            "<p class=\"flash wrong\" id=\"wrong\" role=\"alert\">{}</p>\n",
            &[&words],
        )
    });
    let described = match trouble.is_some() {
        true => "wrong where",
        false => "where",
    };
    let body = html(
        "<p class=\"porch\"><span class=\"brand\"><span aria-hidden=\"true\">∴</span> Hence</span></p>\n\
         <div class=\"door\">\n<h1>Sign in</h1>\n{}\
         <form method=\"post\" action=\"/sign-in\">\n<input type=\"hidden\" name=\"next\" value=\"{}\">\n\
         <label for=\"token\">Token</label>\n\
         <input id=\"token\" name=\"token\" type=\"password\" autocomplete=\"current-password\" spellcheck=\"false\" \
         required autofocus aria-describedby=\"{}\">\n\
         <p class=\"note\" id=\"where\">The first start of the server shows the administrator’s; \
         <code>hence token add</code> makes more.</p>\n\
         <button class=\"main\">Sign in</button>\n</form>\n</div>\n",
        &[&trouble, &next, &described],
    );
    Sheet::new("Sign in", Area::Door, body)
}

#[derive(Deserialize)]
pub(crate) struct Token {
    token: String,
    next: Option<String>,
}

pub async fn sign_in(
    State(hub): State<Arc<Hub>>,
    headers: HeaderMap,
    axum::Extension(jar): axum::Extension<Jar>,
    peer: Option<axum::Extension<Peer>>,
    Filled(sent): Filled<Token>,
) -> Shown {
    must_be_from_here(&headers)?;
    let next = own(sent.next.as_deref());
    let token = sent.token.trim();
    if signed(&hub, token).is_none() {
        guessed(&hub, peer.map(|axum::Extension(peer)| peer));
        let sheet = sheet(next, Some("This token is not known, or has expired."));
        return Ok(sheet.with(StatusCode::UNAUTHORIZED).into_response());
    }
    let mut response = see(next);
    jar.set(&mut response, token, LASTS);
    Ok(response)
}

#[derive(Deserialize)]
pub(crate) struct Leaving {
    #[serde(default)]
    form: String,
}

pub async fn sign_out(
    signed: Signed,
    axum::Extension(jar): axum::Extension<Jar>,
    Filled(sent): Filled<Leaving>,
) -> Shown {
    signed.must_be_ours(&sent.form)?;
    let mut response = see("/sign-in");
    jar.forget(&mut response);
    Ok(response)
}

/// A browser says if another site sends a form. Whoever signs in has no word of ours yet, so this is what keeps others from
/// signing people in as somebody else. Where a browser does not say it, it may say whose page the form is on; it does not
/// say it of our own pages, which ask for that.
fn must_be_from_here(headers: &HeaderMap) -> Result<(), No> {
    let is_from_here = match (headers.get("sec-fetch-site"), headers.get(header::ORIGIN)) {
        (Some(site), _) => site == "same-origin" || site == "none",
        (None, Some(origin)) => {
            let origin = origin.to_str().unwrap_or_default();
            let of = origin.split_once("://").map(|(_, host)| host);
            origin == "null" || of.is_some() && of == host(headers)
        }
        (None, None) => true,
    };
    match is_from_here {
        true => Ok(()),
        false => Err(No::new(FORBIDDEN, "this form was sent by another site")),
    }
}

/// What was filled in.
pub(crate) struct Filled<T>(pub T);

impl<T: DeserializeOwned> FromRequest<Arc<Hub>> for Filled<T> {
    type Rejection = Refusal;

    async fn from_request(request: Request, hub: &Arc<Hub>) -> Result<Self, Refusal> {
        let patience = hub.parts.limits.patience;
        let read = axum::Form::<T>::from_request(request, hub);
        match tokio::time::timeout(patience, read).await {
            Err(_) => Err(No::new(TOO_SLOW, "what was sent took too long to arrive").into()),
            Ok(Err(error)) => Err(No::new(BAD_REQUEST, error.body_text())
                .with(error.status())
                .into()),
            Ok(Ok(axum::Form(sent))) => Ok(Self(sent)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_that_came_encrypted_stays_encrypted() {
        let cookie = |transport| {
            let mut response = see("/");
            let name = COOKIE.to_owned();
            Jar { name, transport }.set(&mut response, "hence_1", LASTS);
            let cookie = response.headers()[header::SET_COOKIE].to_str();
            cookie.expect("it is plain").to_owned()
        };
        assert!(cookie(Transport::Encrypted).ends_with("; SameSite=Strict; Secure"));
        assert!(cookie(Transport::Plain).ends_with("; SameSite=Strict"));
    }

    #[test]
    fn each_port_has_its_own_cookie() {
        for (host, cookie) in [
            ("x", "hence"),
            ("localhost:8080", "hence-8080"),
            ("[::1]:8081", "hence-8081"),
            ("[::1]", "hence"),
            ("x:evil", "hence"),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, HeaderValue::from_static(host));
            assert_eq!(name(&headers), cookie, "{host}");
        }
    }

    #[test]
    fn nobody_is_led_elsewhere() {
        assert_eq!(own(Some("/plan?x=1")), "/plan?x=1");
        assert_eq!(own(Some("/")), "/");
        for elsewhere in [
            "//evil.example",
            "/\\evil.example",
            "https://evil.example",
            "javascript:alert(1)",
            "/a\r\nSet-Cookie: x",
            "",
        ] {
            assert_eq!(own(Some(elsewhere)), "/", "{elsewhere}");
        }
    }
}
