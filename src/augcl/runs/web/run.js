// The page of a run, or of two runs side by side: put the parts together.

const DATA = JSON.parse(document.getElementById("data").textContent);

/** Unpack a run and answer questions about its points. */
function prepared(run) {
  run.ids = unpack(run.ids);
  run.count = run.ids.length;
  for (const target of run.targets) target.y = unpack(target.y);
  for (const seed of run.seeds) {
    for (const key of ["plane", "wrong", "part", "loss"]) seed[key] = unpack(seed[key]);
    seed.predictions = seed.predicted?.map((packed, t) => judged(packed, run.targets[t]));
    seed.missed = seed.wrong;
  }
  run.tsne = unpack(run.tsne);
  const index = unpack(run.near?.index), similarity = unpack(run.near?.similarity), k = run.near?.k || 0;
  run.near = (i) => [...Array(k).keys()].map((j) => ({ id: index[i * k + j], similarity: similarity[i * k + j] }));
  run.name = (i) => (run.names ? run.names[i] : `${run.noun} ${run.ids[i]}`);
  run.className = (c) => (c < 0 ? "unknown" : run.classes?.[c] ?? `class ${c}`);
  run.classOf = (i) => (run.classes ? run.className(run.y[i]) : "");
  run.describe = (i, seed) => {
    const lines = [run.name(i)];
    if (run.classes) lines.push(run.classOf(i));
    else if (run.y) lines.push(`${run.target}: ${text(run.y[i])}`);
    if (seed.predicted && !Number.isNaN(seed.predicted[i]) && seed.predicted[i] !== -1) lines.push(`predicted ${run.classes ? run.className(seed.predicted[i]) : text(seed.predicted[i])}`);
    return lines.join("\n");
  };
  const places = new Map();
  for (let i = run.count - 1; i >= 0; i--) { places.set(String(run.ids[i]), i); }
  const named = new Map();
  for (let i = run.count - 1; i >= 0; i--) named.set(run.name(i).toLowerCase(), i);
  run.placeOf = (id) => places.get(String(id)) ?? -1;
  run.find = (words) => {
    const wanted = words.trim().toLowerCase();
    if (!wanted) return -1;
    if (named.has(wanted)) return named.get(wanted);
    if (places.has(wanted)) return places.get(wanted);
    for (const [name, i] of named) if (name.includes(wanted)) return i;
    return -1;
  };
  /** Show one of several targets. */
  run.use = (t) => {
    const target = run.targets[t];
    run.at = t;
    [run.target, run.classes, run.y] = [target?.name, target?.classes, target?.y];
    for (const seed of run.seeds) {
      const found = seed.predictions?.[t];
      seed.predicted = found?.values;
      seed.wrong = run.targets.length > 1 ? found?.wrong : seed.missed;
    }
    run.colours = colourings(run);
  };
  run.use(0);
  run.graph = graphReader(run);
  return run;
}

/** What was predicted for one target. Bytes are the share of the test parts that said 1, in half percents; 255: none. */
function judged(packed, { classes, y }) {
  const kept = unpack(packed);
  if (!kept) return null;
  if (!(kept instanceof Uint8Array)) return { values: kept, wrong: classes ? null : kept.map((v, i) => Math.abs(v - y[i])) };
  return {
    values: Int16Array.from(kept, (v) => (v === 255 ? -1 : v >= 100 ? 1 : 0)),
    wrong: Float32Array.from(kept, (v, i) => (v === 255 || y[i] < 0 ? NaN : Math.abs(v / 200 - y[i]))),
  };
}

