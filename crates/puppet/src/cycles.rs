//! Dependency cycles: resources that wait for each other.
//!
//! The real compiler lets them pass, and the agent finds them on the machine; here they are told at once. A class
//! or a resource of a defined type begins before what it contains and ends after it, so it has two points in the
//! graph.

use hence_model::diagnostic::{Code, Diagnostic};
use hence_model::source::Span;
use hence_model::work;

use crate::evaluate::{Evaluator, flatten};
use crate::graph::Graph;
use crate::trace::ResourceId;
use crate::types::Type;
use crate::value::{Datum, Value};

/// Resources wait for each other.
pub const DEPENDENCY_CYCLE: Code = Code::new("puppet.dependency-cycle");

/// One point must come before another; containment is not written anywhere.
#[derive(Clone, Copy)]
struct Edge {
    to: u32,
    span: Option<Span>,
}

impl Evaluator<'_> {
    /// A warning for each group of resources that wait for each other, with the place of every edge.
    pub(crate) fn cycles(&self) -> Vec<Diagnostic> {
        let written = self.written_edges();
        // What only contains each other never goes round in circles.
        if written.is_empty() || self.keeps_order(&written) {
            return Vec::new();
        }
        let graph = self.graph(written);
        let groups = groups(&graph);
        let mut warnings = Vec::new();
        for group in groups {
            let Some(circle) = circle(&graph, &group) else {
                continue;
            };
            let mut names: Vec<String> = Vec::new();
            let mut warning = Diagnostic::warning(DEPENDENCY_CYCLE, String::new());
            for (from, edge) in &circle {
                let name = self.shown_reference(ResourceId::from_index(resource(*from)));
                if names.last() != Some(&name) {
                    names.push(name.clone());
                }
                if let Some(span) = edge.span {
                    let to = self.shown_reference(ResourceId::from_index(resource(edge.to)));
                    warning = warning.label(span, format!("{name} comes before {to}"));
                }
            }
            let first = names.first().cloned().unwrap_or_default();
            if names.last() == Some(&first) && names.len() > 1 {
                names.pop();
            }
            names.push(first);
            warning.message = format!("resources wait for each other: {}", names.join(" → "));
            warnings.push(
                warning.help("an agent would refuse this catalog; take one of the edges out"),
            );
        }
        warnings
    }

    /// The edges that attributes say, from where a resource ends to where another begins.
    fn written_edges(&self) -> Vec<(u32, Edge)> {
        let mut edges = Vec::new();
        for (number, resource) in self.resources.iter().enumerate() {
            let id = ResourceId::from_index(number);
            if resource.is_virtual {
                continue;
            }
            for attribute in resource.metaparameters() {
                let forwards = match attribute.name.as_str() {
                    "before" | "notify" => true,
                    "require" | "subscribe" => false,
                    _ => continue,
                };
                let mut targets = Vec::new();
                flatten(&attribute.value, &mut targets);
                for target in targets.iter().filter_map(|target| self.target(target)) {
                    let (first, second) = if forwards { (id, target) } else { (target, id) };
                    let to = begin(second);
                    let span = Some(attribute.span);
                    edges.push((end(first), Edge { to, span }));
                }
            }
        }
        edges
    }

    /// Whether the order of declaration keeps all edges, as it mostly does: then nothing goes round in circles. A
    /// resource begins at its number, and ends at that of the last thing in it.
    fn keeps_order(&self, written: &[(u32, Edge)]) -> bool {
        let mut ends: Vec<usize> = (0..self.resources.len()).collect();
        let contains = || {
            let edges = self.edges.iter();
            let edges = edges.map(|(container, contained)| (container.index(), contained.index()));
            edges.filter(|(container, _)| !self.resources[*container].is_stage())
        };
        for (container, contained) in contains().rev() {
            ends[container] = ends[container].max(ends[contained]);
        }
        contains().all(|(container, contained)| {
            container < contained && ends[contained] <= ends[container]
        }) && written
            .iter()
            .all(|(from, edge)| ends[resource(*from)] < resource(edge.to))
    }

    /// All edges: also from where each resource begins to where it ends, and around what it contains.
    fn graph(&self, written: Vec<(u32, Edge)>) -> Graph<Edge> {
        let mut edges = written;
        let mut add = |from: u32, to: u32| edges.push((from, Edge { to, span: None }));
        for number in 0..self.resources.len() {
            let id = ResourceId::from_index(number);
            add(begin(id), end(id));
        }
        for (container, contained) in &self.edges {
            if !self.resources[container.index()].is_stage() {
                add(begin(*container), begin(*contained));
                add(end(*contained), end(*container));
            }
        }
        Graph::new(self.resources.len() * 2, edges.iter().copied())
    }

    pub(crate) fn target(&self, value: &Value) -> Option<ResourceId> {
        let kind = match &value.datum {
            Datum::Text(text) => &crate::evaluate::read_reference(text)?,
            Datum::Type(kind) => kind.as_ref(),
            _ => return None,
        };
        match kind {
            Type::Resource(Some(name), Some(title)) => self.find_resource(name, title),
            Type::Class(Some(name)) => self.find_resource("class", name),
            _ => None,
        }
    }
}

