import { randomUUID } from 'node:crypto';
import type { IntentLog } from '#ports/store';
import { unused, writtenBy } from './conditions.ts';
import type { StoreContext } from './context.ts';
import { keys } from './keys.ts';
import { deleteIf, putIf } from './update-if.ts';

/** Records that an agent is about to call its service once under an idempotency key. Another request under that key is refused. */
export const dynamoDbIntents = ({ table, withRetries, nowSeconds }: StoreContext): IntentLog => ({
  async recordIntent({ orderId, idempotencyKey, requestId }) {
    const key = keys.intent(orderId, idempotencyKey);
    const writeId = randomUUID();
    const free = unused(nowSeconds());
    const answer = await withRetries(() => putIf(table, { ...key, requestId, writeId }, free));
    // If the response to our write was lost, the retry is refused and finds our own write. That counts as written.
    if (answer.outcome === 'refused' && answer.current?.['writeId'] !== writeId)
      return { outcome: 'refused', requestId: String(answer.current?.['requestId']) };
    const withdraw = () => withRetries(() => deleteIf(table, key, writtenBy(writeId))).then(() => undefined);
    return { outcome: 'recorded', withdraw };
  },
});
