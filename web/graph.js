/*
 * graph - the phases of a run by layers, as SVG.
 *
 * A phase stands behind all that it depends on. Edges that pass a layer get a place in it, so they cross
 * no phase. Layers are ordered by the mean place of their neighbours. Work that a gate sent back is a
 * dashed edge below, with how often. On a narrow screen layers go downwards.
 */
import { h, kindOf, mark, s } from './dom.js';
import { clean, duration, short } from './text.js';

const W = 166, H = 58, GAP = 18, BETWEEN = 48, LANE = 22, PAD = 10;

/* Pure: [{name, deps}] -> layers of {name} or {via} with links between neighbouring layers. */
export function layered(phases) {
  const known = new Map(phases.map((p) => [p.name, p]));
  const level = new Map();
  const levelOf = (name, seen) => {
    if (level.has(name)) return level.get(name);
    if (seen.has(name)) return 0;
    seen.add(name);
    const deps = known.get(name).deps.filter((d) => known.has(d));
    const n = deps.length ? 1 + Math.max(...deps.map((d) => levelOf(d, seen))) : 0;
    level.set(name, n);
    return n;
  };
  phases.forEach((p) => levelOf(p.name, new Set()));
  const layers = [], nodes = new Map(), links = [];
  const place = (node, at) => {
    (layers[at] ??= []).push(node);
    node.layer = at;
    return node;
  };
  for (const p of phases) nodes.set(p.name, place({ name: p.name, up: [], down: [] }, level.get(p.name)));
  const join = (a, b) => { a.down.push(b); b.up.push(a); };
  for (const p of phases)
    for (const d of new Set(p.deps.filter((x) => known.has(x)))) {
      const way = [nodes.get(d)];
      for (let l = level.get(d) + 1; l < level.get(p.name); l++) {
        const via = place({ via: true, up: [], down: [] }, l);
        join(way[way.length - 1], via);
        way.push(via);
      }
      const end = nodes.get(p.name);
      join(way[way.length - 1], end);
      way.push(end);
      links.push({ from: d, to: p.name, way });
    }
  const number = () => layers.forEach((l) => l.forEach((n, i) => { n.i = i; }));
  const mean = (list) => list.reduce((sum, n) => sum + n.i + 0.5, 0) / list.length;
  number();
  for (let turn = 0; turn < 6; turn++) {
    const downward = turn % 2 === 0, order = downward ? layers : [...layers].reverse();
    for (const l of order) {
      const w = new Map(l.map((n) => [n, (downward ? n.up : n.down).length ? mean(downward ? n.up : n.down) : n.i + 0.5]));
      l.sort((a, b) => w.get(a) - w.get(b) || a.i - b.i);
      l.forEach((n, i) => { n.i = i; });
    }
  }
  return { layers, nodes, links };
}

/* Pixels. `across`: layers stand side by side; else below each other. */
function positions({ layers }, across) {
  const thick = (n) => (n.via ? 8 : across ? H : W);
  const extent = (l) => l.reduce((sum, n) => sum + thick(n) + GAP, -GAP);
  const most = Math.max(...layers.map(extent));
  layers.forEach((l, k) => {
    let at = PAD + (most - extent(l)) / 2;
    for (const n of l) {
      const main = PAD + (across ? 22 : 0) + k * ((across ? W : H) + (across ? BETWEEN : 44));
      [n.x, n.y] = across ? [main, at] : [at, main];
      [n.w, n.h] = n.via ? (across ? [W, 8] : [8, H]) : [W, H];
      at += thick(n) + GAP;
    }
  });
  const main = PAD * 2 + (across ? 22 : 0) + layers.length * (across ? W : H) + (layers.length - 1) * (across ? BETWEEN : 44);
  return across ? [main, most + 2 * PAD] : [most + 2 * PAD, main];
}

function curve(way, across) {
  let d = '';
  way.forEach((n, i) => {
    const inn = across ? [n.x, n.y + n.h / 2] : [n.x + n.w / 2, n.y], out = across ? [n.x + n.w, n.y + n.h / 2] : [n.x + n.w / 2, n.y + n.h];
    if (i === 0) {
      d = `M${out}`;
      return;
    }
    const before = way[i - 1], from = across ? [before.x + before.w, before.y + before.h / 2] : [before.x + before.w / 2, before.y + before.h];
    const mid = across ? (from[0] + inn[0]) / 2 : (from[1] + inn[1]) / 2;
    d += across ? `C${mid} ${from[1]} ${mid} ${inn[1]} ${inn}` : `C${from[0]} ${mid} ${inn[0]} ${mid} ${inn}`;
    if (n.via) d += `L${out}`;
  });
  return d;
}

const gateShape = (x, y, w, t) => `M${x + 12} ${y}H${x + w - 12}L${x + w} ${y + t / 2}L${x + w - 12} ${y + t}H${x + 12}L${x} ${y + t / 2}Z`;