/// The point where a resource begins.
fn begin(id: ResourceId) -> u32 {
    id.index() as u32 * 2
}

/// The point where a resource ends.
fn end(id: ResourceId) -> u32 {
    begin(id) + 1
}

/// The number of the resource that begins or ends at a point.
fn resource(point: u32) -> usize {
    point as usize / 2
}

/// Points that can all reach each other, two or more of them: Tarjan's algorithm, without recursion.
fn groups(graph: &Graph<Edge>) -> Vec<Vec<u32>> {
    const UNSEEN: u32 = u32::MAX;
    let mut order = vec![UNSEEN; graph.points()];
    let mut low = vec![0; graph.points()];
    let mut open = vec![false; graph.points()];
    let mut stack = Vec::new();
    let mut count = 0;
    let mut groups = Vec::new();
    let mut pending = Vec::new();
    for root in 0..graph.points() as u32 {
        if order[root as usize] != UNSEEN {
            continue;
        }
        pending.push((root, 0));
        while let Some((number, next)) = pending.pop() {
            work::step();
            let point = number as usize;
            if next == 0 {
                order[point] = count;
                low[point] = count;
                count += 1;
                stack.push(number);
                open[point] = true;
            }
            if let Some(edge) = graph.from(number).get(next) {
                pending.push((number, next + 1));
                match order[edge.to as usize] {
                    UNSEEN => pending.push((edge.to, 0)),
                    seen if open[edge.to as usize] => low[point] = low[point].min(seen),
                    _ => {}
                }
                continue;
            }
            if low[point] == order[point] {
                let first = stack.iter().rposition(|member| *member == number);
                let first = first.expect("it was put there when it was first seen");
                for member in &stack[first..] {
                    open[*member as usize] = false;
                }
                if stack.len() - first > 1 {
                    let mut group = stack[first..].to_vec();
                    group.sort_unstable();
                    groups.push(group);
                }
                stack.truncate(first);
            }
            if let Some((around, _)) = pending.last() {
                low[*around as usize] = low[*around as usize].min(low[point]);
            }
        }
    }
    groups.sort();
    groups
}

/// A shortest way around, from a written edge of the group.
fn circle(graph: &Graph<Edge>, group: &[u32]) -> Option<Vec<(u32, Edge)>> {
    let inside = |point: u32| group.binary_search(&point).is_ok();
    let mut starts = group.iter().flat_map(|point| {
        let written = graph
            .from(*point)
            .iter()
            .filter(|edge| edge.span.is_some() && inside(edge.to));
        written.map(|edge| (*point, *edge))
    });
    let (start, first) = starts.next()?;
    let mut came: std::collections::BTreeMap<u32, (u32, Edge)> = Default::default();
    let mut queue = std::collections::VecDeque::from([first.to]);
    while let Some(point) = queue.pop_front() {
        if point == start {
            break;
        }
        for edge in graph.from(point).iter().filter(|edge| inside(edge.to)) {
            if edge.to != first.to && !came.contains_key(&edge.to) {
                came.insert(edge.to, (point, *edge));
                queue.push_back(edge.to);
            }
        }
    }
    let mut way = Vec::new();
    let mut point = start;
    while point != first.to {
        let (from, edge) = came.get(&point)?;
        way.push((*from, *edge));
        point = *from;
    }
    way.push((start, first));
    way.reverse();
    Some(way)
}
