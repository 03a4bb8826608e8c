import type { Mutant } from './mutant.ts';

/** Mistakes about the limits that keep wide or large orders within the store's limits of items and partitions. */
export const limits: readonly Mutant[] = [
  {
    name: 'all turns of a loop at once',
    why: 'a loop without a declared limit runs all of its turns at once, and their replies compete for one item',
    file: 'lib/core/definition/definition.ts',
    find: 'concurrencyDefault: 20,',
    replace: 'concurrencyDefault: 1000,',
  },
  {
    name: 'losers of a race return together',
    why: 'messages that lost the race for a wide order are redelivered in the same second',
    file: 'lib/roles/scheduler/races.ts',
    find: 'return slotMs * (1 + (hashOf(name) % slots));',
    replace: 'return slots > 0 ? slotMs : 0;',
  },
  {
    name: 'throttling counts as an outage',
    why: 'a message whose write was throttled is redelivered at once, together with all others',
    file: 'lib/adapters/aws/dynamodb/retry.ts',
    find: 'throttled: isThrottle(error, name),',
    replace: 'throttled: false,',
  },
  {
    name: 'a call accepts an input of any size',
    why: 'the input of a step or a call has no limit: a called order may be larger than an item',
    file: 'lib/core/engine/step-attempts.ts',
    find: '  if (fits(input, limits.inputBytesMax)) return undefined;',
    replace: '  if (fits(input, limits.inputBytesMax) || input !== undefined) return undefined;',
  },
  {
    name: 'a write that the store never accepts is repeated',
    why: 'a write that is larger than an item counts as an outage, so its message is redelivered forever',
    file: 'lib/adapters/aws/dynamodb/retry.ts',
    find: 'if (isInvalid(error, name)) return new StoreRefusesError(',
    replace: "if (isInvalid(error, '')) return new StoreRefusesError(",
  },
];
