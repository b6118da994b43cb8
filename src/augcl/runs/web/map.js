// The map: all embeddings in a plane, on a canvas, with zoom, search, lasso and the keyboard.

class EmbeddingMap {
  constructor(run, page) {
    this.run = run;
    this.page = page; // { select(id, from), noun }
    this.view = { scale: 1, x: 0, y: 0 };
    this.hidden = new Set();
    this.selected = -1;
    this.lassoed = null;
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
      "aria-label": `Map of ${run.count} ${run.noun}s. Arrow keys go to the next ${run.noun} in that direction, plus and minus zoom, 0 shows all, Escape clears.`,
      onpointerdown: (event) => this.down(event),
      onpointermove: (event) => this.move(event),
      onpointerup: (event) => this.up(event),
      onpointerleave: () => tip(""),
      onkeydown: (event) => this.key(event),
      ondblclick: () => this.reset(),
    });
    this.canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    this.legend = el("div", { className: "legend" });
    this.list = el("div", { className: "lassoed" });
    const search = el("input", { type: "search", placeholder: "name or number", autocomplete: "off", onkeydown: (event) => { if (event.key === "Enter") { event.preventDefault(); this.find(search.value); } } });
    const lasso = el("button", { type: "button", "aria-pressed": "false", title: "Draw around points (or hold Shift)", onclick: () => {
      this.mode = this.mode === "lasso" ? "move" : "lasso";
      lasso.setAttribute("aria-pressed", String(this.mode === "lasso"));
    } }, "Lasso");
    const colour = () => this.legendOf();
    this.controls = el("div", { className: "controls" },
      choice("Colour", run.colours.map((c) => [c.key, c.name]), this.by, (key) => { this.by = key; this.hidden.clear(); colour(); this.paint(); }),
      run.seeds.length > 1 ? choice("Seed", run.seeds.map((s, i) => [i, `seed ${s.seed}`]), 0, (i) => { this.seed = run.seeds[i]; colour(); this.paint(); this.page.seedChanged?.(this.seed); }) : null,
      this.planes.length > 1 ? choice("Plane", this.planes, this.plane, (key) => { this.plane = key; this.paint(); }) : null,
      labelled("Find", search),
      el("button", { type: "button", onclick: () => this.find(search.value) }, "Find"),
      lasso,
      el("button", { type: "button", onclick: () => this.reset() }, "Show all"));
    this.node = el("div", {}, this.controls, el("div", { className: "map" }, this.canvas), this.legend, this.list);
    this.legendOf();
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
    this.start = { x, y, vx: this.view.x, vy: this.view.y, moved: false };
    if (this.mode === "lasso" || event.shiftKey) this.path = [[x, y]];
  }

  move(event) {
    const [x, y] = this.at(event);
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
    this.start = this.path = null;
    if (path?.length > 3) this.enclose(path);
    else if (start && !start.moved) {
      const i = this.nearest(x, y);
      if (i >= 0) this.page.select(i, this);
      else { this.lassoed = null; this.listOf(); }
    }
    this.later();
  }

  wheel(event) {
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
    this.lassoed = null;
    this.hidden.clear();
    this.legendOf();
    this.listOf();
    this.later();
  }

  key(event) {
    const ways = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    if (event.key in ways) this.go(...ways[event.key]);
    else if (event.key === "+" || event.key === "=") this.zoom(1.4);
    else if (event.key === "-") this.zoom(1 / 1.4);
    else if (event.key === "0") this.reset();
    else if (event.key === "Escape") { this.lassoed = null; this.listOf(); this.later(); }
    else return;
    event.preventDefault();
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
    const i = this.run.find(words);
    if (i < 0) say(`Nothing is called ${words}`);
    else this.page.select(i, this, true);
    this.canvas.dataset.found = String(i);
  }

  /** Show a point as the selected one; bring it into sight. */
  show(i, focus = false) {
    this.selected = i;
    this.paint();
    const { width, height } = this.size();
    if (focus || this.xs[i] < 0 || this.ys[i] < 0 || this.xs[i] > width || this.ys[i] > height) {
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
    this.list.replaceChildren(el("p", { className: "say" }, words, " ", el("button", { type: "button", onclick: save }, "Save as CSV"), " ", el("button", { type: "button", onclick: () => { this.choose([]); } }, "Clear")));
    say(words);
  }
}
