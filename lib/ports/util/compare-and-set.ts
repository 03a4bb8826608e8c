/** Tries of one writer. One of the concurrent writers wins each round, so up to this many writers can all succeed. */
export const racesMaxUsual = 20;

/**
 * Repeats a conditional write until no other writer comes first. Each try reads the current record, and returns `lost` if the store
 * refuses its write. Resolves to the result of the last try, which is `lost` after too many races.
 */
export async function compareAndSet<T>(tryOnce: () => Promise<T | 'lost'>, racesMax = racesMaxUsual): Promise<T | 'lost'> {
  for (let race = 1; race <= racesMax; race++) {
    const result = await tryOnce();
    if (result !== 'lost') return result;
  }
  return 'lost';
}
