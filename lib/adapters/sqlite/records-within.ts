import type { RecordWrite } from '#ports/tallies';
import type { DocumentsWithin } from './documents.ts';
import type { TalliesWithin } from './tallies.ts';

/** Another write has changed a record since it was read. The transaction is rolled back. */
export class RecordChanged extends Error {
  override readonly name = 'RecordChanged';
}

/** Writes the records of exceptions and tasks within the transaction of an order's write. */
export interface RecordsWithin {
  /**
   * Skips a new record that exists already: the first one stays.
   *
   * @throws RecordChanged if a record was changed since it was read.
   */
  put(records: readonly RecordWrite[] | undefined): void;
}

export const recordsWithin = (documents: DocumentsWithin, tallies: TalliesWithin): RecordsWithin => ({
  put(records = []) {
    for (const { document, loadedRev, add } of records) {
      const { outcome } = documents.put(document, loadedRev);
      if (outcome === 'refused' && loadedRev > 0)
        throw new RecordChanged(`The record ${document.id} of ${document.collection} has changed.`);
      if (outcome === 'written' && add) tallies.add(add);
    }
  },
});
