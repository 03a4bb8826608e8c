import type { Mutant } from './mutant.ts';

/** Mistakes about forgotten orders, their called orders, and new orders under their keys. */
export const retention: readonly Mutant[] = [
  {
    name: 'a called order is forgotten before its caller',
    why: 'a called order is forgotten after its own retention: its caller can neither undo it nor request its result',
    file: 'lib/adapters/sqlite/forgetting.ts',
    find: 'const forgotten = found.filter(({ isKept }) => isKept === 0).slice(0, limit);',
    replace: 'const forgotten = found.slice(0, limit);',
  },
  {
    name: 'a reused key has the effects of the forgotten order',
    why: 'a new order under the key of a forgotten one uses the same idempotency keys, so services do nothing',
    file: 'lib/roles/submission/submission.ts',
    find: '...(forgets || (await store.hasForgotten()) ? { firstGeneration: Math.floor(submittedAt / 1000) } : {}),',
    replace: '',
  },
  {
    name: 'a reused key has the alerts of the forgotten order',
    why: 'announcements of a new order under the key of a forgotten one have the same ids, so subscribers drop them as repetitions',
    file: 'lib/ports/records.ts',
    find: 'string => `${orderId}@${submittedAt}`;',
    replace: 'string => `${orderId}@${submittedAt > 0 ? 1 : 0}`;',
  },
];
