//! How long until the last of very many watchers has heard of an activation.

use super::fleet::Fleet;
use super::http::Line;
use super::{LIMIT, OPENING};
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinSet;
use tokio::time::timeout;

/// Those who watch, each on a connection of its own.
pub struct Watchers {
    count: usize,
    heard: mpsc::UnboundedReceiver<Instant>,
}

impl Watchers {
    /// So many, spread over the nodes; the server has greeted all of them.
    pub async fn begin(fleet: &Fleet, count: usize) -> io::Result<Watchers> {
        let (tell, heard) = mpsc::unbounded_channel();
        let opening = Arc::new(Semaphore::new(OPENING));
        let mut beginning = JoinSet::new();
        for node in fleet.nodes.iter().cycle().take(count) {
            let (node, server) = (node.clone(), fleet.server);
            let (opening, tell) = (opening.clone(), tell.clone());
            beginning.spawn(async move {
                let _turn = opening.acquire().await;
                let mut line = Line::watch(server, &node.name, &node.token).await?;
                tokio::spawn(async move {
                    while line.activation().await.is_ok() && tell.send(Instant::now()).is_ok() {}
                });
                Ok::<_, io::Error>(())
            });
        }
        let begun = timeout(LIMIT, beginning.join_all()).await?;
        begun.into_iter().collect::<io::Result<()>>()?;
        Ok(Watchers { count, heard })
    }

    /// Activates a change, and says how long it took from the request until the last one had the whole event.
    pub async fn hear(&mut self, fleet: &mut Fleet) -> io::Result<Duration> {
        fleet.change()?;
        let mut line = Line::open(fleet.server).await?;
        let request = fleet.activation();
        let start = Instant::now();
        let activated = tokio::spawn(async move { line.ask(&request).await.map(drop) });
        let mut last = start;
        for _ in 0..self.count {
            let heard = timeout(LIMIT, self.heard.recv()).await?;
            let heard = heard.ok_or_else(|| io::Error::other("the watchers are gone"))?;
            last = last.max(heard);
        }
        activated.await??;
        Ok(last - start)
    }
}
