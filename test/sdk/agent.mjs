// The agent of test/tools/sdk_agent.c over the JavaScript SDK: does what payload.script of its message says.
import { CliqAgent, build_phase_context, finalize_gate_phase, finalize_standard_phase } from '@cliqhub/cliq-sdk';

function text_of(ctx, what) {
  if (what === 'board') return ctx.task_board.content;
  if (['role', 'req_spec', 'input_text'].includes(what)) return `${ctx[what]}`;
  return ctx.input_text[what];
}

async function follow(msg) {
  const ctx = msg.type === 'phase' ? build_phase_context(msg, 'scripted') : undefined;
  let result;
  const steps = {
    progress: (text) => ctx.progress(text),
    send: (target, data, text) => ctx.send(target, data ? { data, text } : (text ?? {})),
    write_file: (name, content) => ctx.write_file(name, content),
    signal: (name, payload) => ctx.signal(name, payload ?? undefined),
    notify: (event, to, payload) => ctx.register_notification(event, to, payload ?? undefined),
    mark: (phase) => ctx.task_board.mark_complete(phase),
    unmark: (phase) => ctx.task_board.mark_incomplete(phase),
    note: (phase, text) => ctx.task_board.add_note(phase, text),
    replace: (text) => ctx.task_board.replace(text),
    show: (name, what) => ctx.write_file(name, text_of(ctx, what)),
    verdict: (outcome, target, comment, reviewer, decided_at) =>
      finalize_gate_phase(ctx, { verdict: { outcome, target }, comment, reviewer, decided_at }, msg),
    result: (value) => { result = value; },
    finalize: () => finalize_standard_phase(ctx, msg),
    fail: (why) => { throw new Error(why); },
  };
  for (const [deed, ...words] of msg.payload.script) await steps[deed](...words);
  return result;
}

new CliqAgent({ name: 'scripted', handlers: { 'phase:standard': follow, 'phase:gate': follow, notify: follow } }).run();
