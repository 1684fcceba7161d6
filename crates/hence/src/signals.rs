//! What asks a process to end.

use std::task::Poll;

use tokio::signal::unix::{SignalKind, signal};

/// Calls somebody when the process is asked to end, or its terminal is closed, instead of ending it. Where signals cannot
/// be heeded, they end the process as they always did.
pub fn heed(asked: impl FnOnce() + Send + 'static) {
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        let heard = runtime.map(|runtime| {
            runtime.block_on(async {
                let mut terminate = signal(SignalKind::terminate())?;
                let mut interrupt = signal(SignalKind::interrupt())?;
                let mut hangup = match outlives_its_terminal() {
                    true => None,
                    false => Some(signal(SignalKind::hangup())?),
                };
                std::future::poll_fn(|context| {
                    let is_asked = terminate.poll_recv(context).is_ready()
                        || interrupt.poll_recv(context).is_ready()
                        || hangup
                            .as_mut()
                            .is_some_and(|hangup| hangup.poll_recv(context).is_ready());
                    match is_asked {
                        true => Poll::Ready(()),
                        false => Poll::Pending,
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

/// Whether it was started to go on when its terminal is closed, as `nohup` does: then it was told to ignore that.
fn outlives_its_terminal() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    ignored.is_some_and(|mask| mask & 1 == 1) // Signal 1 is that of a terminal that was closed.
}
