import type { Fence } from '#ports/store';
import type { Item } from './items.ts';

/** What must hold for a write to count: data, so that a call reads as a sentence and a test needs no server. */
export interface Condition {
  readonly expression: string;
  readonly names: { readonly [placeholder: string]: string };
  readonly values: { readonly [placeholder: string]: string | number };
}

/** There is no such item. */
export const absent: Condition = { expression: 'attribute_not_exists(#pk)', names: { '#pk': 'pk' }, values: {} };
export const present: Condition = { expression: 'attribute_exists(#pk)', names: { '#pk': 'pk' }, values: {} };

/** Nobody has written since it was loaded. Both numbers: a reset that came back to the same rev has another epoch. */
export const fencedBy = ({ epoch, rev }: Fence): Condition => ({
  expression: '#epoch = :loadedEpoch AND #rev = :loadedRev',
  names: { '#epoch': 'epoch', '#rev': 'rev' },
  values: { ':loadedEpoch': epoch, ':loadedRev': rev },
});

/** Nobody has written since this rev was read. */
export const atRev = (rev: number): Condition => ({
  expression: '#rev = :loadedRev',
  names: { '#rev': 'rev' },
  values: { ':loadedRev': rev },
});

/** Its time is over, though DynamoDB, which takes days for it, has not removed it yet. */
export const expiredBy = (seconds: number): Condition => ({
  expression: '#expiresAt < :nowSeconds',
  names: { '#expiresAt': 'expiresAt' },
  values: { ':nowSeconds': seconds },
});

/** Nothing of it is to be removed by itself. */
export const endless: Condition = { expression: 'attribute_not_exists(#expiresAt)', names: { '#expiresAt': 'expiresAt' }, values: {} };

/** Its end was last set or taken away for this rev of the state. */
export const endSetAt = (rev: number): Condition => ({
  expression: '#expiresAtRev = :expiresAtRev',
  names: { '#expiresAtRev': 'expiresAtRev' },
  values: { ':expiresAtRev': rev },
});

/** For this rev, or for an earlier one. */
export const endSetUpTo = (rev: number): Condition => ({
  expression: 'attribute_not_exists(#expiresAtRev) OR #expiresAtRev <= :lastRev',
  names: { '#expiresAtRev': 'expiresAtRev' },
  values: { ':lastRev': rev },
});

/** It is the order that was found, and no other one that was submitted under the same key since. */
export const sameSubmission = (item: Item): Condition => ({
  expression: '#submittedAt = :submittedAt AND #hash = :hash',
  names: { '#submittedAt': 'submittedAt', '#hash': 'hash' },
  values: { ':submittedAt': Number(item['submittedAt']), ':hash': String(item['hash']) },
});

/** It is what this write made of it. */
export const writtenBy = (writeId: string): Condition => ({
  expression: '#writeId = :writeId',
  names: { '#writeId': 'writeId' },
  values: { ':writeId': writeId },
});

export const anyOf = (...conditions: readonly Condition[]): Condition => joined(' OR ', conditions);
export const allOf = (...conditions: readonly Condition[]): Condition => joined(' AND ', conditions);

const joined = (word: string, conditions: readonly Condition[]): Condition => ({
  expression: conditions.map(({ expression }) => `(${expression})`).join(word),
  names: Object.assign({}, ...conditions.map(({ names }) => names)),
  values: Object.assign({}, ...conditions.map(({ values }) => values)),
});

/** A condition as the SDK's commands take it. An empty map of values is refused by DynamoDB. */
export const conditionInput = ({ expression, names, values }: Condition) => ({
  ConditionExpression: expression,
  ExpressionAttributeNames: { ...names },
  ...(Object.keys(values).length > 0 ? { ExpressionAttributeValues: { ...values } } : {}),
});
