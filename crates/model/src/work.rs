//! A count of the work that is done, so that a test can see how it grows with the input: no clock tells
//! that as surely. Only builds with debug assertions count; others pay nothing.

#[cfg(debug_assertions)]
thread_local! {
    static STEPS: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// Counts one step: a turn of a loop whose length is not obviously that of the input.
#[inline(always)]
pub fn step() {
    #[cfg(debug_assertions)]
    STEPS.with(|steps| steps.set(steps.get() + 1));
}

/// Counts steps that another thread took for this one.
#[inline(always)]
pub fn steps(taken: u64) {
    #[cfg(debug_assertions)]
    STEPS.with(|steps| steps.set(steps.get() + taken));
    #[cfg(not(debug_assertions))]
    let _ = taken;
}

/// The steps that something takes on this thread; none where they are not counted.
pub fn steps_of(work: impl FnOnce()) -> u64 {
    let now = || {
        #[cfg(debug_assertions)]
        return STEPS.with(std::cell::Cell::get);
        #[cfg(not(debug_assertions))]
        0
    };
    let before = now();
    work();
    now() - before
}
