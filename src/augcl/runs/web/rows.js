// The page of a comparison: rows as intervals, score against cost, tables, figures, settings.

const DATA = JSON.parse(document.getElementById("data").textContent);
const ROWS = DATA.rows.map((row, id) => ({ ...row, id, href: `#row-${id}` }));
const DATASETS = [...new Set(ROWS.map((row) => row.dataset))];
const COSTS = {
  training: ["seconds of one training", seconds],
  embedding: ["seconds to embed", seconds],
  memory: ["peak memory", (bytes) => (bytes >= 2 ** 30 ? `${short(bytes / 2 ** 30)} GiB` : `${short(bytes / 2 ** 20)} MiB`)],
};
/** What is shown of the rows; every control writes here, and `changed` draws again. */
const SHOWN = { dataset: DATASETS[0], words: "", hidden: new Set(), order: "cost", cost: "training", against: "", pareto: false };
const drawings = [];
const changed = () => drawings.forEach((draw) => draw());

/** A number with two digits that count. */
function short(value) {
  return text(Number(value.toPrecision(2)));
}

function seconds(value) {
  if (value >= 90) return value >= 5400 ? `${short(value / 3600)} h` : `${short(value / 60)} min`;
  if (value >= 1) return `${short(value)} s`;
  return value >= 1e-3 ? `${short(value * 1e3)} ms` : `${short(value * 1e6)} µs`;
}

const score = (row) => (v) => (row?.percent === false ? v.toFixed(3) : `${(100 * v).toFixed(1)} %`);
const colourOf = (kind) => (kind === DATA.kinds[1] ? unknown() : shade([2, 0, 0, 1, 3][DATA.kinds.indexOf(kind)]));

/** The rows that no cheaper row beats, of one data set; what uses the labels is no method. */
function onLine(rows) {
  let best = -Infinity;
  const found = new Set();
  for (const row of rows.filter((r) => r[SHOWN.cost] > 0 && r.kind !== DATA.kinds[4]).sort((a, b) => a[SHOWN.cost] - b[SHOWN.cost] || b.mean - a.mean)) {
    if (row.mean > best) { best = row.mean; found.add(row.id); }
  }
  return found;
}

/** The rows of the data set that the filters leave. */
function chosen({ pareto = SHOWN.pareto } = {}) {
  const words = SHOWN.words.trim().toLowerCase().split(/\s+/).filter(Boolean);
  const some = ROWS.filter((row) => row.dataset === SHOWN.dataset && row.mean !== null && !SHOWN.hidden.has(row.kind) && words.every((word) => `${row.name} ${row.kind}`.toLowerCase().includes(word)));
  const line = pareto ? onLine(some) : null, kept = some.filter((row) => !line || line.has(row.id));
  if (SHOWN.order === "score") kept.sort((a, b) => b.mean - a.mean);
  if (SHOWN.order === "name") kept.sort((a, b) => a.name.localeCompare(b.name));
  return kept;
}

function describe(row) {
  const number = score(row), lines = [row.name, `${row.what} ${number(row.mean)}${row.low === null ? "" : `, 95 % interval ${number(row.low)} to ${number(row.high)}`}`, row.kind];
  for (const [cost, [name, write]] of Object.entries(COSTS)) if (row[cost] !== null) lines.push(`${name}: ${write(row[cost])}`);
  if (row.published) lines.push(`published: ${number(row.published[0])}`);
  return lines.join("\n");
}

function filters() {
  const toggles = DATA.kinds.filter((kind) => ROWS.some((row) => row.kind === kind)).map((kind) => {
    const button = el("button", { type: "button", "aria-pressed": "true", title: "Hide or show", onclick: () => {
      if (!SHOWN.hidden.delete(kind)) SHOWN.hidden.add(kind);
      button.setAttribute("aria-pressed", String(!SHOWN.hidden.has(kind)));
      changed();
    } });
    drawn(() => button.replaceChildren(el("span", { className: "swatch", style: `background:${colourOf(kind)}` }), kind));
    return button;
  });
  const set = (key) => (value) => { SHOWN[key] = value; changed(); };
  const against = el("select", { onchange: () => set("against")(against.value) });
  const others = () => {
    const rows = ROWS.filter((row) => row.dataset === SHOWN.dataset && ROWS.some((other) => DATA.pairs[`${other.id},${row.id}`]));
    if (!rows.some((row) => String(row.id) === SHOWN.against)) SHOWN.against = "";
    against.replaceChildren(el("option", { value: "" }, "score"), ...rows.map((row) => el("option", { value: String(row.id) }, `difference from ${row.name}`)));
    against.value = SHOWN.against;
  };
  others();
  const search = el("input", { type: "search", placeholder: "part of a name", oninput: () => set("words")(search.value) });
  const line = el("button", { type: "button", "aria-pressed": "false", title: "Rows that no cheaper row beats", onclick: () => {
    SHOWN.pareto = !SHOWN.pareto;
    line.setAttribute("aria-pressed", String(SHOWN.pareto));
    changed();
  } }, "Pareto line only");
  return el("div", {}, el("div", { className: "controls" },
    DATASETS.length > 1 ? choice("Data set", DATASETS.map((name) => [name, name]), SHOWN.dataset, (name) => { SHOWN.dataset = name; others(); changed(); }) : null,
    labelled("Show", against),
    labelled("Filter", search),
    choice("Order", [["cost", "as computed"], ["score", "by score"], ["name", "by name"]], SHOWN.order, set("order")),
    ROWS.some((row) => row.training !== null) ? line : null),
  el("div", { className: "legend" }, ...toggles));
}

