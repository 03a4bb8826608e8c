import { type AttributeValue, ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { DeleteCommand, PutCommand, TransactWriteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { type Condition, conditionInput } from './conditions.ts';
import type { Item } from './items.ts';
import type { Key } from './keys.ts';
import { get } from './reads.ts';
import { isRefused } from './retry.ts';
import type { Table } from './table.ts';

/** The result of a conditional write. A lost race returns the winning item, or null if there is none. */
export type Answer = { readonly outcome: 'written' } | { readonly outcome: 'refused'; readonly current: Item | null };

/** Puts an item if `when` holds. Other errors of DynamoDB are thrown unchanged. */
export const putIf = ({ client, table }: Table, item: Item, when: Condition): Promise<Answer> =>
  answerOf(
    client.send(new PutCommand({ TableName: table, Item: item, ...conditionInput(when), ReturnValuesOnConditionCheckFailure: 'ALL_OLD' })),
  );

/** An item to put, with its condition. Without a condition, the put always succeeds. */
export interface Put {
  readonly item: Item;
  readonly when?: Condition;
}

/**
 * Puts an item and others: all of them or none. If the condition of `first` does not hold, the answer is `refused`. If another condition
 * does not hold, the call rejects.
 */
export async function putAllIf({ client, table }: Table, first: Put, others: readonly Put[]): Promise<Answer> {
  const TransactItems = [first, ...others].map((put) => ({ Put: putInput(table, put) }));
  try {
    await client.send(new TransactWriteCommand({ TransactItems }));
    return { outcome: 'written' };
  } catch (error) {
    const [reason] = isRefused(error) ? (error.CancellationReasons ?? []) : [];
    if (reason?.Code !== 'ConditionalCheckFailed') throw error;
    return { outcome: 'refused', current: itemIn(reason.Item) };
  }
}

/** Returns a put of a transaction as the SDK takes it. A refusal returns the stored item. */
export const putInput = (TableName: string, { item: Item, when }: Put) => ({
  TableName,
  Item,
  ...(when ? { ...conditionInput(when), ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const } : {}),
});

/** Deletes the item if `when` holds. */
export const deleteIf = ({ client, table }: Table, key: Key, when: Condition): Promise<Answer> =>
  answerOf(
    client.send(new DeleteCommand({ TableName: table, Key: key, ...conditionInput(when), ReturnValuesOnConditionCheckFailure: 'ALL_OLD' })),
  );

/**
 * Sets and removes attributes if `when` holds. The other attributes of the item stay. After a refusal, a read returns `attributes`, if they
 * are given: a refused write could only return the whole item, which roles that may read some attributes alone must not request.
 */
export async function setIf(
  { client, table }: Table,
  key: Key,
  change: { readonly set: Item; readonly remove?: readonly string[]; readonly attributes?: readonly string[] },
  when: Condition,
): Promise<Answer> {
  const { set, remove = [], attributes } = change;
  const { ConditionExpression, ExpressionAttributeNames, ExpressionAttributeValues } = conditionInput(when);
  const names = Object.keys(set);
  const clauses = [
    `SET ${names.map((name) => `#${name} = :${name}`).join(', ')}`,
    ...(remove.length > 0 ? [`REMOVE ${remove.map((name) => `#${name}`).join(', ')}`] : []),
  ];
  const answer = await answerOf(
    client.send(
      new UpdateCommand({
        TableName: table,
        Key: key,
        UpdateExpression: clauses.join(' '),
        ConditionExpression,
        ExpressionAttributeNames: {
          ...ExpressionAttributeNames,
          ...Object.fromEntries([...names, ...remove].map((name) => [`#${name}`, name])),
        },
        ExpressionAttributeValues: { ...ExpressionAttributeValues, ...Object.fromEntries(names.map((name) => [`:${name}`, set[name]])) },
      }),
    ),
  );
  return answer.outcome === 'written' || !attributes
    ? answer
    : { ...answer, current: (await get({ client, table }, key, attributes)) ?? null };
}

async function answerOf(sending: Promise<unknown>): Promise<Answer> {
  try {
    await sending;
    return { outcome: 'written' };
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
    return { outcome: 'refused', current: itemIn(error.Item) };
  }
}

/** Converts an item inside an exception from the wire format, in which even the document client returns it (aws-sdk-js-v3 issue 6723). */
export const itemIn = (wire: Record<string, AttributeValue> | undefined): Item | null =>
  wire && Object.keys(wire).length > 0 ? unmarshall(wire) : null;
