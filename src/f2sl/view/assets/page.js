/* The page's behaviour. What is shown follows from `data` (written by Python, see page.py) and `state`. Names come
   from users' files: they reach the document as text, never as markup. */
"use strict";
(() => {
const $ = id => document.getElementById(id);
const data = JSON.parse($("data").textContent);
const { nodes, edges } = data;
const root = document.documentElement;
const many = nodes.length > 300;
const MOST_AT_FIRST = 200;   // edges shown at first where there are many for few variables
const LISTED = 300;          // rows of the list of edges before "Show all"
const ROW = 92;              // distance of layers in a focused view

const KINDS = Object.fromEntries(Object.entries(data.styles).map(([kind, style]) => [kind, style.name]));
const DASH = Object.fromEntries(Object.entries(data.styles).filter(([, style]) => style.dashes.length).map(([kind, style]) => [kind, style.dashes]));

const state = { picked: null, focus: "all", depth: 1, kinds: new Set(Object.keys(KINDS)), measure: null, cut: -Infinity,
                sort: "value", down: true, all: false };

/* -- small helpers ------------------------------------------------------------------------------------------- */

function make(tag, options = {}, ...children) {
  const { text, on, ...attributes } = options;
  const element = document.createElement(tag);
  if (text !== undefined) element.textContent = text;
  for (const [name, value] of Object.entries(attributes)) if (value !== null) element.setAttribute(name, value);
  for (const [name, listener] of Object.entries(on || {})) element.addEventListener(name, listener);
  element.append(...children.filter(child => child !== null));
  return element;
}
const count = (n, one) => `${n.toLocaleString("en")} ${one}${n === 1 ? "" : "s"}`;
const shown = value => value === null || value === undefined ? "" : Math.abs(value) >= 1000 ? value.toLocaleString("en", { maximumFractionDigits: 0 })
  : Math.abs(value) >= 100 ? value.toFixed(1) : value !== 0 && Math.abs(value) < 0.001 ? value.toExponential(1) : String(+value.toFixed(3));
const percent = p => p > 0 && p < 0.001 ? "<0.1%" : `${+(100 * p).toFixed(1)}%`;
const css = name => getComputedStyle(root).getPropertyValue(`--${name}`).trim();
const kindOf = edge => edge.k || (edge.w ? "weak" : edge.d ? "directed" : "undirected");
const keyOf = (i, j) => i < j ? `${i},${j}` : `${j},${i}`;
const edgeOf = new Map(edges.map((edge, e) => [keyOf(edge.a, edge.b), e]));
const arrow = edge => edge.d ? "→" : "–";
const folded = text => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
const searched = nodes.map(node => folded(node.n));
const valueOf = edge => { const value = edge[state.measure]; return value === null || value === undefined ? null : Math.abs(value); };
const say = text => { $("live").textContent = text; };

/* -- what is visible ----------------------------------------------------------------------------------------- */

const passes = edge => { const value = valueOf(edge); return state.kinds.has(kindOf(edge)) && (value === null || value >= state.cut); };
let visible = null;

/* Members of the focus: `depth` steps along edges, or as many times the Markov blanket. */
function reached(start) {
  const near = nodes.map(() => []), children = nodes.map(() => []), parents = nodes.map(() => []);
  for (const edge of edges) {
    if (!passes(edge)) continue;
    near[edge.a].push(edge.b);
    near[edge.b].push(edge.a);
    if (edge.d) { children[edge.a].push(edge.b); parents[edge.b].push(edge.a); }
  }
  let members = new Set([start]);
  for (let step = 0; step < state.depth; step++) {
    const wider = new Set(members);
    for (const i of members) {
      for (const j of near[i]) wider.add(j);
      if (state.focus === "blanket") for (const j of children[i]) for (const spouse of parents[j]) wider.add(spouse);
    }
    if (wider.size === members.size) break;
    members = wider;
  }
  return members;
}

const picked = () => state.picked && state.picked.length === 1 ? state.picked[0] : null;
let centre = null;   // the variable that the focus is on

function choose() {
  if (picked() !== null) centre = picked();
  const focused = state.focus !== "all" && centre !== null;
  const members = focused ? reached(centre) : new Set(nodes.keys());
  const kept = new Set();
  edges.forEach((edge, e) => { if (passes(edge) && members.has(edge.a) && members.has(edge.b)) kept.add(e); });
  visible = { nodes: members, edges: kept, focused };
}

/* -- the picture --------------------------------------------------------------------------------------------- */

/* Where each node stands, and the gaps by which each edge crosses the layers between, from source to target. */
let at = nodes.map(({ x, y }) => ({ x, y }));
let ways = edges.map(edge => edge.p || []);
const HALF = 15, CLEAR = 22;   // half a box, and how far an edge is vertical around the middle of a layer

/* Edges leave a box at its lower border and reach one at its upper border, and cross each layer between vertically:
   so no edge runs over a name. Cytoscape wants bends as places along, and distances from, the line of the ends. */
function wayOf(e) {
  const edge = edges[e], gaps = ways[e], a = at[edge.a], b = at[edge.b], down = a.y < b.y ? 1 : -1;
  const port = (i, x, next) => Math.max(-0.32 * nodes[i].w, Math.min(0.32 * nodes[i].w, 0.2 * (next - x)));
  const from = { x: a.x + port(edge.a, a.x, gaps.length ? gaps[0][0] : b.x), y: a.y + down * HALF };
  const to = { x: b.x + port(edge.b, b.x, gaps.length ? gaps.at(-1)[0] : a.x), y: b.y - down * HALF };
  const all = [from, ...gaps.flatMap(([x, y]) => [{ x, y: y - down * CLEAR }, { x, y: y + down * CLEAR }]), to];
  const kept = all.filter((point, k) => k && k < all.length - 1 && !(point.x === all[k - 1].x && point.x === all[k + 1].x));
  const dx = to.x - from.x, dy = to.y - from.y, square = dx * dx + dy * dy || 1, length = Math.sqrt(square);
  return {
    leave: `${(from.x - a.x).toFixed(1)}px ${down * HALF}px`, reach: `${(to.x - b.x).toFixed(1)}px ${-down * HALF}px`,
    along: kept.map(p => (((p.x - from.x) * dx + (p.y - from.y) * dy) / square).toFixed(5)).join(" "),
    aside: kept.map(p => (((p.y - from.y) * dx - (p.x - from.x) * dy) / length).toFixed(2)).join(" "),
  };
}

const strongest = {};
for (const measure of ["s", "c"]) strongest[measure] = edges.reduce((most, edge) => Math.max(most, Math.abs(edge[measure] ?? 0)), 0);
function widthOf(edge) {
  const value = valueOf(edge);
  return thicker * (value === null || !strongest[state.measure] ? 1.6 : 1.1 + 2.4 * value / strongest[state.measure]);
}

/* The window that shows all that is visible, with names not larger than they need be. */
function fitting() {
  let [left, right, top, bottom] = [Infinity, -Infinity, Infinity, -Infinity];
  const take = (x, y, half) => { left = Math.min(left, x - half); right = Math.max(right, x + half); top = Math.min(top, y - HALF); bottom = Math.max(bottom, y + HALF); };
  for (const i of visible.nodes) take(at[i].x, at[i].y, nodes[i].w / 2);
  for (const e of visible.edges) for (const [x, y] of ways[e]) take(x, y, 2);
  const width = $("cy").clientWidth, height = $("cy").clientHeight, pad = 2 * Math.min(36, width / 20);
  const zoom = Math.max(0.01, Math.min(1.25, (width - pad) / (right - left), (height - pad) / (bottom - top)));
  return { zoom, pan: { x: width / 2 - zoom * (left + right) / 2, y: height / 2 - zoom * (top + bottom) / 2 } };
}

/* Seen from afar, lines are drawn thicker and boxes darker, so that they do not fade away. */
const thickness = zoom => Math.max(1, 2 ** Math.round(Math.log2(0.36 / zoom)));
let thicker = 1;

function styles() {
  const accent = css("accent"), width = edge => widthOf(edges[numberOf(edge)]);
  return [
    { selector: "node", style: {
      shape: "round-rectangle", width: "data(w)", height: 2 * HALF, label: "data(label)", "font-size": 13, "text-valign": "center",
      "font-family": "system-ui, sans-serif", color: css("ink"),
      "background-color": css("node"), "border-width": 1.2, "border-color": css("node-line"), "min-zoomed-font-size": 4.5 } },
    { selector: "edge", style: {
      "curve-style": "straight", width, "arrow-scale": 1.05, "edge-distances": "endpoints",
      "source-endpoint": "data(leave)", "target-endpoint": "data(reach)" } },
    { selector: "edge[?along]", style: {
      "curve-style": "round-segments", "segment-radii": 18, "segment-weights": "data(along)", "segment-distances": "data(aside)" } },
    { selector: "edge.arrow", style: { "target-arrow-shape": "triangle" } },
    ...Object.keys(KINDS).map(kind => ({ selector: `edge.${kind}`, style: {
      "line-color": css(kind), "target-arrow-color": css(kind),
      ...(DASH[kind] ? { "line-style": "dashed", "line-dash-pattern": DASH[kind] } : {}) } })),
    { selector: ".away", style: { display: "none" } },
    { selector: "node.alone", style: { opacity: 0.5 } },
    { selector: "node.far", style: { "background-color": css("node-line") } },
    { selector: ".dim", style: { opacity: 0.16 } },
    { selector: "node.near", style: { "border-color": accent } },
    { selector: "node.hit", style: { "border-color": css("hit"), "border-width": () => 3 * thicker, opacity: 1 } },
    { selector: "node.picked", style: { "border-color": accent, "border-width": () => 3 * thicker, "background-color": css("tint"), "font-weight": 600, opacity: 1 } },
    { selector: "edge.picked, edge.hover", style: { width: edge => width(edge) + 2.5 * thicker, "z-index": 9, opacity: 1 } },
  ];
}

let cy = null;
const nodeAt = i => cy.getElementById(`n${i}`);
const edgeAt = e => cy.getElementById(`e${e}`);
const numberOf = element => Number(element.id().slice(1));

/* Make the picture with its places, its look and its window at once: each change later would cost as much again. */
function paint() {
  const view = fitting();
  thicker = thickness(view.zoom);
  const far = thicker > 1 ? " far" : "";
  cy = cytoscape({
    container: $("cy"), ...view, style: styles(), layout: { name: "preset", fit: false },
    elements: [
      ...nodes.map((node, i) => ({ group: "nodes", data: { id: `n${i}`, label: node.l, w: node.w }, position: { ...at[i] }, classes: far })),
      ...edges.map((edge, e) => ({ group: "edges", data: { id: `e${e}`, source: `n${edge.a}`, target: `n${edge.b}`, ...wayOf(e) },
                                   classes: kindOf(edge) + (edge.d ? " arrow" : "") })),
    ],
    autoungrabify: true, boxSelectionEnabled: false, selectionType: "single", minZoom: 0.01, maxZoom: 4,
    textureOnViewport: many, hideLabelsOnViewport: many, pixelRatio: "auto",
  });
  cy.on("zoom", () => {
    const wanted = thickness(cy.zoom());
    if (wanted === thicker) return;
    const changed = (wanted > 1) !== (thicker > 1);
    thicker = wanted;
    if (changed) cy.nodes().toggleClass("far", wanted > 1);
    cy.elements().updateStyle();
  });
}

function place(places, gaps) {
  at = places;
  ways = gaps;
  cy.batch(() => {
    nodes.forEach((_, i) => nodeAt(i).position({ ...at[i] }));
    edges.forEach((_, e) => edgeAt(e).data(wayOf(e)));
  });
}

/* Put a row's items as near to where they are drawn as their widths allow, in their order (pooling of violators). */
function spread(row, wishes) {
  const offset = [0];
  for (let i = 1; i < row.length; i++) offset.push(offset[i - 1] + (row[i - 1].w + row[i].w) / 2 + 26);
  const blocks = [];
  wishes.forEach((wish, i) => {
    let block = { mean: wish - offset[i], weight: 1, n: 1 };
    while (blocks.length && blocks.at(-1).mean >= block.mean) {
      const other = blocks.pop(), weight = other.weight + block.weight;
      block = { mean: (other.mean * other.weight + block.mean * block.weight) / weight, weight, n: other.n + block.n };
    }
    blocks.push(block);
  });
  let i = 0;
  for (const block of blocks) for (let k = 0; k < block.n; k++, i++) row[i].at = block.mean + offset[i];
}

/* Draw what is focused together: the same layers and order, without the room of what is not shown. */
function compact() {
  const rows = new Map(), items = new Map();
  const put = item => { rows.has(item.y) || rows.set(item.y, []); rows.get(item.y).push(item); return item; };
  for (const i of visible.nodes) items.set(i, put({ i, x: nodes[i].x, y: nodes[i].y, w: nodes[i].w, up: [], down: [] }));
  const bends = new Map();
  for (const e of visible.edges) {
    const edge = edges[e], points = (edge.p || []).filter(([, y]) => rows.has(y)).map(([x, y]) => put({ x, y, w: 4, up: [], down: [] }));
    bends.set(e, points);
    const chain = [items.get(edge.a), ...points, items.get(edge.b)];
    if (chain[0].y > chain.at(-1).y) chain.reverse();
    for (let k = 1; k < chain.length; k++) { chain[k - 1].down.push(chain[k]); chain[k].up.push(chain[k - 1]); }
  }
  const layers = [...rows.keys()].sort((a, b) => a - b).map(y => rows.get(y).sort((a, b) => a.x - b.x));
  for (const row of layers) spread(row, row.map((_, i) => i));
  for (let sweep = 0; sweep < 12; sweep++) {
    for (const row of sweep % 2 ? [...layers].reverse() : layers) {
      spread(row, row.map(item => {
        let near = sweep >= 10 ? [] : sweep % 2 ? item.down : item.up;
        if (!near.length) near = [...item.up, ...item.down];
        return near.length ? near.reduce((sum, other) => sum + other.at, 0) / near.length : item.at;
      }));
    }
  }
  layers.forEach((row, y) => row.forEach(item => { item.y = y * ROW; }));
  const places = nodes.map(({ x, y }, i) => items.has(i) ? { x: items.get(i).at, y: items.get(i).y } : { x, y });
  place(places, edges.map((edge, e) => bends.has(e) ? bends.get(e).map(item => [item.at, item.y]) : edge.p || []));
}

let compacted = false;
function draw({ fit = false } = {}) {
  choose();
  const adjacent = new Set();
  for (const e of visible.edges) adjacent.add(edges[e].a).add(edges[e].b);
  cy.batch(() => {
    nodes.forEach((_, i) => nodeAt(i).toggleClass("away", !visible.nodes.has(i)).toggleClass("alone", !adjacent.has(i)));
    edges.forEach((_, e) => edgeAt(e).toggleClass("away", !visible.edges.has(e)));
  });
  if (visible.focused) compact();
  else if (compacted) place(nodes.map(({ x, y }) => ({ x, y })), edges.map(edge => edge.p || []));
  compacted = visible.focused;
  mark();
  if (fit) fitAll();
  controls();
  list();
}

function fitAll() {
  cy.resize();
  cy.viewport(fitting());
}

/* Bring nodes into view, at a zoom at which names can be read. */
function bring(...numbers) {
  const left = Math.min(...numbers.map(i => at[i].x - nodes[i].w / 2)), right = Math.max(...numbers.map(i => at[i].x + nodes[i].w / 2));
  const top = Math.min(...numbers.map(i => at[i].y - HALF)), bottom = Math.max(...numbers.map(i => at[i].y + HALF));
  const view = cy.extent(), inside = left >= view.x1 && right <= view.x2 && top >= view.y1 && bottom <= view.y2;
  if (inside && cy.zoom() > 0.55) return;
  const width = cy.width(), height = cy.height();
  const zoom = Math.min(Math.max(cy.zoom(), 0.9), (width - 80) / (right - left), (height - 80) / (bottom - top));
  cy.viewport({ zoom, pan: { x: width / 2 - zoom * (left + right) / 2, y: height / 2 - zoom * (top + bottom) / 2 } });
}

function mark() {
  const set = new Set(state.picked || []);
  cy.batch(() => {
    cy.elements().removeClass("picked near dim");
    if (!state.picked) return;
    const ends = [...set];
    const kept = new Set(ends);
    const e = ends.length === 2 ? edgeOf.get(keyOf(...ends)) : undefined;
    for (const other of visible.edges) {
      const edge = edges[other];
      const touches = e === undefined ? set.has(edge.a) || set.has(edge.b) : other === e;
      if (touches) kept.add(edge.a).add(edge.b);
      else if (!visible.focused) edgeAt(other).addClass("dim");
    }
    if (!visible.focused) for (const i of visible.nodes) if (!kept.has(i)) nodeAt(i).addClass("dim");
    for (const i of kept) nodeAt(i).addClass("near");
    for (const i of ends) nodeAt(i).addClass("picked");
    if (e !== undefined) edgeAt(e).addClass("picked");
  });
}

/* -- picking ------------------------------------------------------------------------------------------------- */

function pick(numbers, { move = true, tab = true } = {}) {
  state.picked = numbers;
  const refocus = numbers && numbers.length === 1 && state.focus !== "all" && numbers[0] !== centre;
  if (refocus || (numbers && numbers.some(i => !visible.nodes.has(i)))) {
    if (numbers.length === 2) state.focus = "all";
    draw({ fit: true });
  } else { mark(); controls(); select(); }
  if (numbers && move) bring(...numbers);
  if (tab && numbers) openTab("details");
  details();
  if (numbers) say(numbers.length === 2 ? `${nodes[numbers[0]].n} and ${nodes[numbers[1]].n}` : nodes[numbers[0]].n);
}

function setFocus(mode) {
  if (mode !== "all" && picked() === null && centre === null) return;
  if (mode !== "all" && picked() === null) state.picked = [centre];
  state.focus = mode;
  draw({ fit: true });
  details();
}

function clear() {
  state.picked = null;
  highlight([]);
  if (state.focus !== "all") { state.focus = "all"; draw({ fit: true }); } else { mark(); controls(); select(); }
  centre = null;
  controls();
  details();
}

function listen() {
cy.on("tap", "node", event => {
  const i = numberOf(event.target), first = picked();
  if (event.originalEvent.shiftKey && first !== null && first !== i) pick([first, i], { move: false });
  else pick([i], { move: false });
});
cy.on("tap", "edge", event => { const edge = edges[numberOf(event.target)]; pick([edge.a, edge.b], { move: false }); });
cy.on("tap", event => { if (event.target === cy && state.picked) { state.picked = null; mark(); controls(); select(); details(); } });
cy.on("dbltap", "node", () => setFocus(state.focus === "near" ? "all" : "near"));
cy.on("mouseover", "node, edge", event => {
  const element = event.target, n = numberOf(element);
  const text = element.isNode() ? nodes[n].n : `${nodes[edges[n].a].n} ${arrow(edges[n])} ${nodes[edges[n].b].n}`;
  const point = event.renderedPosition;
  $("tip").textContent = text;
  $("tip").style.left = `${Math.min(Math.max(point.x, 80), cy.width() - 80)}px`;
  $("tip").style.top = `${Math.max(point.y, 40)}px`;
  $("tip").hidden = false;
  $("cy").style.cursor = "pointer";
});
cy.on("mouseout viewport", () => { $("tip").hidden = true; $("cy").style.cursor = ""; });
}

/* -- search -------------------------------------------------------------------------------------------------- */

let found = [], chosen = 0;
function search() {
  const text = folded($("search").value.trim());
  found = [];
  if (text) {
    searched.forEach((name, i) => { const at = name.indexOf(text); if (at >= 0) found.push([name === text ? 0 : at ? 2 : 1, name.length, i]); });
    found.sort((a, b) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2]);
    found = found.map(entry => entry[2]);
  }
  clearTimeout(pause);
  pause = setTimeout(() => highlight(found), 80);   // the list first: drawing the marks of many names takes longer
  chosen = 0;
  suggest(text);
}
let pause = 0, marked = new Set();   // only what changes is drawn anew
function highlight(numbers) {
  clearTimeout(pause);
  const hits = new Set(numbers);
  cy.batch(() => {
    for (const i of marked) if (!hits.has(i)) nodeAt(i).removeClass("hit");
    for (const i of hits) if (!marked.has(i)) nodeAt(i).addClass("hit");
  });
  marked = hits;
}
function suggest(text) {
  const box = $("hits");
  box.replaceChildren();
  found.slice(0, 12).forEach((i, k) => {
    const name = nodes[i].n, at = searched[i].length === name.length ? searched[i].indexOf(text) : -1;
    const parts = at < 0 ? [name] : [name.slice(0, at), make("mark", { text: name.slice(at, at + text.length) }), name.slice(at + text.length)];
    box.append(make("li", { role: "option", id: `hit${k}`, "aria-selected": String(k === chosen),
      on: { mousedown: event => { event.preventDefault(); take(i); } } }, ...parts));
  });
  if (text && !found.length) box.append(make("li", { class: "none", text: "No variable has this in its name" }));
  if (found.length > 12) box.append(make("li", { class: "none", text: `and ${(found.length - 12).toLocaleString("en")} more, marked in the picture` }));
  box.hidden = !text;
  $("search").setAttribute("aria-expanded", String(!box.hidden));
  if (found.length) $("search").setAttribute("aria-activedescendant", `hit${chosen}`); else $("search").removeAttribute("aria-activedescendant");
  if (text) say(count(found.length, "variable") + " found");
}
function take(i) {
  $("hits").hidden = true;
  $("search").setAttribute("aria-expanded", "false");
  $("search").value = nodes[i].n;
  highlight([]);
  pick([i]);
}
$("search").addEventListener("input", search);
$("search").addEventListener("blur", () => { $("hits").hidden = true; $("search").setAttribute("aria-expanded", "false"); });
$("search").addEventListener("keydown", event => {
  if (event.key === "Enter" && found.length) { take(found[chosen]); $("cy").focus(); }
  else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    const n = Math.min(found.length, 12);
    if (n) { chosen = (chosen + (event.key === "ArrowDown" ? 1 : n - 1)) % n; suggest(folded($("search").value.trim())); }
    event.preventDefault();
  } else if (event.key === "Escape") { $("search").value = ""; search(); $("cy").focus(); event.stopPropagation(); event.preventDefault(); }
});

