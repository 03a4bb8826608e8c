import type { ClientRecord } from '#ports/records';
import type { Store } from '#ports/store';
import type { Database } from './database.ts';

/** Stores the clients that may submit orders. */
export function sqliteClients(database: Database): Pick<Store, 'putClient' | 'client' | 'clients'> {
  const upsertClient = database.prepare(
    'INSERT INTO clients (id, record) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET record = excluded.record',
  );
  const selectClient = database.prepare('SELECT record FROM clients WHERE id = ?');
  const selectClients = database.prepare('SELECT record FROM clients ORDER BY id');
  return {
    putClient: (client) => database.write(() => void upsertClient.run(client.id, JSON.stringify(client))),
    client: async (id) => clientOf(selectClient.get(id)),
    clients: async () => selectClients.all().map((row) => clientOf(row) as ClientRecord),
  };
}

const clientOf = (row: unknown): ClientRecord | undefined =>
  row === undefined ? undefined : (JSON.parse((row as { record: string }).record) as ClientRecord);
