import { workflowsAgent } from '#core/data/child-order';
import type { StepReply } from '#core/data/event';
import { classOfEngineFault, engineFaults, type Fault, shortType } from '#core/data/fault';
import { stepOfRequest } from '#core/data/ids';
import { type Json, utf8Bytes } from '#core/data/json';
import { isRemote } from '#core/definition/definition';
import { nodeAt } from '#core/definition/program';
import { withoutSealed } from '#core/definition/sealed';
import { withoutTexts } from '#core/definition/secrets';
import type { Incoming, Loaded, Settings } from './types.ts';

type IncomingReply = Extract<Incoming, { type: 'reply' }>;

/** Whether the message came from the reply queue of the step's agent. Other agents cannot answer for it. */
export function isFromItsAgent(
  { program, record, instance }: Loaded,
  { requestId, agent }: { readonly requestId: string; readonly agent: string },
): boolean {
  const path = stepOfRequest(record.orderId, requestId);
  if (path === undefined || !instance.state.activities[path]) return false;
  const node = nodeAt(program, path);
  return isRemote(node) && node.agent === agent;
}

/** Whether a reply's output matches the schema of its operation. The scheduler ignores an invalid reply. */
export function hasValidOutput(
  { program, record }: Loaded,
  { requestId, agent, reply }: IncomingReply,
  { isValidOutput }: Settings,
): boolean {
  if (reply.status !== 'succeeded') return true;
  const node = nodeAt(program, stepOfRequest(record.orderId, requestId) ?? '');
  // The output of a called order has no schema: only operations of agents have one.
  return isRemote(node) && (agent === workflowsAgent || isValidOutput(agent, node.operation, reply.output));
}

/** Builds the core's event for a reply. */
export const replied = (loaded: Loaded, incoming: IncomingReply, secrets: readonly string[], { clockToleranceMs }: Settings) => ({
  type: 'replied' as const,
  requestId: incoming.requestId,
  sentAt: incoming.sentAt,
  clocksApartMs: clockToleranceMs,
  reply: normalizedReply(loaded, incoming, secrets),
});

/** Gives a fault its declared type and class, or those of the engine, and removes secrets. Any other fault keeps the class `unexpected`. */
function normalizedReply({ program, record }: Loaded, { requestId, reply }: IncomingReply, secrets: readonly string[]): StepReply {
  if (reply.status !== 'failed') return reply;
  const path = stepOfRequest(record.orderId, requestId) ?? '';
  const node = nodeAt(program, path);
  const declared = isRemote(node) ? node.faults?.find((type) => shortType(type) === reply.fault.type) : undefined;
  const known = Object.values(engineFaults).find((type) => shortType(type) === reply.fault.type);
  const fault: Fault = {
    // Shortening first would leave a part of a secret that withoutSecrets does not find.
    ...brief(withoutSecrets(reply.fault, secrets)),
    type: declared ?? known ?? reply.fault.type,
    class: declared ? 'expected' : known ? classOfEngineFault(known) : reply.fault.class,
    ...(declared && isRemote(node) ? node.faultDetails?.[declared] : {}),
    source: path,
  };
  return { status: 'failed', fault };
}

export const withoutSecrets = (fault: Fault, secrets: readonly string[]): Fault =>
  withoutSealed(withoutTexts(fault as unknown as Json, secrets)) as unknown as Fault;

/** Shortens a fault, because the state, the journal and announcements contain it. A service may answer with an error page. */
function brief(fault: Fault): Fault {
  const { data, ...rest } = fault;
  const bytes = data === undefined ? 0 : utf8Bytes(data);
  const left = bytes > faultLimits.dataBytesMax ? ` (data of ${bytes} bytes omitted)` : '';
  const message =
    rest.message.length > faultLimits.messageCharactersMax ? `${rest.message.slice(0, faultLimits.messageCharactersMax)}…` : rest.message;
  return { ...rest, message: message + left, ...(data === undefined || left ? {} : { data }) };
}

const faultLimits = { messageCharactersMax: 2048, dataBytesMax: 16 * 1024 };
