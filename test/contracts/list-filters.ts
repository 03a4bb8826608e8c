import type { OrderFilter } from '#ports/store';
import { noon } from '../support/records.ts';

/** One value for each filter of a list of orders. */
export const oneOfEach = {
  client: 'shop',
  reference: 'r1',
  state: 'Error',
  outcome: 'canceled',
  workflow: 'return',
  fault: 'CardDeclined',
  submittedAfter: noon - 1,
  submittedBefore: noon + 1000,
} as const satisfies { readonly [Name in keyof OrderFilter]-?: OrderFilter[Name] };

const entries = Object.entries(oneOfEach);

/** Every combination of filters of a list of orders. */
export const everyFilter: readonly OrderFilter[] = Array.from({ length: 2 ** entries.length }, (_, bits) =>
  Object.fromEntries(entries.filter((_, place) => (bits >> place) & 1)),
);
