import type { Clock } from '#ports/clock';
import { shardCount } from '#ports/records';
import type { Store } from '#ports/store';

export interface FindOptions {
  readonly store: Pick<Store, 'due'>;
  readonly clock: Pick<Clock, 'now'>;
  /** Ids read from one shard at a time. */
  readonly pageSize: number;
}

/** Passes the ids of all orders that are due to `look`, page by page, oldest first within a shard. */
export async function findDue({ store, clock, pageSize }: FindOptions, look: (ids: readonly string[]) => Promise<void>): Promise<void> {
  const until = clock.now();
  for (let index = 0; index < shardCount; index++) {
    // Supervisors that run at the same time begin at different shards.
    const shard = (index + until) % shardCount;
    const seen = new Set<string>();
    // Woken orders stay at the front of the worklist, so each round reads one page more than it has seen.
    for (let found = pageSize; found === pageSize; ) {
      const due = await store.due('due', shard, until, seen.size + pageSize);
      if (due.length === 0) break;
      const ids = due.filter((id) => !seen.has(id)).slice(0, pageSize);
      await look(ids);
      for (const id of ids) seen.add(id);
      found = ids.length;
    }
  }
}