/*
 * phases: as GET /runs/:id has them; back: [{from, to, n}]; href: (name) => the link of a phase.
 */
let nth = 0;
export function graph(phases, back, { href, chosen, narrow, asked = new Map() }) {
  const tip = 'tip' + ++nth;
  const g = layered(phases.map((p) => ({ name: p.phase, deps: p.depends_on || [] })));
  const across = !narrow;
  let [width, height] = positions(g, across);
  const by = new Map(phases.map((p) => [p.phase, p]));
  const edges = g.links.map((l) => {
    const from = by.get(l.from), done = from.state === 'done' || from.state === 'skipped';
    return s('path', { class: 'edge' + (done ? ' done' : ''), d: curve(l.way, across), 'marker-end': `url(#${tip})` });
  });
  back.filter((b) => g.nodes.has(b.from) && g.nodes.has(b.to)).forEach((b, k) => {
    const a = g.nodes.get(b.from), z = g.nodes.get(b.to), gate = by.get(b.from);
    const label = (b.n === 1 ? 'sent back' : `sent back ${b.n}×`) + (across && gate.iteration ? `, iteration ${gate.iteration} of ${gate.max_iterations}` : '');
    const self = a === z ? 20 : 0;
    if (across) {
      /* from below, where nothing stands there; else through the gap between the layers */
      const y = height + 12 + k * LANE, r = 12, low = (n) => !g.layers[n.layer].some((o) => o !== n && o.y > n.y);
      const ax = low(a) ? a.x + a.w / 2 + self : a.x + a.w + 14, zx = low(z) ? z.x + z.w / 2 - self : z.x - 26;
      const out = low(a) ? `M${ax} ${a.y + a.h}` : `M${a.x + a.w} ${a.y + a.h * 0.72}Q${ax} ${a.y + a.h * 0.72} ${ax} ${a.y + a.h * 0.72 + r}`;
      const into = low(z) ? `V${z.y + z.h + 7}` : `V${z.y + z.h * 0.78 + r}Q${zx} ${z.y + z.h * 0.78} ${zx + r} ${z.y + z.h * 0.78}H${z.x - 7}`;
      edges.push(s('path', { class: 'edge back', d: `${out}V${y - r}Q${ax} ${y} ${ax - r} ${y}H${zx + r}Q${zx} ${y} ${zx} ${y - r}${into}`, 'marker-end': `url(#${tip}b)` }),
        s('text', { class: 'back', x: (ax + zx) / 2, y: y - 5, 'text-anchor': 'middle' }, label));
    } else {
      /* from the right, where nothing stands there; else through the gap between the layers */
      const x = width + 4 + k * LANE, r = 10, last = (n) => !g.layers[n.layer].some((o) => o !== n && o.x > n.x);
      const ay = last(a) ? a.y + a.h / 2 + self / 2 : a.y + a.h + 14, zy = last(z) ? z.y + z.h / 2 - self / 2 : z.y - 22;
      const out = last(a) ? `M${a.x + a.w} ${ay}` : `M${a.x + a.w * 0.72} ${a.y + a.h}Q${a.x + a.w * 0.72} ${ay} ${a.x + a.w * 0.72 + r} ${ay}`;
      const into = last(z) ? `H${z.x + z.w + 7}` : `H${z.x + z.w * 0.78 + r}Q${z.x + z.w * 0.78} ${zy} ${z.x + z.w * 0.78} ${zy + r}V${z.y - 7}`;
      edges.push(s('path', { class: 'edge back', d: `${out}H${x - r}Q${x} ${ay} ${x} ${ay - r}V${zy + r}Q${x} ${zy} ${x - r} ${zy}${into}`, 'marker-end': `url(#${tip}b)` }),
        s('text', { class: 'back', x: x - 4, y: (ay + zy) / 2, 'text-anchor': 'end' }, label));
    }
  });
  const lanes = back.length;
  if (!across && lanes) height += 8;
  if (across) height += lanes ? lanes * LANE : 0;
  else width += lanes ? 14 + lanes * LANE : 0;
  const nodes = phases.map((p) => node(p, g.nodes.get(p.phase), href(p.phase), p.phase === chosen, asked.get(p.phase)));
  const said = phases.map((p) => `${p.phase} ${p.state}`).join(', ');
  const svg = s('svg', { class: 'graph', width, height, viewBox: `0 0 ${width} ${height}`, role: 'group', 'aria-label': 'Phases: ' + clean(short(said, 400)) },
    s('defs', {},
      s('marker', { id: tip, viewBox: '0 0 8 8', refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: 'auto' }, s('path', { class: 'tip', d: 'M0 .5L7.5 4L0 7.5z' })),
      s('marker', { id: tip + 'b', viewBox: '0 0 8 8', refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: 'auto' }, s('path', { class: 'tip back', d: 'M0 .5L7.5 4L0 7.5z' }))),
    edges, nodes);
  /* a little too wide: smaller; much too wide: it scrolls */
  Object.assign(svg.style, { maxWidth: '100%', height: 'auto', minWidth: Math.round(width * 0.72) + 'px' });
  return svg;
}