/* -- controls ------------------------------------------------------------------------------------------------ */

let steps = [];   // values at which the slider stands, ascending
const MEASURES = [["c", "confidence"], ["s", data.unit || "strength"]].filter(([key]) => edges.some(edge => (edge[key] ?? null) !== null));
function measure(key) {
  state.measure = key;
  steps = [...new Set(edges.map(valueOf).filter(value => value !== null))].sort((a, b) => a - b);
  // It starts at edges that are likelier than not; or at the strongest, 200 or two a variable if that is more.
  const falling = edges.map(valueOf).filter(value => value !== null).sort((a, b) => b - a);
  const least = key === "c" ? 0.5 : falling[Math.min(falling.length, Math.max(MOST_AT_FIRST, 2 * nodes.length)) - 1];
  const start = steps.findIndex(value => value >= least);
  $("cut").max = Math.max(0, steps.length - 1);
  $("cut").value = Math.max(0, start);
  state.cut = start > 0 ? steps[start] : -Infinity;
}
function controls() {
  const free = picked() === null && centre === null;
  for (const input of $("focus").querySelectorAll("input")) {
    input.checked = input.value === state.focus;
    input.disabled = free && input.value !== "all";
    input.parentElement.title = input.disabled ? "Choose a variable first" : "";
  }
  $("depth-control").hidden = state.focus === "all";
  $("depth").value = state.depth;
  const all = edges.filter(edge => state.kinds.has(kindOf(edge))).length, left = edges.filter(passes).length;
  $("cut-text").textContent = state.cut > -Infinity ? `≥ ${shown(state.cut)}: ${left.toLocaleString("en")} of ${all.toLocaleString("en")}` : `all ${count(all, "edge")}`;
}
$("focus").addEventListener("change", event => setFocus(event.target.value));
$("depth").addEventListener("input", () => {
  const depth = Math.round(Number($("depth").value));
  if (depth >= 1 && depth <= 9) { state.depth = depth; draw({ fit: true }); }
});
let waiting = 0;
$("cut").addEventListener("input", () => {
  const at = Number($("cut").value);
  state.cut = at ? steps[at] : -Infinity;
  controls();
  cancelAnimationFrame(waiting);
  waiting = requestAnimationFrame(() => draw());
});
$("measure").addEventListener("change", () => { measure($("measure").value); cy.style().update(); draw(); });

