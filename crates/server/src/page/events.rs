//! When to look again: server-sent events that say that something happened, and nothing else.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::Response;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, watch};

use super::session::Signed;
use crate::answer::typed;
use crate::hub::{Counted, Happened, Hub};

/// What happens within so long is one thing to look at: many agents report at once, and every page that is open looks again.
const TOGETHER: Duration = Duration::from_secs(1);
/// After so long without news, a word that there are none.
const SILENCE: Duration = Duration::from_secs(15);

struct Watcher {
    news: broadcast::Receiver<Arc<Happened>>,
    reported: watch::Receiver<u64>,
    stopped: watch::Receiver<bool>,
    hub: Arc<Hub>,
    greeted: bool,
    _counted: Counted,
}

/// A word whenever a version came, or a node reported.
pub async fn events(
    State(hub): State<Arc<Hub>>,
    _: Signed,
    Extension(stopped): Extension<watch::Receiver<bool>>,
) -> Response {
    let watcher = Watcher {
        news: hub.happened.subscribe(),
        reported: hub.reported.subscribe(),
        stopped,
        hub: hub.clone(),
        greeted: false,
        _counted: Counted::new(&hub, |metrics| &metrics.watchers),
    };
    let stream = futures_util::stream::unfold(watcher, |mut watcher| async move {
        let word = watcher.next().await?;
        Some((Ok::<_, Infallible>(Bytes::from_static(word)), watcher))
    });
    let mut response = typed("text/event-stream", Body::from_stream(stream));
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

impl Watcher {
    /// The next words; nothing at the end.
    async fn next(&mut self) -> Option<&'static [u8]> {
        const CHANGE: &[u8] = b"event: change\ndata: \n\n";
        if !self.greeted {
            self.greeted = true;
            return Some(b": watching\n\n");
        }
        tokio::select! {
            news = self.news.recv() => match news {
                Ok(_) | Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => return None,
            },
            reported = self.reported.changed() => reported.ok()?,
            _ = self.stopped.wait_for(|stopped| *stopped) => return None,
            () = tokio::time::sleep(SILENCE) => {
                // What nodes tell another server is told to nobody here.
                return Some(match self.hub.parts.shared {
                    true => CHANGE,
                    false => b": nothing new\n\n",
                });
            }
        }
        tokio::time::sleep(TOGETHER).await;
        while let Ok(_) | Err(broadcast::error::TryRecvError::Lagged(_)) = self.news.try_recv() {}
        self.reported.mark_unchanged();
        Some(CHANGE)
    }
}