function scores() {
  const box = el("div", { className: "intervals" }), words = el("p", { className: "small", "aria-live": "polite" });
  let width = 900;
  const draw = () => {
    const rows = chosen(), other = ROWS[Number(SHOWN.against || NaN)], number = score(rows[0]);
    const signed = (v) => `${v > 0 ? "+" : v < 0 ? "−" : ""}${number(Math.abs(v))}`;
    const lines = rows.map((row) => ({ ...row, colour: () => colourOf(row.kind), words: describe(row) })), floor = rows[0]?.floor ?? null;
    const [least, most] = range(rows.flatMap((row) => [row.mean, row.low, row.high, ...row.runs]).filter((v) => v !== null), 0), far = floor !== null && floor < least - 2 * (most - least);
    let shown = lines;
    if (other) shown = lines.flatMap((line) => {
      if (line.id === other.id) return [{ ...line, mean: 0, low: null, high: null, runs: [], published: null, mark: true }];
      const pair = DATA.pairs[`${line.id},${other.id}`];
      return pair ? [{ ...line, mean: pair[0], low: pair[1], high: pair[2], runs: [], published: null, words: `${line.name} − ${other.name}\n${signed(pair[0])}, 95 % interval ${signed(pair[1])} to ${signed(pair[2])}\np ${pair[3] < 0.001 ? "< 0.001" : `= ${pair[3].toFixed(3)}`}` }] : [];
    });
    else if (floor !== null && !far) shown = [{ name: rows[0].percent ? "floor: largest class" : "floor: mean", mean: floor, mark: true, colour: unknown }, ...lines];
    words.textContent = !shown.length ? "No row fits these filters." : other
      ? "Differences over the same splits with their 95 % interval: single paired tests, without correction for their number."
      : `Protocol ${rows[0].protocol}. Circles are seeds, the bar is the 95 % interval of the mean${rows.some((row) => row.published) ? ", a diamond is the published number" : ""}${far ? `. The floor (${number(floor)}) lies far to the left` : ""}. Click a row for its settings.`;
    if (!shown.length) { box.replaceChildren(); return; }
    box.replaceChildren(intervals(shown, { width, what: other ? `${rows[0].what}, difference from ${other.name}` : `${rows[0].what} on ${SHOWN.dataset}`, number: other ? signed : number, label: `${shown.length} rows on one axis, ${shown.map((line) => `${line.name} ${number(line.mean)}`).join("; ")}` }));
  };
  drawings.push(draw);
  section("scores", "Scores", [], filters(), box, words);
  fitted(box, 1160, (now) => { width = now; draw(); });
}

