import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { collections } from '#ports/documents';
import { StoreUnavailableError } from '#ports/errors';
import { wakeUpMessage } from '#ports/messages';
import { createTelemetry } from '#ports/telemetry';
import { channelState } from '#roles/channels/state';
import { card, issuer, startApi } from './support.ts';

type Api = ReturnType<typeof startApi>;
type Entry = { readonly [field: string]: unknown };

const auditOf = async ({ ask }: Pick<Api, 'ask'>, query = ''): Promise<readonly Entry[]> =>
  (await ask('GET', `/audit${query}`, { as: 'operator' })).json.items;
const withoutIds = (entries: readonly Entry[]) => entries.map(({ id: _, at: __, requestId: ___, ...rest }) => rest);

const registration = { responseChannels: [], senders: ['AROAEVIL:session'], reason: 'a new client' };
/** Good for all the days of these tests. */
const token = await issuer.sign({ role: 'admin', subject: 'ada', expiresInSeconds: 86_400 * 1000 });
const put = ({ ask }: Pick<Api, 'ask'>, body: object, headers = {}) => ask('PUT', '/clients/acme', { token, body, headers });

interface CrashCase {
  /** Prepares the action, and returns the call that carries it out. */
  readonly act: (api: Api) => Promise<() => ReturnType<Api['ask']>>;
  readonly isDone: (api: Api) => Promise<boolean>;
}

const actions: { readonly [what: string]: CrashCase } = {
  'a registration': {
    act: async (api) => () => put(api, registration),
    isDone: async ({ store }) => (await store.client('acme')) !== undefined,
  },
  'a rule': {
    act: async (api) => () =>
      api.ask('PUT', '/rules/late', {
        token,
        body: { event: { kind: 'step-late' }, action: { kind: 'suspend' }, reason: 'late' },
      }),
    isDone: async ({ store }) => (await store.document(collections.rules, 'CURRENT')) !== undefined,
  },
  'a channel': {
    act:
      async ({ ask }) =>
      () =>
        ask('POST', '/channels/payment/close', { as: 'operator', body: { reason: 'maintenance' } }),
    isDone: async ({ store }) => (await channelState('payment', store))?.state === 'closed',
  },
  'an instruction': {
    async act({ ask, orderInError, store }) {
      const id = await orderInError('k');
      const headers = { 'if-match': `"${(await store.head(id))?.rev}"` };
      return () => ask('POST', `/orders/${id}/instructions`, { as: 'operator', headers, body: { kind: 'terminate', reason: 'r' } });
    },
    isDone: async ({ store }) => (await store.list({ outcome: 'terminated' }, undefined, 1)).items.length === 1,
  },
  'the action on a dead letter': {
    async act({ ask, deadLetter }) {
      const path = `/channels/wake-ups/dead-letters/${await deadLetter({ queue: 'wake-ups', body: 'torn' })}`;
      return () => ask('DELETE', path, { as: 'operator', body: { reason: 'torn' } });
    },
    isDone: async ({ store }) =>
      (await store.documents(collections.deadLetters('wake-ups'), undefined, 1))[0]?.content['handling'] !== undefined,
  },
};

/** Makes the store fail at each write that has documents beside it. Returns the function that repairs it. */
function crashAt(store: Api['store'], moment: 'before' | 'after'): () => void {
  const { putClient, putDocument, update } = store;
  const failing =
    <Args extends unknown[], T>(write: (...args: Args) => Promise<T>) =>
    async (...args: Args): Promise<T> => {
      const beside = args.slice(1).flatMap((each) => (Array.isArray(each) ? each : ((each as { documents?: [] } | null)?.documents ?? [])));
      if (beside.length > 0 && moment === 'before') throw new StoreUnavailableError('away', { fatal: false });
      const answer = await write(...args);
      if (beside.length > 0) throw new StoreUnavailableError('away', { fatal: false });
      return answer;
    };
  Object.assign(store, { putClient: failing(putClient), putDocument: failing(putDocument), update: failing(update) });
  return () => void Object.assign(store, { putClient, putDocument, update });
}

/** Returns all pages of the audit. */
async function pagesOf({ ask }: Api, limit: number): Promise<readonly Entry[]> {
  const found: Entry[] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const { status, json } = await ask('GET', `/audit?limit=${limit}${cursor ? `&cursor=${cursor}` : ''}`, { token });
    assert.equal(status, 200);
    assert.ok(json.items.length <= limit);
    found.push(...json.items);
    cursor = json.next;
  }
  return found;
}

