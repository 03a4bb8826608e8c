import type { Database } from '#adapters/sqlite/database';

/** Whoever was at work is dead before the next transaction begins. */
export class CutOff extends Error {
  override readonly name = 'CutOff';
}

/** A database on which work can be cut off between two transactions: what belongs together must lie in one. */
export function cuttable(database: Database): Database & { within<T>(transactions: number, work: () => Promise<T>): Promise<T> } {
  let left = Number.POSITIVE_INFINITY;
  return {
    ...database,
    write(operation) {
      left -= 1;
      return left < 0 ? Promise.reject(new CutOff('It is dead before it goes on.')) : database.write(operation);
    },
    async within(transactions, work) {
      left = transactions;
      try {
        return await work();
      } finally {
        left = Number.POSITIVE_INFINITY;
      }
    },
  };
}
