//! Stack for what recurses: on this thread if there is enough left, otherwise on one of its own.
//!
//! To start a thread with a large stack takes longer than most questions do, so a program that asks many begins with a
//! large stack, and says so.

use std::cell::Cell;

use crate::work::{steps, steps_of};

thread_local! {
    /// The lowest address that the stack of this thread may reach, if somebody said how large it is.
    static LOWEST: Cell<Option<usize>> = const { Cell::new(None) };
}

/// Kept free for whoever is called last.
const SPARE: usize = 256 << 10;

/// Says that this thread has a stack of so many bytes, of which almost nothing is used. To be called where the thread begins.
pub fn begin(size: usize) {
    LOWEST.set(Some(here().saturating_sub(size)));
}

/// Does something that needs so many bytes of stack.
pub fn with<T: Send>(size: usize, work: impl FnOnce() -> T + Send) -> T {
    if left().is_some_and(|left| left >= size + SPARE) {
        return work();
    }
    std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().stack_size(size + 2 * SPARE);
        let counted = || {
            begin(size + 2 * SPARE);
            let mut done = None;
            let steps = steps_of(|| done = Some(work()));
            (done.expect("it was done"), steps)
        };
        let thread = builder.spawn_scoped(scope, counted);
        match thread.expect("a thread can be started").join() {
            Ok((done, taken)) => {
                steps(taken);
                done
            }
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

/// How much of the stack is left, if anybody knows.
fn left() -> Option<usize> {
    LOWEST.get().map(|lowest| here().saturating_sub(lowest))
}

/// About where the stack ends now; it grows downwards.
#[inline(never)]
fn here() -> usize {
    let local = 0_u8;
    std::hint::black_box(&local) as *const u8 as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Uses so many times a kilobyte of stack.
    fn recurse(levels: usize) -> usize {
        let block = std::hint::black_box([levels as u8; 1024]);
        match levels {
            0 => usize::from(block[0]),
            _ => recurse(levels - 1) + usize::from(block[1023] == levels as u8),
        }
    }

    #[test]
    fn there_is_as_much_as_is_asked_for_wherever_it_is_asked() {
        let id = || std::thread::current().id();
        let outside = id();
        with(16 << 20, || {
            assert_ne!(
                id(),
                outside,
                "nobody said how large the stack of a test is"
            );
            assert_eq!(recurse(4_000), 4_000);
            let inside = id();
            with(8 << 20, || assert_eq!(id(), inside, "there is enough left"));
            with(32 << 20, || {
                assert_ne!(id(), inside);
                assert_eq!(recurse(8_000), 8_000);
            });
        });
    }
}