describe('the audit of changes', () => {
  test('has an entry for a registration, with its author, its reason and the values before and after', async () => {
    const api = startApi();
    await put(api, registration);
    const { headers } = await put(api, { ...registration, senders: [], reason: 'it was stolen' }, { 'if-match': '"1"' });
    const view = { responseChannels: [], senders: ['AROAEVIL:session'], appClients: [] };
    const entries = await auditOf(api);
    assert.deepEqual(withoutIds(entries), [
      {
        ...{ by: 'ada', role: 'admin', kind: 'client', target: 'acme', action: 'change', reason: 'it was stolen' },
        ...{ before: { rev: 1, ...view }, after: { rev: 2, ...view, senders: [] } },
      },
      {
        ...{ by: 'ada', role: 'admin', kind: 'client', target: 'acme', action: 'register', reason: 'a new client' },
        ...{ before: null, after: { rev: 1, ...view } },
      },
    ]);
    assert.equal(entries[0]?.['requestId'], headers.get('x-request-id'));
  });

  test('each entry is also a line of the process log, even if the log level is off', async () => {
    const lines: string[] = [];
    const api = startApi({ telemetry: createTelemetry({ level: 'off', write: (line) => void lines.push(line) }) });
    await put(api, registration);
    const [line, ...others] = lines.map((each) => JSON.parse(each));
    assert.deepEqual(others, []);
    assert.deepEqual([line.audit, line.message, line.entry], [true, 'audit entry written', (await auditOf(api))[0]]);
  });

  test('a separate log for the audit gets each line; while that log is unavailable, the log of the process gets it', async () => {
    const [lines, own]: [string[], object[]] = [[], []];
    let isAway = false;
    const append = async (line: object) => (isAway ? Promise.reject(new Error('away')) : void own.push(line));
    const telemetry = createTelemetry({ level: 'off', write: (line) => void lines.push(line) });
    const api = startApi({ telemetry, auditLog: { append } });
    assert.equal((await put(api, registration)).status, 201);
    const [first] = await auditOf(api);
    assert.deepEqual(
      [own, lines],
      [[{ time: first?.['at'], message: 'audit entry written', requestId: first?.['requestId'], entry: first }], []],
    );

    isAway = true;
    assert.equal((await put(api, registration, { 'if-match': '"1"' })).status, 200);
    assert.deepEqual([own.length, lines.length, telemetry.counts()['auditLogFailed']], [1, 1, 1]);
    assert.equal(JSON.parse(lines[0] ?? '').audit, true);
  });

  test('a change that is refused has no entry, whether at once or after a lost race', async () => {
    const api = startApi();
    await put(api, registration);
    for (const headers of [{}, { 'if-match': '"7"' }, { 'if-match': 'x' }]) await put(api, registration, headers);
    await put(api, { ...registration, reason: ' ' }, { 'if-match': '"1"' });
    const raced = await Promise.all([put(api, registration, { 'if-match': '"1"' }), put(api, registration, { 'if-match': '"1"' })]);
    assert.deepEqual(raced.map(({ status }) => status).toSorted(), [200, 412]);
    assert.deepEqual(
      (await auditOf(api)).map(({ action }) => action),
      ['change', 'register'],
    );
  });

  for (const [what, { act, isDone }] of Object.entries(actions))
    for (const moment of ['before', 'after'] as const)
      test(`a process that crashes ${moment} it stores ${what} leaves the change and one entry, or neither`, async () => {
        const api = startApi();
        const ready = await act(api);
        const restart = crashAt(api.store, moment);
        assert.equal((await ready()).status, 503);
        restart();
        const entries = (await auditOf(api)).length;
        assert.deepEqual([entries, await isDone(api)], moment === 'after' ? [1, true] : [0, false]);
      });

  test('has an entry for each opening and closing of a channel', async () => {
    const api = startApi();
    const turn = (to: string, body: object) => api.ask('POST', `/channels/payment/${to}`, { as: 'operator', body });
    assert.equal((await turn('close', { reason: 'maintenance' })).status, 200);
    assert.equal((await turn('close', { reason: 'again' })).status, 409);
    await api.clock.advance(1000);
    assert.equal((await turn('open', { canary: true, reason: 'it is back' })).status, 200);
    const [open, close, ...others] = withoutIds(await auditOf(api, '?kind=channel'));
    const about = { by: 'olga', role: 'operator', kind: 'channel', target: 'payment' };
    assert.deepEqual(close, { ...about, action: 'close', reason: 'maintenance', before: { state: 'open' }, after: { state: 'closed' } });
    assert.deepEqual([open?.['action'], open?.['after'], others], ['open', { state: 'open', canary: true }, []]);
    assert.equal((open?.['before'] as Entry | undefined)?.['by'], 'olga');
  });

  test('has a second entry for a dead letter whose resolution was refused after its first entry', async () => {
    const api = startApi();
    const id = await api.submitOrder('k');
    const message = await api.deadLetter({ queue: 'wake-ups', body: wakeUpMessage(id, 0) });
    const head = await api.store.head(id);
    assert.ok(head);
    await api.store.patch({ ...head, rev: head.rev + 1, heldBy: 'another host', heldUntil: api.clock.now() + 60_000 }, head);
    const path = `/channels/wake-ups/dead-letters/${message}`;
    assert.equal((await api.ask('DELETE', path, { as: 'operator', body: { reason: 'torn' } })).status, 409);
    const entries = await auditOf(api);
    assert.deepEqual(
      entries.map(({ action }) => action),
      ['discard-refused', 'discard'],
    );
    assert.equal(entries[0]?.['requestId'], entries[1]?.['requestId']);
  });

  test('has an entry for each dead letter that is resubmitted or discarded', async () => {
    const api = startApi();
    const ids = [await api.deadLetter({ queue: 'wake-ups', body: 'torn' }), await api.deadLetter({ queue: 'wake-ups', body: 'torn' })];
    const path = '/channels/wake-ups/dead-letters';
    const bulk = (dryRun: boolean) =>
      api.ask('POST', `${path}/bulk`, { as: 'operator', body: { filter: {}, action: 'discard', reason: 'torn', dryRun } });
    await bulk(true);
    assert.deepEqual(await auditOf(api), [], 'a dry run changes nothing');
    await bulk(false);
    const about = { by: 'olga', role: 'operator', kind: 'dead-letter', action: 'discard', reason: 'torn', after: null };
    const before = { queue: 'wake-ups', type: null, orderId: null };
    assert.deepEqual(
      withoutIds(await auditOf(api)).toSorted((a, b) => (String(a['target']) < String(b['target']) ? -1 : 1)),
      ids.toSorted().map((id) => ({ ...about, target: `wake-ups/${id}`, before })),
    );
    assert.equal((await auditOf(api, `?target=wake-ups/${ids[0]}`)).length, 1);
  });

  test('has an entry for each instruction of an operator that was carried out, and none for those of clients', async () => {
    const api = startApi();
    const id = await api.orderInError('k');
    const instruct = (body: object, ifMatch = '"3"') =>
      api.ask('POST', `/orders/${id}/instructions`, { as: 'operator', body, headers: { 'if-match': ifMatch } });
    const rev = (await api.store.head(id))?.rev;
    await instruct({ kind: 'resubmit', reason: 'too early' }, '"1"');
    await instruct({ kind: 'resume', reason: 'it is not suspended' }, `"${rev}"`);
    await instruct({ kind: 'resubmit', reason: 'a look', dryRun: true }, `"${rev}"`);
    assert.deepEqual(await auditOf(api), []);
    assert.equal((await instruct({ kind: 'resubmit', reason: 'a new card', completeWithinSeconds: 60 }, `"${rev}"`)).status, 202);
    const about = { by: 'olga', role: 'operator', kind: 'instruction', target: id };
    const before = { rev, processState: 'Error', outcome: null, suspended: false, fault: 'CardDeclined' };
    const after = { ...before, rev: Number(rev) + 1, processState: 'Processing', fault: null, completeWithinSeconds: 60 };
    assert.deepEqual(withoutIds(await auditOf(api)), [{ ...about, action: 'resubmit', reason: 'a new card', before, after }]);

    await api.clock.advance(1000);
    const signal = { as: 'operator', body: { secret: card } } as const;
    await api.ask('POST', `/orders/${id}/signals/news`, signal);
    assert.equal((await api.ask('POST', `/orders/${id}/cancel`, { as: 'acme', body: { reason: 'mine' } })).status, 202);
    assert.ok(!JSON.stringify(await auditOf(api)).includes(card));
    assert.ok((await auditOf(api)).every(({ by }) => by === 'olga'));
  });
});

