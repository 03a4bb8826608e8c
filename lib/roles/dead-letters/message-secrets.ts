import type { Json, JsonObject } from '#core/data/json';
import { secretPointers, secretTexts, textsWithin } from '#core/definition/secrets';
import type { Definitions } from '#ports/definitions';
import type { Delivery } from '#ports/delivery';
import { agentOfRequests, consumerOf, queueNames } from '#ports/messages';
import { type MessageFields, messageFieldsIn } from './conversation.ts';
import { bodySchemaOf, inputSchemaOf } from './schemas.ts';

/** Returns the secret texts of a message: all texts if the schema is unknown. Undefined if the body is not a JSON object. */
export function secretsOfMessage(
  { queue, body }: Pick<Delivery, 'queue' | 'body'>,
  definitions: Definitions,
): readonly string[] | undefined {
  const said = messageFieldsIn(body);
  if (!said) return undefined;
  const data = dataIn(queue, said, definitions);
  if (!data) return [];
  const { value, schema } = data;
  return schema === undefined ? textsWithin(value) : secretTexts(value, secretPointers(schema));
}

/** Returns the users' data in a message with its schema, if that is known; undefined for a message without such data. */
function dataIn(queue: string, said: MessageFields, definitions: Definitions) {
  const at = (field: string, schema: JsonObject | undefined) => ({ value: (said[field] ?? null) as Json, schema });
  if (queue === queueNames.submissions)
    return at('order', definitions.newest(String(said['workflow'] ?? definitions.names()[0]))?.definition.order);
  if (consumerOf(queue) !== undefined) return at('body', bodySchemaOf(queue, String(said['type']), definitions));
  if (agentOfRequests(queue) === undefined) return undefined;
  return at('input', inputSchemaOf(queue, String(said['operation']), definitions));
}
