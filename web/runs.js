/*
 * runs - the page Runs: every run of this machine's user, and one of them with its graph.
 *
 *     #/runs            the list           #/runs/RUN             one of them
 *     #/runs/RUN/PHASE  and what phase.js shows of a phase
 */
import { at, can, get, post } from './api.js';
import { act, button, chip, confirm, empty, h, link, mark, put, redraw, say, state } from './dom.js';
import { attempts, graph, timeline } from './graph.js';
import { List } from './list.js';
import { phasePanel } from './phase.js';
import { watch } from './store.js';
import { clean, duration, now, oneLine, plural, time, usage } from './text.js';

const isOfRuns = (s) => s && /^(pipeline|phase):/.test(s.signal_type);
const STATES = ['RUNNING', 'ASLEEP', 'INTERRUPTED', 'ESCALATED', 'FAILED', 'COMPLETED', 'CANCELLED'];
export const nameOf = (path) => clean(String(path || '').split('/').filter(Boolean).pop() || path);

export function runsPage(root) {
  let runs = null, shown = [], filter = { status: '', text: '' }, detail = null, failed = '';

  const list = new List({
    label: 'Runs', height: 66, key: (r) => r.run,
    open: (r) => { location.hash = '#/runs/' + encodeURIComponent(r.run); },
    row: (r, el) => {
      el.append(
        h('div', { class: 'row-mark' }, mark(r.status, 16)),
        h('div', { class: 'row-main' },
          h('div', { class: 'row-top' }, h('strong', { dir: 'auto' }, nameOf(r.path)), h('span', { class: 'quiet' }, r.team ? oneLine(r.team, 40) : '')),
          h('div', { class: 'row-sub' }, h('span', { class: 'word ' + r.status.toLowerCase() }, r.status.toLowerCase()),
            r.phases ? h('span', {}, `${r.done} of ${r.phases}`) : null,
            r.duration_ms !== undefined && r.status !== 'RUNNING' ? h('span', {}, duration(r.duration_ms)) : null,
            r.usage ? h('span', {}, usage(r.usage)) : null)),
        h('div', { class: 'row-end' }, time(r.started)));
    },
  });
  const find = h('input', { type: 'search', placeholder: 'Project, team, run', 'aria-label': 'Filter runs', oninput: () => { filter.text = find.value.toLowerCase(); sift(); } });
  const which = h('select', { 'aria-label': 'State', onchange: () => { filter.status = which.value; sift(); } }, h('option', { value: '' }, 'All states'), STATES.map((s) => h('option', { value: s }, s.toLowerCase())));
  const about = h('p', { class: 'quiet count-line', role: 'status' });
  const side = h('section', { class: 'side', 'aria-label': 'All runs' }, h('div', { class: 'bar-top' }, find, which), about, list.el);
  const main = h('section', { class: 'main', 'aria-label': 'Run' });
  put(root, h('div', { class: 'split' }, side, main));

  function sift() {
    shown = (runs || []).filter((r) => (!filter.status || r.status === filter.status) &&
      (!filter.text || (r.path + ' ' + (r.team || '') + ' ' + r.run).toLowerCase().includes(filter.text)));
    list.show(shown.length, (i) => shown[i]);
    about.textContent = failed || (runs ? plural(shown.length, 'run') + (shown.length < runs.length ? ' of ' + runs.length : '') : '');
    if (runs && !runs.length && !detail) {
      put(main, empty('Nothing has run yet.', h('p', {}, 'Runs appear here as they start: ', h('code', {}, 'cliq run'), ' in any project of yours.')));
    } else if (!detail && runs) {
      put(main, empty('Choose a run.', h('p', { class: 'quiet' }, 'Runs of all projects appear here as they start.')));
    }
  }

  const looking = watch(async () => {
    try {
      const fresh = await get('/runs', { limit: 500 });
      const same = new Map((runs || []).map((r) => [r.run, JSON.stringify(r)]));
      runs = fresh.map((r) => (same.get(r.run) === JSON.stringify(r) ? runs.find((o) => o.run === r.run) : r));
      failed = '';
    } catch (e) {
      failed = e.message;
    }
    sift();
    detail?.row(runs?.find((r) => r.run === detail.id));
  }, 500, isOfRuns);
  looking.now();

  return {
    route(parts) {
      const [id, phase, tab, n] = parts;
      root.firstChild.classList.toggle('has-detail', !!id);
      list.choose(id);
      if (detail && detail.id !== id) {
        detail.stop();
        detail = null;
      }
      if (!id) {
        sift();
        return 'Runs';
      }
      if (!detail) {
        detail = runDetail(main, id);
        detail.row(runs?.find((r) => r.run === id));
      }
      detail.phase(phase, tab, n);
      return nameOf(runs?.find((r) => r.run === id)?.path) || 'Run';
    },
    stop() {
      looking.stop();
      detail?.stop();
    },
    focus: () => list.el.focus(),
  };
}

