// A first agent in JavaScript. To try it alone, give it a message as cliq-sdk(3) shows: node agent.js < message.json
import { CliqAgent, build_phase_context, finalize_standard_phase } from '@cliqhub/cliq-sdk';

new CliqAgent({
  name: 'greeter',
  handlers: {
    'phase:standard': async (msg) => {
      const ctx = build_phase_context(msg, 'greeter');
      const who = ctx.workflow_inputs?.who ?? 'world';
      ctx.progress(`greeting ${who}`);
      ctx.write_file('greeting.txt', `Hello, ${who}\n`);
      ctx.task_board.mark_complete(ctx.phase);
      for (const target of ctx.targets) {
        ctx.send(target, { data: { file: 'greeting.txt' }, text: `Wrote greeting.txt for ${who}.` });
      }
      finalize_standard_phase(ctx, msg);
    },
  },
}).run();
