/*
 * dom - elements made from values; text only ever becomes text.
 *
 * No other module sets innerHTML or its like, so whatever an agent writes is shown and never run.
 */
const SVG = 'http://www.w3.org/2000/svg';

function fill(el, props, kids) {
  for (const [key, value] of Object.entries(props || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith('on')) el.addEventListener(key.slice(2), value);
    else if (key === 'value') el.value = value;
    else if (key === 'checked') el.checked = value;
    else el.setAttribute(key, value === true ? '' : value);
  }
  add(el, kids);
  return el;
}

export function add(el, kids) {
  for (const kid of kids.flat(Infinity)) {
    if (kid === null || kid === undefined || kid === false) continue;
    el.append(kid instanceof Node ? kid : String(kid));
  }
  return el;
}

export const h = (tag, props, ...kids) => fill(document.createElement(tag), props, kids);
export const s = (tag, props, ...kids) => fill(document.createElementNS(SVG, tag), props, kids);

export function put(el, ...kids) {
  el.replaceChildren();
  return add(el, kids);
}

/* Draws again only when `key` changed: focus and selection stay. */
export function redraw(el, key, make) {
  if (el.drawn === key) return;
  el.drawn = key;
  put(el, make());
}

/* A live region that screen readers hear: what happened. */
let said;
export function say(text) {
  if (!said) {
    said = h('div', { class: 'heard', role: 'status', 'aria-live': 'polite' });
    document.body.append(said);
  }
  said.textContent = '';
  requestAnimationFrame(() => { said.textContent = text; });
}

/* ---- toasts ---- */

let toasts;
export function toast(text, kind = 'note') {
  if (!toasts) {
    toasts = h('div', { class: 'toasts' });
    document.body.append(toasts);
  }
  const it = h('div', { class: 'toast ' + kind, role: kind === 'error' ? 'alert' : 'status' },
    h('span', { dir: 'auto' }, text),
    h('button', { class: 'plain', 'aria-label': 'Dismiss', onclick: () => it.remove() }, '×'));
  toasts.append(it);
  while (toasts.children.length > 4) toasts.firstChild.remove();
  setTimeout(() => it.remove(), kind === 'error' ? 12000 : 3500);
}

/* Runs an action of a button: it is disabled meanwhile, and a refusal is shown. */
export async function act(button, work, done) {
  if (button) button.disabled = true;
  try {
    const answer = await work();
    if (done) toast(typeof done === 'function' ? done(answer) : done);
    return answer;
  } catch (e) {
    toast(e.message, 'error');
    return undefined;
  } finally {
    if (button) button.disabled = false;
  }
}

/* ---- dialogs ---- */

/* A dialog with a form; `submit` is told its values and may throw, which is shown in it. */
export function dialog(title, body, { label = 'OK', kind = '', submit, cancel = 'Cancel', wide = false } = {}) {
  return new Promise((resolve) => {
    const problem = h('p', { class: 'problem', role: 'alert' });
    const go = submit && h('button', { class: 'primary ' + kind, type: 'submit' }, label);
    const form = h('form', {
      onsubmit: async (e) => {
        e.preventDefault();
        problem.textContent = '';
        if (go) go.disabled = true;
        try {
          const answer = submit ? await submit(Object.fromEntries(new FormData(form))) : true;
          box.close();
          resolve(answer === undefined ? true : answer);
        } catch (err) {
          problem.textContent = err.message;
        } finally {
          if (go) go.disabled = false;
        }
      },
    }, h('h2', { id: 'dialog-title' }, title), h('div', { class: 'fields' }, body), problem,
    h('div', { class: 'buttons' }, go,
      h('button', { type: 'button', onclick: () => box.close() }, submit ? cancel : 'Close')));
    const box = h('dialog', { class: wide ? 'wide' : '', 'aria-labelledby': 'dialog-title', onclose: () => { box.remove(); resolve(null); } }, form);
    document.body.append(box);
    box.showModal();
    const first = form.querySelector('input,textarea,select');
    if (first) first.focus();
  });
}

export const confirm = (title, text, label, submit) =>
  dialog(title, h('p', {}, text), { label, kind: 'danger', submit });

let nth = 0;
export function field(label, control, hint) {
  const id = 'f' + ++nth;
  const it = control.matches('input,select,textarea') ? control : control.querySelector('input,select,textarea') ?? control;
  it.id = id;
  if (hint) it.setAttribute('aria-describedby', id + 'h');
  return h('div', { class: 'field' }, h('label', { for: id }, label), control, hint && h('small', { id: id + 'h' }, hint));
}
export const input = (name, props = {}) => h('input', { name, autocomplete: 'off', spellcheck: 'false', ...props });
export const select = (name, options, value, props = {}) =>
  h('select', { name, ...props }, options.map((o) => {
    const [v, label] = Array.isArray(o) ? o : [o, o];
    return h('option', { value: v, selected: v === value }, label);
  }));

/* ---- small parts ---- */