/** Score against cost on a logarithmic axis, and the line of the rows that no cheaper row beats. */
function costs() {
  const known = Object.keys(COSTS).filter((cost) => ROWS.some((row) => row[cost] > 0));
  if (!known.length) return;
  SHOWN.cost = known[0];
  const box = el("div", { className: "costs" }), words = el("p", { className: "say", "aria-live": "polite" });
  let width = 900;
  const draw = () => {
    const rows = chosen({ pareto: false }).filter((row) => row[SHOWN.cost] > 0), line = onLine(rows), number = score(rows[0]), [name, write] = COSTS[SHOWN.cost];
    if (!rows.length) { box.replaceChildren(); words.textContent = "No row with this cost fits the filters."; return; }
    const [low, high] = range(rows.map((row) => Math.log10(row[SHOWN.cost])), 0.08), decades = [];
    for (let at = Math.floor(low); at <= high; at++) for (const times of high - low > 2.5 ? [1] : high - low > 1.2 ? [1, 3] : [1, 1.5, 2, 3, 5, 7]) decades.push(at + Math.log10(times));
    const up = range(rows.flatMap((row) => [row.mean, row.low, row.high]).filter((v) => v !== null), 0.06);
    const drawing = chart({ width, height: 380, across: [low, high], up, left: 78, xlabel: `${name} (logarithmic)`, ylabel: rows[0].what, ytext: number, xtext: (v) => write(10 ** v), xat: decades.filter((at) => at >= low && at <= high), label: `${rows[0].what} against ${name}. On the Pareto line: ${[...line].map((id) => ROWS[id].name).join(", ")}` });
    const { plot, x, y } = drawing, at = (row) => [x(Math.log10(row[SHOWN.cost])), y(row.mean)];
    const best = rows.filter((row) => line.has(row.id)).sort((a, b) => a[SHOWN.cost] - b[SHOWN.cost]);
    let path = "";
    best.forEach((row, i) => { const [px, py] = at(row); path += i ? `H${px}V${py}` : `M${px} ${py}`; });
    plot.append(svg("path", { class: "pareto", d: `${path}H${drawing.width - drawing.right}`, fill: "none", stroke: "var(--soft)", "stroke-width": 1.5, "stroke-dasharray": "5 4" }));
    const taken = [];
    for (const row of [...rows].sort((a, b) => line.has(b.id) - line.has(a.id))) {
      const [px, py] = at(row), colour = colourOf(row.kind), link = svg("a", { href: row.href, class: "point", "aria-label": `${row.name}: ${number(row.mean)}, ${write(row[SHOWN.cost])}, its settings`, onpointermove: (event) => tip(describe(row), event), onpointerleave: () => tip("") });
      if (row.low !== null) link.append(svg("line", { x1: px, x2: px, y1: y(row.low), y2: y(row.high), stroke: colour, "stroke-width": 2, "stroke-opacity": 0.25 }));
      link.append(svg("circle", { cx: px, cy: py, r: line.has(row.id) ? 6.5 : 4.5, fill: line.has(row.id) ? colour : "var(--card)", stroke: colour, "stroke-width": 1.8 }));
      // A name is written where no other one stands, with a line to its point if that is far; else it is shown at the pointer.
      const wide = row.name.length * 6.7 + 4, places = [-9, 15, -26, 32, -43, 49].flatMap((dy) => [px + 10, px - 10 - wide].map((left) => ({ left, right: left + wide, top: py + dy - 10, bottom: py + dy + 3, dy })));
      const inside = (box) => box.left > drawing.left && box.right < width && box.top > 0 && box.bottom < drawing.height - drawing.bottom;
      const free = places.find((box) => inside(box) && !taken.some((t) => box.left < t.right && t.left < box.right && box.top < t.bottom && t.top < box.bottom) && !rows.some((r) => { const [qx, qy] = at(r); return qx > box.left - 6 && qx < box.right + 2 && qy > box.top - 4 && qy < box.bottom + 4; }));
      if (free) {
        const right = free.left > px;
        taken.push(free);
        if (Math.abs(free.dy) > 16) link.append(svg("line", { x1: px, y1: py, x2: right ? free.left - 2 : free.right + 2, y2: free.bottom - 6, stroke: "var(--soft)", "stroke-width": 0.8 }));
        link.append(svg("text", { class: "name", x: right ? free.left : free.right, y: free.bottom - 3, "text-anchor": right ? "start" : "end" }, row.name));
      }
      plot.append(link);
    }
    box.replaceChildren(drawing.node);
    words.textContent = `No cheaper row has a higher score than ${best.map((row) => row.name).join(", ")}. The line does not know noise: compare the bars.`;
  };
  drawings.push(draw);
  section("cost", "Score against cost", [], el("div", { className: "controls" }, choice("Cost", known.map((cost) => [cost, COSTS[cost][0]]), SHOWN.cost, (cost) => { SHOWN.cost = cost; changed(); })), box, words);
  fitted(box, 1160, (now) => { width = now; draw(); });
}

/** Numbers in a text, to sort by: 87.1 ± 3.0 is 87.1; text without a number comes last. */
function sortable(words) {
  const found = /[-+−]?\d[\d,]*(\.\d+)?/.exec(words);
  if (!found) return null;
  const unit = { µs: 1e-6, ms: 1e-3, min: 60, h: 3600, GB: 1e3, GiB: 1024 }[/[µa-zA-Z]+/.exec(words.slice(found.index))?.[0]] || 1;
  return unit * Number(found[0].replaceAll(",", "").replace("−", "-"));
}

