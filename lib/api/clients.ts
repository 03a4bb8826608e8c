import type * as z from 'zod';
import type { ClientRecord } from '#ports/clients';
import { timeText } from '#ports/messages';
import { audited } from './audited.ts';
import { clientIdPattern } from './authentication.ts';
import { openCursor, sealCursor } from './cursor.ts';
import { badCursor, etagOf } from './orders.ts';
import { badParameter, type Refusal, refuse } from './problem.ts';
import { type Answer, type Call, json } from './route.ts';
import type { ClientBody, ClientHeaders } from './schemas/clients.ts';
import type { PageQuery } from './schemas/common.ts';
import { conditionRefusal, lostRefusal } from './versioned.ts';

export async function listClients({ api, caller, query }: Call<z.output<typeof PageQuery>>): Promise<Answer | Refusal> {
  const scope = { key: api.cursorKey, bound: ['clients', caller.subject] };
  const after = query.cursor === undefined ? [''] : openCursor(query.cursor, scope);
  if (!after) return badCursor;

  const rest = (await api.store.clients()).toSorted((a, b) => (a.id < b.id ? -1 : 1)).filter(({ id }) => id > String(after[0]));
  const items = rest.slice(0, query.limit);
  const last = items.at(-1);
  return json(200, { items: items.map(clientView), next: rest.length > items.length && last ? sealCursor([last.id], scope) : null });
}

type Registration = Call<unknown, z.output<typeof ClientHeaders>, z.output<typeof ClientBody>>;

/** Registers a client, or replaces its registration if it is still the one that the admin has read. */
export async function registerClient(call: Registration): Promise<Answer | Refusal> {
  const { api, caller, requestId, id, headers, body } = call;
  if (!clientIdPattern.test(id)) return badParameter('/id', 'invalid-format', 'id: expected 1 to 128 letters, digits, ".", "_" and "-".');
  const before = await api.store.client(id);
  const ifMatch = headers['if-match'];
  const refusal = conditionRefusal(ifMatch, before?.rev);
  if (refusal) return refusal;
  const configured = body.appClients.find((each) => ![undefined, id].includes(api.issuer.appClients?.get(each)));
  if (configured !== undefined) return taken(configured);

  const client = registrationOf(call, before);
  const action = { kind: 'client', target: id, action: before ? 'change' : 'register', reason: body.reason } as const;
  const written = await audited(
    call,
    action,
    (entry) => api.store.putClient(client, before?.rev ?? 0, entry(before ? auditView(before) : null, auditView(client))),
    ({ outcome }) => outcome === 'written',
  );
  switch (written.outcome) {
    case 'refused':
      return lostRefusal(ifMatch, written.current?.rev);
    case 'taken':
      return taken(written.appClient);
    case 'written':
      api.telemetry.log('info', 'client registered', { requestId, by: caller.subject, client: id });
      return json(before ? 200 : 201, clientView(client), { headers: { etag: etagOf(client.rev) } });
  }
}

const registrationOf = ({ api, caller, id, body }: Registration, before: ClientRecord | undefined): ClientRecord => ({
  id,
  rev: (before?.rev ?? 0) + 1,
  responseChannels: [...new Set(body.responseChannels)],
  senders: [...new Set(body.senders)],
  appClients: [...new Set(body.appClients)],
  by: caller.subject,
  at: api.clock.now(),
  reason: body.reason,
});

/** Returns the refusal of an app client that acts for another client. It does not name that client: the admin finds it in the list. */
const taken = (appClient: string): Refusal =>
  refuse('conflict', {
    errors: [{ pointer: '/appClients', code: 'taken', detail: `The app client ${appClient} already acts for another client.` }],
  });

const auditView = ({ rev, responseChannels, senders, appClients }: ClientRecord) => ({ rev, responseChannels, senders, appClients });

const clientView = ({ id, rev, responseChannels, senders, appClients, by, at, reason }: ClientRecord) => ({
  id,
  rev,
  responseChannels,
  senders,
  appClients,
  by,
  at: timeText(at),
  reason,
});