describe('the audit of reads', () => {
  test('has one entry in a quarter of an hour for an operator who reads the body of an order', async () => {
    const api = startApi();
    const id = await api.submitOrder('k');
    const read = async (as: 'operator' | 'admin' | 'acme', headers = {}) =>
      (await api.ask('GET', `/orders/${id}`, { as, headers })).headers.get('etag') ?? '';
    await read('acme');
    assert.deepEqual(await auditOf(api), []);
    const etag = await read('operator');
    await read('operator');
    await read('operator', { 'if-none-match': etag });
    const entry = { by: 'olga', role: 'operator', kind: 'read', target: id, action: 'read', reason: null, before: null, after: null };
    assert.deepEqual(withoutIds(await auditOf(api, '?kind=read')), [entry]);
    await read('admin');
    assert.equal((await auditOf(api)).length, 2);
    await api.clock.advance(900_000);
    await read('operator', { 'if-none-match': etag });
    assert.equal((await auditOf(api)).length, 2, 'an answer without a body shows nothing');
    await read('operator');
    assert.equal((await auditOf(api)).length, 3);
  });

  test('has one entry if an operator reads an order through two processes; after a crash before the entry, the next read writes it', async () => {
    const first = startApi();
    const second = startApi({ store: first.store, clock: first.clock });
    const id = await first.submitOrder('k');
    await Promise.all([first, second].map(({ ask }) => ask('GET', `/orders/${id}`, { as: 'operator' })));
    assert.equal((await auditOf(first)).length, 1);

    const other = await first.submitOrder('l');
    let writes = 0;
    const crashing = Object.assign(Object.create(first.store), {
      putDocument: (...all: Parameters<Api['store']['putDocument']>) =>
        ++writes === 2 ? Promise.reject(new StoreUnavailableError('away', { fatal: false })) : first.store.putDocument(...all),
    });
    const crashed = startApi({ store: crashing, clock: first.clock });
    assert.equal((await crashed.ask('GET', `/orders/${other}`, { as: 'operator' })).status, 503, 'no data without an entry');
    assert.equal((await second.ask('GET', `/orders/${other}`, { as: 'operator' })).status, 200);
    assert.equal((await auditOf(first, `?target=${other}`)).length, 1);
  });
});

