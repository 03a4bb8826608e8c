import { rootPath } from '#core/definition/definition';
import type { Tracked } from '#testing/world/history';

/** Returns a name for each undone write of which an order has learned in its last write, by the recovery that the order was in itself. */
export const undoneWritesIn = ({ before, newFacts }: Pick<Tracked, 'before' | 'newFacts'>): readonly string[] =>
  newFacts.flatMap((fact) => {
    if (fact.type !== 'InconsistencyFound') return [];
    if (fact.maskedBy !== undefined) return ['undone write masked'];
    const recovering = before?.state.recovering;
    return recovering === undefined || recovering === rootPath ? [] : ['undone write read beside a recovery'];
  });
