// The types of @cliqhub/cliq-sdk; index.js says what each file holds. A type's name is a value, too
// (types.js), so that `import { AgentMessage }` without `type` works where types are only stripped.

export { CliqClient, CliqClientError, Subscription, Worker } from './client.js';
export type { ClaimOptions, ClientOptions, EmitOptions, GenerateOptions, InboxOptions, ScheduleOptions, StreamFilter, WorkOptions } from './client.js';
import type { Signal as HubSignal } from './client.js';

export interface Signal extends HubSignal {}
export declare const Signal: unique symbol;

// ---- the message ----

export interface Artifact {
  name: string;
  type: 'file' | 'uri' | 'inline';
  source: string;
}
export declare const Artifact: unique symbol;

export interface AgentMessage {
  version: number;
  type: 'phase' | 'notify' | 'test' | (string & {});
  agent: string;
  instance_id: string;
  team_name: string;
  req_key: string;
  project_dir: string;
  work_dir: string;
  signal_dir: string;
  handoff_dirs: string[];
  input_artifacts: Artifact[];
  settings: Record<string, unknown>;
  payload: Record<string, unknown>;
}
export declare const AgentMessage: unique symbol;

/** An AgentMessage for agent.dispatch, in tests. It is checked as an agent checks it. */
export declare function make_message(given: Partial<Omit<AgentMessage, 'agent' | 'project_dir'>> & {
  agent: string;
  project_dir: string;
  phase?: string;
  phase_type?: 'standard' | 'gate' | 'team';
  /** the phases that it may send to */
  targets?: string[];
}): AgentMessage;

/** A line of <signal_dir>/<phase>.jsonl. */
export interface ChannelMessage {
  ts: string;
  version: 1;
  type: string;
  status: 'ok' | 'progress' | 'notify' | 'complete' | 'error';
  attempt_id?: string;
  result?: unknown;
  error?: string;
  message?: string;
}
export declare const ChannelMessage: unique symbol;

// ---- handoffs ----

export interface HandoffEnvelope {
  version: 1;
  phase_type: string;
  phase: string;
  agent: string;
  data?: any;
  text?: string;
}
export declare const HandoffEnvelope: unique symbol;

export type HandoffPayload = string | { data?: Record<string, unknown>; text?: string };
export declare const HandoffPayload: unique symbol;

/** The handoffs as text: of one channel by its name, of all as a text; '' without a handoff. */
export type InputText = string & { readonly [channel: string]: string };
export declare const InputText: unique symbol;

// ---- what a phase of team.yml may have ----

export interface SourceEntry {
  name: string;
  ref?: string;
  url?: string;
  headers?: Record<string, string>;
  method?: string;
  body?: string;
  [key: string]: unknown;
}
export declare const SourceEntry: unique symbol;

export interface TargetEntry {
  name: string;
  file: string;
  ref?: string;
  url?: string;
  headers?: Record<string, string>;
  method?: string;
  mode?: 'create' | 'append' | 'replace';
}
export declare const TargetEntry: unique symbol;

export interface Command {
  name: string;
  run: string;
  timeout_ms?: number;
  escalate_on_fail?: boolean;
}
export declare const Command: unique symbol;

export interface ReviewBlock {
  reviewer?: string | string[];
  artifacts?: string[];
  timeout?: string;
  remind_every?: string;
  [key: string]: unknown;
}
export declare const ReviewBlock: unique symbol;

export interface DispatchFields {
  action?: string;
  sources?: SourceEntry[];
  target_entries?: TargetEntry[];
  commands?: Command[];
  model?: string;
  review?: ReviewBlock;
  phase_config: Record<string, unknown>;
  [key: string]: unknown;
}
export declare const DispatchFields: unique symbol;

// ---- the context ----

export declare class TaskBoard {
  constructor(text?: string);
  readonly content: string;
  readonly dirty: boolean;
  mark_complete(phase: string): void;
  mark_incomplete(phase: string): void;
  add_note(phase: string, note: string): void;
  replace(content: string): void;
}

export declare class PhaseContext {
  protected constructor();
  agent: string;
  phase: string;
  phase_type: string;
  role: string;
  is_support: boolean;
  input_envelopes: Record<string, HandoffEnvelope>;
  input_text: InputText;
  /** the same as input_text */
  inputs: InputText;
  dispatch: DispatchFields;
  req_spec: string;
  task_board: TaskBoard;
  design_docs: Record<string, string>;
  workflow_inputs?: Record<string, string>;
  targets: string[];
  settings: Record<string, unknown>;
  project_dir: string;
  work_dir: string;
  state_dir: string;
  metadata: { instance_id: string; team_name: string; req_key: string };
  /** Writes the handoff for a target, at once. Throws when the phase is no target. */
  send(target: string, payload: HandoffPayload): void;
  /** Writes files/<phase>/<name>. */
  write_file(name: string, content: string | Uint8Array): void;
  progress(message: string): void;
  /** Writes signals/<phase>_<name>.json. */
  signal(name: string, payload?: unknown): void;
  /** channel_ref: "slack:oncall", "email". */
  register_notification(event: string, channel_ref: string, payload?: Record<string, unknown>): void;
}

export interface GateCheckResult {
  name: string;
  pass: boolean;
  output: string;
  exit_code?: number;
}
export declare const GateCheckResult: unique symbol;

export declare class GateContext extends PhaseContext {
  protected constructor();
  check_results: GateCheckResult[];
  route_targets: string[];
  iteration: number;
  max_iterations: number;
}

export type VerdictOutcome =
  | { outcome: 'PASS' }
  | { outcome: 'ROUTE'; target: string }
  | { outcome: 'ESCALATE' };
export declare const VerdictOutcome: unique symbol;

/** outcome is any text here, so that a result may be built before it is passed on; it is checked. */
export interface GateResult {
  verdict: VerdictOutcome | { outcome: string; target?: string };
  comment: string;
  reviewer?: string;
  decided_at?: string;
}
export declare const GateResult: unique symbol;

/** A GateContext when the phase is a gate. */
export declare function build_phase_context(msg: AgentMessage, name?: string): PhaseContext;
/** Ends a standard phase: writes the task board, then the complete line. */
export declare function finalize_standard_phase(ctx: PhaseContext, msg?: AgentMessage): void;
/** Ends a gate. Throws when the target of a ROUTE is not one of ctx.route_targets. */
export declare function finalize_gate_phase(ctx: PhaseContext, result: GateResult, msg?: AgentMessage): void;

// ---- the agent ----

export interface TestResult {
  passed: boolean;
  message: string;
}
export declare const TestResult: unique symbol;

export interface Notification {
  event: string;
  channel: string | null;
  phase_name?: string;
  reason?: string;
  outcome?: string;
  [key: string]: unknown;
}
export declare const Notification: unique symbol;

export type NotifyPayload = {
  notifications: Notification[];
};
export declare const NotifyPayload: unique symbol;

export type Handler = (msg: AgentMessage) => unknown;
export declare const Handler: unique symbol;

export interface CliqAgentConfig {
  name: string;
  handlers: {
    'phase:standard'?: Handler;
    'phase:gate'?: Handler;
    notify?: Handler;
    test?: Handler;
  };
}
export declare const CliqAgentConfig: unique symbol;

export declare class CliqAgent {
  constructor(config: CliqAgentConfig);
  readonly name: string;
  /** Reads the message from standard input, handles it, exits with 0 or 1. */
  run(): Promise<never>;
  /** For tests: handles a message; rejects with the handler's error. */
  dispatch(msg: AgentMessage): Promise<unknown>;
}
