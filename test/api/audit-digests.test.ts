import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Json, JsonObject } from '#core/data/json';
import { collections, type Document } from '#ports/documents';
import { createTelemetry } from '#ports/telemetry';
import { createDigests } from '#roles/audit/digests';
import { issuer, startApi } from './support.ts';

type Api = ReturnType<typeof startApi>;

const dayMs = 86_400_000;
/** The first day of the clock of these tests. */
const firstDay = '2026-01-01';
const token = await issuer.sign({ role: 'admin', subject: 'ada', expiresInSeconds: 86_400 * 1000 });

/** Registers a client, in the order of its reasons, and ends the day. */
async function dayWith(api: Api, reasons: readonly string[]): Promise<void> {
  for (const reason of reasons) {
    const rev = (await api.store.client('acme'))?.rev;
    const headers = rev === undefined ? {} : { 'if-match': `"${rev}"` };
    const { status } = await api.ask('PUT', '/clients/acme', { token, headers, body: { responseChannels: [], senders: [], reason } });
    assert.ok(status < 300);
    await api.clock.advance(60_000);
  }
  await api.clock.advance(dayMs + 3_600_000 - (api.clock.now() % dayMs));
}

const lines: string[] = [];
const telemetry = createTelemetry({ level: 'off', write: (line) => void lines.push(line) });
const digest = ({ store, clock }: Api) => createDigests({ store, clock, telemetry })();
const days = async ({ ask }: Api, query = '') => (await ask('GET', `/audit/days${query}`, { token })).json;
const misfits = async (api: Api) =>
  (await days(api)).items.flatMap(({ day, misfits }: { day: string; misfits: object[] }) => misfits.map((each) => ({ day, ...each })));

/** Changes a document behind the back of the system. Null removes it. */
async function tamper({ database }: Api, { collection, id }: Document, record: Json): Promise<void> {
  const remove = database.prepare('DELETE FROM documents WHERE collection = ? AND id = ?');
  const insert = database.prepare('INSERT INTO documents (rev, record, collection, id) VALUES (1, ?, ?, ?)');
  await database.write(() => {
    remove.run(collection, id);
    if (record !== null) insert.run(JSON.stringify(record), collection, id);
  });
}

/** Three days of the audit, each with its digest. Returns the entries of the second, the earliest first. */
async function threeDays(): Promise<{ readonly api: Api; readonly day: string; readonly entries: readonly Document[] }> {
  const api = startApi();
  for (const reasons of [['a'], ['b', 'c', 'd'], []]) {
    await dayWith(api, reasons);
    await digest(api);
  }
  const day = '2026-01-02';
  return { api, day, entries: (await api.store.documents(collections.audit(day), undefined, 10)).toReversed() };
}

const changed = (document: Document, change: JsonObject): JsonObject =>
  ({ ...document, content: { ...document.content, ...change } }) as unknown as JsonObject;

describe('A5: the digests of the audit', () => {
  test('each day that is over has a digest, and the log of the process repeats the hash in one line', async () => {
    const { api } = await threeDays();
    const { items, next } = await days(api);
    assert.equal(next, null);
    assert.deepEqual(
      items.map(({ day, entries, misfits }: { day: string; entries: number; misfits: [] }) => [day, entries, misfits]),
      [
        [firstDay, 1, []],
        ['2026-01-02', 3, []],
        ['2026-01-03', 0, []],
      ],
    );
    assert.deepEqual(
      lines.slice(-3).map((line) => JSON.parse(line).hash),
      items.map(({ hash }: { hash: string }) => hash),
    );
    const stored = await api.store.documents(collections.auditDigests, undefined, 10);
    await Promise.all([digest(api), digest(api)]);
    assert.deepEqual(await api.store.documents(collections.auditDigests, undefined, 10), stored, 'a second run changes nothing');
  });

  test('a day has no digest until an hour after its end, because a slow call may still write its entry', async () => {
    const api = startApi();
    await dayWith(api, ['a']);
    await api.clock.advance(-1);
    await digest(api);
    assert.deepEqual(
      (await days(api)).items.map(({ day }: { day: string }) => day),
      [],
    );
    await api.clock.advance(1);
    await digest(api);
    assert.equal((await days(api)).items.at(-1).day, firstDay);
  });

  test('an entry that is changed, removed or added later is named, the earliest first', async () => {
    const { api, day, entries } = await threeDays();
    const [first, second, third] = entries as [Document, Document, Document];
    await tamper(api, second, changed(second, { by: 'nobody' }));
    assert.deepEqual(await misfits(api), [{ day, entry: second.id, problem: 'changed' }]);
    await tamper(api, first, null);
    const forged = { ...third, id: third.id.replace(/.$/, (last) => (last === '0' ? '1' : '0')) };
    await tamper(api, forged, changed(forged, { id: forged.id }));
    assert.deepEqual((await misfits(api)).map(({ entry, problem }: { entry: string; problem: string }) => [entry, problem]).slice(0, 2), [
      [first.id, 'removed'],
      [second.id, 'changed'],
    ]);
    assert.deepEqual((await misfits(api)).at(-1), { day, entry: forged.id, problem: 'added' });
  });

  test('a digest that somebody changes together with an entry is found by its hash, and without its hash by the digest of the next day', async () => {
    const { api, day, entries } = await threeDays();
    const [entry] = entries as [Document];
    await tamper(api, entry, null);
    const [part] = (await api.store.documents(collections.auditDigestParts(day), undefined, 1)) as [Document];
    const listed = (part.content['entries'] as [string, string][]).filter(([id]) => id !== entry.id);
    await tamper(api, part, changed(part, { entries: listed }));
    assert.deepEqual(await misfits(api), [{ day, entry: null, problem: 'digest-changed' }]);
    const own = (await api.store.document(collections.auditDigests, day)) as Document;
    await tamper(api, own, null);
    assert.deepEqual(await misfits(api), [{ day: '2026-01-03', entry: null, problem: 'digest-before-removed' }]);
  });

  test('if a process crashes while it writes a digest, the next process writes the missing digests', async () => {
    const api = startApi();
    await dayWith(api, ['a', 'b']);
    const cut = {
      ...api.store,
      putDocument: async (...all: Parameters<Api['store']['putDocument']>) => {
        if (all[0].collection === collections.auditDigests) throw new Error('crashed');
        return api.store.putDocument(...all);
      },
    };
    await assert.rejects(createDigests({ store: cut, clock: api.clock, telemetry })());
    await digest(api);
    assert.deepEqual(
      (await days(api)).items.map(({ entries, misfits }: { entries: number; misfits: [] }) => [entries, misfits]),
      [[2, []]],
    );
  });

  test('the pages of digests contain all days, and expired entries are not reported as missing', async () => {
    const { api } = await threeDays();
    const seen: string[] = [];
    for (let cursor = ''; ; ) {
      const { items, next } = await days(api, `?limit=1${cursor}`);
      seen.push(...items.map(({ day }: { day: string }) => day));
      if (next === null) break;
      cursor = `&cursor=${next}`;
    }
    assert.deepEqual(seen, [firstDay, '2026-01-02', '2026-01-03']);
    await api.clock.advance(400 * dayMs);
    for (const entry of await api.store.documents(collections.audit('2026-01-02'), undefined, 10)) await tamper(api, entry, null);
    assert.deepEqual(await misfits(api), []);
  });
});
