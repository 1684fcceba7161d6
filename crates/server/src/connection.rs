//! Accepts connections, limits them, encrypts them, and ends them gracefully.

use std::convert::Infallible;
use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use hyper::body::Incoming;
use hyper::rt::{Read, Write};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use tokio::net::{TcpListener, TcpStream};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;
use tower::ServiceExt;

use crate::access::{Name, mark};
use crate::answer::No;
use crate::hub::{Counted, Hub};
use crate::{Record, TOO_MANY};

/// So long those who are being answered are waited for at the end.
const FAREWELL: Duration = Duration::from_secs(10);

/// Ends a server.
#[derive(Clone)]
pub struct Stop(watch::Sender<bool>);

impl Stop {
    /// One that has not been used.
    pub fn new() -> Self {
        Self(watch::Sender::new(false))
    }

    /// Whether it was used.
    pub(crate) fn is_stopped(&self) -> bool {
        *self.0.borrow()
    }

    /// Lets the signals that ask a process to end be heard. It must be called within a server's runtime.
    async fn heed_signals(self) {
        let mut terminate = signal(SignalKind::terminate()).ok();
        let terminated = async {
            match &mut terminate {
                Some(terminate) => drop(terminate.recv().await),
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = tokio::signal::ctrl_c() => {}
            () = terminated => {}
        }
        self.stop();
    }

    /// No connection is accepted any more, and those that are open end with their request.
    pub fn stop(&self) {
        self.0.send_replace(true);
    }
}

impl Default for Stop {
    fn default() -> Self {
        Self::new()
    }
}

/// Whether signals that ask the process to end are meant for the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signals {
    /// They are: it ends gracefully.
    Heeded,
    /// They are not.
    Ignored,
}

/// Who can read along.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Transport {
    /// Whoever is on the way.
    Plain,
    /// Nobody.
    Encrypted,
}

/// Serves until it is stopped.
pub fn serve(
    hub: &Arc<Hub>,
    listener: std::net::TcpListener,
    tls: Option<Arc<rustls::ServerConfig>>,
    stop: &Stop,
    signals: Signals,
) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    if signals == Signals::Heeded {
        runtime.spawn(stop.clone().heed_signals());
    }
    let result = runtime.block_on(accept(hub, listener, tls, stop));
    runtime.shutdown_timeout(Duration::from_secs(1));
    result
}

async fn accept(
    hub: &Arc<Hub>,
    listener: std::net::TcpListener,
    tls: Option<Arc<rustls::ServerConfig>>,
    stop: &Stop,
) -> io::Result<()> {
    listener.set_nonblocking(true)?;
    let listener = TcpListener::from_std(listener)?;
    let router = crate::routes::router(hub, stop.0.subscribe());
    let tls = tls.map(TlsAcceptor::from);
    let farewell = GracefulShutdown::new();
    let mut stopped = stop.0.subscribe();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = stopped.wait_for(|stopped| *stopped) => break,
        };
        let Ok((stream, peer)) = accepted else {
            // No descriptor is free: somebody has to leave first.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let Ok(permit) = hub.connections.clone().try_acquire_owned() else {
            continue;
        };
        let _ = stream.set_nodelay(true);
        let connection = Connection {
            hub: hub.clone(),
            router: router.clone(),
            peer: peer.ip(),
            transport: match tls.is_some() {
                true => Transport::Encrypted,
                false => Transport::Plain,
            },
        };
        let (tls, watcher) = (tls.clone(), farewell.watcher());
        tokio::spawn(async move {
            connection.run(stream, tls, watcher).await;
            drop(permit);
        });
    }
    drop(listener);
    // Whoever only watches is told by the end of their stream.
    let _ = tokio::time::timeout(FAREWELL, farewell.shutdown()).await;
    Ok(())
}

#[derive(Clone)]
struct Connection {
    hub: Arc<Hub>,
    router: Router,
    peer: IpAddr,
    transport: Transport,
}

impl Connection {
    async fn run(self, stream: TcpStream, tls: Option<TlsAcceptor>, watcher: Watcher) {
        let _counted = Counted::new(&self.hub, |metrics| &metrics.connections);
        match tls {
            None => self.speak(TokioIo::new(stream), watcher).await,
            Some(tls) => {
                let handshake =
                    tokio::time::timeout(self.hub.parts.limits.patience, tls.accept(stream)).await;
                if let Ok(Ok(stream)) = handshake {
                    self.speak(TokioIo::new(stream), watcher).await;
                }
            }
        }
    }

    async fn speak(self, stream: impl Read + Write + Unpin + 'static, watcher: Watcher) {
        let patience = self.hub.parts.limits.patience;
        let answer = service_fn(move |request: hyper::Request<Incoming>| {
            let connection = self.clone();
            async move { Ok::<_, Infallible>(connection.answer(request.map(Body::new)).await) }
        });
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(patience)
            .serve_connection(stream, answer);
        // Whoever leaves in the middle of a word has left.
        let _ = watcher.watch(connection).await;
    }

    async fn answer(self, mut request: Request) -> Response {
        let begun = Instant::now();
        let method = request.method().clone();
        let path = request.uri().path().to_owned();
        let Name(name) = mark(&mut request, self.peer, self.transport);
        let hub = &self.hub;
        let response = match hub.counts.request(self.peer, hub.now(), &hub.parts.limits) {
            true => No::new(TOO_MANY, "more is asked than is answered")
                .help("wait, and ask again")
                .into_response(),
            false => {
                let Ok(response) = self.router.clone().oneshot(request).await;
                response
            }
        };
        let micros = begun.elapsed().as_micros() as u64;
        let status = response.status().as_u16();
        hub.metrics.request(status, micros);
        (hub.parts.log)(&Record {
            token: name.get().map(String::as_str),
            peer: self.peer,
            method: method.as_str(),
            path: &path,
            status,
            micros,
        });
        response
    }
}
