// The map: all embeddings in a plane, on a canvas, with zoom, search, lasso and the keyboard.

class EmbeddingMap {
  constructor(run, page) {
    this.run = run;
    this.page = page; // { select(id, from), noun }
    this.view = { scale: 1, x: 0, y: 0 };
    this.hidden = new Set();
    this.selected = -1;
    this.lassoed = null;
    this.fingers = new Map();
    this.mode = "move";
    this.seed = run.seeds[0];
    this.planes = [["0", run.axes], ...(run.tsne ? [["tsne", "t-SNE"]] : [])];
    this.plane = "0";
    this.by = run.colours[0].key;
    this.build();
    drawn(() => this.paint());
    new ResizeObserver(() => this.paint()).observe(this.canvas);
  }

  get points() {
    return this.plane === "tsne" ? this.run.tsne : this.seed.plane;
  }

  build() {
    const { run } = this;
    this.canvas = el("canvas", {
      tabIndex: 0, role: "application",
      "aria-label": `Map of ${run.count} ${run.noun}s. Arrow keys go to the next ${run.noun} in that direction, N and P to the next and previous one by number, Space adds it to the selection or removes it, plus and minus zoom, 0 shows all, Escape clears.`,
      onpointerdown: (event) => this.down(event),
      onpointermove: (event) => this.move(event),
      onpointerup: (event) => this.up(event),
      onpointercancel: (event) => this.cancel(event),
      onpointerleave: () => tip(""),
      onkeydown: (event) => this.key(event),
      ondblclick: () => this.reset(),
    });
    this.canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    this.legend = el("div", { className: "legend" });
    this.list = el("div", { className: "lassoed" });
    this.missed = el("p", { className: "small missed", hidden: true });
    const search = el("input", { type: "search", placeholder: "name or number", autocomplete: "off", onkeydown: (event) => { if (event.key === "Enter") { event.preventDefault(); this.find(search.value); } } });
    const lasso = el("button", { type: "button", "aria-pressed": "false", title: "Draw around points (or hold Shift)", onclick: () => {
      this.mode = this.mode === "lasso" ? "move" : "lasso";
      lasso.setAttribute("aria-pressed", String(this.mode === "lasso"));
      this.canvas.style.touchAction = this.mode === "lasso" ? "none" : ""; // a finger draws, it does not scroll
    } }, "Lasso");
    this.target = run.targets.length > 1 ? choice("Target", run.targets.map((target, t) => [t, target.name]), 0, (t) => this.page.target(Number(t))) : null;
    this.colour = el("span", {});
    this.recolour();
    this.controls = el("div", { className: "controls" },
      this.target,
      this.colour,
      run.seeds.length > 1 ? choice("Seed", run.seeds.map((s, i) => [i, `seed ${s.seed}`]), 0, (i) => { this.seed = run.seeds[i]; this.legendOf(); this.paint(); this.page.seedChanged?.(this.seed); }) : null,
      this.planes.length > 1 ? choice("Plane", this.planes, this.plane, (key) => { this.plane = key; this.paint(); }) : null,
      labelled("Find", search),
      el("button", { type: "button", onclick: () => this.find(search.value) }, "Find"),
      lasso,
      el("button", { type: "button", onclick: () => this.reset() }, "Show all"));
    this.node = el("div", {}, this.controls, this.missed, el("div", { className: "map" }, this.canvas), this.legend, this.list);
    this.legendOf();
  }

  /** Offer the ways to colour the points; they change with the target. */
  recolour() {
    const { colours } = this.run;
    if (!colours.some((c) => c.key === this.by)) this.by = colours[0].key;
    this.hidden.clear();
    this.colour.replaceChildren(choice("Colour", colours.map((c) => [c.key, c.name]), this.by, (key) => { this.by = key; this.hidden.clear(); this.legendOf(); this.paint(); }));
    if (this.target) this.target.querySelector("select").value = String(this.run.at);
  }

  // From values to places: the plane fits into the canvas with equal units.
  places() {
    const { width, height } = this.size(), points = this.points;
    if (this.of !== points) {
      this.of = points;
      const xs = points.filter((_, i) => i % 2 === 0), ys = points.filter((_, i) => i % 2 === 1);
      this.box = [range(xs, 0), range(ys, 0)];
    }
    const [[x0, x1], [y0, y1]] = this.box, pad = 18;
    const unit = Math.min((width - 2 * pad) / (x1 - x0), (height - 2 * pad) / (y1 - y0)) * this.view.scale;
    const cx = width / 2 + this.view.x, cy = height / 2 + this.view.y;
    const mx = (x0 + x1) / 2, my = (y0 + y1) / 2;
    return { unit, x: (v) => cx + (v - mx) * unit, y: (v) => cy - (v - my) * unit };
  }

