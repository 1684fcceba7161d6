//! Answers, and what is refused.

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use hence_api::trouble::Troubles;
use hence_api::{Trouble, words};
use hence_ledger::admission;
use hence_model::diagnostic::{Code, Diagnostic};
use hence_store::{Error, Receipt, Refused};
use serde::Serialize;

use crate::{
    BAD_REQUEST, ENROLLED, FORBIDDEN, NOT_FOUND, OTHER_API, TOO_LARGE, TOO_MANY, TOO_SLOW,
    UNAUTHORISED,
};

/// What a route answers, or why it does not.
pub(crate) type Answer = Result<Response, No>;

/// Why there is no answer.
#[derive(Debug)]
pub(crate) struct No {
    status: StatusCode,
    troubles: Vec<Diagnostic>,
}

impl No {
    /// No, for one reason.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self::from(Diagnostic::error(code, message))
    }

    /// Under another status.
    pub fn with(self, status: StatusCode) -> Self {
        Self { status, ..self }
    }

    /// How a status says it.
    pub fn status(&self) -> StatusCode {
        self.status
    }

    /// The reasons.
    pub fn troubles(&self) -> &[Diagnostic] {
        &self.troubles
    }

    /// With advice.
    pub fn help(mut self, help: &str) -> Self {
        let last = self.troubles.pop().expect("there is a reason");
        self.troubles.push(last.help(help));
        self
    }
}

/// How a status says it.
fn status(code: Code) -> StatusCode {
    match code {
        UNAUTHORISED => StatusCode::UNAUTHORIZED,
        FORBIDDEN | admission::FORBIDDEN => StatusCode::FORBIDDEN,
        BAD_REQUEST => StatusCode::BAD_REQUEST,
        TOO_LARGE => StatusCode::PAYLOAD_TOO_LARGE,
        TOO_MANY => StatusCode::TOO_MANY_REQUESTS,
        TOO_SLOW => StatusCode::REQUEST_TIMEOUT,
        NOT_FOUND
        | OTHER_API
        | hence_fleet::edit::NO_SUCH
        | hence_service::rollout::NONE
        | hence_store::NO_SUCH_VERSION
        | hence_store::NO_SUCH_NAME => StatusCode::NOT_FOUND,
        hence_store::MOVED | hence_service::activation::STALE => StatusCode::PRECONDITION_FAILED,
        ENROLLED
        | hence_service::access::LAST_ADMINISTRATOR
        | hence_service::rollout::UNDER_WAY
        | admission::TAKEN
        | hence_store::NAME_TAKEN
        | hence_store::UNDO_MOVED
        | hence_store::UNDONE => StatusCode::CONFLICT,
        _ => StatusCode::UNPROCESSABLE_ENTITY,
    }
}

impl From<Diagnostic> for No {
    fn from(trouble: Diagnostic) -> Self {
        Self {
            status: status(trouble.code),
            troubles: vec![trouble],
        }
    }
}

impl From<Error> for No {
    fn from(error: Error) -> Self {
        Self {
            status: StatusCode::SERVICE_UNAVAILABLE,
            troubles: vec![error.into()],
        }
    }
}

impl From<Refused> for No {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::Failed(error) => error.into(),
            Refused::Because(troubles) => Self {
                status: troubles
                    .first()
                    .map_or(StatusCode::UNPROCESSABLE_ENTITY, |first| status(first.code)),
                troubles,
            },
        }
    }
}

impl IntoResponse for No {
    fn into_response(self) -> Response {
        let errors = self.troubles.iter().map(Trouble::from).collect();
        let mut response = json(&Troubles { errors });
        *response.status_mut() = self.status;
        if self.status == StatusCode::UNAUTHORIZED {
            let scheme = HeaderValue::from_static("Bearer, Basic realm=\"hence\"");
            response
                .headers_mut()
                .insert(header::WWW_AUTHENTICATE, scheme);
        }
        response
    }
}

/// Something in JSON.
pub(crate) fn json(answer: &impl Serialize) -> Response {
    let body = serde_json::to_vec(answer).expect("answers can be written");
    typed("application/json", body)
}

/// A text.
pub(crate) fn text(body: impl Into<Body>) -> Response {
    typed("text/plain; charset=utf-8", body)
}

/// Bytes of a type.
pub(crate) fn typed(content_type: &'static str, body: impl Into<Body>) -> Response {
    let mut response = Response::new(body.into());
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(
        header::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    );
    response
}

/// What became of a change.
pub(crate) fn done(receipt: &Receipt, told: &[Diagnostic]) -> words::Done {
    let told = told.iter().map(Trouble::from).collect();
    let Receipt::Done(done) = receipt else {
        return words::Done {
            told,
            ..words::Done::default()
        };
    };
    let lost = done.admitted.lost.iter().map(|(owner, key)| words::Lost {
        owner: owner.to_string(),
        key: key.to_string(),
    });
    let dormant = done.admitted.dormant.iter().map(|dormant| words::Dormant {
        key: dormant.key.to_string(),
        owner: dormant.owner.to_string(),
        missing: dormant.missing.iter().map(ToString::to_string).collect(),
    });
    words::Done {
        version: Some(done.version),
        changes: done.admitted.changes.clone(),
        lost: lost.collect(),
        dormant: dormant.collect(),
        told,
    }
}
