// The types of client.js.

export interface ClientOptions {
  /** http://HOST:PORT or https://…; else CLIQ_URL */
  url?: string | URL;
  /** else CLIQ_KEY */
  key?: string;
  /** how long a call is tried again while the server cannot be reached; 10,000 */
  retry_ms?: number;
}

export interface Signal {
  id: string;
  signal_type: string;
  content?: unknown;
  urgency?: number;
  from_role?: string | null;
  from_identity?: string | null;
  to_role?: string | null;
  to_ring?: string | null;
  to_identity?: string | null;
  parent_id?: string | null;
  thread_id?: string | null;
  sequence: number;
  tags?: string[];
  resources?: Array<Record<string, unknown>>;
  metadata?: Record<string, unknown>;
  payload?: unknown;
  delivery_state?: string;
  delivery_count?: number;
  task_status?: string;
  claim_id?: string;
  claimed_by?: string | null;
  claim_expires_at?: string | null;
  created_at?: string;
  [key: string]: unknown;
}

export interface EmitOptions {
  signal_type: string;
  content?: unknown;
  urgency?: number;
  from_role?: string;
  to_role?: string;
  to_ring?: string;
  to_identity?: string;
  parent_id?: string;
  tags?: string[];
  resources?: Array<Record<string, unknown>>;
  metadata?: Record<string, unknown>;
  payload?: unknown;
  dedup_key?: string;
  [key: string]: unknown;
}

export interface ClaimOptions {
  signal_id?: string;
  role?: string;
  types?: string[];
  lease_seconds?: number;
  wait_seconds?: number;
}

export interface InboxOptions {
  view?: 'now' | 'recent' | 'history' | 'stale';
  receipt_state?: 'unread' | 'acknowledged' | 'resolved' | 'snoozed';
  type?: string | string[];
  min_urgency?: number;
  delivery_state?: string | string[];
  project_tag?: string;
  limit?: number;
  after?: string;
  [key: string]: unknown;
}

export interface StreamFilter {
  ring?: string | string[];
  type?: string | string[];
  pattern?: string;
  min_urgency?: number;
  tags?: string[];
  role?: string;
  inbox?: boolean;
  /** go on behind this sequence; else with the next signal */
  since?: number;
}

export interface GenerateOptions {
  source?: { type: 'agent' | 'webhook' | 'process'; id?: string };
  dedup_key?: string;
}
export interface ScheduleOptions {
  data?: unknown;
  repeatKey?: string;
  source?: { type: 'agent' | 'webhook' | 'process'; id?: string };
}

export interface WorkOptions extends Omit<ClaimOptions, 'signal_id'> {
  /** tasks at a time; 1 */
  concurrency?: number;
  on_error?: (problem: unknown) => void;
}

/** status: of HTTP; code: SIGNAL_NOT_CLAIMABLE …, or UNREACHABLE. */
export declare class CliqClientError extends Error {
  status?: number;
  code?: string;
  request_id?: string;
  details?: unknown;
}

export declare class Subscription {
  private constructor();
  /** of the last signal that on_signal took */
  readonly sequence: number | undefined;
  /** resolves after close, when the last call of on_signal has ended; rejects when the server refuses (or cannot be
   * reached the first time), or on_signal throws */
  readonly closed: Promise<void>;
  /** on_signal is not called again; it may call this itself */
  close(): Promise<void>;
}

export declare class Worker {
  private constructor();
  /** resolves after stop; rejects when claims are refused */
  readonly done: Promise<unknown>;
  /** Claims no more tasks; resolves when those at work have ended. A handler may call it, but not await it. */
  stop(): Promise<unknown>;
}

/** A page; its cursor is `after` of the next one. */
export type Page<T> = T[] & { cursor?: string };

export declare class CliqClient {
  constructor(options?: ClientOptions);
  readonly url: string;
  readonly signals: {
    subscribe(filter: StreamFilter, on_signal: (signal: Signal) => unknown, more?: {
      on_reset?: (reset: { oldest: number; cut?: number }) => unknown;
      /** undefined: connected; else why the connection was lost */
      on_state?: (problem: unknown) => void;
    }): Subscription;
    generate(type: string, data?: unknown, more?: GenerateOptions): Promise<Record<string, unknown>>;
    schedule(type: string, deliverAt: Date | number | string, more?: ScheduleOptions): Promise<Record<string, unknown>>;
    delayed(): Promise<Array<Record<string, unknown>>>;
    cancel(which: { id?: string; repeatKey?: string; type?: string }): Promise<Record<string, unknown>>;
  };
  emit(signal: EmitOptions): Promise<Signal>;
  emit_batch(signals: EmitOptions[]): Promise<Signal[]>;
  claim(want?: ClaimOptions, more?: { signal?: AbortSignal }): Promise<Signal | null>;
  ack(task: Signal | string): Promise<Signal>;
  extend(task: Signal | string, lease_seconds?: number): Promise<Signal>;
  release(task: Signal | string): Promise<Signal>;
  fail(task: Signal | string, error?: string, more?: { retry_in?: number }): Promise<Signal>;
  status(task: Signal | string, task_status: string): Promise<Signal>;
  requeue(task: Signal | string): Promise<Signal>;
  inbox(target: string, filter?: InboxOptions): Promise<Page<Signal>>;
  thread(id: Signal | string): Promise<Signal[]>;
  list(filter?: Record<string, unknown>): Promise<Page<Signal>>;
  get(id: Signal | string): Promise<Signal>;
  history(id: Signal | string): Promise<Array<Record<string, unknown>>>;
  work(want: WorkOptions, handler: (task: Signal, more: { signal: AbortSignal }) => unknown): Worker;
  /** Any call of /openapi.json; returns the whole answer. */
  request(method: string, path: string, options?: {
    query?: Record<string, unknown>;
    body?: Record<string, unknown>;
    is_made?: boolean;
    is_once?: boolean;
    signal?: AbortSignal;
  }): Promise<any>;
}
