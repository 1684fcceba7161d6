//! How much is taken from whom.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Mutex;
use std::time::Duration;

/// How much is taken.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes in the body of a request.
    pub body: usize,
    /// Connections at once.
    pub connections: usize,
    /// Requests in a second from one address; 0 for any number.
    pub rate: u64,
    /// Wrong tokens in a minute from one address.
    pub guesses: u64,
    /// So long somebody may take to say what they want.
    pub patience: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body: 64 << 20,
            connections: 16_384,
            rate: 5_000,
            guesses: 60,
            patience: Duration::from_secs(15),
        }
    }
}

/// So many addresses are remembered; then all of them begin anew.
const MOST: usize = 65_536;

/// Counts what comes from each address.
#[derive(Default)]
pub(crate) struct Counts(Mutex<HashMap<IpAddr, Count>>);

#[derive(Clone, Copy, Default)]
struct Count {
    second: u64,
    requests: u64,
    minute: u64,
    guesses: u64,
}

impl Counts {
    /// Notes a request, and whether it is one too many.
    pub fn request(&self, from: IpAddr, now: u64, limits: &Limits) -> bool {
        if limits.rate == 0 {
            return self.guesses(from, now) > limits.guesses;
        }
        self.count(from, now, |count| {
            count.requests += 1;
            count.requests > limits.rate || count.guesses > limits.guesses
        })
    }

    /// Notes a wrong token.
    pub fn guess(&self, from: IpAddr, now: u64) {
        self.count(from, now, |count| count.guesses += 1);
    }

    fn guesses(&self, from: IpAddr, now: u64) -> u64 {
        let counts = self.0.lock().unwrap_or_else(|poison| poison.into_inner());
        let count = counts
            .get(&from)
            .filter(|count| count.minute == now / 60_000);
        count.map_or(0, |count| count.guesses)
    }

    fn count<T>(&self, from: IpAddr, now: u64, note: impl FnOnce(&mut Count) -> T) -> T {
        let mut counts = self.0.lock().unwrap_or_else(|poison| poison.into_inner());
        if counts.len() >= MOST {
            counts.clear();
        }
        let count = counts.entry(from).or_default();
        if count.second != now / 1000 {
            (count.second, count.requests) = (now / 1000, 0);
        }
        if count.minute != now / 60_000 {
            (count.minute, count.guesses) = (now / 60_000, 0);
        }
        note(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_asks_too_much_waits_for_the_next_second_and_who_guesses_for_the_next_minute() {
        let counts = Counts::default();
        let limits = Limits {
            rate: 2,
            guesses: 1,
            ..Limits::default()
        };
        let from = IpAddr::from([127, 0, 0, 1]);
        let other = IpAddr::from([127, 0, 0, 2]);
        let asks = |from, now| counts.request(from, now, &limits);
        assert_eq!(
            [asks(from, 0), asks(from, 1), asks(from, 2)],
            [false, false, true]
        );
        assert!(!asks(other, 2));
        assert!(!asks(from, 1000));
        counts.guess(from, 1001);
        counts.guess(from, 1002);
        assert!(asks(from, 2000));
        assert!(!asks(other, 2000));
        assert!(!asks(from, 60_000));
    }
}