export function button(label, onclick, props = {}) {
  const b = h('button', { type: 'button', ...props }, label);
  b.addEventListener('click', (e) => { e.stopPropagation(); onclick(b, e); });
  return b;
}
export const link = (to, props, ...kids) => h('a', { href: '#/' + to, ...props }, kids);
export const empty = (text, more) => h('div', { class: 'empty' }, h('p', {}, text), more);
export const chip = (text, kind = '') => h('span', { class: 'chip ' + kind, dir: 'auto' }, text);

/* A table; on a phone a row is a card that says what each cell is. The roles keep it a table there, too. */
export function table(heads, rows) {
  for (const r of rows) {
    r.setAttribute('role', 'row');
    [...r.children].forEach((cell, i) => {
      cell.setAttribute('role', 'cell');
      if (heads[i] && i) cell.dataset.of = heads[i];
    });
  }
  return h('div', { class: 'scroll', tabindex: '0', role: 'group', 'aria-label': heads[0] }, h('table', { class: 'table', role: 'table' },
    h('thead', { role: 'rowgroup' }, h('tr', { role: 'row' }, heads.map((t) => h('th', { scope: 'col', role: 'columnheader' }, t || h('span', { class: 'heard' }, 'Actions'))))),
    h('tbody', { role: 'rowgroup' }, rows)));
}

/* Tabs as a row of links. */
export function tabs(label, list, now) {
  return h('nav', { class: 'tabs', 'aria-label': label }, list.filter(Boolean).map(([to, name, n]) =>
    link(to, { 'aria-current': to === now ? 'page' : null }, name, n ? h('span', { class: 'count' }, n) : null)));
}

/* State marks: each state has a shape of its own, not only a colour. */
const SHAPES = {
  done: [['circle', { cx: 8, cy: 8, r: 7, class: 'fill' }], ['path', { d: 'M4.8 8.2l2.2 2.2 4.2-4.6', class: 'cut' }]],
  run: [['circle', { cx: 8, cy: 8, r: 6, class: 'ring faint' }], ['path', { d: 'M8 2a6 6 0 0 1 6 6', class: 'ring turn' }], ['circle', { cx: 8, cy: 8, r: 2, class: 'fill' }]],
  wait: [['circle', { cx: 8, cy: 8, r: 6, class: 'ring dashed' }]],
  bad: [['path', { d: 'M5 1h6l4 4v6l-4 4H5l-4-4V5z', class: 'fill' }], ['path', { d: 'M5.5 5.5l5 5M10.5 5.5l-5 5', class: 'cut' }]],
  warn: [['path', { d: 'M8 1.2L15.4 14.5H.6z', class: 'fill' }], ['path', { d: 'M8 6v4M8 12v.6', class: 'cut' }]],
  off: [['circle', { cx: 8, cy: 8, r: 6, class: 'ring' }], ['path', { d: 'M5 8h6', class: 'ring' }]],
  note: [['circle', { cx: 8, cy: 8, r: 3, class: 'fill' }]],
  skip: [['path', { d: 'M3 3.5L8 8l-5 4.5M8 3.5L13 8l-5 4.5', class: 'ring' }]],
  pause: [['path', { d: 'M12.8 10.2A5.8 5.8 0 0 1 6 2.9a5.8 5.8 0 1 0 6.8 7.3z', class: 'fill' }]],
  cut: [['path', { d: 'M8 2a6 6 0 1 0 4.2 1.8M11 1.5L8.4 4.6l2.6 1.2L8.6 9', class: 'ring' }]],
};
const MARK = {
  done: 'done', completed: 'done', acked: 'done', pass: 'done', approve: 'done', passed: 'done', complete: 'done', resolved: 'done', acknowledged: 'done', 'passed ': 'done',
  running: 'run', starting: 'run', routing: 'run', leased: 'run', claimed: 'run', in_progress: 'run', open: 'wait',
  waiting: 'wait', pending: 'wait', backoff: 'wait', unread: 'wait',
  failed: 'bad', fail: 'bad', error: 'bad', crash: 'bad', timeout: 'bad', dead_letter: 'bad', reject: 'bad', unreadable: 'bad',
  escalated: 'warn', escalate: 'warn', changes: 'warn', blocked: 'warn', route: 'warn', stale: 'warn',
  cancelled: 'off', expired: 'off', note: 'note', skipped: 'skip', asleep: 'pause', snoozed: 'pause', interrupted: 'cut',
};
export const kindOf = (state) => MARK[String(state).toLowerCase()] || 'wait';
export function mark(state, size = 14) {
  const kind = kindOf(state);
  return s('svg', { class: 'mark ' + kind, width: size, height: size, viewBox: '0 0 16 16', 'aria-hidden': 'true' },
    SHAPES[kind].map(([tag, props]) => s(tag, props)));
}
export const state = (name) => h('span', { class: 'state ' + kindOf(name) }, mark(name), ' ', String(name).toLowerCase().replace('_', ' '));
