//! Which file beats which: in a block, a file beats those that it imports into it, directly or not (§4.4).

use hence_model::work;
use rustc_hash::FxHashSet;

use crate::datum::{FileKey, OrderId};
use crate::evaluate::Evaluator;

impl Evaluator<'_> {
    /// Whether one file beats another.
    pub(crate) fn beats(&self, order: OrderId, winner: FileKey, loser: FileKey) -> bool {
        winner != loser
            && self.is_importing(order, winner)
            && self.above(order, loser, |file| file == winner)
    }

    /// Whether a file imports any other.
    fn is_importing(&self, order: OrderId, file: FileKey) -> bool {
        let mut next = Some(order);
        while let Some(id) = next {
            let order = &self.orders[id.0 as usize];
            if order.importing.contains(&file) {
                return true;
            }
            next = order.outer;
        }
        false
    }

    /// Whether some file that imports `file`, directly or not, is one of those.
    pub(crate) fn above(
        &self,
        order: OrderId,
        file: FileKey,
        is_wanted: impl Fn(FileKey) -> bool,
    ) -> bool {
        // Nothing imports the file that is compiled, and that is where most is written.
        let mut pending = Vec::new();
        let mut seen = FxHashSet::default();
        let mut imported = Some(file);
        while let Some(one) = imported {
            let mut next = Some(order);
            while let Some(id) = next {
                let order = &self.orders[id.0 as usize];
                for &importer in order.importers.get(&one).into_iter().flatten() {
                    work::step();
                    if is_wanted(importer) {
                        return true;
                    }
                    if importer != file && seen.insert(importer) {
                        pending.push(importer);
                    }
                }
                next = order.outer;
            }
            imported = pending.pop();
        }
        false
    }

    /// Whether a file is imported by some others alone, or by way of them.
    pub(crate) fn is_always_below(&self, order: OrderId, file: FileKey, files: &[FileKey]) -> bool {
        let mut pending = vec![file];
        let mut seen = FxHashSet::from_iter([file]);
        while let Some(file) = pending.pop() {
            if files.contains(&file) {
                continue;
            }
            let mut is_imported = false;
            let mut next = Some(order);
            while let Some(id) = next {
                let order = &self.orders[id.0 as usize];
                for &importer in order.importers.get(&file).into_iter().flatten() {
                    work::step();
                    is_imported = true;
                    if seen.insert(importer) {
                        pending.push(importer);
                    }
                }
                next = order.outer;
            }
            if !is_imported {
                return false;
            }
        }
        true
    }

    /// Those of some files that import a file, directly or through files that are none of them.
    pub(crate) fn nearest_above(
        &self,
        order: OrderId,
        file: FileKey,
        files: &FxHashSet<FileKey>,
    ) -> FxHashSet<FileKey> {
        let mut pending = vec![file];
        let mut seen = FxHashSet::from_iter([file]);
        let mut nearest = FxHashSet::default();
        while let Some(file) = pending.pop() {
            let mut next = Some(order);
            while let Some(id) = next {
                let order = &self.orders[id.0 as usize];
                for &importer in order.importers.get(&file).into_iter().flatten() {
                    work::step();
                    match files.contains(&importer) {
                        true => {
                            nearest.insert(importer);
                        }
                        false if seen.insert(importer) => pending.push(importer),
                        false => {}
                    }
                }
                next = order.outer;
            }
        }
        nearest
    }
}
