// What every drawing shares: elements, packed arrays, colours, numbers as text, axes, the tip.

const SVG = "http://www.w3.org/2000/svg";

/** Make an element. Text is always set as text, so that names of users stay inert. */
function el(tag, props = {}, ...children) {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(props)) {
    if (value === undefined || value === null) continue;
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (key in node && key !== "list" && typeof value !== "string") node[key] = value;
    else node.setAttribute(key === "className" ? "class" : key, value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

function svg(tag, attributes = {}, ...children) {
  const node = document.createElementNS(SVG, tag);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (value !== undefined && value !== null) node.setAttribute(key, value);
  }
  node.append(...children);
  return node;
}

const KINDS = { u8: Uint8Array, u16: Uint16Array, i16: Int16Array, i32: Int32Array, f32: Float32Array };

/** Unpack an array of the data: little-endian bytes in base64. */
function unpack(packed) {
  if (!packed) return null;
  const bytes = Uint8Array.from(atob(packed.data), (letter) => letter.charCodeAt(0));
  return new KINDS[packed.kind](bytes.buffer);
}

// Colours that colour-blind people tell apart (Okabe and Ito), then others; light and dark.
const SHADES = {
  light: ["#0072B2", "#D55E00", "#009E73", "#B0509A", "#B98900", "#3B9AC9", "#6A51A3", "#8C564B", "#607D3B", "#C2185B", "#00838F", "#5D6D7E"],
  dark: ["#4FA8DF", "#FF8A4A", "#2FC99B", "#E08CC8", "#E8BE4A", "#8AD1F5", "#B39DDB", "#C9A08F", "#A5C77B", "#F48FB1", "#4DD0E1", "#AAB7C4"],
};
const RAMP = { light: ["#26215e", "#0b6aa8", "#12a08a", "#b9c92c"], dark: ["#5b53c9", "#3aa0e0", "#35c9a5", "#f0e95c"] };

const theme = () => document.documentElement.dataset.theme || "light";
const shade = (number) => SHADES[theme()][number % SHADES.light.length];
const unknown = () => (theme() === "dark" ? "#5a646d" : "#b8c0c7");

/** The colour of a share from 0 to 1. */
function ramp(share) {
  const stops = RAMP[theme()], place = Math.min(Math.max(share, 0), 1) * (stops.length - 1);
  const low = Math.min(Math.floor(place), stops.length - 2), part = place - low;
  const mix = [1, 3, 5].map((at) => {
    const [a, b] = [stops[low], stops[low + 1]].map((stop) => parseInt(stop.slice(at, at + 2), 16));
    return Math.round(a + (b - a) * part);
  });
  return `rgb(${mix.join(",")})`;
}

/** A number as people write it. */
function text(value, digits = 3) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (Number.isInteger(value)) return value.toLocaleString("en");
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e5)) return value.toExponential(digits - 1).replace("-", "−");
  return value.toPrecision(digits).replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, "").replace("-", "−");
}

