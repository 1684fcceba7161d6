//! Asks again and again, and listens for news in between.
//!
//! News only wakes: what is to run is always asked for, so that whatever was not heard is found out with the next poll.

use std::time::Duration;

use hence_api::Client;

use crate::Error;
use crate::host::{Wake, Woken};
use crate::round::{Agent, End, Ended};

/// The first pause when nobody answers; each further one is twice as long.
const FIRST: Duration = Duration::from_secs(1);
/// So long listening pauses at most.
const LONGEST: Duration = Duration::from_secs(300);

/// Goes rounds until it is to end; each is told.
pub fn run(agent: &Agent<'_>, told: &mut dyn FnMut(Result<Ended, Error>)) {
    let interval = agent.settings.interval;
    let mut failures = 0;
    loop {
        let round = agent.round();
        let is_over = matches!(&round, Ok(ended) if ended.end == End::Stopped);
        let is_well = matches!(&round, Ok(ended) if ended.away.is_none());
        told(round);
        failures = if is_well { 0 } else { failures + 1 };
        let pause = match failures {
            0 => spread(interval, interval / 5, agent.host.random()),
            failures => pause(failures, interval, agent.host.random()),
        };
        if is_over {
            return;
        }
        match agent.host.wait(pause) {
            Woken::Time => {}
            Woken::Stop => return,
            // All nodes hear it in the same moment, and should not ask in the same moment.
            Woken::News => {
                let about = (interval / 60).min(Duration::from_secs(1));
                if agent.host.wait(spread(about, about, agent.host.random())) == Woken::Stop {
                    return;
                }
            }
        }
    }
}

/// Listens until the agent is to end, and wakes it when there is news.
pub fn listen(client: &Client, node: &str, wake: &Wake, random: &dyn Fn() -> u64) {
    let mut last = None;
    let mut failures = 0;
    while !wake.is_stopped() {
        if let Ok(events) = client.events(Some(node), last) {
            failures = 0;
            for event in events.map_while(Result::ok) {
                last = last.max(Some(event.version));
                wake.news();
            }
        }
        failures += 1;
        wake.rest(pause(failures, LONGEST, random()));
    }
}

/// How long to wait after so many failures: twice as long each time, half of it by chance.
fn pause(failures: u32, longest: Duration, random: u64) -> Duration {
    let doubled = FIRST.saturating_mul(1 << failures.saturating_sub(1).min(16));
    let pause = doubled.min(longest);
    spread(pause * 3 / 4, pause / 4, random)
}

/// About so long, give or take so much.
fn spread(about: Duration, by: Duration, random: u64) -> Duration {
    let range = by.as_millis() as u64 * 2 + 1;
    let least = about.saturating_sub(by);
    least + Duration::from_millis(random % range)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_the_interval_and_no_two_nodes_agree() {
        let interval = Duration::from_secs(60);
        for random in [0, 1, 12_345, u64::MAX] {
            let first = pause(1, interval, random);
            assert!(first >= FIRST / 2 && first <= FIRST, "{first:?}");
            let late = pause(u32::MAX, interval, random);
            assert!(late >= interval / 2 && late <= interval, "{late:?}");
            let usual = spread(interval, interval / 5, random);
            assert!(usual >= Duration::from_secs(48) && usual <= Duration::from_secs(72));
        }
        assert_ne!(pause(3, interval, 1), pause(3, interval, 2));
        assert_eq!(spread(Duration::ZERO, Duration::ZERO, 9), Duration::ZERO);
    }
}
