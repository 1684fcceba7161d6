//! The graph of an explanation for Graphviz.

use std::fmt::Write as _;

use super::Answer;
use super::graph::{Graph, Line};

/// A graph: solid arrows for values, dashed ones for control, grey for what lost.
pub fn answer(answer: &Answer<'_>, full: bool, control: bool) -> String {
    let graph = Graph::of(answer, full);
    let mut dot = String::from("digraph why {\n  rankdir=LR;\n  node [shape=box];\n");
    for (at, node) in graph.nodes.iter().enumerate() {
        if node.further && !control {
            continue;
        }
        let place = answer.location(node.span);
        let lines = match (&node.title, at) {
            (Some(title), 0) => format!("{} = {title}", answer.path()),
            (Some(title), _) => format!("{title}\n{}\n{place}", node.words),
            (None, _) => format!("{}\n{place}", node.words),
        };
        let look = match (at, node.line) {
            (0, _) => ", penwidth=2",
            (_, Line::Flow) => "",
            (_, Line::Control) => ", style=dashed",
            (_, Line::Lost) => ", color=grey, fontcolor=grey",
        };
        let _ = writeln!(dot, "  n{at} [label={}{look}];", quoted(&lines));
        let look = match node.line {
            Line::Flow => "",
            Line::Control => " [style=dashed]",
            Line::Lost => " [color=grey, style=dotted]",
        };
        if at > 0 {
            let _ = writeln!(dot, "  n{at} -> n{}{look};", node.to);
        }
    }
    if graph.left_out > 0 {
        let words = quoted(&format!("{} more", graph.left_out));
        let _ = writeln!(dot, "  more [label={words}, shape=plaintext];");
    }
    dot.push_str("}\n");
    dot
}

fn quoted(text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{}\"", text.replace('\n', "\\n"))
}