/** The ways to colour the map; each gives for a seed the group of a point and the colour of a group. */
function colourings(run) {
  const found = [], first = run.seeds[0];
  const groups = (names, of) => ({ group: of, colour: (g) => (g < 0 ? unknown() : shade(g)), entries: [...names.keys()].map((g) => ({ group: g, name: names[g], colour: () => shade(g) })) });
  const numbers = (values) => {
    const [low, high] = range(values, 0), steps = 24;
    return { group: (i) => (Number.isFinite(values[i]) ? Math.round(((values[i] - low) / (high - low)) * steps) : -1), colour: (g) => (g < 0 ? unknown() : ramp(g / steps)), scale: [low, high] };
  };
  const names = run.classes;
  if (names) found.push({ key: "target", name: run.target, of: () => groups(names, (i) => run.y[i]) });
  else if (run.y) found.push({ key: "target", name: run.target, of: () => numbers(run.y) });
  if (first.predicted) found.push({ key: "predicted", name: "prediction", of: (seed) => (names ? groups(names, (i) => seed.predicted[i]) : numbers(seed.predicted)) });
  if (first.wrong && names) found.push({ key: "error", name: "error", of: (seed) => ({ group: (i) => (Number.isNaN(seed.wrong[i]) ? -1 : seed.wrong[i] === 0 ? 0 : seed.wrong[i] >= 0.5 ? 2 : 1), colour: (g) => (g < 0 ? unknown() : [shade(0), shade(4), shade(1)][g]), entries: ["always right", "wrong in some splits", "wrong in half or more"].map((name, g) => ({ group: g, name, colour: () => [shade(0), shade(4), shade(1)][g] })).filter((_, g) => seed.wrong.some((v) => (v === 0 ? 0 : v >= 0.5 ? 2 : 1) === g && !Number.isNaN(v))) }) });
  else if (first.wrong) found.push({ key: "error", name: "error", of: (seed) => numbers(seed.wrong) });
  if (first.loss) found.push({ key: "loss", name: "contrastive loss", of: (seed) => numbers(seed.loss) });
  if (first.part) found.push({ key: "split", name: run.parts ? "split" : "fold", of: (seed) => { const all = run.parts || [...Array(Math.max(...seed.part) + 1).keys()].map((f) => `fold ${f + 1}`); return groups(all, (i) => seed.part[i]); } });
  if (!found.length) found.push({ key: "none", name: "one colour", of: () => groups([`${run.noun}s`], () => 0) });
  return found;
}

/** A function from a point to its graph (or the two-hop neighbourhood of its node), or null. */
function graphReader(run) {
  const kept = run.graphs;
  if (!kept) return () => null;
  const at = Object.fromEntries(["nodePtr", "edgePtr", "source", "target", "nodeKind", "edgeKind", "place"].map((key) => [key, unpack(kept[key])]));
  const views = (kept.views || []).map((view) => ({ node: unpack(view.node), edge: unpack(view.edge), addedPtr: unpack(view.addedPtr), added: unpack(view.added) }));
  const known = new Map();
  if (run.noun === "node") return (i) => { if (!known.has(i)) known.set(i, neighbourhood(i)); return known.get(i); };
  return (i) => { if (!known.has(i)) known.set(i, whole(i)); return known.get(i); };

  function whole(i) {
    const g = at.place[i];
    if (g < 0) return null;
    const [n0, n1, e0, e1] = [at.nodePtr[g], at.nodePtr[g + 1], at.edgePtr[g], at.edgePtr[g + 1]];
    const edges = [];
    for (let e = e0; e < e1; e++) edges.push([at.source[e], at.target[e], at.edgeKind ? at.edgeKind[e] : 0]);
    const kinds = at.nodeKind ? at.nodeKind.subarray(n0, n1) : null;
    const shown = views.map((view) => {
      const added = [];
      for (let a = view.addedPtr[g]; a < view.addedPtr[g + 1]; a++) added.push([view.added[2 * a], view.added[2 * a + 1]]);
      return { node: view.node.subarray(n0, n1), edge: view.edge.subarray(e0, e1), added };
    });
    return { count: n1 - n0, edges, kinds, views: shown, kindOf: (j) => (kinds ? kinds[j] : 0) };
  }

  // All nodes at most two steps away, the nearest first, up to a number that can be drawn.
  function neighbourhood(i) {
    const most = 80, nodes = [i], place = new Map([[i, 0]]);
    let left = 0;
    for (let at0 = 0, end = 1, hop = 0; hop < 2; hop++, end = nodes.length) {
      for (; at0 < end; at0++) for (let e = at.edgePtr[nodes[at0]]; e < at.edgePtr[nodes[at0] + 1]; e++) {
        const next = at.target[e];
        if (place.has(next)) continue;
        if (nodes.length >= most) { left++; continue; }
        place.set(next, nodes.length);
        nodes.push(next);
      }
    }
    const edges = [], entries = [];
    nodes.forEach((node, a) => { for (let e = at.edgePtr[node]; e < at.edgePtr[node + 1]; e++) { const b = place.get(at.target[e]); if (b !== undefined && a < b) { edges.push([a, b, 0]); entries.push(e); } } });
    const shown = views.map((view) => ({ node: null, edge: entries.map((e) => view.edge[e]), added: [] }));
    return { count: nodes.length, edges, nodes, centre: 0, left, views: shown, degree: at.edgePtr[i + 1] - at.edgePtr[i], kindOf: (j) => (run.classes ? run.y[nodes[j]] : 0) };
  }
}

