import { schemasOf } from '#authoring/catalog';
import type { ChannelPolicy } from '#authoring/channel-policy';
import type { Json } from '#core/data/json';
import { masked, secretPointers } from '#core/definition/secrets';
import { parseWorkflowRef } from '#core/definition/workflow-ref';
import type { Definitions } from '#ports/definitions';
import type { Delivery } from '#ports/delivery';
import { agentOfRequests, queueNames } from '#ports/messages';
import type { LogFields } from '#ports/telemetry';
import { type MessageFields, messageFieldsIn } from './conversation.ts';

/** Returns the log fields of a message that was not processed, as the policy of its channel permits. */
export function logFieldsOf(delivery: Delivery, { logsBody, logsSender }: ChannelPolicy, definitions: Definitions): LogFields {
  const { queue, messageId, body, senderId, receiveCount } = delivery;
  const said = messageFieldsIn(body);
  return {
    queue,
    messageId,
    receiveCount,
    ...(typeof said?.['orderId'] === 'string' ? { orderId: said['orderId'] } : {}),
    ...(logsSender && senderId !== undefined ? { senderId } : {}),
    ...(logsBody ? { body: redactedFields(delivery, said, definitions) } : {}),
  };
}

/** Returns a body without its secrets. If its schema is unknown, returns only its size and its field names. */
function redactedFields({ queue, body }: Delivery, said: MessageFields | undefined, definitions: Definitions): string {
  const secret = said && secretField(queue, said, definitions);
  if (!secret) return `${Buffer.byteLength(body)} bytes${said ? ` with ${Object.keys(said).slice(0, 20).join(', ')}` : ''}`;
  const { field, pointers } = secret;
  return JSON.stringify({ ...said, [field]: masked((said[field] ?? null) as Json, pointers) });
}

/** Returns the field with the users' data in a message, and the pointers of its secrets. */
function secretField(queue: string, said: MessageFields, { agents, newest, program }: Definitions) {
  if (queue === queueNames.submissions) {
    const workflow = newest(String(said['workflow']))?.definition;
    return workflow && { field: 'order', pointers: secretPointers(workflow.order) };
  }
  const asked = agentOfRequests(queue);
  if (asked === undefined || said['type'] !== 'request') return undefined;
  const name = String(said['operation']);
  if (queue === queueNames.calls) {
    const { name: workflow, version } = parseWorkflowRef(name);
    const called = program(workflow, version)?.definition;
    return called && { field: 'input', pointers: secretPointers(called.order) };
  }
  const operations = agents.find((agent) => agent.name === asked)?.operations ?? {};
  const operation = Object.hasOwn(operations, name) ? operations[name] : undefined;
  return operation && { field: 'input', pointers: secretPointers(schemasOf(operation).input) };
}
