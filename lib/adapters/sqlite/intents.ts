import type { IntentLog } from '#ports/store';
import type { Database } from './database.ts';

/** Records the intents of agents. */
export function sqliteIntents(database: Database): IntentLog {
  const insertIntent = database.prepare('INSERT INTO intents (orderId, idempotencyKey, requestId) VALUES (?, ?, ?) ON CONFLICT DO NOTHING');
  const selectIntent = database.prepare('SELECT requestId FROM intents WHERE orderId = ? AND idempotencyKey = ?');
  const deleteIntent = database.prepare('DELETE FROM intents WHERE orderId = ? AND idempotencyKey = ?');
  return {
    recordIntent: ({ orderId, idempotencyKey, requestId }) =>
      database.write(() => {
        if (Number(insertIntent.run(orderId, idempotencyKey, requestId).changes) === 0)
          return { outcome: 'refused', ...(selectIntent.get(orderId, idempotencyKey) as { requestId: string }) } as const;
        const withdraw = () => database.write(() => void deleteIntent.run(orderId, idempotencyKey));
        return { outcome: 'recorded', withdraw } as const;
      }),
  };
}