function sample(kind, directed) {
  const name = "http://www.w3.org/2000/svg", svg = document.createElementNS(name, "svg");
  const part = (tag, attributes) => { const element = document.createElementNS(name, tag); for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value); svg.append(element); };
  svg.setAttribute("viewBox", "0 0 30 10");
  svg.setAttribute("aria-hidden", "true");
  const colour = `var(--${kind})`;
  part("line", { x1: 1, y1: 5, x2: directed ? 22 : 29, y2: 5, style: `stroke:${colour};stroke-width:2.4`, "stroke-dasharray": (DASH[kind] || []).map(d => d * 0.6).join(" ") });
  if (directed) part("path", { d: "M21 0.5 L30 5 L21 9.5 Z", style: `fill:${colour}` });
  return svg;
}
function legend() {
  for (const [kind, words] of Object.entries(KINDS)) {
    const n = edges.filter(edge => kindOf(edge) === kind).length;
    if (!n) continue;
    const box = make("input", { type: "checkbox", value: kind, "aria-label": `Show ${words} edges`, on: { change: event => {
      if (event.target.checked) state.kinds.add(kind); else state.kinds.delete(kind);
      draw();
    } } });
    box.checked = true;
    $("legend").append(make("label", {}, box, sample(kind, kind !== "undirected"), `${words} ${n.toLocaleString("en")}`));
  }
}

