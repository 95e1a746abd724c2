// types - the names of the types in index.d.ts, as values.
//
// TypeScript that runs by stripping its types keeps `import { AgentMessage } from …`, because it cannot
// know that the name is only a type. So each name is there to import. The values mean nothing.

export const AgentMessage = Symbol('AgentMessage');
export const Artifact = Symbol('Artifact');
export const ChannelMessage = Symbol('ChannelMessage');
export const CliqAgentConfig = Symbol('CliqAgentConfig');
export const Command = Symbol('Command');
export const DispatchFields = Symbol('DispatchFields');
export const GateCheckResult = Symbol('GateCheckResult');
export const GateResult = Symbol('GateResult');
export const HandoffEnvelope = Symbol('HandoffEnvelope');
export const HandoffPayload = Symbol('HandoffPayload');
export const Handler = Symbol('Handler');
export const InputText = Symbol('InputText');
export const Notification = Symbol('Notification');
export const NotifyPayload = Symbol('NotifyPayload');
export const ReviewBlock = Symbol('ReviewBlock');
export const Signal = Symbol('Signal');
export const SourceEntry = Symbol('SourceEntry');
export const TargetEntry = Symbol('TargetEntry');
export const TestResult = Symbol('TestResult');
export const VerdictOutcome = Symbol('VerdictOutcome');
