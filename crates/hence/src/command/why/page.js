"use strict";
// The picture grows and folds, and the picture and the sources follow each other.
(() => {
  const find = (id) => document.getElementById(id);
  const svg = find("picture");
  const canvas = svg.parentElement;
  const pane = document.querySelector(".pane");
  const WIDTH = 188, HEIGHT = 58, BESIDE = 36, BELOW = 14, MARGIN = 18;

  const nodes = [...svg.querySelectorAll(".node")].map((shape, at) => ({
    at, shape, edge: find("e" + at), to: Number(shape.dataset.to), file: shape.dataset.file,
    more: shape.querySelector(".more"), shown: !shape.classList.contains("away"), inside: [],
  }));
  for (const node of nodes.slice(1)) nodes[node.to].inside.push(node);
  const value = nodes[0];
  let folded = false;
  let opened = new Set();
  let chosen = value;

  // Folded, a node stands for those of its file that lead to it alone through that file.
  const host = (node) => {
    if (!folded || node.at === 0 || node.to === 0) return node;
    const next = host(nodes[node.to]);
    return next.file === node.file && !opened.has(next.at) ? next : node;
  };
  const isSeen = (node) => node.at === 0 || (node.shown && isSeen(nodes[node.to]) && host(node) === node);
  const children = (node) => {
    const found = [];
    for (const child of node.inside) {
      if (!child.shown) continue;
      if (host(child) === child) found.push(child);
      else found.push(...children(child));
    }
    return found;
  };
  // Says at which sides the picture goes on behind its frame.
  const sides = () => {
    const behind = canvas.scrollWidth - canvas.clientWidth - canvas.scrollLeft;
    canvas.parentElement.classList.toggle("goes-left", canvas.scrollLeft > 1);
    canvas.parentElement.classList.toggle("goes-right", behind > 1);
  };
  const missing = (node) => {
    let count = 0;
    for (const child of node.inside) {
      if (!child.shown) count += 1;
      else if (host(child) !== child) count += 1 + missing(child);
    }
    return count;
  };

  // A node is called what can be read in it, so that it can be chosen by voice; what is cut off there comes behind.
  const name = (node) => {
    const seen = [...node.shape.querySelectorAll("text")].map((text) => text.textContent).filter(Boolean).join(" ");
    const whole = node.shape.dataset.name;
    node.shape.setAttribute("aria-label", seen.includes("…") ? seen + ", " + whole : seen);
  };

  // As `drawing.rs` does it.
  const draw = () => {
    const spots = new Map();
    let deepest = 0, row = 0;
    const place = (node, depth) => {
      deepest = Math.max(deepest, depth);
      const below = children(node).map((child) => place(child, depth + 1));
      let y = row;
      if (below.length) y = Math.trunc((below[0] + below[below.length - 1]) / 2);
      else row += HEIGHT + BELOW;
      spots.set(node, { depth, y });
      return y;
    };
    place(value, 0);
    const at = (node) => {
      const spot = spots.get(node);
      return [MARGIN + (deepest - spot.depth) * (WIDTH + BESIDE), MARGIN + spot.y];
    };
    for (const node of nodes) {
      const seen = spots.has(node);
      node.shape.classList.toggle("away", !seen);
      if (node.edge) node.edge.classList.toggle("away", !seen);
      if (!seen) continue;
      const [x, y] = at(node);
      node.shape.setAttribute("transform", `translate(${x} ${y})`);
      const hidden = missing(node);
      node.more.textContent = hidden ? "+" + hidden : "";
      name(node);
      if (node.inside.length) node.shape.setAttribute("aria-expanded", String(hidden === 0));
      if (!node.edge) continue;
      const [right, up] = at(host(nodes[node.to]));
      const from = x + WIDTH, level = y + HEIGHT / 2, end = up + HEIGHT / 2;
      const middle = Math.trunc((from + right) / 2);
      node.edge.setAttribute("d", `M${from} ${level}C${middle} ${level} ${middle} ${end} ${right} ${end}`);
    }
    const width = deepest * (WIDTH + BESIDE) + WIDTH + 2 * MARGIN;
    const height = Math.max(row - BELOW, HEIGHT) + 2 * MARGIN;
    svg.setAttribute("width", width);
    svg.setAttribute("height", height);
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    sides();
  };

  const marks = [...document.querySelectorAll("mark[data-nodes]")].map((mark) => ({
    mark, of: mark.dataset.nodes.split(" ").map(Number),
  }));

  const choose = (node, focus) => {
    for (let next = node; next.at !== 0; next = nodes[next.to]) next.shown = true;
    for (let next = host(node); next !== node; next = host(node)) opened.add(next.at);
    draw();
    chosen.shape.classList.remove("chosen");
    chosen.shape.setAttribute("tabindex", "-1");
    chosen.shape.setAttribute("aria-pressed", "false");
    chosen = node;
    node.shape.classList.add("chosen");
    node.shape.setAttribute("tabindex", "0");
    node.shape.setAttribute("aria-pressed", "true");
    find("chosen").textContent = node.shape.dataset.name;
    let first = null;
    for (const { mark, of } of marks) {
      const isOf = of.includes(node.at);
      mark.classList.toggle("chosen-mark", isOf);
      if (isOf && !first) first = mark;
    }
    if (first) {
      const line = first.getBoundingClientRect(), frame = pane.getBoundingClientRect();
      pane.scrollTop += line.top - frame.top - frame.height / 3;
      if (line.left < frame.left || line.right > frame.right) pane.scrollLeft += line.left - frame.left - 80;
    }
    const shape = node.shape.getBoundingClientRect(), frame = canvas.getBoundingClientRect();
    if (shape.left < frame.left || shape.right > frame.right) canvas.scrollLeft += shape.left - frame.left - 60;
    if (shape.top < frame.top || shape.bottom > frame.bottom) canvas.scrollTop += shape.top - frame.top - 60;
    if (focus) node.shape.focus({ preventScroll: true });
  };

  const grow = (node) => {
    opened.add(node.at);
    for (const child of node.inside) child.shown = true;
  };
  const shrink = (node) => {
    opened.delete(node.at);
    for (const child of node.inside) child.shown = false;
  };

  // The first press chooses; what is chosen already grows, and then shrinks.
  const press = (node) => {
    if (missing(node)) grow(node);
    else if (node === chosen && node.at !== 0) shrink(node);
    choose(node, true);
  };

  const beside = (node, step) => {
    const seen = nodes.filter(isSeen);
    const spot = (one) => one.shape.transform.baseVal.consolidate().matrix;
    const column = seen.filter((one) => spot(one).e === spot(node).e);
    column.sort((one, other) => spot(one).f - spot(other).f);
    return column[column.indexOf(node) + step];
  };

  const keys = {
    ArrowRight: (node) => node.at === 0 ? null : host(nodes[node.to]),
    ArrowLeft: (node) => { if (!children(node).length) grow(node); return children(node)[0]; },
    ArrowUp: (node) => beside(node, -1),
    ArrowDown: (node) => beside(node, 1),
    Home: () => value,
  };

  svg.addEventListener("click", (event) => {
    const shape = event.target.closest(".node");
    if (shape) press(nodes[Number(shape.id.slice(1))]);
  });
  svg.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Enter" || event.key === " ") {
      press(chosen);
    } else if (keys[event.key]) {
      const next = keys[event.key](chosen);
      if (next) choose(next, true);
    } else {
      return;
    }
    event.preventDefault();
  });
  document.addEventListener("click", (event) => {
    const mark = event.target.closest("mark[data-nodes]");
    const link = event.target.closest("a[data-node]");
    if (mark) {
      const of = mark.dataset.nodes.split(" ").map(Number);
      // Pressed again, the next stretch around it is chosen.
      choose(nodes[of[(of.indexOf(chosen.at) + 1) % of.length]], false);
    } else if (link) {
      event.preventDefault();
      choose(nodes[Number(link.dataset.node)], false);
      if (pane.getBoundingClientRect().bottom < 0 || pane.getBoundingClientRect().top > innerHeight) {
        document.querySelector(".sides").scrollIntoView({ block: "start" });
      }
    }
  });

  const say = (words) => { find("done").textContent = words; };
  find("grow").addEventListener("click", () => {
    for (const node of nodes) node.shown = true;
    choose(chosen, false);
    say("");
  });
  find("fold").addEventListener("click", () => {
    folded = !folded;
    opened = new Set();
    find("fold").setAttribute("aria-pressed", String(folded));
    choose(host(chosen), false);
  });
  find("save").addEventListener("click", () => {
    const text = new XMLSerializer().serializeToString(svg);
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
    link.download = "why.svg";
    link.click();
    URL.revokeObjectURL(link.href);
    say("saved as why.svg");
  });
  find("copy").addEventListener("click", () => {
    const text = find("answer").textContent;
    navigator.clipboard.writeText(text).then(() => say("copied"), () => say("the browser does not let the page copy"));
  });

  for (const node of nodes) {
    node.shape.setAttribute("role", "button");
    name(node);
    node.shape.setAttribute("tabindex", "-1");
  }
  document.body.classList.add("ready");
  document.querySelector(".tools").hidden = false;
  choose(value, false);
  canvas.scrollLeft = canvas.scrollWidth;
  canvas.addEventListener("scroll", sides);
  addEventListener("resize", sides);
  sides();
})();
