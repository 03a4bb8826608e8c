import type { Mutant } from './mutant.ts';

/** Orders that are forgotten, what they called, and others that come under their keys. */
export const retention: readonly Mutant[] = [
  {
    name: 'what was called is forgotten before its caller',
    why: 'an order that was called is forgotten when its own time is over: its caller can neither undo it nor ask after its answer',
    file: 'lib/adapters/sqlite/forgetting.ts',
    find: 'const forgotten = found.filter(({ isKept }) => isKept === 0).slice(0, limit);',
    replace: 'const forgotten = found.slice(0, limit);',
  },
  {
    name: 'a key that comes again has the effects of before',
    why: 'an order under the key of one that is forgotten asks for effects under the keys of before: services have done them, and do nothing',
    file: 'lib/roles/submission/submission.ts',
    find: '...(forgets || (await store.hasForgotten()) ? { firstGeneration: Math.floor(submittedAt / 1000) } : {}),',
    replace: '',
  },
  {
    name: 'a key that comes again has the alerts of before',
    why: 'announcements of an order under the key of one that is forgotten have its ids: subscribers drop them as repeated',
    file: 'lib/ports/records.ts',
    find: 'string => `${orderId}@${submittedAt}`;',
    replace: 'string => `${orderId}@${submittedAt > 0 ? 1 : 0}`;',
  },
];