function range(values, pad = 0.05) {
  let low = Infinity, high = -Infinity;
  for (const value of values) {
    if (!Number.isFinite(value)) continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  if (low > high) return [0, 1];
  if (low === high) return [low - (Math.abs(low) || 1) * 0.1, high + (Math.abs(high) || 1) * 0.1];
  return [low - (high - low) * pad, high + (high - low) * pad];
}

function ticks([low, high], count = 5, least = 0) {
  const raw = (high - low) / count, unit = 10 ** Math.floor(Math.log10(raw));
  const step = Math.max(least, [1, 2, 5, 10].find((times) => times * unit >= raw) * unit);
  const found = [];
  for (let at = Math.ceil(low / step) * step; at <= high + step * 1e-9; at += step) found.push(Math.abs(at) < step * 1e-9 ? 0 : at);
  return found;
}

/** An empty chart with axes: { node, plot, x, y } with the functions from values to places. */
function chart({ width = 560, height = 280, across, up, xlabel = "", ylabel = "", label, left = 58, right = 14, bottom = 40, top = 12, yticks = true, xtext = text, ytext = text, xat = null }) {
  const x = (value) => left + ((value - across[0]) / (across[1] - across[0])) * (width - left - right);
  const y = (value) => height - bottom - ((value - up[0]) / (up[1] - up[0])) * (height - bottom - top);
  const node = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label, style: `max-width:${width}px` });
  for (const at of yticks ? ticks(up) : []) {
    node.append(svg("line", { class: "grid", x1: left, x2: width - right, y1: y(at), y2: y(at) }));
    node.append(svg("text", { x: left - 7, y: y(at) + 4, "text-anchor": "end" }, ytext(at)));
  }
  for (const at of xat || ticks(across, Math.max(4, Math.round((width - left) / 90)))) {
    node.append(svg("line", { class: "axis", x1: x(at), x2: x(at), y1: height - bottom, y2: height - bottom + 4 }));
    node.append(svg("text", { x: x(at), y: height - bottom + 17, "text-anchor": "middle" }, xtext(at)));
  }
  node.append(svg("line", { class: "axis", x1: left, x2: width - right, y1: height - bottom, y2: height - bottom }));
  if (xlabel) node.append(svg("text", { x: (left + width - right) / 2, y: height - 5, "text-anchor": "middle" }, xlabel));
  if (ylabel) node.append(svg("text", { x: 12, y: (top + height - bottom) / 2, "text-anchor": "middle", transform: `rotate(-90 12 ${(top + height - bottom) / 2})` }, ylabel));
  const plot = svg("g");
  node.append(plot);
  return { node, plot, x, y, width, height, left, right, top, bottom };
}

/**
 * Rows on one axis: { name, mean, low, high, runs, mark, colour, href, words }. `mark` is a line across all rows.
 * In a narrow window the names stand above their rows.
 */
function intervals(lines, { width, what, number, label }) {
  const narrow = width < 560, longest = Math.max(...lines.map((line) => line.name.length));
  const left = narrow ? 12 : Math.min(0.45 * width, 7 * longest + 24), step = narrow ? 46 : 32, most = Math.floor((narrow ? width - 90 : left - 20) / 6.6);
  const height = 44 + step * lines.length, first = narrow ? 30 : 18;
  const values = lines.flatMap((line) => [line.mean, line.low, line.high, line.published?.[0], ...(line.runs || [])]).filter((v) => v !== undefined && v !== null);
  const drawing = chart({ width, height, across: range(values, 0.07), up: [0, 1], left, right: 64, top: 2, yticks: false, xlabel: what, xtext: number, label });
  const { plot, x } = drawing;
  for (const line of lines) if (line.mark) plot.append(svg("line", { class: "mark", x1: x(line.mean), x2: x(line.mean), y1: 2, y2: height - 40 }));
  lines.forEach((line, i) => {
    const y = first + step * i, colour = line.colour(), known = line.low !== undefined && line.low !== null;
    plot.append(svg("line", { class: "grid", x1: left, x2: width - 64, y1: y, y2: y }));
    const name = svg("text", { class: "name", x: narrow ? 2 : left - 10, y: narrow ? y - 12 : y + 4, "text-anchor": narrow ? "start" : "end" }, line.name.length > most ? `${line.name.slice(0, most - 1)}…` : line.name);
    name.append(svg("title", {}, line.name));
    const group = line.href ? svg("a", { href: line.href, class: "row", "aria-label": `${line.name}: ${number(line.mean)}, its settings` }) : svg("g", { class: "row" });
    if (line.words) for (const [kind, words] of [["pointermove", line.words], ["pointerleave", ""]]) group.addEventListener(kind, (event) => tip(words, event));
    group.append(svg("rect", { x: 0, y: y - step / 2, width, height: step, fill: "transparent" }), name);
    if (known) group.append(svg("line", { class: "interval", x1: x(line.low), x2: x(line.high), y1: y, y2: y, stroke: colour, "stroke-width": 7, "stroke-opacity": 0.3, "stroke-linecap": "round" }));
    for (const run of line.runs || []) group.append(svg("circle", { class: "run", cx: x(run), cy: y, r: 3.2, fill: "var(--card)", stroke: colour, "stroke-width": 1.5 }));
    if (line.published) group.append(svg("rect", { class: "published", x: x(line.published[0]) - 4, y: y - 4, width: 8, height: 8, transform: `rotate(45 ${x(line.published[0])} ${y})`, fill: "none", stroke: "var(--ink)", "stroke-width": 1.4 }));
    group.append(svg("circle", { class: "mean", cx: x(line.mean), cy: y, r: 5.5, fill: colour }), svg("text", { class: "name", x: width - 4, y: y + 4, "text-anchor": "end" }, number(line.mean)));
    plot.append(group);
  });
  return drawing.node;
}