function tables() {
  if (!DATA.tables.some((table) => table.rows.length)) return;
  const parts = DATA.tables.filter((table) => table.rows.length).map((table) => {
    const lines = table.rows.map((row, i) => {
      const id = table.links[i].find((link) => link >= 0) ?? -1;
      const cells = row.map((words, k) => {
        const link = table.links[i][k];
        return el(k ? "td" : "th", k ? {} : { scope: "row" }, k && link >= 0 ? el("a", { href: ROWS[link].href, title: `settings of ${ROWS[link].name}` }, words) : words);
      });
      return { node: el("tr", {}, ...cells), row, id };
    });
    const body = el("tbody", {}, ...lines.map((line) => line.node));
    const heads = table.header.map((name, k) => {
      const head = el("th", { scope: "col" }, el("button", { type: "button", title: "Sort", onclick: () => {
        const down = head.getAttribute("aria-sort") === "descending";
        for (const other of heads) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", down ? "ascending" : "descending");
        const key = (line) => (k ? sortable(line.row[k]) : line.row[k]);
        const order = (a, b) => {
          const [p, q] = [key(a), key(b)];
          if (p === null || q === null) return (p === null) - (q === null);
          return (down ? 1 : -1) * (typeof p === "number" ? p - q : p.localeCompare(q));
        };
        body.append(...[...lines].sort(order).map((line) => line.node));
      } }, name || "row"));
      return head;
    });
    drawings.push(() => {
      const left = new Set(chosen().map((row) => row.id)), about = lines.some((line) => line.id >= 0 && ROWS[line.id].dataset === SHOWN.dataset);
      for (const line of lines) line.node.hidden = about && line.id >= 0 && ROWS[line.id].dataset === SHOWN.dataset && !left.has(line.id);
    });
    return el("div", { className: "table" }, el("h3", {}, table.title), el("div", { className: "scroll", tabIndex: 0, role: "region", "aria-label": table.title }, el("table", { className: "numbers" }, el("thead", {}, el("tr", {}, ...heads)), body)), ...table.notes.map((note) => el("p", { className: "small" }, note)));
  });
  const linked = DATA.tables.some((table) => table.links.flat().some((link) => link >= 0));
  section("tables", parts.length > 1 ? "Tables" : "Table", linked ? "A number leads to the settings that gave it; a heading sorts." : "A heading sorts.", ...parts);
}

function figures() {
  if (!DATA.figures.length) return;
  section("figures", "Figures", [], ...DATA.figures.map(({ name, data }) => el("figure", {}, el("img", { src: `data:image/svg+xml;base64,${data}`, alt: `Figure ${name}; its numbers are in the tables` }), el("figcaption", {}, name))));
}

function settings() {
  if (!ROWS.length) return;
  section("settings", "Settings", "What gave each number.", ...ROWS.map((row) => {
    const number = score(row), facts = [["score", row.mean === null ? "none" : `${number(row.mean)} (${row.what})`]];
    if (row.low !== null) facts.push(["95 % interval", `${number(row.low)} to ${number(row.high)}`]);
    facts.push(["each seed", row.runs.map(number).join(", ")], ["protocol", row.protocol], ["kind", row.kind]);
    if (row.published) facts.push(["published", `${number(row.published[0])}${row.published[1] === null ? "" : ` ± ${number(row.published[1])}`}`]);
    for (const [cost, [name, write]] of Object.entries(COSTS)) if (row[cost] !== null) facts.push([name, write(row[cost])]);
    return el("details", { id: `row-${row.id}`, className: "row-settings" }, el("summary", {}, `${row.name}${DATASETS.length > 1 ? ` on ${row.dataset}` : ""}`),
      el("dl", { className: "facts" }, ...facts.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)])),
      row.command ? el("pre", { tabIndex: 0 }, row.command) : null, el("pre", { tabIndex: 0 }, row.settings));
  }));
  const open = () => {
    const place = /^#row-\d+$/.test(location.hash) && document.querySelector(location.hash);
    if (!place) return;
    place.open = true;
    tip("");
    place.scrollIntoView();
    place.querySelector("summary").focus({ preventScroll: true });
  };
  addEventListener("hashchange", open);
  // A second click on the same row changes no hash.
  document.addEventListener("click", (event) => { if (event.target.closest?.("a")?.getAttribute("href") === location.hash) open(); });
  open();
}

startTheme();
if (ROWS.length) { scores(); costs(); }
tables();
figures();
settings();
document.body.dataset.ready = "true";
