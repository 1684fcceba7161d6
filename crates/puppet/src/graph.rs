//! Graphs in little space: the edges of all points in one list, those that leave the same point together.

/// A graph whose points are numbered from 0.
#[derive(Debug)]
pub(crate) struct Graph<E> {
    edges: Vec<E>,
    /// Where the edges of each point begin; they end where those of the next begin.
    starts: Vec<u32>,
}

impl<E: Copy> Graph<E> {
    /// The graph of so many points with these edges, each with the point that it leaves. Edges that leave the
    /// same point keep their order.
    pub(crate) fn new(points: usize, edges: impl Iterator<Item = (u32, E)> + Clone) -> Self {
        let mut starts = vec![0; points + 1];
        for (from, _) in edges.clone() {
            starts[from as usize + 1] += 1;
        }
        for point in 0..points {
            starts[point + 1] += starts[point];
        }
        let Some((_, any)) = edges.clone().next() else {
            let edges = Vec::new();
            return Self { edges, starts };
        };
        let mut sorted = vec![any; starts[points] as usize];
        let mut next = starts.clone();
        for (from, edge) in edges {
            let place = &mut next[from as usize];
            sorted[*place as usize] = edge;
            *place += 1;
        }
        Self {
            edges: sorted,
            starts,
        }
    }

    /// How many points there are.
    pub(crate) fn points(&self) -> usize {
        self.starts.len() - 1
    }

    /// The edges that leave a point.
    pub(crate) fn from(&self, point: u32) -> &[E] {
        let point = point as usize;
        &self.edges[self.starts[point] as usize..self.starts[point + 1] as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_stand_by_their_points() {
        let edges = [(2, 'a'), (0, 'b'), (2, 'c')];
        let graph = Graph::new(3, edges.into_iter());
        assert_eq!(graph.points(), 3);
        assert_eq!(graph.from(0), ['b']);
        assert!(graph.from(1).is_empty());
        assert_eq!(graph.from(2), ['a', 'c']);
    }

    #[test]
    fn a_graph_may_have_no_edges() {
        let graph = Graph::<u32>::new(2, [].into_iter());
        assert!(graph.from(1).is_empty());
    }
}
