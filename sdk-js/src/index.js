// @cliqhub/cliq-sdk - agents for cliq pipelines, and a client of its hub.
//
//     import { CliqAgent, build_phase_context, finalize_standard_phase } from '@cliqhub/cliq-sdk';
//
// One noun per file, in src/ of the source tree; `make` puts them into one module, index.js, because node needs half a
// millisecond for each. Read them in this order:
//     message.js      the AgentMessage that an agent reads on standard input
//     status_line.js  the lines that it appends to <signal_dir>/<phase>.jsonl
//     handoff.js      handoff.json, what one phase tells the next
//     board.js        the task board
//     context.js      everything an agent can read and do in a phase
//     agent.js        CliqAgent: a message in, its handler, the last status line
//     client.js       CliqClient: the hub over HTTP; browsers need only this file
// Below them: state_dir.js (files), json.js (text), mask.js (secrets), template.js, input_text.js.
//
// docs/formats/pipeline.md and cliq-protocol(7) describe the files. Tests: test/scenario/sdk_*.bats

export { CliqAgent } from './agent.js';
export { TaskBoard } from './board.js';
export { CliqClient, CliqClientError, Subscription, Worker } from '../client.js';
export {
  GateContext, PhaseContext, build_phase_context, finalize_gate_phase, finalize_standard_phase,
} from './context.js';
export { make_message } from './message.js';
export * from './types.js';
