import type { Json } from '#core/data/json';
import { secretPointers, secretTexts, textsWithin } from '#core/definition/secrets';
import type { Definitions } from '#ports/definitions';
import type { Delivery } from '#ports/delivery';
import { agentOfRequests, queueNames } from '#ports/messages';
import { messageFieldsIn } from './conversation.ts';
import { inputSchemaOf } from './schemas.ts';

/** Returns the secret texts of a message; undefined if its fields cannot be told apart. */
export function secretsOfMessage(
  { queue, body }: Pick<Delivery, 'queue' | 'body'>,
  definitions: Definitions,
): readonly string[] | undefined {
  const said = messageFieldsIn(body);
  if (!said) return undefined;
  const field = queue === queueNames.submissions ? 'order' : agentOfRequests(queue) === undefined ? undefined : 'input';
  if (field === undefined) return [];
  const value = (said[field] ?? null) as Json;
  const schema =
    field === 'order'
      ? definitions.newest(String(said['workflow'] ?? definitions.names()[0]))?.definition.order
      : inputSchemaOf(queue, String(said['operation']), definitions);
  return schema === undefined ? textsWithin(value) : secretTexts(value, secretPointers(schema));
}
