import type * as z from 'zod';
import type { ClientRecord } from '#ports/records';
import { clientIdPattern } from './authentication.ts';
import { openCursor, sealCursor } from './cursor.ts';
import { badCursor } from './orders.ts';
import { badParameter, type Refusal } from './problem.ts';
import { type Answer, type Call, json } from './route.ts';
import type { ClientBody } from './schemas/clients.ts';
import type { PageQuery } from './schemas/common.ts';

export async function listClients({ api, caller, query }: Call<z.output<typeof PageQuery>>): Promise<Answer | Refusal> {
  const scope = { key: api.cursorKey, bound: ['clients', caller.subject] };
  const after = query.cursor === undefined ? [''] : openCursor(query.cursor, scope);
  if (!after) return badCursor;

  const rest = (await api.store.clients()).toSorted((a, b) => (a.id < b.id ? -1 : 1)).filter(({ id }) => id > String(after[0]));
  const items = rest.slice(0, query.limit);
  const last = items.at(-1);
  return json(200, { items: items.map(clientView), next: rest.length > items.length && last ? sealCursor([last.id], scope) : null });
}

export async function registerClient({
  api,
  caller,
  requestId,
  id,
  body,
}: Call<unknown, unknown, z.output<typeof ClientBody>>): Promise<Answer | Refusal> {
  if (!clientIdPattern.test(id)) return badParameter('/id', 'invalid-format', 'id: expected 1 to 128 letters, digits, ".", "_" and "-".');
  const client: ClientRecord = { id, responseChannels: [...new Set(body.responseChannels)], senders: [...new Set(body.senders)] };
  await api.store.putClient(client);
  api.telemetry.log('info', 'client registered', { requestId, by: caller.subject, client: id });
  return json(200, clientView(client));
}

const clientView = ({ id, responseChannels, senders }: ClientRecord): ClientRecord => ({ id, responseChannels, senders });
