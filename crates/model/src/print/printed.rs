//! What was printed of entries that many blocks have, so that it need not be worked out again.

use crate::value::Sink;

/// Printed entries, by number.
#[derive(Default)]
pub struct Printed {
    /// Where an entry's text is; nowhere if it is empty.
    texts: Vec<(u32, u32)>,
    bytes: Vec<u8>,
}

/// How many bytes of printed text are kept.
const KEPT: usize = 1 << 20;

impl Printed {
    /// A number that no entry has yet, for those who have none of their own.
    pub fn number(&mut self) -> u32 {
        self.texts.push((0, 0));
        self.texts.len() as u32 - 1
    }

    /// Prints an entry: from its text if there is one, as `send` does it if not.
    #[inline]
    pub fn entry<S: Sink>(&mut self, number: u32, sink: &mut S, send: impl FnOnce(&mut S)) {
        let mark = sink.mark();
        if mark.is_some()
            && let Some(text) = self.get(number)
        {
            return sink.again(text);
        }
        send(sink);
        if let Some(text) = mark.and_then(|mark| sink.since(mark)) {
            self.keep(number, text);
        }
    }

    #[inline]
    fn get(&self, number: u32) -> Option<&[u8]> {
        let &(start, end) = self.texts.get(number as usize)?;
        (start < end).then(|| &self.bytes[start as usize..end as usize])
    }

    #[cold]
    fn keep(&mut self, number: u32, text: &[u8]) {
        if self.bytes.len() + text.len() <= KEPT {
            let start = self.bytes.len() as u32;
            self.bytes.extend_from_slice(text);
            let number = number as usize;
            if self.texts.len() <= number {
                self.texts.resize(number + 1, (0, 0));
            }
            self.texts[number] = (start, self.bytes.len() as u32);
        }
    }
}
