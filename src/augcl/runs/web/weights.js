// The weight explorer: for one anchor, the affinity and the weight of every candidate.

/** The best split of numbers into two groups by 2-means: true for the larger ones. */
function twoMeans(values) {
  const order = [...values.keys()].sort((a, b) => values[a] - values[b]), n = order.length;
  let total = 0, sum = 0, best = 0, cut = n;
  for (const value of values) total += value;
  for (let k = 1; k < n; k++) {
    sum += values[order[k - 1]];
    const gain = sum ** 2 / k + (total - sum) ** 2 / (n - k);
    if (values[order[k - 1]] < values[order[k]] && (cut === n || gain > best)) [best, cut] = [gain, k];
  }
  const larger = new Array(n).fill(false);
  for (let k = cut; k < n; k++) larger[order[k]] = true;
  return larger;
}

const logSum = (values) => {
  const most = Math.max(...values);
  return most === -Infinity ? -Infinity : most + Math.log(values.reduce((sum, v) => sum + Math.exp(v - most), 0));
};

/** log Γ by the approximation of Lanczos. */
function logGamma(x) {
  const c = [76.18009172947146, -86.50532032941677, 24.01409824083091, -1.231739572450155, 1.208650973866179e-3, -5.395239384953e-6];
  const t = x + 5.5 - (x + 0.5) * Math.log(x + 5.5);
  return -t + Math.log((2.5066282746310005 * c.reduce((sum, v, i) => sum + v / (x + 1 + i), 1.000000000190015)) / x);
}

/** ProGCL's mixture of two beta distributions, as `augcl.hardness.progcl.BetaMixture`; returns log P(low | x). */
function betaMixture(data, iterations = 10, high = 0.05) {
  const xs = data.map((x) => Math.min(Math.max(x, 1e-6), 1 - 1e-6));
  const moments = (low) => {
    const parts = [low, low.map((p) => 1 - p)].map((p) => p.map((v) => Math.max(v, 1e-12)));
    return parts.map((p, k) => {
      const total = p.reduce((a, b) => a + b, 0), mean = p.reduce((a, v, i) => a + v * xs[i], 0) / total;
      const spread = p.reduce((a, v, i) => a + v * (xs[i] - mean) ** 2, 0) / total, most = mean * (1 - mean);
      const precision = most / Math.min(Math.max(spread, 1e-6), 0.999 * most) - 1;
      const beta = (1 - mean) * precision;
      return { a: mean * precision, b: k === 1 && beta < 1 ? 1.01 : beta, w: Math.max(total / xs.length, 1e-6) };
    });
  };
  const density = ({ a, b, w }, x) => (a - 1) * Math.log(x) + (b - 1) * Math.log1p(-x) + Math.log(w) + logGamma(a + b) - logGamma(a) - logGamma(b);
  const low = (pair, x) => -Math.log1p(Math.exp(Math.min(700, density(pair[1], x) - density(pair[0], x))));
  const starts = [[{ a: 1, b: 2, w: 1 - high }, { a: 2, b: 1, w: high }], moments(twoMeans(xs).map((is) => (is ? 0 : 1)))];
  let best = null, most = -Infinity;
  for (let pair of starts) {
    for (let k = 0; k < iterations; k++) pair = moments(xs.map((x) => Math.exp(low(pair, x))));
    const fit = xs.reduce((sum, x) => sum + logSum([density(pair[0], x), density(pair[1], x)]), 0);
    if (fit > most) [best, most] = [pair, fit];
  }
  best.sort((p, q) => p.a / (p.a + p.b) - q.a / (q.a + q.b));
  return (x) => low(best, Math.min(Math.max(x, 1e-6), 1 - 1e-6));
}

/** log-weights of the negatives of one anchor: what each hardness does to their sum, spread over them. */
const RULES = {
  none: ({ s }) => s.map(() => 0),
  dcl: (row) => debiased(row, row.s.map(() => 0)),
  hcl: (row) => {
    const hard = row.s.map((s) => (row.beta * s) / row.tau), mean = logSum(hard) - Math.log(hard.length);
    return debiased(row, hard.map((v) => v - mean));
  },
  progcl: (row) => {
    const b = row.s.map((s) => { const x = Math.min(Math.max((s + 1) / 2, 1e-6), 1 - 1e-6); return row.low(x) + Math.log(x); });
    const mean = logSum(b) - Math.log(b.length);
    return b.map((v) => v - mean);
  },
  nearest: (row) => {
    const out = Math.max(1, Math.ceil(row.top * row.s.length)), order = [...row.s.keys()].sort((a, b) => row.s[b] - row.s[a]);
    const found = row.s.map(() => 0);
    for (const i of order.slice(0, out)) found[i] = -16;
    return found;
  },
};

function debiased({ s, positive, tau, tauPlus }, logs) {
  const sum = logSum(s.map((v, i) => v / tau + logs[i])), share = Math.log(tauPlus * s.length) + positive / tau - sum;
  const least = Math.log(s.length) - 1 / tau;
  let mass = share < 0 ? sum + Math.log(-Math.expm1(share)) - Math.log1p(-tauPlus) : least;
  if (!(mass > least)) mass = least;
  return logs.map((v) => v + mass - sum);
}

