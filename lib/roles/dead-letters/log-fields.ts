import type { ChannelPolicy } from '#authoring/channel-policy';
import type { App } from '#authoring/workflow';
import type { Json } from '#core/data/json';
import { masked, secretPointers } from '#core/definition/secrets';
import type { Definitions } from '#ports/definitions';
import type { Delivery } from '#ports/delivery';
import { agentOfRequests, consumerOf, queueNames } from '#ports/messages';
import type { LogFields, Telemetry } from '#ports/telemetry';
import { channelOf, policyOf } from '#roles/channels/policy';
import { type MessageFields, messageFieldsIn } from './conversation.ts';
import { bodySchemaOf, inputSchemaOf } from './schemas.ts';

interface LogPorts {
  readonly app: Pick<App, 'channels'>;
  readonly definitions: Definitions;
  readonly telemetry: Telemetry;
}

/** Logs what happens to a message that was not processed, with the fields that the policy of its channel permits. */
export function logDelivery(
  level: 'info' | 'warn',
  text: string,
  delivery: Delivery,
  more: LogFields,
  { app, definitions, telemetry }: LogPorts,
): void {
  const policy = policyOf(channelOf(delivery.queue), app.channels);
  telemetry.log(level, text, { ...logFieldsOf(delivery, policy, definitions), ...more });
}

function logFieldsOf(delivery: Delivery, { logsBody, logsSender }: ChannelPolicy, definitions: Definitions): LogFields {
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
  const data = said && dataField(queue, said, definitions);
  if (!data) return `${Buffer.byteLength(body)} bytes${said ? ` with ${Object.keys(said).slice(0, 20).join(', ')}` : ''}`;
  const { field, schema } = data;
  return JSON.stringify({ ...said, [field]: masked((said[field] ?? null) as Json, secretPointers(schema)) });
}

/** Returns the field with the users' data in a message, and the schema that marks its secrets. */
function dataField(queue: string, said: MessageFields, definitions: Definitions) {
  if (queue === queueNames.submissions) {
    const workflow = definitions.newest(String(said['workflow']))?.definition;
    return workflow && { field: 'order', schema: workflow.order };
  }
  if (consumerOf(queue) !== undefined) {
    const schema = bodySchemaOf(queue, String(said['type']), definitions);
    return schema && { field: 'body', schema };
  }
  if (agentOfRequests(queue) === undefined || said['type'] !== 'request') return undefined;
  const schema = inputSchemaOf(queue, String(said['operation']), definitions);
  return schema && { field: 'input', schema };
}
