// sdk_types.ts - what the SDK's page says of a type (types.ts, by sdk_page.mjs) and what the SDK declares fit each other in
// both directions. Only tsc reads it.
import type * as sdk from '@cliqhub/cliq-sdk';
import type * as page from './types.ts';

type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;
export const same: [
  Same<sdk.VerdictOutcome, page.VerdictOutcome>,
  Same<sdk.SourceEntry, page.SourceEntry>,
  Same<sdk.TargetEntry, page.TargetEntry>,
  Same<sdk.Command, page.Command>,
  Same<sdk.GateCheckResult, page.GateCheckResult>,
] = [true, true, true, true, true];

// Its tables: the types of fields.
export function fields(msg: sdk.AgentMessage, ctx: sdk.GateContext, line: sdk.ChannelMessage): [
  number, string, string[], sdk.Artifact[], Record<string, unknown>, Record<string, sdk.HandoffEnvelope>, Record<string, string>,
  sdk.TaskBoard, Record<string, string>, Record<string, string> | undefined, string[], sdk.GateCheckResult[], number, 1,
] {
  return [
    msg.version, msg.signal_dir, msg.handoff_dirs, msg.input_artifacts, msg.payload, ctx.input_envelopes, ctx.input_text,
    ctx.task_board, ctx.design_docs, ctx.workflow_inputs, ctx.targets, ctx.check_results, ctx.iteration, line.version,
  ];
}
export const artifact: sdk.Artifact = { name: 'spec', type: 'inline', source: 'text' };
export const entry = { version: 1, phase_type: 'standard', phase: 'a', agent: 'b' } satisfies sdk.HandoffEnvelope;
export const test: sdk.TestResult = { passed: true, message: 'ready' };