/** The panel beside the map: the chosen graph, its views and its nearest neighbours. */
class Panel {
  constructor(run, page) {
    this.run = run;
    this.page = page;
    this.node = el("div", { className: "panel" }, el("p", { className: "small" }, `Choose a ${run.noun} on the map, or find one by its name or number.`));
  }

  picture(i, options = {}) {
    const { run } = this, graph = run.graph(i);
    if (!graph) return null;
    const nodes = run.noun === "node";
    const colour = (j) => { const kind = graph.kindOf(j); return kind < 0 ? unknown() : shade(kind); };
    const title = (j) => (nodes ? run.describe(graph.nodes[j], run.seeds[0]) : `node ${j}${run.graphs.kindNames ? `: ${run.graphs.kindNames[graph.kindOf(j)].replace("=", " ")}` : ""}`);
    return graphPicture(graph, { label: `${run.name(i)}: ${graph.count} nodes, ${graph.edges.length} edges`, colour, title, edgeNames: run.graphs.edgeNames, click: nodes && !options.small ? (j) => this.page.select(graph.nodes[j], this) : null, ...options });
  }

  show(i, seed) {
    const { run } = this, graph = run.graph(i), facts = [];
    if (run.classes) facts.push([run.target, run.classOf(i)]);
    else if (run.y) facts.push([run.target, text(run.y[i])]);
    if (seed.predicted && seed.predicted[i] !== -1 && !Number.isNaN(seed.predicted[i])) facts.push(["predicted", run.classes ? run.className(seed.predicted[i]) : text(seed.predicted[i])]);
    if (seed.wrong && run.classes && !Number.isNaN(seed.wrong[i])) facts.push(["wrong in", `${Math.round(100 * seed.wrong[i])} % of its test parts`]);
    if (seed.loss && Number.isFinite(seed.loss[i])) facts.push(["contrastive loss", text(seed.loss[i])]);
    if (graph) facts.push(run.noun === "node" ? ["neighbours", String(graph.degree)] : ["size", `${graph.count} nodes, ${graph.edges.length} edges`]);
    const parts = [el("h3", {}, run.name(i)), el("dl", { className: "facts" }, ...facts.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]))];
    if (graph) {
      const words = run.noun === "node" ? `Two steps around this node${graph.left ? `; ${graph.left} more links lead to nodes that are not drawn` : ""}. Click a node to go there.` : null;
      parts.push(el("div", { className: "graph chosen" }, this.picture(i)), words ? el("p", { className: "small" }, words) : null, this.kinds(graph));
    } else parts.push(el("p", { className: "small" }, run.missing));
    const near = run.near(i);
    if (near.length) {
      parts.push(el("h3", {}, "Nearest by embedding"));
      parts.push(el("div", { className: "small-graphs neighbours" }, ...near.map(({ id, similarity }) => el("button", { type: "button", onclick: () => this.page.select(id, this) }, this.picture(id, { small: true }), `${run.name(id)}${run.classes ? ` · ${run.classOf(id)}` : ""} · ${similarity.toFixed(3)}`))));
    }
    if (graph?.views?.length) {
      parts.push(el("h3", {}, "Two views that the training compares"));
      parts.push(el("div", { className: "small-graphs views" }, ...graph.views.map((view, k) => {
        const lost = graph.edges.filter((edge, e) => !view.edge[e] || view.node?.[edge[0]] === 1 || view.node?.[edge[1]] === 1).length;
        const gone = view.node ? view.node.filter((s) => s === 1).length : 0, masked = view.node ? view.node.filter((s) => s === 2).length : 0;
        const words = [gone ? `${gone} nodes dropped` : "", lost ? `${lost} edges dropped` : "", view.added.filter(([a, b]) => a !== b).length ? `${view.added.filter(([a, b]) => a !== b).length} edges added` : "", masked ? `${masked} nodes masked` : "", run.graphs.viewNotes?.[k] || ""].filter(Boolean).join(", ") || "unchanged";
        return el("figure", { className: "graph" }, this.picture(i, { view, label: `View ${k + 1} of ${run.name(i)}: ${words}` }), el("figcaption", {}, `View ${k + 1}: ${words}`));
      })));
    }
    // A redraw must not drop the focus of the keyboard.
    const places = [".neighbours button", ".graph.chosen [role=button]"], place = places.find((one) => this.node.contains(document.activeElement) && document.activeElement.matches(one));
    this.node.replaceChildren(...parts.filter(Boolean));
    if (place) this.node.querySelector(place)?.focus({ preventScroll: true });
  }

  /** The legend of a drawing: kinds of its nodes, then of its edges. */
  kinds(graph) {
    const { run } = this, nodes = run.noun === "node";
    const line = (kind, name) => svg("svg", { viewBox: "0 0 26 12", class: "line", "aria-hidden": "true" }, svg("path", { ...edgeLine(1, 6, 25, 6, kind, wordOf(name), 2), stroke: "var(--soft)", "stroke-width": 1.6, fill: "none" }));
    const dot = (kind) => el("span", { className: "swatch", style: `background:${shade(kind)}` });
    const legend = (names, seen, mark, of = "") => {
      const found = [...new Set(seen)].filter((kind) => kind >= 0).sort((a, b) => a - b);
      if (!names || !found.length) return null;
      const what = nodes ? "" : names[found[0]].split("=").slice(0, -1).join("=");
      return el("div", { className: "legend" }, what ? el("span", { className: "small" }, `${of}${what}:`) : null, ...found.map((kind) => el("span", { className: "entry" }, mark(kind, names[kind]), nodes ? names[kind] : wordOf(names[kind]))));
    };
    return el("div", {}, legend(nodes ? run.classes : run.graphs.kindNames, [...Array(graph.count).keys()].map(graph.kindOf), dot), legend(run.graphs.edgeNames, graph.edges.map((edge) => edge[2]), line, "edge "));
  }
}