/* -- details ------------------------------------------------------------------------------------------------- */

const facts = rows => make("dl", {}, ...rows.filter(row => row[1] !== "" && row[1] !== null && row[1] !== undefined).flatMap(([name, value]) => [make("dt", { text: name }), make("dd", { text: value })]));
const chip = i => make("button", { text: nodes[i].n, title: nodes[i].n, on: { click: () => pick([i]) } });
const chips = numbers => make("div", { class: "chips" }, ...numbers.map(chip));
const heading = text => make("h3", { text });

function details() {
  const box = $("details");
  box.replaceChildren(...(!state.picked ? about() : state.picked.length === 1 ? ofNode(state.picked[0]) : ofPair(...state.picked)));
  box.scrollTop = 0;
}
function about() {
  const notes = data.notes.length ? [heading("Notes"), make("ul", { class: "notes" }, ...data.notes.map(note))] : [];
  return [
    make("h2", { text: data.title }),
    make("p", { class: "soft", text: "Click a variable or an edge, or search by name." }),
    facts(data.facts),
    ...(data.compare ? [heading("Compared"), facts(data.compare.facts)] : []),
    ...notes,
  ];
}
/* A note; of a long one the beginning, the rest on demand. */
function note(text) {
  if (text.length <= 300) return make("li", { text });
  return make("li", {}, make("details", {}, make("summary", { text: `${text.slice(0, 200)}…` }), `…${text.slice(200)}`));
}
function ofNode(i) {
  const node = nodes[i], own = edges.filter(edge => (edge.a === i || edge.b === i) && edge.k !== "missing");
  const sets = [
    ["Parents", own.filter(edge => edge.d && edge.b === i).map(edge => edge.a)],
    ["Children", own.filter(edge => edge.d && edge.a === i).map(edge => edge.b)],
    ["Undirected", own.filter(edge => !edge.d).map(edge => edge.a === i ? edge.b : edge.a)],
  ].filter(([, members]) => members.length);
  const options = make("datalist", { id: "names" }, ...nodes.map(other => make("option", { value: other.n })));
  const other = make("input", { type: "search", list: "names", placeholder: "another variable", "aria-label": `Show the pair of ${node.n} and another variable`, id: "other" });
  const go = () => { const j = nodes.findIndex(one => one.n === other.value); if (j >= 0 && j !== i) pick([i, j]); };
  other.addEventListener("change", go);
  return [
    make("h2", { text: node.n }),
    make("p", { class: "soft", text: own.length ? count(own.length, "edge") : "no edges" }),
    ...distribution(node),
    ...sets.flatMap(([name, members]) => [heading(name), chips(members)]),
    heading("Pair"), make("div", { class: "pair" }, other, options),
    ...parameters(node),
  ];
}
function distribution(node) {
  const info = node.i;
  if (!info) return [];
  const from = info.from ? make("p", { class: "soft", text: info.from }) : null;
  if (info.states) {
    const most = Math.max(...(info.p || [1]));
    const bars = info.states.flatMap((state, k) => {
      const bar = make("i");
      if (info.p) bar.style.width = `${100 * info.p[k] / most}%`;
      return [make("span", { class: "label", text: state }), info.p ? bar : make("span"), make("b", { text: info.p ? percent(info.p[k]) : "" })];
    });
    return [heading(count(info.states.length, "state")), make("div", { class: "bars" }, ...bars), ...(from ? [from] : [])];
  }
  const most = Math.max(...info.bars);
  return [
    heading("Number"),
    make("div", { class: "histogram", "aria-hidden": "true" }, ...info.bars.map(n => { const bar = make("i"); bar.style.height = `${100 * n / most}%`; return bar; })),
    make("div", { class: "ends" }, make("span", { text: shown(info.least) }), make("span", { text: shown(info.most) })),
    facts([["Mean", shown(info.mean)], ["Std. dev.", shown(info.sd)]]), ...(from ? [from] : []),
  ];
}
function parameters(node) {
  const table = node.t;
  if (!table) return [];
  if (table.note) return [heading(table.title), make("p", { class: "soft", text: table.note })];
  const head = make("tr", {}, ...table.given.map(text => make("th", { text })), ...table.columns.map(text => make("th", { text, class: "number" })));
  const rows = table.rows.map(([given, values]) => make("tr", {}, ...given.map(text => make("td", { text })), ...values.map(value => make("td", { class: "number", text: shown(value) }))));
  return [heading(table.title), make("div", { class: "scroll", tabindex: "0" }, make("table", {}, make("thead", {}, head), make("tbody", {}, ...rows)))];
}
function ofPair(i, j) {
  const key = keyOf(i, j), e = edgeOf.get(key), edge = e === undefined ? null : edges[e];
  const [a, b] = edge ? [edge.a, edge.b] : [i, j];
  const there = edge && edge.k !== "missing";
  const rows = [];
  if (there) {
    rows.push([data.unit ? `Strength (${data.unit})` : "Strength", shown(edge.s)]);
    rows.push(["Direction", direction(edge)]);
  }
  if (key in data.confidence) rows.push(["Confidence", percent(data.confidence[key])]);
  if (edge && edge.k) rows.push(["Compared", data.compare.words[edge.k]]);
  const given = data.separating[key];
  if (given) rows.push(["Separated by", given.length ? given.map(k => nodes[k].n).join(", ") : "nothing: independent as they are"]);
  const why = data.explanations[key], more = data.ask && !(why && data.whole);
  const unlearned = !why && !data.ask && !nodes[i].t;   // probabilities come without a learner
  return [
    make("h2", { text: there ? `${nodes[a].n} ${arrow(edge)} ${nodes[b].n}` : `${nodes[a].n} and ${nodes[b].n}` }),
    make("p", { class: "soft", text: there ? (edge.w ? `directed edge, weakly decided: ${data.weak[edge.w - 1]}` : edge.d ? "directed edge" : "undirected edge") : "no edge" }),
    facts(rows),
    ...(why || more ? [heading("Why")] : []),
    ...(why ? [make("div", { class: "why" }, ...why.split("\n").map(text => make("p", { text })))] : []),
    ...(more ? [make("p", { class: "soft", text: why ? "The data tell more. Ask them:" : "Not explained in this page. Ask the data:" }), make("code", { class: "ask", tabindex: "0", text: question(i, j) })] : []),
    ...(unlearned ? [make("p", { class: "soft", text: "Not explained: the graph does not say how it was learned. Pages of f2sl learn --page, and of graphs that it saved as .json, explain each pair." })] : []),
    heading("Variables"), chips([a, b]),
  ];
}
/* What to type to have a pair explained: in Python, or in a shell, where most names need no quotes. */
function question(...pair) {
  const names = pair.map(i => nodes[i].n);
  if (data.ask === "model.explain") return `model.explain(${names.map(name => JSON.stringify(name)).join(", ")}, data)`;
  const words = names.map(name => /^[\w.-]+$/.test(name) ? name : `'${name.replaceAll("'", `'"'"'`)}'`);
  return [data.ask, ...(names.some(name => name.startsWith("-")) ? ["--"] : []), ...words].join(" ");
}
function direction(edge) {
  if (!edge.d) return "not decided";
  const forks = edge.v || [];
  if (forks.length) return `by ${forks.length === 1 ? "the v-structure" : "v-structures"} ` + forks.map(k => `${nodes[edge.a].n} → ${nodes[edge.b].n} ← ${nodes[k].n}`).join(", ");
  if (edge.r) return "could be reversed: an equivalent graph has it the other way";
  return data.directions;
}

/* -- the list of edges --------------------------------------------------------------------------------------- */

const COLUMNS = [
  ["a", "From", edge => nodes[edge.a].n], ["kind", "", edge => Object.keys(KINDS).indexOf(kindOf(edge))], ["b", "To", edge => nodes[edge.b].n],
  ...(MEASURES.some(([key]) => key === "s") ? [["s", data.unit || "Strength", edge => edge.s ?? null]] : []),
  ...(MEASURES.some(([key]) => key === "c") ? [["c", "Confidence", edge => edge.c ?? null]] : []),
];
const isNumber = key => key === "s" || key === "c";
function headings() {
  $("list").tHead.rows[0].replaceChildren(...COLUMNS.map(([key, words]) => {
    const now = state.sort === key;
    const button = make("button", { "aria-label": words || "Kind", text: words + (now ? (state.down ? " ↓" : " ↑") : ""), on: { click: () => {
      state.down = now ? !state.down : isNumber(key);
      state.sort = key;
      headings();
      list();
    } } });
    return make("th", { scope: "col", class: isNumber(key) ? "number" : "", "aria-sort": now ? (state.down ? "descending" : "ascending") : null }, button);
  }));
}
let rowOf = new Map();
function list() {
  const text = folded($("filter").value.trim());
  let numbers = [...visible.edges];
  if (text) numbers = numbers.filter(e => searched[edges[e].a].includes(text) || searched[edges[e].b].includes(text));
  const value = (COLUMNS.find(column => column[0] === state.sort) || COLUMNS[0])[2], sign = state.down ? -1 : 1;
  const order = new Intl.Collator("en", { numeric: true }).compare;
  const compared = state.sort !== "a" && state.sort !== "b" ? (x, y) => Math.abs(x) - Math.abs(y) : order;
  const keys = new Map(numbers.map(e => [e, value(edges[e])]));
  numbers.sort((d, e) => {
    const x = keys.get(d), y = keys.get(e);
    if (x === null || y === null) return (x === null) - (y === null) || d - e;
    return sign * compared(x, y) || d - e;
  });
  $("tab-edges").textContent = `Edges (${visible.edges.size.toLocaleString("en")})`;
  $("listed").textContent = numbers.length === edges.length ? count(edges.length, "edge") : `${numbers.length.toLocaleString("en")} of ${count(edges.length, "edge")}`;
  const few = state.all ? numbers : numbers.slice(0, LISTED);
  rowOf = new Map(few.map(e => [e, rowFor(e)]));
  $("list").tBodies[0].replaceChildren(...rowOf.values());
  $("more").hidden = few.length === numbers.length;
  $("more").textContent = `Show all ${numbers.length.toLocaleString("en")}`;
  select();
}
function rowFor(e) {
  const edge = edges[e];
  const cells = COLUMNS.map(([key, , value]) => {
    if (key === "kind") return make("td", { class: "kind", title: KINDS[kindOf(edge)] }, sample(kindOf(edge), edge.d), make("span", { class: "unseen", text: KINDS[kindOf(edge)] }));
    const text = isNumber(key) ? shown(value(edge)) : value(edge);
    return make("td", { class: isNumber(key) ? "number" : "", text, title: text });
  });
  return make("tr", { tabindex: "0", on: {
    click: () => pick([edge.a, edge.b], { tab: false }),
    dblclick: () => openTab("details"),
    keydown: event => {
      if (event.key === "Enter") pick([edge.a, edge.b]);
      const next = { ArrowDown: "nextElementSibling", ArrowUp: "previousElementSibling" }[event.key];
      if (next && event.currentTarget[next]) { event.currentTarget[next].focus(); event.preventDefault(); event.stopPropagation(); }
    },
    mouseenter: () => edgeAt(e).addClass("hover"), mouseleave: () => edgeAt(e).removeClass("hover"),
    focus: () => edgeAt(e).addClass("hover"), blur: () => edgeAt(e).removeClass("hover"),
  } }, ...cells);
}
function select() {
  for (const row of $("list").querySelectorAll('tr[aria-selected="true"]')) row.removeAttribute("aria-selected");
  if (!state.picked || state.picked.length !== 2) return;
  const row = rowOf.get(edgeOf.get(keyOf(...state.picked)));
  if (!row) return;
  row.setAttribute("aria-selected", "true");
  if (!$("edges").hidden) row.scrollIntoView({ block: "nearest" });
}
$("filter").addEventListener("input", list);
$("more").addEventListener("click", () => { state.all = true; list(); });

function openTab(name) {
  for (const one of ["details", "edges"]) {
    $(one).hidden = one !== name;
    $(`tab-${one}`).setAttribute("aria-selected", String(one === name));
    $(`tab-${one}`).tabIndex = one === name ? 0 : -1;
  }
  select();
}
for (const one of ["details", "edges"]) {
  $(`tab-${one}`).addEventListener("click", () => openTab(one));
  $(`tab-${one}`).addEventListener("keydown", event => {
    if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
    const other = one === "details" ? "edges" : "details";
    openTab(other);
    $(`tab-${other}`).focus();
    event.stopPropagation();
  });
}

/* -- pictures to keep ---------------------------------------------------------------------------------------- */

function save(blob, suffix) {
  const link = make("a", { href: URL.createObjectURL(blob), download: `${data.file}.${suffix}` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
$("png").addEventListener("click", async () => save(await cy.png({ output: "blob-promise", bg: css("paper"), scale: 2 }), "png"));
$("svg").addEventListener("click", () => save(new Blob([asSvg()], { type: "image/svg+xml" }), "svg"));

const escaped = text => text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "\ufffd").replace(/[&<>"]/g, c => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);
/* What is in the window as SVG: lines with rounded bends, arrowheads as triangles, names as text. */
function asSvg() {
  const view = cy.extent(), out = [], size = `${view.x1.toFixed(1)} ${view.y1.toFixed(1)} ${view.w.toFixed(1)} ${view.h.toFixed(1)}`;
  const met = box => box.x2 >= view.x1 && box.x1 <= view.x2 && box.y2 >= view.y1 && box.y1 <= view.y2;
  out.push(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="${size}" width="${cy.width()}" height="${cy.height()}" font-family="system-ui, sans-serif" font-size="13">`);
  out.push(`<rect x="${view.x1}" y="${view.y1}" width="${view.w}" height="${view.h}" fill="${css("paper")}"/>`);
  for (const e of visible.edges) {
    const element = edgeAt(e), edge = edges[e];
    if (!met(element.boundingBox())) continue;
    const points = [element.sourceEndpoint(), ...(element.segmentPoints() || []), element.targetEndpoint()];
    const end = points.at(-1), before = points.at(-2), long = Math.hypot(end.x - before.x, end.y - before.y) || 1;
    const ux = (end.x - before.x) / long, uy = (end.y - before.y) / long, width = element.numericStyle("width"), head = 6 + 2.2 * width;
    const stop = edge.d ? { x: end.x - ux * head * 0.8, y: end.y - uy * head * 0.8 } : end;
    const colour = css(kindOf(edge)), dash = DASH[kindOf(edge)], faded = element.numericStyle("opacity");
    let path = `M${points[0].x.toFixed(1)} ${points[0].y.toFixed(1)}`;
    for (let k = 1; k < points.length - 1; k++) {
      const [p, q, r] = [points[k - 1], points[k], k === points.length - 2 ? stop : points[k + 1]];
      const one = Math.min(18, Math.hypot(p.x - q.x, p.y - q.y) / 2), two = Math.min(18, Math.hypot(r.x - q.x, r.y - q.y) / 2);
      const toward = (s, d) => { const l = Math.hypot(s.x - q.x, s.y - q.y) || 1; return `${(q.x + (s.x - q.x) * d / l).toFixed(1)} ${(q.y + (s.y - q.y) * d / l).toFixed(1)}`; };
      path += ` L${toward(p, one)} Q${q.x.toFixed(1)} ${q.y.toFixed(1)} ${toward(r, two)}`;
    }
    path += ` L${stop.x.toFixed(1)} ${stop.y.toFixed(1)}`;
    out.push(`<path d="${path}" fill="none" stroke="${colour}" stroke-width="${width.toFixed(2)}" opacity="${faded}"${dash ? ` stroke-dasharray="${dash.join(" ")}"` : ""}/>`);
    if (edge.d) {
      const side = head * 0.45, x = end.x - ux * head, y = end.y - uy * head;
      out.push(`<path d="M${end.x.toFixed(1)} ${end.y.toFixed(1)} L${(x - uy * side).toFixed(1)} ${(y + ux * side).toFixed(1)} L${(x + uy * side).toFixed(1)} ${(y - ux * side).toFixed(1)} Z" fill="${colour}" opacity="${faded}"/>`);
    }
  }
  for (const i of visible.nodes) {
    const element = nodeAt(i), { x, y } = at[i], w = nodes[i].w;
    if (!met(element.boundingBox())) continue;
    out.push(`<g opacity="${element.numericStyle("opacity")}"><title>${escaped(nodes[i].n)}</title><rect x="${(x - w / 2).toFixed(1)}" y="${(y - HALF).toFixed(1)}" width="${w}" height="30" rx="7" fill="${element.style("background-color")}" stroke="${element.style("border-color")}" stroke-width="${element.numericStyle("border-width")}"/>`);
    out.push(`<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" text-anchor="middle" dominant-baseline="central" fill="${css("ink")}">${escaped(nodes[i].l)}</text></g>`);
  }
  out.push("</svg>");
  return out.join("\n");
}

/* -- keys, light and dark, start ----------------------------------------------------------------------------- */

function walk(key) {
  const i = picked();
  if (i === null) {
    const step = 60;
    cy.panBy({ ArrowUp: { x: 0, y: step }, ArrowDown: { x: 0, y: -step }, ArrowLeft: { x: step, y: 0 }, ArrowRight: { x: -step, y: 0 } }[key]);
    return;
  }
  const here = at[i], upwards = key === "ArrowUp", sideways = key === "ArrowLeft" || key === "ArrowRight";
  let others;
  if (sideways) others = [...visible.nodes].filter(j => Math.abs(at[j].y - here.y) < 1 && (key === "ArrowLeft" ? at[j].x < here.x : at[j].x > here.x));
  else others = [...visible.edges].map(e => edges[e]).filter(edge => edge.a === i || edge.b === i).map(edge => edge.a === i ? edge.b : edge.a).filter(j => upwards === at[j].y < here.y);
  others.sort((j, k) => Math.abs(at[j].x - here.x) - Math.abs(at[k].x - here.x) || j - k);
  if (others.length) {
    pick([others[0]]);
  }
}
document.addEventListener("keydown", event => {
  const typing = event.target.matches("input[type=search], input[type=number], select") || $("keys").open;
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape" && !$("keys").open) { clear(); return; }
  if (typing) return;
  const arrows = ["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"];
  if (arrows.includes(event.key)) {
    if (event.target.matches("input") || event.target.closest("aside")) return;
    walk(event.key);
    event.preventDefault();
    return;
  }
  const actions = {
    "/": () => { $("search").focus(); $("search").select(); }, "?": () => $("keys").showModal(),
    n: () => setFocus("near"), m: () => setFocus("blanket"), a: () => setFocus("all"),
    "[": () => deepen(-1), "]": () => deepen(1), e: () => openTab("edges"), d: () => openTab("details"), t: toggle,
    "+": () => zoomBy(1.3), "=": () => zoomBy(1.3), "-": () => zoomBy(1 / 1.3), "0": fitAll, f: fitAll,
  };
  if (actions[event.key]) { actions[event.key](); event.preventDefault(); }
});
function deepen(by) { state.depth = Math.min(9, Math.max(1, state.depth + by)); if (state.focus !== "all") draw({ fit: true }); else controls(); }
function zoomBy(factor) { cy.zoom({ level: cy.zoom() * factor, renderedPosition: { x: cy.width() / 2, y: cy.height() / 2 } }); }
$("in").addEventListener("click", () => zoomBy(1.3));
$("out").addEventListener("click", () => zoomBy(1 / 1.3));
$("fit").addEventListener("click", fitAll);
$("help").addEventListener("click", () => $("keys").showModal());

const dark = matchMedia("(prefers-color-scheme: dark)");
function theme(name) { root.dataset.theme = name; cy.style().fromJson(styles()).update(); }
function toggle() { theme(root.dataset.theme === "dark" ? "light" : "dark"); }
$("theme").addEventListener("click", toggle);
dark.addEventListener("change", () => theme(dark.matches ? "dark" : "light"));
root.dataset.theme = dark.matches ? "dark" : "light";

$("title").textContent = data.title;
$("summary").textContent = data.summary;
for (const [key, words] of MEASURES) $("measure").append(make("option", { value: key, text: words }));
$("measure").classList.toggle("single", MEASURES.length < 2);
$("cut-control").hidden = !MEASURES.length;
if (MEASURES.length) measure(MEASURES[0][0]);
state.sort = MEASURES.length ? MEASURES[0][0] : "a";
state.down = MEASURES.length > 0;
legend();
headings();
choose();
controls();
paint();
listen();
draw();
details();
let usual = { w: cy.width(), h: cy.height() };
new ResizeObserver(() => {
  cy.resize();
  if (cy.width() !== usual.w && cy.width()) { usual = { w: cy.width(), h: cy.height() }; fitAll(); }
}).observe($("cy"));
globalThis.f2slPage = { cy, state, pick, visible: () => visible };   // for tests and the curious
root.dataset.ready = "yes";
})();
