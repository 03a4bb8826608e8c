import type { Database } from '#adapters/sqlite/database';

/** Thrown between two transactions, at the place of a crash. */
export class CutOff extends Error {
  override readonly name = 'CutOff';
}

/** Returns a database that can crash between two transactions: writes that belong together must share one. */
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
