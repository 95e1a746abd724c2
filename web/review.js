/*
 * review - a gate that people decide: what there is to decide, and the three answers.
 */
import { at, can, get, me, post } from './api.js';
import { button, chip, dialog, empty, field, h, link, put, redraw, select, state, toast } from './dom.js';
import { watch } from './store.js';
import { clean, json, markdown, plain, showPatch, size, time } from './text.js';

const NEXT = { others: 'Others have to answer, too', runs: 'The run goes on', started: 'The run was asleep, and goes on', resume: 'Answered. The run needs: cliq run --resume' };

export function reviewPanel(root, id) {
  let review = null;
  const box = h('div', { class: 'doc' });
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
    redraw(box, JSON.stringify(r), () => [link('needs', { class: 'back-link' }, '‹ Needs you'),
      h('header', { class: 'run-top' }, h('div', { class: 'run-head' }, h('h1', { dir: 'auto' }, clean(r.gate)), state(r.state), chip('review'), h('span', { class: 'grow' })),
        h('p', { class: 'facts' }, h('span', { dir: 'auto' }, clean(r.team)), h('span', { class: 'path', dir: 'auto' }, clean(r.project)), h('span', {}, `iteration ${r.iteration} of ${r.max_iterations}`),
          h('span', {}, 'asked ', time(r.created_ms)), r.expires_ms ? h('span', {}, 'expires ', time(r.expires_ms)) : null, h('span', {}, r.require === 'all' ? 'all have to approve' : 'one approval decides'),
          can('audit') ? link('runs/' + encodeURIComponent(r.run), {}, 'the run') : null),
        r.state === 'open' && can('review') && r.reviewers.some((x) => x.identity === me.identity) ? h('div', { class: 'buttons left' }, button('Approve', () => answer('approve'), { class: 'primary' }), button('Ask for changes', () => answer('changes')), button('Reject', () => answer('reject'), { class: 'danger' })) : null),
      r.answers?.length ? h('section', {}, h('h2', {}, 'Answers'), r.answers.map((a) => h('article', { class: 'card' }, h('div', { class: 'card-head' }, state(a.verdict), h('b', {}, clean(a.by)), h('span', { class: 'grow' }), time(a.at)), a.text ? markdown(a.text) : null))) : null,
      r.checks?.length ? h('section', {}, h('h2', {}, 'Checks'), r.checks.map((c) => h('details', { class: 'card' }, h('summary', {}, state(c.pass ? 'passed' : 'failed'), ' ', h('b', { dir: 'auto' }, clean(c.name))), c.output ? plain(c.output) : h('p', { class: 'quiet' }, 'No output.')))) : null,
      handed.length ? h('section', {}, h('h2', {}, 'Handed over'), handed.map((x) => h('article', { class: 'card' }, h('div', { class: 'card-head' }, h('b', { dir: 'auto' }, 'from ' + clean(x.from))), x.text ? markdown(x.text) : null, x.data && Object.keys(x.data).length ? plain(json(x.data), { class: 'text code' }) : null))) : null,
      r.artifacts?.length ? h('section', {}, h('h2', {}, 'Files'), h('ul', { class: 'plain-list' }, r.artifacts.map((a) => h('li', {}, h('code', { dir: 'auto' }, clean(a.path)), ' ', h('span', { class: 'quiet' }, size(a.size), a.change ? ' · ' + a.change : ''))))) : null,
      r.diff ? h('section', {}, h('h2', {}, 'What changed'), r.diff.text ? showPatch(r.diff.text) : h('p', { class: 'quiet' }, `${size(r.diff.size)} of changes since ${clean(r.diff.since || 'the run began')}; `, h('code', {}, 'cliq review show ' + clean(id)), ' names the file.')) : null]);
  }

  const look = watch(async () => {
    try {
      review = await get(at('reviews', id));
    } catch (e) {
      if (!review) put(box, link('needs', { class: 'back-link' }, '‹ Needs you'), empty(e.message));
      return;
    }
    draw();
  }, 700);
  look.now();
  return { id, stop: look.stop };
}