const RULE_NAMES = { none: "none: all weigh 1", dcl: "DCL", hcl: "HCL", progcl: "ProGCL", nearest: "nearest out" };

class WeightExplorer {
  constructor(run) {
    const w = run.weights;
    this.run = run;
    this.w = { ...w, similarity: unpack(w.similarity), weight: unpack(w.weight), uncertainty: unpack(w.uncertainty), group: unpack(w.group) };
    this.n = w.names.length;
    this.epoch = w.epochs.length - 1;
    this.rule = w.hardness in RULES && w.hardness === "none" ? "none" : "trained";
    this.anchor = 0;
    this.lows = new Map();
    this.shown = "weight";
    this.build();
    fitted(this.figure, 1000, (width) => { this.width = width; this.draw(); });
  }

  build() {
    const { w } = this, rules = Object.entries(RULE_NAMES).map(([key, name]) => [key, w.hardness === key ? name : `${name}, recomputed here`]);
    if (w.hardness !== "none") rules.unshift(["trained", `${w.hardness}, as trained`]);
    this.picker = el("select", { onchange: () => this.choose(Number(this.picker.value)) }, ...w.names.map((name, i) => el("option", { value: String(i) }, name)));
    this.slider = el("input", { type: "range", min: "0", max: String(w.epochs.length - 1), step: "1", value: String(this.epoch), oninput: () => { this.epoch = Number(this.slider.value); this.draw(); } });
    this.at = el("span", {});
    this.sentence = el("p", { className: "say", "aria-live": "polite" });
    this.figure = el("div", {});
    this.key = el("div", { className: "legend" });
    this.node = el("div", {}, el("div", { className: "controls" },
      labelled("Anchor", this.picker),
      el("label", {}, this.at, this.slider),
      choice("Hardness", rules, this.rule, (key) => { this.rule = key; this.draw(); }),
      w.uncertainty ? choice("Height", [["weight", "weight in the loss"], ["u", "uncertainty u"]], this.shown, (key) => { this.shown = key; this.draw(); }) : null),
    this.figure, this.key, this.sentence);
  }

  /** Make a candidate the anchor; its place in the drawing is the one of the anchor before. */
  choose(anchor, from = null) {
    const before = this.anchor;
    this.anchor = anchor;
    this.picker.value = String(anchor);
    this.draw();
    if (from) this.figure.querySelector(`[data-id="${before}"]`)?.focus(); // the drawing is a new one
    say(`Anchor ${this.w.names[anchor]}`);
    this.chosen?.(this.w.ids[anchor]);
  }

  /** Follow another run to the same anchor. */
  follow(id) {
    const anchor = this.w.ids.indexOf(id);
    if (anchor >= 0 && anchor !== this.anchor) {
      this.anchor = anchor;
      this.picker.value = String(anchor);
      this.draw();
    }
  }

  row(values, scale) {
    const start = (this.epoch * this.n + this.anchor) * this.n;
    return Array.from(values.subarray(start, start + this.n), (v) => v / scale);
  }

  /** All candidates of the anchor: id, affinity, log-weight, group, u. */
  candidates() {
    const { w, n, anchor } = this, others = [...Array(n).keys()].filter((i) => i !== anchor);
    const cosines = this.row(w.similarity, 32767), s = others.map((i) => cosines[i]);
    const weighted = w.weight && w.active[this.epoch];
    let logs;
    if (this.rule === "trained" && weighted) { const row = this.row(w.weight, 2000); logs = others.map((i) => row[i]); }
    else if (this.rule === "trained" && !(w.hardness in RULES && w.active[this.epoch])) logs = s.map(() => 0);
    else {
      const rule = this.rule === "trained" ? w.hardness : this.rule;
      if (rule === "progcl" && !this.lows.has(this.epoch)) this.lows.set(this.epoch, this.mixture());
      logs = RULES[rule]({ s, positive: cosines[anchor], tau: w.tau, tauPlus: w.tau_plus, beta: w.beta, top: w.top, low: this.lows.get(this.epoch) });
    }
    const u = w.uncertainty && w.active[this.epoch] && this.rule === "trained" ? this.row(w.uncertainty, 2000) : null;
    const kept = w.group && w.active[this.epoch] ? this.row(w.group, 1) : null, split = kept ? null : twoMeans(s);
    return others.map((id, i) => ({ id, s: s[i], log: logs[i], u: u ? Math.exp(u[id]) : null, similar: kept ? kept[id] > 0 : split[i], same: this.same(id) }));
  }

  mixture() {
    const { w, n } = this, start = this.epoch * n * n, data = [], step = Math.max(1, Math.floor((n * n) / 3000));
    for (let k = 0; k < n * n; k += step) if (Math.floor(k / n) !== k % n) data.push((w.similarity[start + k] / 32767 + 1) / 2);
    return betaMixture(data);
  }

  /** The classes of the target that is shown, or null. */
  classes() {
    return this.w.y[this.run.at] ?? null;
  }