/** Show a text beside the pointer; nothing hides it. */
function tip(words, event) {
  const node = document.getElementById("tip");
  node.hidden = !words;
  if (!words) return;
  node.textContent = words;
  const right = event.clientX + 14 + node.offsetWidth > innerWidth;
  node.style.left = `${right ? event.clientX - 14 - node.offsetWidth : event.clientX + 14}px`;
  node.style.top = `${Math.max(4, event.clientY - node.offsetHeight - 8)}px`;
}

/** Let people who do not see the page hear what changed. */
function say(words) {
  document.getElementById("said").textContent = words;
}

function labelled(name, control) {
  return el("label", {}, name, control);
}

function choice(name, options, value, change) {
  const node = el("select", { onchange: () => change(node.value) }, ...options.map(([key, words]) => el("option", { value: String(key) }, words)));
  node.value = String(value);
  return labelled(name, node);
}

/** A section of the page, named in the contents. */
function section(id, title, words, ...children) {
  const node = el("section", { id, "aria-labelledby": `${id}-title` }, el("h2", { id: `${id}-title` }, title), ...[words].flat().filter(Boolean).map((line) => el("p", {}, line)), ...children);
  document.getElementById("main").append(node);
  document.getElementById("contents").append(el("a", { href: `#${id}` }, title));
  return node;
}

/** Make an element a button: by the pointer, Enter and Space. */
function pressed(node, act) {
  node.setAttribute("role", "button");
  node.addEventListener("click", act);
  node.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    act();
  });
}

/** Make many elements one stop of the Tab key: arrows, Home and End go among them; `wide` of them are a row. */
function roving(items, wide = 1) {
  items.forEach((item, i) => {
    item.setAttribute("tabindex", i ? "-1" : "0");
    item.addEventListener("keydown", (event) => {
      const to = { ArrowRight: i + 1, ArrowDown: i + wide, ArrowLeft: i - 1, ArrowUp: i - wide, Home: 0, End: items.length - 1 }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      items[to]?.focus();
    });
    item.addEventListener("focus", () => items.forEach((other) => other.setAttribute("tabindex", other === item ? "0" : "-1")));
  });
}

const redrawn = [];
/** Draw now, and again when the colours change. */
function drawn(draw) {
  redrawn.push(draw);
  draw();
}

/** Draw into a box at its own width, again when that or the colours change: text keeps its size. */
function fitted(box, most, draw) {
  let width = 0;
  const fit = () => Math.round(Math.min(most, Math.max(280, box.clientWidth || most)));
  new ResizeObserver(() => { if (box.isConnected && fit() !== width) draw((width = fit())); }).observe(box);
  drawn(() => draw((width = fit())));
}

function startTheme() {
  const button = document.getElementById("theme");
  const wanted = matchMedia("(prefers-color-scheme: dark)");
  const set = (name) => {
    document.documentElement.dataset.theme = name;
    button.textContent = name === "dark" ? "Light" : "Dark";
    button.setAttribute("aria-label", `Use ${name === "dark" ? "light" : "dark"} colours`);
    for (const draw of redrawn) draw();
  };
  button.addEventListener("click", () => set(theme() === "dark" ? "light" : "dark"));
  wanted.addEventListener("change", () => set(wanted.matches ? "dark" : "light"));
  let shut = [], before = null; // printed in light colours with everything open; then as before
  addEventListener("beforeprint", () => {
    before = theme();
    shut = [...document.querySelectorAll("details:not([open])")];
    for (const part of shut) part.open = true;
    set("light");
  });
  addEventListener("afterprint", () => {
    for (const part of shut) part.open = false;
    if (before) set(before);
    before = null;
  });
  set(wanted.matches ? "dark" : "light");
}
