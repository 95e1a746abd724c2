/*
 * text - words, times and sizes as people read them; markdown as elements.
 */
import { h } from './dom.js';

/* Characters that hide or turn others: shown by their number in names, which must not look like others. */
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u115f\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\ufff9-\ufffb]/g;
export const clean = (text) => String(text ?? '').replace(HIDDEN, (c) => '‹' + c.codePointAt(0).toString(16) + '›');
export const short = (text, n) => {
  const t = String(text ?? '');
  return t.length > n ? t.slice(0, n) + '…' : t;
};
/* One line of something long, for a list. */
export const oneLine = (text, n = 240) => clean(short(String(text ?? '').slice(0, 2 * n).replace(/\s+/g, ' ').trim(), n));

let skew = 0;
export const setNow = (iso) => { skew = Date.parse(iso) - Date.now(); };
export const now = () => Date.now() + skew;

export function duration(ms) {
  if (ms === undefined || ms === null || Number.isNaN(ms)) return '';
  if (ms < 1000) return Math.max(0, Math.round(ms)) + ' ms';
  const s = ms / 1000;
  if (s < 60) return (s < 10 ? s.toFixed(1) : Math.round(s)) + ' s';
  const m = Math.floor(s / 60);
  if (m < 60) return m + ' min' + (m < 10 && s % 60 >= 1 ? ' ' + Math.floor(s % 60) + ' s' : '');
  const hours = Math.floor(m / 60);
  if (hours < 48) return hours + ' h' + (m % 60 ? ' ' + (m % 60) + ' min' : '');
  return Math.floor(hours / 24) + ' days';
}
const HM = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', second: '2-digit', hour12: false });
const DAY = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' });
const FULL = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
export const clock = (at) => (at ? HM.format(new Date(at)) : '');
export const full = (at) => (at ? FULL.format(new Date(at)) : '');
export function when(at) {
  const t = typeof at === 'number' ? at : Date.parse(at);
  if (!t) return '';
  const gone = now() - t;
  if (gone < 0) return 'in ' + duration(-gone);
  if (gone < 45000) return 'now';
  if (gone < 3600000) return Math.round(gone / 60000) + ' min ago';
  if (gone < 20 * 3600000) return Math.round(gone / 3600000) + ' h ago';
  return DAY.format(new Date(t)) + ' ' + HM.format(new Date(t)).slice(0, 5);
}
/* A <time> whose words grow old by themselves (app.js ages them). */
export const time = (at, words = when) => {
  if (!at) return null;
  const t = typeof at === 'number' ? at : Date.parse(at);
  return h('time', { datetime: new Date(t).toISOString(), title: full(t), 'data-age': words === when ? '' : null }, words(at));
};
export const size = (n) => (n < 1024 ? n + ' B' : n < 1048576 ? (n / 1024).toFixed(n < 10240 ? 1 : 0) + ' kB' : n < 1073741824 ? (n / 1048576).toFixed(1) + ' MB' : (n / 1073741824).toFixed(2) + ' GB');
export const number = (n) => new Intl.NumberFormat().format(n);
export const plural = (n, one, many = one + 's') => number(n) + ' ' + (n === 1 ? one : many);
export const money = (usd) => '$' + (usd < 0.01 && usd > 0 ? usd.toFixed(4) : usd.toFixed(2));

/* "1.2 M tokens · $0.42" */
export function usage(u) {
  if (!u) return '';
  const tokens = u.tokens ?? ((u.input_tokens || 0) + (u.output_tokens || 0));
  const words = tokens >= 1e6 ? (tokens / 1e6).toFixed(1) + ' M' : tokens >= 10000 ? Math.round(tokens / 1000) + ' k' : number(tokens);
  return [tokens ? words + ' tokens' : '', u.cost_usd !== undefined ? money(u.cost_usd) : u.cost_usd_min ? money(u.cost_usd_min) + '+' : ''].filter(Boolean).join(' · ');
}

/* ---- long texts ---- */

const CUT = 20000;

/* Any text as it is, the rest of a long one on request. */
export function plain(text, props = {}) {
  const t = String(text ?? '');
  const box = h('pre', { class: 'text', dir: 'auto', tabindex: '0', ...props }, t.slice(0, CUT));
  return t.length > CUT ? h('div', {}, box, more(t, () => { box.textContent = t; })) : box;
}
function more(t, show) {
  const b = h('button', { type: 'button', class: 'more' }, 'Show all ' + size(t.length));
  b.addEventListener('click', () => { show(); b.remove(); });
  return b;
}
export const json = (value) => (typeof value === 'string' ? value : JSON.stringify(value, null, 2));

/* ---- markdown ---- */

/*
 * A safe subset: headings, lists, quotes, fences, rules, tables as text; emphasis, code, links to http(s).
 * It builds elements, so HTML in the text is text. Long texts are cut, as plain() does.
 */
