import { TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import type { ClientRecord } from '#ports/clients';
import type { ClientWrite, Store } from '#ports/store';
import { absent, allOf, anyOf, atRev, present, unversioned } from './conditions.ts';
import type { StoreContext } from './context.ts';
import { newDocument } from './documents.ts';
import { appClientItem, clientItem, clientOf } from './items.ts';
import { clientPrefix, keys, partitions } from './keys.ts';
import { collect, get, query } from './reads.ts';
import { isRefused } from './retry.ts';
import { itemIn, type Put, putInput } from './update-if.ts';

/**
 * Stores the clients that may submit orders. Each app client of a client has an item of its own, written in the transaction of the
 * registration. So two concurrent registrations cannot name the same app client, and one read finds the client of an app client.
 */
export function dynamoDbClients({ table, withRetries }: StoreContext): Pick<Store, 'putClient' | 'client' | 'clientOfApp' | 'clients'> {
  async function one(id: string): Promise<ClientRecord | undefined> {
    const item = await withRetries(() => get(table, keys.client(id)));
    return item && clientOf(item);
  }

  async function write(client: ClientRecord, before: ClientRecord | undefined, beside: readonly Put[]): Promise<ClientWrite> {
    const puts = putsOf(client, before);
    const TransactItems = [...puts, ...beside].map((put) => ({ Put: putInput(table.table, put) }));
    try {
      await table.client.send(new TransactWriteCommand({ TransactItems }));
      return { outcome: 'written' };
    } catch (error) {
      if (!isRefused(error)) throw error;
      const reasons = error.CancellationReasons ?? [];
      const taken = reasons.slice(0, puts.length).findIndex(({ Code }, index) => index > 0 && Code === 'ConditionalCheckFailed');
      const owner = itemIn(reasons[taken]?.Item)?.['client'];
      const isRefusal = reasons[0]?.Code === 'ConditionalCheckFailed';
      if (!isRefusal && taken > 0) return { outcome: 'taken', appClient: String(puts[taken]?.item['appClient']), client: String(owner) };
      if (!isRefusal) throw error;
      const current = itemIn(reasons[0]?.Item);
      return { outcome: 'refused', current: current && clientOf(current) };
    }
  }

  return {
    async putClient(client, loadedRev, beside = []) {
      const before = await one(client.id);
      if ((before?.rev ?? 0) !== loadedRev) return { outcome: 'refused', current: before ?? null };
      const answer = await withRetries(() => write(client, before, beside.map(newDocument)));
      // If the response to our write was lost, the retry is refused and finds our own write. That counts as written.
      const isOurs = answer.outcome === 'refused' && JSON.stringify(answer.current) === JSON.stringify(client);
      return isOurs ? { outcome: 'written' } : answer;
    },
    client: one,
    async clientOfApp(appClient) {
      const owner = (await withRetries(() => get(table, keys.appClient(appClient))))?.['client'];
      return owner === undefined ? undefined : String(owner);
    },
    clients: () => {
      const values = { ':pk': partitions.clients, ':prefix': clientPrefix };
      const condition = 'pk = :pk AND begins_with(sk, :prefix)';
      const input = { KeyConditionExpression: condition, ExpressionAttributeValues: values, ConsistentRead: true };
      return withRetries(() => collect(query(table, input), clientOf));
    },
  };
}

/** Returns the writes of a registration: its record, its app clients, and the app clients that it no longer names, now without a client. */
function putsOf(client: ClientRecord, before: ClientRecord | undefined): readonly Put[] {
  // An earlier version of Redress stored no rev. Such a registration is read as rev 1.
  const unchanged = before && anyOf(atRev(before.rev), ...(before.rev === 1 ? [allOf(present, unversioned)] : []));
  const free = anyOf(absent, {
    expression: 'attribute_not_exists(#client) OR #client = :client',
    names: { '#client': 'client' },
    values: { ':client': client.id },
  });
  const released = (before?.appClients ?? []).filter((each) => !client.appClients.includes(each));
  return [
    { item: clientItem(client), when: unchanged ?? absent },
    ...client.appClients.map((appClient) => ({ item: appClientItem(appClient, client.id), when: free })),
    ...released.map((appClient) => ({ item: appClientItem(appClient), when: free })),
  ];
}
