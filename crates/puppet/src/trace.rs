//! Where values come from, recorded while a catalog is made.

/// Where a value comes from: an offset in the sources for what is written, otherwise a node of the trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Origin(u32);

const NODE: u32 = 1 << 31;

impl Origin {
    /// The origin of something written at an offset.
    pub fn written(at: u32) -> Self {
        debug_assert!(at & NODE == 0, "sources are smaller than 2 GiB");
        Self(at)
    }
}