const MAPS = [];

function mapSection(runs) {
  const maps = MAPS, panels = [];
  const select = (i, from, focus = false) => {
    const source = runs[Math.max(0, maps.indexOf(from), panels.indexOf(from))], id = source.ids[i];
    runs.forEach((run, k) => {
      const here = run === source ? i : DATA.linked ? run.placeOf(id) : -1;
      if (here < 0 || here >= run.count) return;
      maps[k].show(here, focus);
      panels[k].show(here, maps[k].seed);
    });
    say(`Selected ${source.describe(i, source.seeds[0]).replaceAll("\n", ", ")}`);
    document.body.dataset.selected = String(id);
  };
  const lassoed = (ids, from) => {
    const source = runs[maps.indexOf(from)];
    maps.forEach((map, k) => { if (map !== from && DATA.linked) map.choose(ids ? [...ids].map((i) => runs[k].placeOf(source.ids[i])).filter((i) => i >= 0) : []); });
  };
  const bodies = runs.map((run) => {
    const page = { select, lassoed, target: (t) => {
      for (const other of runs) if (other === run || (DATA.linked && other.targets.length === run.targets.length)) other.use(t);
      for (const map of maps) map.recolour();
      for (const draw of redrawn) draw();
    } };
    const map = new EmbeddingMap(run, page), panel = new Panel(run, page);
    page.seedChanged = (seed) => { if (map.selected >= 0) panel.show(map.selected, seed); };
    maps.push(map);
    panels.push(panel);
    return el("div", {}, runs.length > 1 ? el("h3", {}, run.title) : null, el("div", { className: "map-and-graph" }, map.node, panel.node));
  });
  const words = [`Each point is a ${runs[0].noun}: its embedding in two dimensions. Click one to see it; drag to move, zoom by Ctrl and the wheel or by two fingers, hold Shift to draw a lasso.`, ...(runs.length < 2 ? [] : [DATA.linked ? `What you choose in one map is shown in the other.` : "The runs are of different data: each map has a choice of its own."]), ...runs.flatMap((run) => [run.sampled, ...run.notes]).filter(Boolean)];
  const keys = ["Arrow keys go to the next point in that direction, N and P to the next and previous one by number.", "Space adds the point to the selection or takes it out, as the lasso does; Escape clears the selection.", "Plus and minus zoom, 0 shows all. The wheel alone scrolls the page; once the map was clicked, it zooms.", "Where many points or numbers are one stop of the Tab key, as in a drawn neighbourhood, arrow keys go among them and Enter chooses."];
  const help = el("details", { className: "print-not keys" }, el("summary", {}, "Keyboard and wheel"), ...keys.map((line) => el("p", { className: "small" }, line)));
  const node = section("map", "Map", words, help, el("div", { className: runs.length > 1 ? "columns two" : "" }, ...bodies));
  redrawn.push(() => { maps.forEach((map, k) => { map.legendOf(); if (map.selected >= 0) panels[k].show(map.selected, map.seed); }); });
  runs.forEach((run, k) => {
    run.pick = (a, b) => {
      const { predicted } = maps[k].seed;
      maps[k].choose([...Array(run.count).keys()].filter((i) => run.y[i] === a && predicted[i] === b));
      node.scrollIntoView();
    };
  });
  maps.forEach((map) => map.paint());
  return node;
}