/* ---- one run ---- */

/* "build/test": a phase of a team that is a phase. */
function phaseAt(run, name) {
  const [first, ...rest] = (name || '').split('/'), p = run.phases.find((x) => x.phase === first);
  return rest.length && p ? (p.run ? phaseAt(p.run, rest.join('/')) : undefined) : p;
}

/* The phases in which people are awaited, by name: who. A team's is that of a gate in it. */
const askedIn = (run) => new Map((run.reviews || []).filter((r) => r.state === 'open').map((r) => [r.gate.split('/')[0], r.awaits]));

function runDetail(root, id) {
  const href = (...more) => ['runs', id, ...more].map(encodeURIComponent).join('/');
  const top = h('header', { class: 'run-top' });
  const notes = h('div', {});
  const picture = h('div', { class: 'picture scroll', tabindex: '0', role: 'group', 'aria-label': 'Graph of the phases' });
  const times = h('div', {});
  const panel = h('div', { class: 'panel-place' });
  put(root, h('div', { class: 'doc' }, link('runs', { class: 'back-link' }, '‹ All runs'), top, notes, picture, panel,
    h('details', { class: 'times', open: true }, h('summary', {}, 'Attempts over time'), times)));
  let run = null, journal = null, row = null, chosen = {}, open = null, told = '', shown = null, timer = null;

  const isPresent = () => row?.is_present !== false;
  const isLive = () => run && ['RUNNING', 'ASLEEP'].includes(run.status);

  function drawTop() {
    const buttons = [];
    if (can('admin') && isPresent()) {
      if (isLive()) buttons.push(button('Cancel run', (b) => confirm('Cancel this run?', 'Its agents are stopped. What they finished stays, and a phase can be retried later.', 'Cancel run', () => post(at('runs', id, 'cancel'), {})).then((ok) => { if (ok) say('cancelled'); b.disabled = false; }), { class: 'danger' }));
      if (run.status === 'INTERRUPTED' || (run.status === 'CANCELLED')) {
        const bad = run.phases.find((p) => p.state === 'cancelled' || p.state === 'failed');
        if (run.status === 'INTERRUPTED') buttons.push(button('Resume', (b) => act(b, () => post(at('runs', id, 'resume'), {}), 'The run goes on'), { class: 'primary' }));
        else if (bad) buttons.push(button('Retry ' + bad.phase, (b) => act(b, () => post(at('runs', id, 'retry', bad.phase), {}), 'The run goes on')));
      }
      if (['ESCALATED', 'FAILED'].includes(run.status)) {
        const bad = run.phases.find((p) => p.state === 'failed') || run.phases.find((p) => p.state !== 'done' && p.state !== 'skipped');
        if (bad) buttons.push(button('Retry ' + clean(bad.phase), (b) => act(b, () => post(at('runs', id, 'retry', bad.phase), {}), 'The run goes on'), { class: 'primary' }));
      }
    }
    redraw(top, JSON.stringify([row, { ...run, phases: run.phases.map((p) => p.state) }]), () => [
      h('div', { class: 'run-head' }, h('h1', { dir: 'auto' }, nameOf(row?.path) || clean(run.team)), state(run.status),
        row && !row.is_present ? chip('history') : null, h('span', { class: 'grow' }), buttons),
      h('p', { class: 'facts' }, h('span', { dir: 'auto' }, clean(run.team || '')), row ? h('span', { class: 'path', dir: 'auto' }, clean(row.path)) : null,
        h('span', {}, 'began ', time(run.started)),
        run.duration_ms !== undefined ? h('span', {}, 'took ' + duration(run.duration_ms)) : h('span', {}, 'for ', h('span', { 'data-since': run.started }, duration(now() - Date.parse(run.started)))),
        run.usage ? h('span', {}, usage(run.usage)) : null,
        h('code', { class: 'id' }, id))]);
    const said = [];
    if (run.reason) said.push(h('p', { class: 'banner ' + (run.status === 'COMPLETED' ? '' : 'bad'), dir: 'auto' }, mark(run.status), ' ', clean(run.reason)));
    if (run.wakes && run.status === 'ASLEEP') said.push(h('p', { class: 'banner' }, mark('asleep'), ' No process runs: people are awaited.'));
    for (const r of (run.reviews || []).filter((x) => x.state === 'open')) said.push(h('p', { class: 'banner' }, mark('escalated'), ' ', h('b', { dir: 'auto' }, clean(r.gate)), ` waits for ${r.awaits.map(clean).join(', ')}. `, can('review') && isPresent() ? link('needs/review/' + encodeURIComponent(r.id), {}, 'Look at the review') : null));
    for (const n of run.notes || []) said.push(h('p', { class: 'banner', dir: 'auto' }, clean(n)));
    redraw(notes, JSON.stringify([run.reason, run.wakes, run.notes, run.status, run.reviews, isPresent()]), () => said);
  }

  function draw() {
    const found = attempts(journal || []);
    drawTop();
    const narrow = picture.clientWidth > 0 && picture.clientWidth < 560;
    redraw(picture, JSON.stringify([run.phases, run.reviews, found.back, chosen.name, narrow]), () => {
      const at = picture.scrollLeft, is = String(chosen.name);
      requestAnimationFrame(() => {
        picture.scrollLeft = at;
        if (shown !== is) bringIntoView();
        shown = is;
      });
      return graph(run.phases, found.back, { href: (p) => href(p), chosen: chosen.name?.split('/')[0], narrow, asked: askedIn(run) });
    });
    if (found.list.length) redraw(times, JSON.stringify([found, chosen.name]), () => timeline(found, run.phases, { href: (a) => href(a.phase, 'log', a.attempt), now: now() }));
    else redraw(times, 'none', () => h('p', { class: 'quiet' }, 'No attempt has begun yet.'));
    const text = run.status + run.phases.map((p) => p.phase + p.state).join();
    if (told && told !== text) say(`${run.status.toLowerCase()}: ${run.phases.filter((p) => p.state === 'running').map((p) => p.phase).join(', ')}`);
    told = text;
    openPhase(found);
  }

  /* In a graph that scrolls: the phase that is chosen, else the first that runs or asks for somebody. */
  function bringIntoView() {
    const it = picture.querySelector('a.chosen') || picture.querySelector('a.bad, a.warn, a.run');
    if (!it) return;
    const a = it.getBoundingClientRect(), b = picture.getBoundingClientRect();
    if (a.left < b.left || a.right > b.right) picture.scrollLeft += (a.left + a.right - b.left - b.right) / 2;
  }

  function openPhase(found) {
    const p = run && phaseAt(run, chosen.name);
    if (open && open.name !== chosen.name) {
      open.stop();
      open = null;
      panel.replaceChildren();
    }
    if (!p) {
      if (chosen.name) put(panel, empty(`This run has no phase ${clean(chosen.name)}.`));
      return;
    }
    open ??= phasePanel(panel, { id, name: chosen.name, href, isPresent, isLive });
    open.show(p, run, found || attempts(journal || []), chosen.tab, chosen.n);
  }

  const looking = watch(async () => {
    try {
      [run, journal] = await Promise.all([get(at('runs', id)), get(at('runs', id, 'journal'))]);
    } catch (e) {
      if (!run) put(top, empty(e.message));
      return;
    }
    draw();
  }, 300, (s) => isOfRuns(s) && s.signal_type.startsWith((/^cliq-[0-9a-f]+/.exec(id) || [''])[0], s.signal_type.indexOf(':') + 1));
  looking.now();
  const sized = new ResizeObserver(() => { if (run) draw(); });
  sized.observe(picture);
  timer = setInterval(() => { if (run && isLive() && !document.hidden) draw1s(); }, 1000);
  function draw1s() {
    const found = attempts(journal || []);
    if (found.list.some((a) => !a.to)) put(times, timeline(found, run.phases, { href: (a) => href(a.phase, 'log', a.attempt), now: now() }));
  }

  return {
    id,
    row(r) {
      row = r || row;
      if (run) drawTop();
    },
    phase(name, tab, n) {
      const moved = name && name !== chosen.name;
      chosen = { name, tab: tab || undefined, n };
      if (run) {
        draw();
        if (moved) panel.scrollIntoView?.({ block: 'nearest' });
      }
    },
    stop() {
      looking.stop();
      clearInterval(timer);
      sized.disconnect();
      open?.stop();
    },
  };
}

