import type { Clock } from '#ports/clock';
import { shardCount } from '#ports/records';
import type { Store } from '#ports/store';

export interface FindOptions {
  readonly store: Pick<Store, 'due'>;
  readonly clock: Pick<Clock, 'now'>;
  /** Ids that are passed to `look` at a time. */
  readonly pageSize: number;
}

/** Passes the ids of all orders that are due to `look`, page by page, oldest first within a shard. */
export async function findDue({ store, clock, pageSize }: FindOptions, look: (ids: readonly string[]) => Promise<void>): Promise<void> {
  const until = clock.now();
  for (let index = 0; index < shardCount; index++) {
    // Supervisors that run at the same time begin at different shards.
    const shard = (index + until) % shardCount;
    const seen = new Set<string>();
    // Woken orders stay at the front of the worklist, so each round reads from its start. It reads twice as many ids as the last one:
    // one page more each time would read the front again for every page.
    for (let limit = pageSize, isMore = true; isMore; limit *= 2) {
      const due = await store.due('due', shard, until, limit);
      const ids = due.filter((id) => !seen.has(id));
      for (let from = 0; from < ids.length; from += pageSize) await look(ids.slice(from, from + pageSize));
      for (const id of ids) seen.add(id);
      isMore = due.length === limit;
    }
  }
}
