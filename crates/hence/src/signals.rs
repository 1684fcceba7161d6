//! What asks a process to end.

use std::task::Poll;

use tokio::signal::unix::{SignalKind, signal};

/// Calls somebody when the process is asked to end, instead of ending it. Where signals cannot be heeded, they end the
/// process as they always did.
pub fn heed(asked: impl FnOnce() + Send + 'static) {
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        let heard = runtime.map(|runtime| {
            runtime.block_on(async {
                let mut terminate = signal(SignalKind::terminate())?;
                let mut interrupt = signal(SignalKind::interrupt())?;
                std::future::poll_fn(|context| {
                    let is_asked = terminate.poll_recv(context).is_ready()
                        || interrupt.poll_recv(context).is_ready();
                    if is_asked {
                        Poll::Ready(())
                    } else {
                        Poll::Pending
                    }
                })
                .await;
                std::io::Result::Ok(())
            })
        });
        if let Ok(Ok(())) = heard {
            asked();
        }
    });
}
