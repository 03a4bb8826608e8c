import { type ClientRecord, registrationIn, type StoredClient } from '#ports/clients';
import type { ClientWrite, Store } from '#ports/store';
import type { Database } from './database.ts';
import type { DocumentsWithin } from './documents.ts';

/** Stores the clients that may submit orders. */
export function sqliteClients(
  database: Database,
  documents: DocumentsWithin,
): Pick<Store, 'putClient' | 'client' | 'clientOfApp' | 'clients'> {
  const upsertClient = database.prepare(
    'INSERT INTO clients (id, record) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET record = excluded.record',
  );
  const selectClient = database.prepare('SELECT record FROM clients WHERE id = ?');
  const selectClients = database.prepare('SELECT record FROM clients ORDER BY id');
  const selectByApp = database.prepare("SELECT clients.id FROM clients, json_each(record, '$.appClients') AS app WHERE app.value = ?");

  const one = (id: string): ClientRecord | undefined => clientOf(selectClient.get(id));
  const ofApp = (appClient: string): string | undefined => (selectByApp.get(appClient) as { id: string } | undefined)?.id;

  return {
    putClient: (client, loadedRev, beside = []) =>
      database.write((): ClientWrite => {
        const current = one(client.id);
        if ((current?.rev ?? 0) !== loadedRev) return { outcome: 'refused', current: current ?? null };
        for (const appClient of client.appClients) {
          const owner = ofApp(appClient);
          if (owner !== undefined && owner !== client.id) return { outcome: 'taken', appClient, client: owner };
        }
        upsertClient.run(client.id, JSON.stringify(client));
        documents.insertNew(beside);
        return { outcome: 'written' };
      }),
    client: async (id) => one(id),
    clientOfApp: async (appClient) => ofApp(appClient),
    clients: async () => selectClients.all().map((row) => clientOf(row) as ClientRecord),
  };
}

const clientOf = (row: unknown): ClientRecord | undefined =>
  row === undefined ? undefined : registrationIn(JSON.parse((row as { record: string }).record) as StoredClient);
