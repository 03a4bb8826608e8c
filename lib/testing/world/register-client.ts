import type { ClientRecord } from '#ports/clients';
import type { Store } from '#ports/store';

type Given = Pick<ClientRecord, 'id'> & Partial<ClientRecord>;

/** Registers a client, or replaces its registration, as an admin does. Returns what is stored. */
export async function registerClient(store: Pick<Store, 'client' | 'putClient'>, given: Given): Promise<ClientRecord> {
  const loadedRev = (await store.client(given.id))?.rev ?? 0;
  const empty = { responseChannels: [], senders: [], appClients: [], by: 'admin', at: 0, reason: 'a test' };
  const client = { ...empty, ...given, rev: loadedRev + 1 };
  const { outcome } = await store.putClient(client, loadedRev);
  if (outcome !== 'written') throw new Error(`The client ${given.id} was not registered: ${outcome}.`);
  return client;
}