test('the audit has reads of histories, undo plans and dead letters, one entry for each order', async () => {
  const api = startApi();
  const id = await api.submitOrder('k');
  const message = await api.deadLetter({ queue: 'wake-ups', body: 'torn' });
  const targets = async () => (await auditOf(api, '?kind=read')).map(({ target }) => target);
  for (const path of ['/history', '/plan', '']) {
    assert.equal((await api.ask('GET', `/orders/${id}${path}`, { as: 'operator' })).status, 200);
    assert.deepEqual(await targets(), [id], path);
  }
  await api.ask('GET', `/orders/${id}/history`, { as: 'acme' });
  for (const path of ['', `/${message}`]) await api.ask('GET', `/channels/wake-ups/dead-letters${path}`, { as: 'operator' });
  assert.deepEqual((await targets()).toSorted(), [id, `wake-ups/${message}`].toSorted());
  assert.equal((await api.ask('GET', '/orders/nobody', { as: 'operator' })).status, 404);
  assert.equal((await targets()).length, 2);
});

describe('GET /audit', () => {
  test('is newest first, in pages that neither overlap nor leave an entry out, over many days', async () => {
    const api = startApi();
    for (let rev = 0; rev < 7; rev++) {
      await put(api, { ...registration, reason: `r${rev}` }, rev === 0 ? {} : { 'if-match': `"${rev}"` });
      await api.clock.advance(rev % 2 === 0 ? 1 : 40 * 86_400_000);
    }
    const reasons = (await pagesOf(api, 2)).map(({ reason }) => reason);
    assert.deepEqual(reasons, ['r6', 'r5', 'r4', 'r3', 'r2', 'r1', 'r0']);
  });

  test('filters by person, kind, target and time', async () => {
    const api = startApi();
    await put(api, registration);
    await api.clock.advance(60_000);
    const since = new Date(api.clock.now()).toISOString();
    await api.ask('POST', '/channels/payment/close', { as: 'operator', body: { reason: 'r' } });
    const found = async (query: string) => (await auditOf(api, query)).map(({ kind }) => kind);
    assert.deepEqual(await found(''), ['channel', 'client']);
    assert.deepEqual(await found('?by=ada'), ['client']);
    assert.deepEqual(await found('?kind=channel'), ['channel']);
    assert.deepEqual(await found('?target=acme'), ['client']);
    assert.deepEqual(await found(`?since=${since}`), ['channel']);
    assert.deepEqual(await found('?by=ada&kind=channel'), []);
    assert.equal((await api.ask('GET', '/audit?kind=nonsense', { as: 'operator' })).status, 400);
    const { json } = await api.ask('GET', '/audit?limit=1', { as: 'operator' });
    assert.equal((await api.ask('GET', `/audit?limit=1&by=ada&cursor=${json.next}`, { as: 'operator' })).status, 400);
    assert.equal((await api.ask('GET', '/audit', { as: 'acme' })).status, 403);
  });

  test('entries are kept for 400 days', async () => {
    const api = startApi();
    await put(api, registration);
    await api.clock.advance(399 * 86_400_000);
    assert.equal((await pagesOf(api, 20)).length, 1);
    await api.clock.advance(3 * 86_400_000);
    assert.equal((await pagesOf(api, 20)).length, 0);
  });
});