export function markdown(text) {
  const t = String(text ?? '').replace(/\r\n?/g, '\n');
  const box = h('div', { class: 'md', dir: 'auto' });
  blocks(box, t.slice(0, CUT).split('\n'), 0);
  if (t.length > CUT) box.append(more(t, () => { box.replaceChildren(h('pre', { class: 'text', tabindex: '0' }, t)); }));
  return box;
}

const ITEM = /^(\s*)(?:([-*+])|(\d{1,6})[.)])\s+(.*)$/;

function blocks(to, lines, depth) {
  let para = [];
  const flush = () => {
    if (para.length) to.append(inline(h('p', {}), para.join('\n')));
    para = [];
  };
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i];
    let m;
    if ((m = /^\s{0,3}(```+|~~~+)\s*([\w+-]*)/.exec(line))) {
      flush();
      const body = [];
      while (++i < lines.length && !lines[i].trim().startsWith(m[1])) body.push(lines[i]);
      to.append(h('pre', { class: 'text code', tabindex: '0' }, body.join('\n')));
    } else if ((m = /^(#{1,6})\s+(.*?)\s*#*$/.exec(line))) {
      flush();
      to.append(inline(h('h' + Math.min(6, m[1].length + 2), {}), m[2]));
    } else if (/^\s{0,3}([-*_])(\s*\1){2,}\s*$/.test(line)) {
      flush();
      to.append(h('hr'));
    } else if (/^\s{0,3}>/.test(line) && depth < 5) {
      flush();
      const body = [];
      while (i < lines.length && /^\s{0,3}>/.test(lines[i])) body.push(lines[i++].replace(/^\s{0,3}> ?/, ''));
      i--;
      const quote = h('blockquote');
      blocks(quote, body, depth + 1);
      to.append(quote);
    } else if ((m = ITEM.exec(line)) && depth < 5) {
      flush();
      i = list(to, lines, i, depth);
    } else if (/^\s*\|.*\|\s*$/.test(line)) {
      flush();
      const rows = [];
      while (i < lines.length && /^\s*\|.*\|\s*$/.test(lines[i])) rows.push(lines[i++]);
      i--;
      to.append(table(rows));
    } else if (!line.trim()) {
      flush();
    } else {
      para.push(line);
    }
  }
  flush();
}

function list(to, lines, i, depth) {
  const first = ITEM.exec(lines[i]), deep = first[1].length;
  const ul = h(first[3] ? 'ol' : 'ul', first[3] && first[3] !== '1' ? { start: first[3] } : {});
  for (let m; i < lines.length && (m = ITEM.exec(lines[i])) && m[1].length <= deep + 1 && !!m[3] === !!first[3];) {
    const body = [m[4]];
    while (++i < lines.length && (/^\s{2,}\S/.test(lines[i]) && !(ITEM.exec(lines[i]) && ITEM.exec(lines[i])[1].length <= deep + 1) || (!lines[i].trim() && /^\s{2,}\S/.test(lines[i + 1] || ''))))
      body.push(lines[i].replace(new RegExp('^\\s{0,' + (deep + 4) + '}'), ''));
    const li = h('li');
    const box = /^\[([ xX])\]\s+(.*)$/.exec(body[0]);
    if (box) {
      li.className = 'task';
      li.append(h('span', { class: 'box', role: 'img', 'aria-label': box[1] === ' ' ? 'open' : 'done' }, box[1] === ' ' ? '☐' : '☑'), ' ');
      body[0] = box[2];
    }
    if (body.length === 1) inline(li, body[0]);
    else blocks(li, body, depth + 1);
    ul.append(li);
    while (i < lines.length && !lines[i].trim() && ITEM.test(lines[i + 1] || '')) i++;
  }
  to.append(ul);
  return i - 1;
}

function table(rows) {
  const cells = (r) => r.trim().replace(/^\||\|$/g, '').split('|').slice(0, 50);
  const body = rows.filter((r) => !/^\s*\|[\s:|-]+\|\s*$/.test(r)), head = body.length < rows.length;
  return h('div', { class: 'scroll', tabindex: '0', role: 'group', 'aria-label': 'table' }, h('table', {}, body.map((r, i) => h('tr', {}, cells(r).map((c) => inline(h(head && i === 0 ? 'th' : 'td'), c.trim()))))));
}

const INLINE = /(`+)([\s\S]*?[^`])\1(?!`)|\*\*(?=\S)([^*]+?)\*\*|__(?=\S)([^_]+?)__|(?<![\w*])\*(?=\S)([^*\n]+?)\*(?!\w)|(?<!\w)_(?=\S)([^_\n]+?)_(?!\w)|~~([^~\n]+)~~|\[([^\]\n]{1,500})\]\(([^)\s]{1,2000})\)|(https?:\/\/[^\s<>"')\]]{1,2000})/g;

function inline(to, text) {
  let at = 0;
  for (const m of text.matchAll(INLINE)) {
    if (m.index > at) to.append(text.slice(at, m.index));
    at = m.index + m[0].length;
    if (m[1]) to.append(h('code', {}, m[2].trim()));
    else if (m[3] || m[4]) to.append(h('strong', {}, m[3] || m[4]));
    else if (m[5] || m[6]) to.append(h('em', {}, m[5] || m[6]));
    else if (m[7]) to.append(h('del', {}, m[7]));
    else if (m[8]) to.append(web(m[9], m[8], m[0]));
    else to.append(web(m[10], m[10], m[0]));
  }
  if (at < text.length) to.append(text.slice(at));
  return to;
}

/* Only http(s); the address is shown, so that a link does not lie. */
function web(href, label, raw) {
  let url;
  try { url = new URL(href); } catch { return raw; }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return raw;
  return h('a', { href: url.href, target: '_blank', rel: 'noopener noreferrer', title: url.href }, label);
}

/* ---- differences ---- */

/* Two texts line by line: [[' ' | '-' | '+', line]]. */
export function diff(a, b) {
  const x = a.split('\n'), y = b.split('\n');
  let head = 0, tail = 0;
  while (head < x.length && head < y.length && x[head] === y[head]) head++;
  while (tail < x.length - head && tail < y.length - head && x[x.length - 1 - tail] === y[y.length - 1 - tail]) tail++;
  const p = x.slice(head, x.length - tail), q = y.slice(head, y.length - tail), out = x.slice(0, head).map((l) => [' ', l]);
  if (p.length * q.length > 4e6) {
    out.push(...p.map((l) => ['-', l]), ...q.map((l) => ['+', l]));
  } else {
    const w = q.length + 1, len = new Uint32Array((p.length + 1) * w);
    for (let i = p.length - 1; i >= 0; i--)
      for (let j = q.length - 1; j >= 0; j--)
        len[i * w + j] = p[i] === q[j] ? len[(i + 1) * w + j + 1] + 1 : Math.max(len[(i + 1) * w + j], len[i * w + j + 1]);
    for (let i = 0, j = 0; i < p.length || j < q.length;) {
      if (i < p.length && j < q.length && p[i] === q[j]) { out.push([' ', p[i++]]); j++; }
      else if (i < p.length && (j === q.length || len[(i + 1) * w + j] >= len[i * w + j + 1])) out.push(['-', p[i++]]);
      else out.push(['+', q[j++]]);
    }
  }
  out.push(...x.slice(x.length - tail).map((l) => [' ', l]));
  return out;
}
export function showDiff(rows) {
  const shown = rows.filter(([c], i) => c !== ' ' || rows.slice(Math.max(0, i - 3), i + 4).some(([d]) => d !== ' ')).slice(0, 2000);
  return h('pre', { class: 'text diff', tabindex: '0' }, shown.length ? shown.map(([c, l]) => h('span', { class: c === '+' ? 'plus' : c === '-' ? 'minus' : '' }, c + ' ' + l + '\n')) : 'No difference.');
}

/* What git diff printed: [{name, kind, plus, minus, body}], a file each; `body` begins at its first hunk. */
export function patchOf(text) {
  return text.split(/^(?=diff --git )/m).filter(Boolean).map((part) => {
    const at = part.search(/^(@@|Binary files )/m), head = at < 0 ? part : part.slice(0, at), body = at < 0 ? '' : part.slice(at);
    const line = (re) => re.exec(head)?.[1].replace(/\t$/, '');
    const to = line(/^\+\+\+ (.*)$/m), from = line(/^--- (.*)$/m);
    const name = line(/^rename to (.*)$/m) ?? (to && to !== '/dev/null' ? to : from)?.replace(/^("?)[ab]\//, '$1') ?? line(/^diff --git .* "?b\/(.*?)"?$/m) ?? head.split('\n')[0];
    const was = line(/^rename from (.*)$/m);
    const kind = was ? 'was ' + was : /^new file/m.test(head) ? 'new' : /^deleted file/m.test(head) ? 'deleted' : body.startsWith('Binary') ? 'binary' : /^new mode (\d+)$/m.test(head) ? 'mode ' + line(/^new mode (\d+)$/m) : '';
    const count = (c) => body.split('\n').filter((l) => l[0] === c).length;
    return { name, kind, plus: count('+'), minus: count('-'), body: body.replace(/\n$/, '') };
  });
}

const PATCH_LINES = 1000;
/* The hunks of a file. */
export function showPatch(text) {
  const lines = text.split('\n'), box = h('pre', { class: 'text diff', tabindex: '0' });
  const show = (some) => box.append(...some.map((l) =>
    h('span', { class: l[0] === '+' ? 'plus' : l[0] === '-' ? 'minus' : l.startsWith('@@') ? 'hunk' : '' }, clean(l.replace(/\r$/, '')) + '\n')));
  show(lines.slice(0, PATCH_LINES));
  return lines.length > PATCH_LINES ? h('div', {}, box, more(text, () => show(lines.slice(PATCH_LINES)))) : box;
}