/** Scores, seeds and floors on one axis. */
function scoreSection(runs) {
  const rows = runs.flatMap((run) => (run.score ? [{ name: run.title, ...run.score }] : []));
  if (!rows.length) return;
  const { percent, what } = rows[0], number = (v) => (percent ? `${(100 * v).toFixed(1)} %` : v.toFixed(3));
  const floors = [...new Map(rows.flatMap((row) => row.floors.map((floor) => [`${floor.name}${floor.mean}`, floor]))).values()];
  const lines = [...floors.map((floor) => ({ mark: !floor.runs, ...floor, colour: unknown })), ...rows.map((row) => ({ ...row, colour: () => shade(0) }))];
  const box = el("div", {}), label = lines.map((line) => `${line.name}: ${number(line.mean)}`).join("; ");
  fitted(box, 900, (width) => box.replaceChildren(intervals(lines, { width, what, number, label })));
  section("score", "Score", [`${rows[0].words} A method that is not above the grey floors has learned nothing useful.`], box);
}

/** The curves of all seeds: thin lines, their mean and the band from the lowest to the highest. */
function curve(figure, onset) {
  const every = figure.lines.flatMap((line) => line.points), box = el("div", {});
  const epochs = [...new Set(every.map(([epoch]) => epoch))].sort((a, b) => a - b);
  fitted(box, 720, (width) => {
    const across = [Math.min(...epochs), Math.max(...epochs, Math.min(...epochs) + 1)];
    const drawing = chart({ width, height: 260, across, xat: ticks(across, Math.max(4, Math.round(width / 90)), 1), up: range(every.map(([, v]) => v)), xlabel: "epoch", ylabel: figure.label, label: `${figure.title} over the epochs` });
    const { plot, x, y } = drawing;
    if (onset !== null && onset > epochs[0]) {
      plot.append(svg("line", { class: "mark onset", x1: x(onset), x2: x(onset), y1: drawing.top, y2: drawing.height - drawing.bottom }), svg("text", { x: x(onset) + 4, y: drawing.top + 9 }, "weights set in"));
    }
    const groups = [...new Set(figure.lines.map((line) => line.group))];
    groups.forEach((group, g) => {
      const lines = figure.lines.filter((line) => line.group === group), colour = shade(g), at = new Map();
      for (const { points } of lines) for (const [epoch, v] of points) at.has(epoch) ? at.get(epoch).push(v) : at.set(epoch, [v]);
      const order = [...at.keys()].sort((a, b) => a - b), path = (points) => points.map(([a, b], i) => `${i ? "L" : "M"}${x(a).toFixed(1)} ${y(b).toFixed(1)}`).join("");
      if (lines.length > 1) {
        const up = order.map((e) => [e, Math.max(...at.get(e))]), down = order.map((e) => [e, Math.min(...at.get(e))]).reverse();
        plot.append(svg("path", { class: "band", d: `${path([...up, ...down])}Z`, fill: colour, "fill-opacity": 0.16 }));
        for (const { points, seed } of lines) { const thin = svg("path", { d: path(points), fill: "none", stroke: colour, "stroke-opacity": 0.35, "stroke-width": 0.8 }); thin.append(svg("title", {}, `seed ${seed}`)); plot.append(thin); }
      }
      const mean = order.map((e) => [e, at.get(e).reduce((a, b) => a + b, 0) / at.get(e).length]);
      plot.append(svg("path", { class: "mean", d: path(mean), fill: "none", stroke: colour, "stroke-width": 2.2 }));
      if (mean.length < 10) for (const [a, b] of mean) plot.append(svg("circle", { cx: x(a), cy: y(b), r: 3, fill: colour }));
    });
    const key = groups.length > 1 ? el("div", { className: "legend" }, ...groups.map((group, g) => el("span", { className: "entry" }, el("span", { className: "swatch", style: `background:${shade(g)}` }), group))) : null;
    box.replaceChildren(...[drawing.node, key].filter(Boolean));
  });
  return el("figure", { style: "margin:0" }, el("h3", {}, figure.title), el("p", { className: "small" }, figure.text), box);
}

