import type { Fence } from '#ports/store';
import type { Item } from './items.ts';

/** The condition of a write, as data. Tests check it without a server. */
export interface Condition {
  readonly expression: string;
  readonly names: { readonly [placeholder: string]: string };
  readonly values: { readonly [placeholder: string]: string | number };
}

/** The item does not exist. */
export const absent: Condition = { expression: 'attribute_not_exists(#pk)', names: { '#pk': 'pk' }, values: {} };
export const present: Condition = { expression: 'attribute_exists(#pk)', names: { '#pk': 'pk' }, values: {} };

/** No write has happened since the load: each write increments the rev, and each claim and each reset the epoch. */
export const fencedBy = ({ epoch, rev }: Fence): Condition => ({
  expression: '#epoch = :loadedEpoch AND #rev = :loadedRev',
  names: { '#epoch': 'epoch', '#rev': 'rev' },
  values: { ':loadedEpoch': epoch, ':loadedRev': rev },
});

/** No write has happened since this rev was read. */
export const atRev = (rev: number): Condition => ({
  expression: '#rev = :loadedRev',
  names: { '#rev': 'rev' },
  values: { ':loadedRev': rev },
});

/** An earlier version of Redress wrote the item, without a rev. */
export const unversioned: Condition = { expression: 'attribute_not_exists(#rev)', names: { '#rev': 'rev' }, values: {} };

/** The item has expired, but DynamoDB has not deleted it yet: that may take days. */
export const expiredBy = (seconds: number): Condition => ({
  expression: '#expiresAt < :nowSeconds',
  names: { '#expiresAt': 'expiresAt' },
  values: { ':nowSeconds': seconds },
});

/** The key is free: it has no item, or an expired one. */
export const unused = (nowSeconds: number): Condition => anyOf(absent, expiredBy(nowSeconds));

/** The item has no expiry. */
export const withoutExpiry: Condition = {
  expression: 'attribute_not_exists(#expiresAt)',
  names: { '#expiresAt': 'expiresAt' },
  values: {},
};

/** The expiry was last set or removed for this rev of the state. */
export const expirySetAt = (rev: number): Condition => ({
  expression: '#expiresAtRev = :expiresAtRev',
  names: { '#expiresAtRev': 'expiresAtRev' },
  values: { ':expiresAtRev': rev },
});

/** The expiry was last changed for this rev of the state, or for an earlier one. */
export const expirySetUpTo = (rev: number): Condition => ({
  expression: 'attribute_not_exists(#expiresAtRev) OR #expiresAtRev <= :lastRev',
  names: { '#expiresAtRev': 'expiresAtRev' },
  values: { ':lastRev': rev },
});

/** The item is the submission that was read, not a later one under the same key. */
export const sameSubmission = (item: Item): Condition => ({
  expression: '#submittedAt = :submittedAt AND #hash = :hash',
  names: { '#submittedAt': 'submittedAt', '#hash': 'hash' },
  values: { ':submittedAt': Number(item['submittedAt']), ':hash': String(item['hash']) },
});

/** The item was last written by this write. */
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

/** Returns a condition as the SDK's commands take it. DynamoDB refuses an empty map of values. */
export const conditionInput = ({ expression, names, values }: Condition) => ({
  ConditionExpression: expression,
  ExpressionAttributeNames: { ...names },
  ...(Object.keys(values).length > 0 ? { ExpressionAttributeValues: { ...values } } : {}),
});