function node(p, at, href, chosen, asked) {
  const gate = p.type === 'gate', team = p.type === 'team', x = at.x, y = at.y;
  const more = asked ? 'waits for ' + asked.map(clean).join(', ') : [gate && p.iteration ? `${p.iteration} of ${p.max_iterations}` : p.attempts > 1 ? `attempt ${p.attempts}` : '', p.duration_ms !== undefined ? duration(p.duration_ms) : ''].filter(Boolean).join(' · ') || (p.agent ? clean(p.agent) : p.state);
  const look = asked ? 'escalated' : p.state, kind = kindOf(look), label = `${p.phase}: ${p.state}${asked ? ', ' + more : ''}${gate ? ', gate' + (p.iteration ? `, iteration ${p.iteration} of ${p.max_iterations}` : '') : ''}${team ? ', team' : ''}`;
  const icon = mark(look, 16);
  icon.setAttribute('x', x + (gate ? 18 : 12));
  icon.setAttribute('y', y + 13);
  const left = x + (gate ? 41 : 35), room = gate ? 14 : 16;
  return s('a', { href: '#/' + href, class: `node ${kind}` + (chosen ? ' chosen' : ''), 'aria-current': chosen ? 'true' : null },
    s('title', {}, label + (p.progress ? '\n' + clean(short(p.progress, 200)) : '')),
    team ? s('rect', { class: 'box under', x: x + 4, y: y + 4, width: W, height: H, rx: 9 }) : null,
    gate ? s('path', { class: 'box', d: gateShape(x, y, W, H) }) : s('rect', { class: 'box', x, y, width: W, height: H, rx: 9 }),
    icon,
    s('text', { class: 'name', x: left, y: y + 26 }, clean(short(p.phase, room))),
    s('text', { class: 'more', x: left, y: y + 44 }, short(more, room + 3)));
}

/* ---- attempts over time ---- */

/* Pure: the journal -> [{phase, attempt, from, to, outcome, verdict, text}], and what gates sent back. */
export function attempts(journal) {
  const list = [], open = new Map(), back = new Map();
  let began, ended;
  for (const e of journal) {
    const at = Date.parse(e.at), id = e.phase + '.' + e.attempt;
    if (e.ev === 'begin') began = at;
    if (e.ev === 'end') ended = at;
    if (e.ev === 'rerun') ended = undefined;
    if (e.ev === 'started') {
      const a = { phase: e.phase, attempt: e.attempt, from: at, agent: e.agent };
      open.set(id, a);
      list.push(a);
    } else if (e.ev === 'result' && open.has(id)) {
      Object.assign(open.get(id), { to: at, outcome: e.outcome, verdict: e.verdict, text: e.text, usage: e.usage });
      open.delete(id);
      if (e.verdict?.outcome === 'ROUTE' && e.verdict.target) {
        const key = e.phase + '\n' + e.verdict.target;
        back.set(key, (back.get(key) || 0) + 1);
      }
    }
  }
  for (const a of open.values()) if (ended) a.to = ended, a.outcome ??= 'cancelled';
  return { list, began, ended, back: [...back].map(([k, n]) => ({ from: k.split('\n')[0], to: k.split('\n')[1], n })) };
}

export const outcomeOf = (a) => (!a.outcome ? 'running' : a.verdict?.outcome === 'ROUTE' ? 'route' : a.verdict?.outcome === 'ESCALATE' ? 'escalate' : a.outcome);

export function timeline(found, phases, { href, now }) {
  const from = found.began || 0, to = Math.max(from + 1, ...found.list.map((a) => a.to || now), found.ended || 0), span = to - from;
  const place = (el, a, b) => {
    el.style.left = (100 * (a - from)) / span + '%';
    el.style.width = Math.max(0.4, (100 * (b - a)) / span) + '%';
    return el;
  };
  const rows = phases.filter((p) => found.list.some((a) => a.phase === p.phase)).map((p) => h('li', { class: 'bars' },
    h('span', { class: 'bars-name' }, clean(p.phase)),
    h('span', { class: 'bars-line' }, found.list.filter((a) => a.phase === p.phase).map((a) => {
      const what = outcomeOf(a);
      const words = `${a.phase}, attempt ${a.attempt}: ${what === 'route' ? 'sent back to ' + a.verdict.target : what}, ${duration((a.to || now) - a.from)}`;
      return place(h('a', { class: 'bar ' + kindOf(what), href: '#/' + href(a), title: words + (a.text ? '\n' + clean(short(a.text, 300)) : ''), 'aria-label': words }), a.from, a.to || now);
    }))));
  return h('div', { class: 'timeline' }, h('ol', { 'aria-label': 'Attempts over time' }, rows), h('div', { class: 'scale', 'aria-hidden': 'true' }, [0, 0.25, 0.5, 0.75, 1].map((f) => h('span', {}, duration(span * f)))));
}