function curvesSection(runs) {
  const parts = runs.flatMap((run) => run.curves.map((figure) => ({ ...figure, title: runs.length > 1 ? `${figure.title}: ${run.title}` : figure.title, onset: run.onset })));
  if (!parts.length) return;
  const several = runs.some((run) => run.trained > 1);
  section("curves", "Curves", several ? ["The bold line is the mean over the seeds, the band spans all seeds."] : [], el("div", { className: "columns" }, ...parts.map((figure) => curve(figure, figure.onset))));
}

/** Confusion matrix and a table per class; or predicted against true numbers. */
function classesSection(runs) {
  for (const [k, run] of runs.entries()) {
    const seeds = run.seeds.filter((seed) => seed.predictions), id = k ? `predictions-${k}` : "predictions";
    if (!seeds.length || !run.y) continue;
    const box = el("div", {}), numbers = trueAgainst(run, seeds[0]), classes = run.targets.every((target) => target.classes);
    const node = section(id, `${classes ? "Classes" : "Predictions"}${runs.length > 1 ? `: ${run.title}` : ""}`, [], box, numbers);
    drawn(() => {
      box.replaceChildren(run.targets.length > 1 ? el("h3", {}, run.target) : "", ...(run.classes ? classTables(run, seeds) : [el("p", {}, "Predicted against true, each while it was in a test part; on the line they agree.")]));
      roving([...node.querySelectorAll("table.confusion button")], run.classes?.length);
    });
  }
}

