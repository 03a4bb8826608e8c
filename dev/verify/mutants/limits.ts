import type { Mutant } from './mutant.ts';

/** What stands between wide or large orders and a store that takes so much of an item, and of a partition. */
export const limits: readonly Mutant[] = [
  {
    name: 'all turns of a loop at once',
    why: 'a loop that says nothing of how many turns are at work has all of them at work: their answers fight for one item',
    file: 'lib/core/definition/definition.ts',
    find: 'concurrencyDefault: 20,',
    replace: 'concurrencyDefault: 1000,',
  },
  {
    name: 'losers of a race come back together',
    why: 'messages that lost the race for a wide order come again in one and the same second',
    file: 'lib/roles/scheduler/races.ts',
    find: 'return slotMs * (1 + (hashOf(name) % slots));',
    replace: 'return slots > 0 ? slotMs : 0;',
  },
  {
    name: 'throttling is an outage',
    why: 'a message whose write was throttled is not spread over time: it comes again at once, with all others',
    file: 'lib/adapters/aws/dynamodb/retry.ts',
    find: 'throttled: isThrottle(error, name),',
    replace: 'throttled: false,',
  },
  {
    name: 'a call takes whatever it is given',
    why: 'what a step or a call is requested with has no limit: the order that is called is larger than an item may be',
    file: 'lib/core/activities/step.ts',
    find: '  if (fits(input, limits.inputBytesMax)) return undefined;',
    replace: '  if (fits(input, limits.inputBytesMax) || input !== undefined) return undefined;',
  },
  {
    name: 'what the store never takes comes again',
    why: 'a write that is larger than an item may be is taken for an outage: its message comes again for ever',
    file: 'lib/adapters/aws/dynamodb/retry.ts',
    find: 'if (isInvalid(error, name)) return new StoreRefusesError(',
    replace: "if (isInvalid(error, '')) return new StoreRefusesError(",
  },
];
