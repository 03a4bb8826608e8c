import type { Breaker, Breakers } from '#ports/circuit-breaker';
import type { Database } from './database.ts';

/** Stores the circuit breakers, one for each agent and each consumer. */
export function sqliteBreakers(database: Database): Breakers {
  const selectBreaker = database.prepare('SELECT record FROM breakers WHERE agent = ?');
  const insertBreaker = database.prepare('INSERT INTO breakers (record, rev, agent) VALUES (?, ?, ?) ON CONFLICT DO NOTHING');
  const updateBreaker = database.prepare('UPDATE breakers SET record = ?, rev = ? WHERE agent = ? AND rev = ?');
  return {
    breaker: async (agent) => breakerOf(selectBreaker.get(agent)),
    putBreaker: (breaker, loadedRev) =>
      database.write(() => {
        const columns = [JSON.stringify(breaker), breaker.rev, breaker.agent] as const;
        const { changes } = loadedRev === 0 ? insertBreaker.run(...columns) : updateBreaker.run(...columns, loadedRev);
        if (Number(changes) > 0) return { outcome: 'written' } as const;
        return { outcome: 'refused', current: breakerOf(selectBreaker.get(breaker.agent)) ?? null } as const;
      }),
  };
}

const breakerOf = (row: unknown): Breaker | undefined =>
  row === undefined ? undefined : (JSON.parse((row as { record: string }).record) as Breaker);