/** What a classifier did to each class, as two tables. */
function classTables(run, seeds) {
  const C = run.classes.length, counts = Array.from({ length: C }, () => new Array(C).fill(0));
  for (const seed of seeds) for (let i = 0; i < run.count; i++) if (run.y[i] >= 0 && seed.predicted[i] >= 0) counts[run.y[i]][seed.predicted[i]] += 1 / seeds.length;
  const rows = counts.map((row) => row.reduce((a, b) => a + b, 0)), columns = counts[0].map((_, c) => counts.reduce((a, row) => a + row[c], 0));
  const shown = (v) => (seeds.length > 1 ? v.toFixed(1) : String(v));
  const matrix = el("table", { className: "confusion" }, el("caption", { className: "small" }, "rows: true class, columns: predicted class"),
    el("thead", {}, el("tr", {}, el("td", {}), ...run.classes.map((name) => el("th", { scope: "col", title: name }, name)))),
    el("tbody", {}, ...counts.map((row, a) => el("tr", {}, el("th", { scope: "row", title: run.classes[a] }, run.classes[a]), ...row.map((v, b) => {
      const share = rows[a] ? v / rows[a] : 0;
      return el("td", { style: `background: color-mix(in srgb, ${a === b ? "var(--good)" : "var(--bad)"} ${Math.round(70 * share)}%, var(--faint))` }, el("button", { type: "button", "aria-label": `${shown(v)} of class ${run.classes[a]} predicted as ${run.classes[b]}: show them on the map`, onclick: () => run.pick?.(a, b) }, shown(v)));
    })))));
  const table = el("table", {}, el("thead", {}, el("tr", {}, ...["class", "samples", "precision", "recall", "F1"].map((name) => el("th", { scope: "col" }, name)))), el("tbody", {}, ...run.classes.map((name, c) => {
    const precision = columns[c] ? counts[c][c] / columns[c] : NaN, recall = rows[c] ? counts[c][c] / rows[c] : NaN, both = precision + recall;
    return el("tr", {}, el("th", { scope: "row" }, name), el("td", {}, String(Math.round(rows[c]))), ...[precision, recall, both > 0 ? (2 * precision * recall) / both : both === 0 ? 0 : NaN].map((v) => el("td", {}, Number.isNaN(v) ? "–" : `${(100 * v).toFixed(1)} %`)));
  })));
  return [el("p", {}, `What the evaluation predicted for each ${run.noun} while it was in a test part${run.several ? ", the most frequent prediction over the splits" : ""}${seeds.length > 1 ? "; mean over the seeds" : ""}. Click a number to see these ${run.noun}s on the map.`), el("div", { className: C > 6 ? "" : "columns" }, el("div", { className: "scroll" }, matrix), el("div", { className: "scroll" }, table))];
}

function trueAgainst(run, seed) {
  const box = el("div", {});
  fitted(box, 560, (width) => {
    if (run.classes) { box.replaceChildren(); return; }
    const both = range([...run.y, ...seed.predicted]);
    const drawing = chart({ width, height: Math.min(440, width), across: both, up: both, xlabel: `true ${run.target}`, ylabel: "predicted", label: `Predicted against true ${run.target}` });
    const { plot, x, y } = drawing;
    plot.append(svg("line", { class: "mark", x1: x(both[0]), y1: y(both[0]), x2: x(both[1]), y2: y(both[1]) }));
    for (let i = 0; i < run.count; i++) if (Number.isFinite(run.y[i]) && Number.isFinite(seed.predicted[i])) plot.append(svg("circle", { cx: x(run.y[i]).toFixed(1), cy: y(seed.predicted[i]).toFixed(1), r: run.count > 2000 ? 1.5 : 3, fill: shade(0), "fill-opacity": 0.5 }));
    box.replaceChildren(drawing.node);
  });
  return box;
}

function weightsSection(runs) {
  const explorers = [];
  runs.forEach((run, k) => {
    if (!run.weights) return;
    const explorer = new WeightExplorer(run);
    explorers.push(explorer);
    explorer.chosen = (id) => { if (DATA.linked) for (const other of explorers) if (other !== explorer) other.follow(id); };
    const more = runs.length > 1 ? `: ${run.title}` : "";
    section(k ? `weights-${k}` : "weights", `Weights${more}`, [`Every other ${run.noun} of a batch is a negative of the anchor. Here: ${explorer.n} ${run.noun}s of seed 0, at the epochs that were kept. Click a candidate to make it the anchor.`, ...run.weights.notes], explorer.node);
  });
}

function settingsSection(runs) {
  for (const [k, run] of runs.entries()) {
    section(k ? `settings-${k}` : "settings", runs.length > 1 ? `Settings: ${run.title}` : "Settings", [],
      el("dl", { className: "facts" }, ...run.facts.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)])),
      el("details", {}, el("summary", {}, "All settings"), el("pre", { tabIndex: 0 }, run.settings)));
  }
}

startTheme();
const RUNS = DATA.runs.map(prepared);
scoreSection(RUNS);
mapSection(RUNS);
weightsSection(RUNS);
curvesSection(RUNS);
classesSection(RUNS);
settingsSection(RUNS);
document.body.dataset.ready = "true";
