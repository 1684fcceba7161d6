//! Dependency cycles: resources that wait for each other.
//!
//! The real compiler lets them pass, and the agent finds them on the machine; here they are told at once. A class
//! or a resource of a defined type begins before what it contains and ends after it, so it has two points in the
//! graph.

use hence_model::diagnostic::{Code, Diagnostic};
use hence_model::source::Span;

use crate::evaluate::{Evaluator, flatten};
use crate::trace::ResourceId;
use crate::types::Type;
use crate::value::{Datum, Value};

/// Resources wait for each other.
pub const DEPENDENCY_CYCLE: Code = Code::new("puppet.dependency-cycle");

/// One point must come before another; containment is not written anywhere.
#[derive(Clone, Copy)]
struct Edge {
    to: usize,
    span: Option<Span>,
}

impl Evaluator<'_> {
    /// A warning for each group of resources that wait for each other, with the place of every edge.
    pub(crate) fn cycles(&self) -> Vec<Diagnostic> {
        let graph = self.graph();
        let groups = groups(&graph);
        let mut warnings = Vec::new();
        for group in groups {
            let Some(circle) = circle(&graph, &group) else {
                continue;
            };
            let mut names: Vec<String> = Vec::new();
            let mut warning = Diagnostic::warning(DEPENDENCY_CYCLE, String::new());
            for (from, edge) in &circle {
                let name = self.shown_reference(ResourceId::from_index(from / 2));
                if names.last() != Some(&name) {
                    names.push(name.clone());
                }
                if let Some(span) = edge.span {
                    let to = self.shown_reference(ResourceId::from_index(edge.to / 2));
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

    /// Point 2n is where resource n begins, 2n + 1 where it ends.
    fn graph(&self) -> Vec<Vec<Edge>> {
        let mut graph: Vec<Vec<Edge>> = vec![Vec::new(); self.resources.len() * 2];
        let (begin, end) = (
            |id: ResourceId| id.index() * 2,
            |id: ResourceId| id.index() * 2 + 1,
        );
        for number in 0..self.resources.len() {
            let to = number * 2 + 1;
            graph[number * 2].push(Edge { to, span: None });
        }
        for (container, contained) in &self.edges {
            if self.resources[container.index()].is_stage() {
                continue;
            }
            graph[begin(*container)].push(Edge {
                to: begin(*contained),
                span: None,
            });
            graph[end(*contained)].push(Edge {
                to: end(*container),
                span: None,
            });
        }
        for (number, resource) in self.resources.iter().enumerate() {
            let id = ResourceId::from_index(number);
            if resource.is_virtual {
                continue;
            }
            for attribute in &resource.attributes {
                let forwards = match attribute.name.as_str() {
                    "before" | "notify" => true,
                    "require" | "subscribe" => false,
                    _ => continue,
                };
                let mut targets = Vec::new();
                flatten(&attribute.value, &mut targets);
                for target in targets.iter().filter_map(|target| self.target(target)) {
                    let (first, second) = if forwards { (id, target) } else { (target, id) };
                    graph[end(first)].push(Edge {
                        to: begin(second),
                        span: Some(attribute.span),
                    });
                }
            }
        }
        graph
    }

    fn target(&self, value: &Value) -> Option<ResourceId> {
        let kind = match &value.datum {
            Datum::Text(text) => crate::evaluate::read_reference(text)?,
            Datum::Type(kind) => kind.as_ref().clone(),
            _ => return None,
        };
        match &kind {
            Type::Resource(Some(name), Some(title)) => self.find_resource(name, title),
            Type::Class(Some(name)) => self.find_resource("class", name),
            _ => None,
        }
    }
}

/// Points that can all reach each other, two or more of them: Tarjan's algorithm, without recursion.
fn groups(graph: &[Vec<Edge>]) -> Vec<Vec<usize>> {
    const UNSEEN: usize = usize::MAX;
    let mut order = vec![UNSEEN; graph.len()];
    let mut low = vec![0; graph.len()];
    let mut open = vec![false; graph.len()];
    let mut stack = Vec::new();
    let mut count = 0;
    let mut groups = Vec::new();
    for root in 0..graph.len() {
        if order[root] != UNSEEN {
            continue;
        }
        let mut work = vec![(root, 0)];
        while let Some((point, next)) = work.pop() {
            if next == 0 {
                order[point] = count;
                low[point] = count;
                count += 1;
                stack.push(point);
                open[point] = true;
            }
            if let Some(edge) = graph[point].get(next) {
                work.push((point, next + 1));
                match order[edge.to] {
                    UNSEEN => work.push((edge.to, 0)),
                    seen if open[edge.to] => low[point] = low[point].min(seen),
                    _ => {}
                }
                continue;
            }
            if low[point] == order[point] {
                let mut group = Vec::new();
                while let Some(member) = stack.pop() {
                    open[member] = false;
                    group.push(member);
                    if member == point {
                        break;
                    }
                }
                if group.len() > 1 {
                    group.sort_unstable();
                    groups.push(group);
                }
            }
            if let Some((around, _)) = work.last() {
                low[*around] = low[*around].min(low[point]);
            }
        }
    }
    groups.sort();
    groups
}

/// A shortest way around, from a written edge of the group.
fn circle(graph: &[Vec<Edge>], group: &[usize]) -> Option<Vec<(usize, Edge)>> {
    let inside = |point: usize| group.binary_search(&point).is_ok();
    let mut starts = group.iter().flat_map(|point| {
        let written = graph[*point]
            .iter()
            .filter(|edge| edge.span.is_some() && inside(edge.to));
        written.map(|edge| (*point, *edge))
    });
    let (start, first) = starts.next()?;
    let mut came: std::collections::BTreeMap<usize, (usize, Edge)> = Default::default();
    let mut queue = std::collections::VecDeque::from([first.to]);
    while let Some(point) = queue.pop_front() {
        if point == start {
            break;
        }
        for edge in graph[point].iter().filter(|edge| inside(edge.to)) {
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
