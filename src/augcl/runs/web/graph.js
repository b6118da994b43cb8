// Draw one graph: a layout by stress, nodes by kind, edges by kind, what a view dropped or added.

/** Shortest paths from a node, by breadth-first search. */
function hops(neighbours, from) {
  const far = new Float32Array(neighbours.length).fill(-1), queue = [from];
  far[from] = 0;
  for (let at = 0; at < queue.length; at++) {
    for (const next of neighbours[queue[at]]) if (far[next] < 0) { far[next] = far[queue[at]] + 1; queue.push(next); }
  }
  return far;
}

/** Places (n × 2) of the nodes: distances in the drawing follow those in the graph; no draw is random. */
function layout(count, edges) {
  const neighbours = Array.from({ length: count }, () => []);
  for (const [a, b] of edges) if (a !== b) { neighbours[a].push(b); neighbours[b].push(a); }
  const place = new Float32Array(2 * count), golden = Math.PI * (3 - Math.sqrt(5));
  for (let i = 0; i < count; i++) {
    place[2 * i] = Math.sqrt(i + 0.5) * Math.cos(i * golden);
    place[2 * i + 1] = Math.sqrt(i + 0.5) * Math.sin(i * golden);
  }
  if (count < 2) return place;
  if (count > 400) return springs(place, count, edges);
  const apart = Array.from({ length: count }, (_, i) => hops(neighbours, i));
  const most = Math.max(1, ...apart.map((row) => Math.max(...row)));
  const gap = Math.min(most * 0.6 + 1, Math.sqrt(count) + 1);
  // Stochastic gradient descent on stress (Zheng, Pawar and Goodman 2019), in a fixed order.
  const pairs = [];
  for (let i = 0; i < count; i++) for (let j = 0; j < i; j++) pairs.push([i, j, apart[i][j] < 0 ? gap : apart[i][j]]);
  let state = 1;
  const random = () => (state = (state * 48271) % 2147483647) / 2147483647;
  const rounds = count > 200 ? 15 : 30, largest = Math.max(...pairs.map((p) => p[2])) ** 2;
  for (let round = 0; round < rounds; round++) {
    const rate = largest * Math.exp((Math.log(0.1 / largest) * round) / (rounds - 1));
    for (let k = pairs.length - 1; k > 0; k--) {
      const other = Math.floor(random() * (k + 1));
      [pairs[k], pairs[other]] = [pairs[other], pairs[k]];
    }
    for (const [i, j, wanted] of pairs) {
      let dx = place[2 * i] - place[2 * j], dy = place[2 * i + 1] - place[2 * j + 1];
      const length = Math.hypot(dx, dy) || 1e-6, step = (Math.min(1, rate / (wanted * wanted)) * (length - wanted)) / 2 / length;
      dx *= step; dy *= step;
      place[2 * i] -= dx; place[2 * i + 1] -= dy; place[2 * j] += dx; place[2 * j + 1] += dy;
    }
  }
  return place;
}

/** The same for larger graphs: edges pull, nodes near by in the drawing push. */
function springs(place, count, edges) {
  const push = new Float32Array(2 * count);
  for (let round = 0; round < 60; round++) {
    push.fill(0);
    const cells = new Map(), key = (x, y) => Math.floor(x / 2) * 100003 + Math.floor(y / 2);
    for (let i = 0; i < count; i++) {
      const k = key(place[2 * i], place[2 * i + 1]);
      cells.has(k) ? cells.get(k).push(i) : cells.set(k, [i]);
    }
    for (let i = 0; i < count; i++) for (let a = -1; a < 2; a++) for (let b = -1; b < 2; b++) {
      for (const j of cells.get(key(place[2 * i] + 2 * a, place[2 * i + 1] + 2 * b)) || []) {
        const dx = place[2 * i] - place[2 * j], dy = place[2 * i + 1] - place[2 * j + 1], far = dx * dx + dy * dy;
        if (i === j || far > 4) continue;
        push[2 * i] += dx / (far + 0.1); push[2 * i + 1] += dy / (far + 0.1);
      }
    }
    for (const [a, b] of edges) {
      const dx = (place[2 * b] - place[2 * a]) * 0.15, dy = (place[2 * b + 1] - place[2 * a + 1]) * 0.15;
      push[2 * a] += dx; push[2 * a + 1] += dy; push[2 * b] -= dx; push[2 * b + 1] -= dy;
    }
    const cool = 0.5 * (1 - round / 60);
    for (let i = 0; i < 2 * count; i++) place[i] += Math.max(-1, Math.min(1, push[i])) * cool;
  }
  return place;
}