  size() {
    return { width: this.canvas.clientWidth || 600, height: this.canvas.clientHeight || 480 };
  }

  get colouring() {
    return this.run.colours.find((c) => c.key === this.by).of(this.seed);
  }

  paint() {
    const { width, height } = this.size(), dots = devicePixelRatio || 1;
    if (this.canvas.width !== Math.round(width * dots) || this.canvas.height !== Math.round(height * dots)) {
      this.canvas.width = Math.round(width * dots);
      this.canvas.height = Math.round(height * dots);
    }
    const pen = this.canvas.getContext("2d"), place = this.places(), points = this.points;
    pen.setTransform(dots, 0, 0, dots, 0, 0);
    pen.clearRect(0, 0, width, height);
    const { group, colour } = this.colouring, count = this.run.count;
    const radius = Math.min(6, (count > 4000 ? 1.8 : count > 800 ? 2.6 : 3.8) * Math.sqrt(Math.min(this.view.scale, 4)));
    const xs = (this.xs ??= new Float32Array(count)), ys = (this.ys ??= new Float32Array(count));
    // Points of one colour are one path: ten thousand of them stay smooth.
    const paths = new Map();
    for (let i = 0; i < count; i++) {
      xs[i] = place.x(points[2 * i]);
      ys[i] = place.y(points[2 * i + 1]);
      const g = group(i);
      if (this.hidden.has(g) || xs[i] < -9 || ys[i] < -9 || xs[i] > width + 9 || ys[i] > height + 9) continue;
      const faded = this.lassoed && !this.lassoed.has(i);
      const key = faded ? "faded" : g;
      if (!paths.has(key)) paths.set(key, []);
      paths.get(key).push(i);
    }
    const order = [...paths.keys()].sort((a, b) => (a === "faded" ? -1 : b === "faded" ? 1 : a - b));
    for (const key of order) {
      pen.fillStyle = key === "faded" ? unknown() : colour(key);
      pen.globalAlpha = key === "faded" ? 0.25 : 0.8;
      pen.beginPath();
      for (const i of paths.get(key)) {
        pen.moveTo(xs[i] + radius, ys[i]);
        pen.arc(xs[i], ys[i], radius, 0, 2 * Math.PI);
      }
      pen.fill();
    }
    pen.globalAlpha = 1;
    const ring = (i, size, line) => {
      pen.strokeStyle = line;
      pen.lineWidth = 2;
      pen.beginPath();
      pen.arc(xs[i], ys[i], size, 0, 2 * Math.PI);
      pen.stroke();
    };
    const ink = getComputedStyle(document.body).color;
    if (this.selected >= 0) {
      for (const i of this.run.near(this.selected).map((n) => n.id)) ring(i, radius + 2.5, shade(4));
      ring(this.selected, radius + 5, ink);
    }
    if (this.path?.length > 1) {
      pen.strokeStyle = ink;
      pen.setLineDash([4, 3]);
      pen.beginPath();
      this.path.forEach(([x, y], i) => (i ? pen.lineTo(x, y) : pen.moveTo(x, y)));
      pen.stroke();
      pen.setLineDash([]);
    }
    this.canvas.dataset.painted = String(Number(this.canvas.dataset.painted || 0) + 1);
  }

