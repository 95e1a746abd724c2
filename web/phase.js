/*
 * phase - one phase of a run: log, handoffs, prompt, role, checks; and what can be done about it.
 */
import { at, can, get, post } from './api.js';
import { button, chip, confirm, dialog, empty, h, link, mark, put, redraw, state, tabs } from './dom.js';
import { attempts, graph, outcomeOf } from './graph.js';
import { clean, diff, duration, json, markdown, plain, showDiff, time, usage } from './text.js';

const ANSI = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[@-Z\\-_])/g;
const LOG_MAX = 4 << 20, FOLLOW_MS = 1000;

export function phasePanel(root, { id, name, href, isPresent, isLive }) {
  /* `name` is a way, "build/test", where teams are phases; `self` its last part, `above` the rest. */
  const self = name.split('/').pop(), above = name.split('/').slice(0, -1).join('/');
  const head = h('div', {}), team = h('div', { class: 'nested' }), nav = h('div', {}), body = h('div', { class: 'panel-body' });
  const box = h('section', { class: 'panel', 'aria-label': 'Phase ' + name }, head, team, nav, body);
  put(root, box);
  let inner = null, outer = null, page = null, now = null, run = null, found = null, tab = 'log', nth, log = null, drawn = '';

  async function load() {
    try {
      [page, inner, outer] = await Promise.all([get(at('runs', id, 'phases', name)), now?.run ? journal(name) : null, above ? journal(above) : null]);
      found = outer || found;
    } catch (e) {
      put(body, empty(e.message));
      return;
    }
    draw();
  }

  const journal = async (way) => attempts(await get(at('runs', id, 'journal'), { phase: way }).catch(() => []));

  function draw() {
    const p = now, nested = p.run || (above && siblings), buttons = [], asks = (run.reviews || []).filter((r) => r.gate === name);
    if (can('admin') && isPresent() && !isLive() && !above && p.state !== 'waiting')
      buttons.push(button('Retry from here', (b) => confirm(`Retry ${name}?`, 'It runs again, and every phase behind it. What stands before it is kept.', 'Retry', () => post(at('runs', id, 'retry', name), {})).then(() => { b.disabled = false; })));
    redraw(head, JSON.stringify([p, run.reviews, isLive(), isPresent()]), () => [h('div', { class: 'panel-head' }, h('h2', { dir: 'auto' }, clean(self)), state(p.state), p.type !== 'standard' ? chip(p.type) : null,
      p.is_support ? chip('support') : null, h('span', { class: 'grow' }), buttons,
      h('a', { class: 'close', href: '#/' + href(), 'aria-label': 'Close phase' }, '×')),
    h('p', { class: 'facts' }, p.agent ? h('span', {}, 'agent ', h('b', {}, clean(p.agent))) : null, p.attempts ? h('span', {}, p.attempts === 1 ? '1 attempt' : p.attempts + ' attempts') : null,
      p.iteration ? h('span', {}, `iteration ${p.iteration} of ${p.max_iterations}`) : null,
      p.started ? h('span', {}, 'began ', time(p.started)) : null,
      p.duration_ms !== undefined ? h('span', {}, duration(p.duration_ms)) : null,
      p.heard ? h('span', {}, 'last heard ', time(p.heard)) : null,
      p.usage ? h('span', {}, usage(p.usage)) : null,
      p.waits_for_files_of ? h('span', {}, 'waits for the files of ', clean(p.waits_for_files_of)) : null),
    p.error ? h('p', { class: 'banner bad', dir: 'auto' }, mark('failed'), ' ', clean(p.error)) : p.result ? h('p', { class: 'banner', dir: 'auto' }, mark('done'), ' ', clean(p.result)) : null,
    asks.map((r) => h('p', { class: 'banner' }, mark(r.state === 'open' ? 'escalated' : r.state), ` Review ${clean(r.id)}: ${r.state === 'open' ? 'waits for ' + r.awaits.map(clean).join(', ') : clean(r.state)}. `, can('review') && isPresent() ? link('needs/review/' + encodeURIComponent(r.id), {}, 'Look') : null)),
    p.progress && !p.error && p.state === 'running' && !asks.some((r) => r.state === 'open') ? h('p', { class: 'banner', dir: 'auto' }, mark('running'), ' ', clean(p.progress)) : null]);
    const ways = (p.run ? inner : outer)?.back || [];
    redraw(team, JSON.stringify([nested && nested.map?.((x) => x.state), p.run, ways, self]), () => (nested ? [h('p', { class: 'quiet' }, p.run ? ['Team ', h('b', { dir: 'auto' }, clean(p.run.team || '')), ' ', state(p.run.status)] : ['In ', h('a', { href: '#/' + href(above) }, clean(above))]),
      h('div', { class: 'picture scroll', tabindex: '0', role: 'group', 'aria-label': 'Graph of the team' }, graph(p.run ? p.run.phases : siblings, ways, { href: (x) => href((p.run ? name : above) + '/' + x), chosen: p.run ? null : self, narrow: team.clientWidth > 0 && team.clientWidth < 520 }))] : null));
    const n = page ? page.in.filter((c) => c.handoff !== null).length + page.out.filter((c) => c.handoff !== null).length : 0;
    redraw(nav, JSON.stringify([tab, n, page?.checks?.length, !!page?.gate_context]), () => tabs('Parts of the phase', [
      [href(name, 'log'), 'Log'], [href(name, 'handoffs'), 'Handoffs', n],
      [href(name, 'prompt'), 'Prompt'], [href(name, 'role'), 'Role'],
      page?.checks || page?.gate_context ? [href(name, 'checks'), 'Checks', page?.checks?.length] : null,
    ], href(name, tab)));
    const is = tab + (tab === 'log' ? (nth || '') + !!outer : JSON.stringify(page));
    if (drawn === is) return;
    drawn = is;
    stopLog();
    if (tab === 'log') log = follow(body);
    else if (!page) put(body, h('p', { class: 'quiet' }, 'Loading…'));
    else if (tab === 'prompt') put(body, page.prompt ? markdown(page.prompt) : empty('This phase was given no prompt.'), cut('prompt'));
    else if (tab === 'role') put(body, page.role ? markdown(page.role) : empty('This phase has no role text.'), cut('role'));
    else if (tab === 'checks') put(body, checks(page.checks), page.gate_context ? h('section', {}, h('h3', {}, 'What the gate was told'), markdown(page.gate_context)) : null);
    else put(body, handoffs());
  }
  const cut = (key) => (page.is_cut.includes(key) ? h('p', { class: 'quiet' }, 'The file is longer than this.') : null);

  /* ---- handoffs ---- */

  function handoffs() {
    const part = (title, list, way) => h('section', {}, h('h3', {}, title), list.length ? list.map((c) => one(c, way)) : h('p', { class: 'quiet' }, 'None.'));
    return h('div', { class: 'two' }, part('In', page.in, 'in'), part('Out', page.out, 'out'));
  }
  function one(c, way) {
    const from = way === 'in' ? c.from : self, to = way === 'in' ? self : c.to, other = way === 'in' ? c.from : c.to, it = c.handoff;
    const place = h('div', {});
    let raw = false;
    const show = () => put(place, it === null ? h('p', { class: 'quiet' }, 'Nothing was handed over.') : raw || typeof it !== 'object' ? plain(json(it)) : [
      it.text ? markdown(it.text) : null,
      it.data && Object.keys(it.data).length ? plain(JSON.stringify(it.data, null, 2), { class: 'text code' }) : null,
      !it.text && !(it.data && Object.keys(it.data).length) ? h('p', { class: 'quiet' }, 'It is empty.') : null]);
    show();
    const flip = button('Raw', () => { raw = !raw; flip.setAttribute('aria-pressed', raw); show(); }, { class: 'small', 'aria-pressed': 'false' });
    return h('article', { class: 'card' }, h('div', { class: 'card-head' }, h('b', { dir: 'auto' }, (way === 'in' ? 'from ' : 'to ') + clean(other)), h('span', { class: 'grow' }),
      it !== null ? flip : null,
      can('admin') && isPresent() && !above && it !== null ? button('Edit', () => edit(from, to, it), { class: 'small', disabled: isLive() ? true : null, title: isLive() ? 'while the run goes on, its agents write it' : null }) : null), place);
  }
  async function edit(from, to, it) {
    const before = json(it), area = h('textarea', { name: 'text', rows: 16, spellcheck: 'false', class: 'code', 'aria-label': 'Handoff as JSON' });
    area.value = before;
    const said = h('p', { class: 'problem', role: 'status' }), place = h('div', { class: 'diff-place' });
    const again = h('label', { class: 'check' }, h('input', { type: 'checkbox', name: 'retry', checked: true }), ` and retry ${clean(to)}`);
    const compare = () => {
      let problem = '';
      try { JSON.parse(area.value); } catch (e) { problem = 'Not JSON yet: ' + e.message; }
      said.textContent = problem;
      put(place, showDiff(diff(before, area.value)));
    };
    area.addEventListener('input', compare);
    compare();
    const done = await dialog(`Handoff ${clean(from)} → ${clean(to)}`, [area, said, h('h3', {}, 'What you change'), place, again], {
      label: 'Save', wide: true,
      submit: async (v) => {
        await post(at('runs', id, 'handoff'), { from, to, handoff: JSON.parse(v.text) });
        if (v.retry) await post(at('runs', id, 'retry', to), {});
      },
    });
    if (done) load();
  }

  /* ---- checks ---- */

  function checks(list) {
    if (!Array.isArray(list)) return list ? plain(json(list)) : empty('No check has run.');
    return h('div', {}, list.map((c) => h('article', { class: 'card' }, h('div', { class: 'card-head' }, state(c.pass ? 'passed' : 'failed'), h('b', { dir: 'auto' }, clean(c.name)), h('span', { class: 'grow' }),
      h('span', { class: 'quiet' }, [c.exit_code !== undefined ? 'exit code ' + c.exit_code : '', duration(c.duration_ms)].filter(Boolean).join(' · '))), c.output ? plain(c.output) : null)));
  }

  /* ---- the log ---- */

  function stopLog() {
    clearTimeout(log?.timer);
    if (log) log.is_over = true;
    log = null;
  }
  function follow(place) {
    const it = { at: 0, is_over: false, size: 0 };
    const mine = found.list.filter((a) => a.phase === self), attempt = nth ? Number(nth) : mine.length ? mine[mine.length - 1].attempt : undefined;
    const text = h('pre', { class: 'text log', tabindex: '0', dir: 'auto', role: 'log', 'aria-label': 'Log' });
    const stick = h('input', { type: 'checkbox', checked: true });
    const pick = mine.length > 1 ? h('select', { 'aria-label': 'Attempt', onchange: () => { location.hash = '#/' + href(name, 'log', pick.value); } },
      mine.map((a) => h('option', { value: a.attempt, selected: a.attempt === attempt }, `attempt ${a.attempt}: ${outcomeOf(a)}`))) : null;
    const said = mine.find((a) => a.attempt === attempt);
    put(place, h('div', { class: 'bar-top' }, pick, said?.text ? h('span', { class: 'quiet', dir: 'auto' }, clean(said.text)) : null, h('span', { class: 'grow' }), h('label', { class: 'check' }, stick, ' follow')), text);
    text.addEventListener('scroll', () => { stick.checked = text.scrollTop + text.clientHeight > text.scrollHeight - 24; });
    const more = async () => {
      if (it.is_over) return;
      let full = false;
      try {
        const part = await get(at('runs', id, 'log'), { phase: name, attempt, after: it.at });
        if (it.is_over) return;
        full = part.text.length >= 400000;
        it.at = part.next;
        if (part.text) {
          text.append(part.text.replace(ANSI, '').replace(/\r\n?/g, '\n'));
          it.size += part.text.length;
          while (it.size > LOG_MAX && text.childNodes.length > 1) {
            it.size -= text.firstChild.length;
            text.firstChild.remove();
          }
          if (stick.checked) text.scrollTop = text.scrollHeight;
        }
        if (!it.size && !isOpen()) text.textContent = '(empty)';
      } catch (e) {
        if (e.status === 404) text.textContent = isOpen() ? '' : 'No log: ' + e.message;
        else if (e.status && e.status !== 503) { text.textContent = e.message; return; }
      }
      if (full || isOpen() || !it.wasLast) it.timer = setTimeout(more, full ? 0 : FOLLOW_MS);
      it.wasLast = !isOpen();
    };
    const isOpen = () => isLive() && (found.list.find((a) => a.phase === self && a.attempt === attempt)?.outcome === undefined || now.state === 'running');
    it.more = more;
    more();
    return it;
  }

  let seen = '', siblings = null;
  return {
    name,
    show(p, r, f, t, n) {
      now = p;
      run = r;
      found = above ? outer || { list: [] } : f;
      siblings = above ? above.split('/').reduce((x, part) => (x?.phases.find((q) => q.phase === part) || {}).run, r)?.phases : null;
      tab = t || (p.run ? 'handoffs' : '') || (p.type === 'gate' && run.status !== 'RUNNING' ? 'checks' : 'log');
      if (tab === 'checks' && page && !page.checks && !page.gate_context) tab = 'log';
      nth = n;
      const is = p.state + p.attempts + run.status + (p.run ? p.run.phases.map((x) => x.state) : '');
      if (seen !== is) load();
      else draw();
      if (seen !== is && tab === 'log' && !nth) drawn = '';
      seen = is;
      draw();
    },
    stop: stopLog,
  };
}