const DASHES = [null, "7 3", "2 3", "9 3 2 3", "1 4"];
const BONDS = { single: [0], double: [-1, 1], triple: [-2, 0, 2] };

/** The attributes of a line for an edge of a kind: bonds as chemists draw them, other kinds by dashes. */
function edgeLine(x1, y1, x2, y2, kind, name = "", gap = 1.7) {
  const length = Math.hypot(x2 - x1, y2 - y1) || 1, dx = (gap * (y1 - y2)) / length, dy = (gap * (x2 - x1)) / length;
  const parts = (BONDS[name] || [0]).map((side) => `M${x1 + side * dx} ${y1 + side * dy}L${x2 + side * dx} ${y2 + side * dy}`);
  return { d: parts.join(""), "stroke-dasharray": name in BONDS ? null : name === "aromatic" ? "4 2" : DASHES[kind % DASHES.length] };
}

/** The word of a kind: "C" of a column "element=C". */
const wordOf = (name) => name.slice(name.indexOf("=") + 1);

/**
 * An SVG of a graph { count, edges: [a, b, kind], kinds, centre, added, lost } at the places of its layout.
 * `view` marks what an augmentation did: { node: 0 kept, 1 dropped, 2 masked; edge: kept or not; added }.
 */
function graphPicture(graph, { label, view = null, small = false, colour, edgeNames = [], title = (i) => `node ${i}`, click = null }) {
  const place = (graph.place ??= layout(graph.count, graph.edges));
  const xs = range(place.filter((_, i) => i % 2 === 0), 0), ys = range(place.filter((_, i) => i % 2 === 1), 0);
  const width = small ? 130 : 420, height = small ? 110 : 320, pad = small ? 8 : 18;
  const wide = xs[1] - xs[0], tall = ys[1] - ys[0];
  const unit = Math.min((width - 2 * pad) / wide, (height - 2 * pad) / tall, small ? 16 : 46);
  const x = (i) => width / 2 + (place[2 * i] - (xs[0] + xs[1]) / 2) * unit;
  const y = (i) => height / 2 + (place[2 * i + 1] - (ys[0] + ys[1]) / 2) * unit;
  const size = Math.max(1.6, Math.min(small ? 4.5 : 8.5, unit * 0.3));
  const node = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label });
  const lines = svg("g", { stroke: "var(--soft)", "stroke-width": small ? 1 : Math.min(1.6, 0.5 + size / 6), fill: "none" }), dots = svg("g"), links = [];
  // Many lines cover each other: the more, the fainter; those of the chosen node stay.
  const faint = Math.min(0.8, Math.max(0.12, 5 / Math.sqrt(graph.edges.length)));
  graph.edges.forEach(([a, b, kind], i) => {
    if (a === b) return;
    const gone = view && (!view.edge[i] || view.node?.[a] === 1 || view.node?.[b] === 1);
    const line = edgeLine(x(a), y(a), x(b), y(b), kind, wordOf(edgeNames[kind] || ""), small ? 1 : 1.7);
    lines.append(svg("path", { ...line, "stroke-opacity": gone ? 0.13 : a === graph.centre || b === graph.centre ? 0.8 : faint, class: gone ? "gone" : "edge" }));
  });
  for (const [a, b] of view?.added || []) {
    if (a === b) continue;
    lines.append(svg("line", { x1: x(a), y1: y(a), x2: x(b), y2: y(b), stroke: shade(1), "stroke-width": 1.4, "stroke-dasharray": "4 2", class: "added" }));
  }
  for (let i = 0; i < graph.count; i++) {
    const state = view?.node?.[i] || 0;
    const circle = svg("circle", { cx: x(i), cy: y(i), r: i === graph.centre ? size * 1.45 : size, fill: state ? "var(--card)" : colour(i), stroke: state === 2 ? colour(i) : i === graph.centre ? "var(--ink)" : "var(--card)", "stroke-width": i === graph.centre ? 2 : 1, opacity: state === 1 ? 0.25 : 1, class: state === 1 ? "gone" : "node" });
    circle.append(svg("title", {}, title(i)));
    if (click && i !== graph.centre) {
      circle.style.cursor = "pointer";
      circle.setAttribute("aria-label", title(i).replaceAll("\n", ", "));
      pressed(circle, () => click(i));
      links.push(circle);
    }
    dots.append(circle);
  }
  roving(links);
  if (links.length) node.setAttribute("role", "group"); // an image has no parts to press
  node.append(lines, dots);
  return node;
}