  same(id) {
    const y = this.classes();
    return !y || y[id] < 0 || y[this.anchor] < 0 ? null : y[id] === y[this.anchor];
  }

  draw() {
    const { w } = this, every = this.candidates(), epoch = w.epochs[this.epoch];
    this.at.textContent = `Epoch ${epoch} of ${w.epochs[w.epochs.length - 1]}${w.active[this.epoch] ? "" : w.hardness === "none" ? "" : ", weights not in use yet"}`;
    this.slider.setAttribute("aria-valuetext", `epoch ${epoch}`);
    const weights = every.map((c) => Math.exp(c.log));
    const asked = this.shown === "u" && every.every((c) => c.u !== null), heights = asked ? every.map((c) => c.u) : weights;
    const drawing = chart({ width: this.width, height: 360, across: range(every.map((c) => c.s), 0.06), up: asked ? range([0, ...heights], 0.06) : [0, Math.max(1.15, ...heights.map((v) => v * 1.06))], top: 22, xlabel: "affinity: cosine of anchor and candidate", ylabel: asked ? "uncertainty u" : "weight in the loss", label: `Weights of ${every.length} candidates of ${w.names[this.anchor]} against their affinity, epoch ${epoch}` });
    const { plot, x, y } = drawing;
    if (!asked) plot.append(svg("line", { class: "mark", x1: drawing.left, x2: drawing.width - drawing.right, y1: y(1), y2: y(1) }));
    const colours = new Map([[true, shade(1)], [false, shade(0)], [null, unknown()]]);
    const edges = [every.filter((c) => c.similar), every.filter((c) => !c.similar)].map((part) => part.map((c) => c.s));
    if (edges[0].length && edges[1].length) {
      const [above, below] = [Math.min(...edges[0]), Math.max(...edges[1])];
      if (below < above) {
        const cut = x((above + below) / 2);
        plot.append(svg("line", { class: "mark", x1: cut, x2: cut, y1: drawing.top, y2: drawing.height - drawing.bottom }));
        const wide = this.width > 520;
        plot.append(svg("text", { x: cut + 5, y: 12 }, wide ? "similar group →" : "similar →"), svg("text", { x: cut - 5, y: 12, "text-anchor": "end" }, wide ? "← dissimilar group" : "← dissimilar"));
      }
    }
    const points = [];
    for (const [i, c] of [...every.entries()].sort((a, b) => a[1].s - b[1].s)) { // as the arrow keys go
      const words = `${w.names[c.id]}\naffinity ${text(c.s)}, weight ${text(weights[i])}${c.u === null ? "" : `, u ${text(c.u)}`}\n${c.similar ? "similar" : "dissimilar"} group${c.same === null ? "" : c.same ? ", same class (false negative)" : ", other class"}`;
      const colour = colours.get(c.same), shape = { fill: c.similar ? colour : "var(--card)", stroke: colour, "stroke-width": 1.6, "fill-opacity": 0.85, class: "candidate", "aria-label": words.replaceAll("\n", ", "), "data-weight": weights[i], "data-id": c.id, onpointermove: (event) => tip(words, event), onpointerleave: () => tip("") };
      const cx = x(c.s), cy = y(heights[i]);
      const point = c.same ? svg("rect", { ...shape, x: cx - 4, y: cy - 4, width: 8, height: 8, transform: `rotate(45 ${cx} ${cy})` }) : svg("circle", { ...shape, cx, cy, r: 4.2 });
      pressed(point, () => this.choose(c.id, point));
      points.push(point);
    }
    plot.append(...points);
    roving(points);
    drawing.node.setAttribute("role", "group"); // an image has no parts to press
    this.figure.replaceChildren(drawing.node);
    const entry = (colour, words, filled = true) => el("span", { className: "entry" }, el("span", { className: "swatch", style: `background:${filled ? colour : "transparent"};border:2px solid ${colour}` }), words);
    this.key.replaceChildren(...(this.classes() ? [entry(colours.get(true), "same class: a false negative (diamond)"), entry(colours.get(false), "other class")] : []), entry("var(--soft)", "filled: similar group"), entry("var(--soft)", "hollow: dissimilar group", false));
    this.tell(every);
  }

  /** The share of the mass of the negatives that is false, before and after weighting. */
  tell(every) {
    const known = every.filter((c) => c.same !== null);
    if (!known.length) { this.sentence.textContent = `${this.classes() ? "The class of this anchor is" : "The classes are"} not known, so nobody can say which negatives are false.`; return; }
    const share = (log) => {
      const all = logSum(known.map(log)), part = known.filter((c) => c.same);
      return part.length ? Math.exp(logSum(part.map(log)) - all) : 0;
    };
    const before = share((c) => c.s / this.w.tau), after = share((c) => c.s / this.w.tau + c.log);
    this.sentence.dataset.after = String(after);
    this.sentence.textContent = `${known.filter((c) => c.same).length} of ${known.length} negatives of this anchor are false (same class). They are ${(100 * before).toFixed(1)} % of the mass Σ exp(s/τ) before weighting and ${(100 * after).toFixed(1)} % after it.`;
  }
}