  later() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => { this.waiting = false; this.paint(); });
  }

  legendOf() {
    const { entries, scale } = this.colouring;
    if (scale) {
      this.legend.replaceChildren(el("span", { className: "entry" }, text(scale[0]), el("span", { className: "ramp", style: `background: linear-gradient(90deg, ${[0, 0.25, 0.5, 0.75, 1].map(ramp).join(",")})` }), text(scale[1])));
      return;
    }
    this.legend.replaceChildren(...entries.map(({ group, name, colour }) => {
      const button = el("button", { type: "button", "aria-pressed": String(!this.hidden.has(group)), title: "Hide or show", onclick: () => {
        if (!this.hidden.delete(group)) this.hidden.add(group);
        button.setAttribute("aria-pressed", String(!this.hidden.has(group)));
        this.paint();
      } }, el("span", { className: "swatch", style: `background:${colour()}` }), name);
      return button;
    }));
  }

  at(event) {
    const box = this.canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  nearest(x, y, reach = 14) {
    let best = -1, least = reach * reach;
    const { group } = this.colouring;
    for (let i = 0; i < this.run.count; i++) {
      const far = (this.xs[i] - x) ** 2 + (this.ys[i] - y) ** 2;
      if (far < least && !this.hidden.has(group(i))) [best, least] = [i, far];
    }
    return best;
  }

  down(event) {
    this.canvas.setPointerCapture(event.pointerId);
    const [x, y] = this.at(event);
    this.fingers.set(event.pointerId, [x, y]);
    if (this.fingers.size > 1) { this.start = this.path = null; this.later(); return; }
    this.start = { x, y, vx: this.view.x, vy: this.view.y, moved: false };
    if (this.mode === "lasso" || event.shiftKey) this.path = [[x, y]];
  }

  move(event) {
    const [x, y] = this.at(event);
    if (this.fingers.size > 1) { this.pinch(event.pointerId, [x, y]); return; }
    if (!this.start) {
      const i = this.nearest(x, y);
      tip(i < 0 ? "" : this.run.describe(i, this.seed), event);
      return;
    }
    if (Math.hypot(x - this.start.x, y - this.start.y) > 4) this.start.moved = true;
    if (this.path) this.path.push([x, y]);
    else if (this.start.moved) {
      this.view.x = this.start.vx + x - this.start.x;
      this.view.y = this.start.vy + y - this.start.y;
    }
    this.later();
  }

  up(event) {
    const [x, y] = this.at(event), { start, path } = this;
    this.cancel(event);
    if (path?.length > 3) this.enclose(path);
    else if (start && !start.moved) {
      const i = this.nearest(x, y);
      if (i >= 0) this.page.select(i, this);
      else this.clear();
    }
    this.later();
  }

  /** Forget a finger: it was lifted, or the browser scrolls the page with it. */
  cancel(event) {
    this.fingers.delete(event.pointerId);
    this.start = this.path = null;
  }

  /** Zoom by the distance of two fingers, around the place between them, which they move. */
  pinch(id, place) {
    const old = [...this.fingers.values()].slice(0, 2);
    this.fingers.set(id, place);
    const now = [...this.fingers.values()].slice(0, 2);
    const [before, after] = [old, now].map(([a, b]) => ({ far: Math.hypot(a[0] - b[0], a[1] - b[1]) || 1, x: (a[0] + b[0]) / 2, y: (a[1] + b[1]) / 2 }));
    this.view.x += after.x - before.x;
    this.view.y += after.y - before.y;
    this.zoom(after.far / before.far, after.x, after.y);
  }

  // The page scrolls over the map, until somebody works with it.
  wheel(event) {
    if (!event.ctrlKey && !event.metaKey && document.activeElement !== this.canvas) return;
    event.preventDefault();
    const [x, y] = this.at(event);
    this.zoom(Math.exp(-event.deltaY / 400), x, y);
  }

  zoom(times, x = this.size().width / 2, y = this.size().height / 2) {
    const scale = Math.min(Math.max(this.view.scale * times, 0.5), 200), real = scale / this.view.scale;
    const { width, height } = this.size();
    this.view.x = (this.view.x + width / 2 - x) * real + x - width / 2;
    this.view.y = (this.view.y + height / 2 - y) * real + y - height / 2;
    this.view.scale = scale;
    this.later();
  }

  reset() {
    this.view = { scale: 1, x: 0, y: 0 };
    this.hidden.clear();
    this.legendOf();
    this.clear();
  }

  key(event) {
    const ways = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    if (event.key in ways) this.go(...ways[event.key]);
    else if (event.key === "+" || event.key === "=") this.zoom(1.4);
    else if (event.key === "-") this.zoom(1 / 1.4);
    else if (event.key === "0") this.reset();
    else if (event.key === "Escape") this.clear();
    else if (event.ctrlKey || event.metaKey || event.altKey) return;
    else if (event.key === "n" || event.key === "p") this.step(event.key === "n" ? 1 : -1);
    else if (event.key === " ") this.add();
    else return;
    event.preventDefault();
  }

  /** Select the next point by number: it reaches points that lie under others. */
  step(by) {
    const { count } = this.run, { group } = this.colouring;
    let i = this.selected < 0 && by < 0 ? 0 : this.selected;
    for (let k = 0; k < count; k++) {
      i = (i + by + count) % count;
      if (!this.hidden.has(group(i))) { this.page.select(i, this); return; }
    }
  }

  /** Add the selected point to those that the lasso chose, or take it out. */
  add() {
    if (this.selected < 0) { say(`Go to a ${this.run.noun} first`); return; }
    const ids = new Set(this.lassoed);
    if (!ids.delete(this.selected)) ids.add(this.selected);
    this.choose([...ids]);
    this.page.lassoed?.(this.lassoed, this);
  }

  /** Let go of what the lasso chose, in every linked map. */
  clear() {
    const had = this.lassoed;
    this.choose([]);
    if (had) this.page.lassoed?.(null, this);
  }

  /** Select the nearest point in a direction. */
  go(dx, dy) {
    const from = Math.max(this.selected, 0), { group } = this.colouring;
    let best = -1, least = Infinity;
    for (let i = 0; i < this.run.count; i++) {
      const x = this.xs[i] - this.xs[from], y = this.ys[i] - this.ys[from], along = x * dx + y * dy;
      if (i === from || along <= 0 || this.hidden.has(group(i))) continue;
      const cost = along + 2.5 * Math.abs(x * dy - y * dx);
      if (cost < least) [best, least] = [i, cost];
    }
    if (best >= 0) this.page.select(best, this);
  }

  find(words) {
    const i = this.run.find(words), last = this.run.total - 1;
    this.missed.hidden = i >= 0 || !words.trim();
    if (i >= 0) this.page.select(i, this, true);
    else if (words.trim()) {
      this.missed.textContent = `Nothing is called ${words}: give ${this.run.names ? "a part of a name, or " : ""}a number from 0 to ${last}${this.run.sampled ? "; only the points shown are searched" : ""}.`;
      say(`Nothing is called ${words}`);
    }
    this.canvas.dataset.found = String(i);
  }

  /** Show a point as the selected one; bring it into sight. */
  show(i, focus = false) {
    this.selected = i;
    this.paint();
    const { width, height } = this.size();
    if ((focus && this.view.scale > 1) || this.xs[i] < 0 || this.ys[i] < 0 || this.xs[i] > width || this.ys[i] > height) {
      this.view.x += width / 2 - this.xs[i];
      this.view.y += height / 2 - this.ys[i];
      this.paint();
    }
  }

  enclose(path) {
    const inside = (x, y) => {
      let odd = false;
      for (let a = 0, b = path.length - 1; a < path.length; b = a++) {
        const [x1, y1] = path[a], [x2, y2] = path[b];
        if (y1 > y !== y2 > y && x < ((x2 - x1) * (y - y1)) / (y2 - y1) + x1) odd = !odd;
      }
      return odd;
    };
    const { group } = this.colouring;
    this.choose([...Array(this.run.count).keys()].filter((i) => !this.hidden.has(group(i)) && inside(this.xs[i], this.ys[i])));
    this.page.lassoed?.(this.lassoed, this);
  }

  choose(ids) {
    this.lassoed = ids.length ? new Set(ids) : null;
    this.listOf();
    this.later();
  }

  listOf() {
    if (!this.lassoed) { this.list.replaceChildren(); return; }
    const ids = [...this.lassoed], { run } = this, counts = new Map();
    for (const i of ids) counts.set(run.classOf(i), (counts.get(run.classOf(i)) || 0) + 1);
    const parts = [...counts].filter(([name]) => name).sort((a, b) => b[1] - a[1]).map(([name, n]) => `${n} ${name}`);
    const words = `${ids.length} ${run.noun}${ids.length === 1 ? "" : "s"} selected${parts.length ? `: ${parts.slice(0, 8).join(", ")}` : ""}`;
    const save = () => {
      const quoted = (value) => `"${String(value).replaceAll('"', '""')}"`;
      const lines = ids.map((i) => [run.ids[i], quoted(run.name(i)), quoted(run.classOf(i))].join(","));
      const link = el("a", { href: URL.createObjectURL(new Blob([`number,name,class\n${lines.join("\n")}\n`], { type: "text/csv" })), download: "selected.csv" });
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    };
    this.list.replaceChildren(el("p", { className: "say" }, words, " ", el("button", { type: "button", onclick: save }, "Save as CSV"), " ", el("button", { type: "button", onclick: () => { this.clear(); this.canvas.focus({ preventScroll: true }); } }, "Clear")));
    say(words);
  }
}
