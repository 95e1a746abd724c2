// sdk_page_model.ts - what the programs of the SDK's page call and leave to their reader: a model, which is llm.mjs here,
// and a service. The environment says where they are: MODEL_URL, SERVICE_URL.
import fs from 'node:fs';
import type { Notification, PhaseContext, SourceEntry, TargetEntry } from '@cliqhub/cliq-sdk';

async function ask(system: string, content: string): Promise<string> {
  const response = await fetch(`${process.env.MODEL_URL}/v1/messages`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'x-api-key': 'k' },
    body: JSON.stringify({ model: 'm', max_tokens: 1000, system, messages: [{ role: 'user', content }] }),
  });
  const { content: [part] } = await response.json() as { content: { text: string }[] };
  return part.text;
}

// ---- the analyst, the reviewer ----

export async function call_your_llm(role: string, input: string): Promise<{ text: string }> {
  return { text: await ask(role, input) };
}
export async function call_llm_for_review(role: string, inputs: Record<string, string>): Promise<{ approved: boolean; reason: string }> {
  const reason = await ask(role, Object.entries(inputs).map(([channel, text]) => `${channel} says ${text}`).join('\n'));
  return { approved: reason.startsWith('yes'), reason };
}

// ---- the agent with tools: a call of one is `tool WORD` ----

export interface Conversation {
  role: string;
  said: string[];
}
export function build_initial_context(role: string, input: Record<string, string>): Conversation {
  return { role, said: Object.values(input) };
}
export async function call_llm(context: Conversation): Promise<{ tool_calls?: string[]; text: string }> {
  const text = await ask(context.role, context.said.join('\n'));
  return text.startsWith('tool ') ? { tool_calls: [text.slice(5)], text } : { text };
}
export async function execute_tools(tool_calls: string[]): Promise<string[]> {
  return tool_calls.map((word) => `the tool says ${word.toUpperCase()}`);
}
export function append_tool_results(context: Conversation, results: string[]): Conversation {
  return { ...context, said: [...context.said, ...results] };
}

// ---- the task board ----

export async function do_work(ctx: PhaseContext): Promise<{ summary: string; text: string }> {
  return { summary: `${ctx.task_board.content.split('\n').length} lines`, text: 'Tracked.' };
}

// ---- notifications, the connector ----

export function format_blocks(notification: Notification): { type: string; text: string }[] {
  return [{ type: 'section', text: notification.reason ?? notification.event }];
}
export async function fetch_from_api(source: SourceEntry, action: string): Promise<string> {
  return (await fetch(`${process.env.SERVICE_URL}/${action}/${source.ref}`)).text();
}
export async function deliver_to_api(target: TargetEntry, ctx: PhaseContext, action: string): Promise<void> {
  const body = fs.readFileSync(`${ctx.work_dir}/${target.file}`);
  const response = await fetch(`${process.env.SERVICE_URL}/${action}/${target.ref}`, { method: 'POST', body });
  if (!response.ok) throw new Error(`the service responded ${response.status}`);
}
