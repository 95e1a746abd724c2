/*
 * review - a gate that people decide: what there is to decide, and the three answers.
 */
import { at, can, get, me, post } from './api.js';
import { button, chip, dialog, empty, field, h, link, put, redraw, select, state, toast } from './dom.js';
import { keptDiff, keptFiles } from './kept.js';
import { watch } from './store.js';
import { clean, json, markdown, plain, plural, time } from './text.js';

const NEXT = { others: 'Others have to answer, too', runs: 'The run goes on', started: 'The run was asleep, and goes on', resume: 'Answered. The run needs: cliq run --resume' };

export function reviewPanel(root, id) {
  let review = null;
  const head = h('div', {}), said = h('div', {}), changes = h('div', {}), files = h('div', {}), box = h('div', { class: 'doc' }, head, said, changes, files);
  put(root, box);

  async function answer(verdict) {
    const comment = h('textarea', { name: 'comment', rows: 5, required: verdict !== 'approve' });
    const fields = [field(verdict === 'approve' ? 'Comment (optional)' : 'What should change', comment)];
    if (verdict === 'changes' && review.route_targets?.length) fields.push(field('Sent back to', select('to', review.route_targets, review.route_targets[0])));
    const words = { approve: ['Approve', 'Approve'], changes: ['Ask for changes', 'Send back'], reject: ['Reject: the run ends', 'Reject'] }[verdict];
    const done = await dialog(words[0], fields, {
      label: words[1], kind: verdict === 'reject' ? 'danger' : '',
      submit: (v) => post(at('reviews', id, verdict), { ...(v.comment || verdict !== 'approve' ? { comment: v.comment } : {}), ...(v.to ? { to: v.to } : {}) }),
    });
    if (done) toast(NEXT[done.next] || 'Answered');
    look.now();
  }

  function draw() {
    const r = review, handed = r.handoffs || [];
    const section = (title, more, body) => h('section', {}, h('div', { class: 'page-head' }, h('h2', {}, title), h('span', { class: 'quiet' }, more)), body);
    redraw(head, JSON.stringify(r), () => [link('needs', { class: 'back-link' }, '‹ Needs you'),
      h('header', { class: 'run-top' }, h('div', { class: 'run-head' }, h('h1', { dir: 'auto' }, clean(r.gate)), state(r.state), chip('review'), h('span', { class: 'grow' }),
        h('a', { class: 'close', href: '#/needs', 'aria-label': 'Close review' }, '×')),
        h('p', { class: 'facts' }, h('span', { dir: 'auto' }, clean(r.team)), h('span', { class: 'path', dir: 'auto' }, clean(r.project)), h('span', {}, `iteration ${r.iteration} of ${r.max_iterations}`),
          h('span', {}, 'asked ', time(r.created_ms)), r.state === 'open' && r.expires_ms ? h('span', {}, 'expires ', time(r.expires_ms)) : null,
          h('span', {}, 'for ' + r.reviewers.map((x) => clean(x.identity)).join(', ') + (r.reviewers.length < 2 ? '' : r.require === 'all' ? ': all have to approve' : ': one approval decides')),
          can('audit') ? link('runs/' + encodeURIComponent(r.run), {}, 'the run') : null),
        r.state === 'open' && can('review') && r.reviewers.some((x) => x.identity === me.identity) && !(r.answers || []).some((x) => x.by === me.identity) ? h('div', { class: 'buttons left' }, button('Approve', () => answer('approve'), { class: 'primary' }), button('Ask for changes', () => answer('changes')), button('Reject', () => answer('reject'), { class: 'danger' })) : null)]);
    redraw(said, JSON.stringify([r.answers, r.checks, handed]), () => [
      r.answers?.length ? section('Answers', '', r.answers.map((a) => h('article', { class: 'card' }, h('div', { class: 'card-head' }, state(a.verdict), h('b', {}, clean(a.by)), a.to ? h('span', { class: 'quiet' }, 'to ' + clean(a.to)) : null, h('span', { class: 'grow' }), time(a.at)), a.text ? markdown(a.text) : null))) : null,
      handed.length ? section('Handed over', '', handed.map((x) => h('article', { class: 'card' }, h('div', { class: 'card-head' }, h('b', { dir: 'auto' }, 'from ' + clean(x.from))), x.text ? markdown(x.text) : null, x.data && Object.keys(x.data).length ? plain(json(x.data), { class: 'text code' }) : null))) : null,
      r.checks?.length ? section('Checks', '', r.checks.map((c) => h('details', { class: 'card' }, h('summary', {}, state(c.pass ? 'passed' : 'failed'), ' ', h('b', { dir: 'auto' }, clean(c.name))), c.output ? plain(c.output) : h('p', { class: 'quiet' }, 'No output.')))) : null]);
    redraw(changes, JSON.stringify(r.diff || null), () => {
      if (!r.diff) return null;
      const place = h('div', {}, h('p', { class: 'quiet' }, 'Loading…'));
      keptDiff(id, r.diff).then((parts) => put(place, parts), (e) => put(place, h('p', { class: 'problem', role: 'alert' }, e.message)));
      return section('What changed', 'since ' + clean(r.diff.since).slice(0, 12), place);
    });
    redraw(files, JSON.stringify([r.artifacts, r.left_out, r.unmatched]), () => (r.artifacts?.length || r.unmatched?.length ? section('Files', 'as they were when you were asked', [keptFiles(id, r.artifacts || []),
      r.left_out ? h('p', { class: 'quiet' }, plural(r.left_out, 'more file') + ', not kept.') : null,
      (r.unmatched || []).map((p) => h('p', { class: 'quiet', dir: 'auto' }, 'No file matches ', h('code', {}, clean(p)), '.'))]) : null));
  }

  const look = watch(async () => {
    try {
      review = await get(at('reviews', id));
    } catch (e) {
      if (!review) put(head, link('needs', { class: 'back-link' }, '‹ Needs you'), empty(e.message));
      return;
    }
    draw();
  }, 700);
  look.now();
  return { id, stop: look.stop };
}
