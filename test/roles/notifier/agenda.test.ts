import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { openDatabase } from '#adapters/sqlite/database';
import { sqliteStore } from '#adapters/sqlite/store';
import type { PeopleMessage } from '#core/notifications/message';
import { createTelemetry } from '#ports/telemetry';
import { type AgendaEntry, createAgenda } from '#roles/notifier/agenda';
import { deliver, deliveryDocument } from '#roles/notifier/deliveries';

const subject = { what: 'delivery', id: 'ntf_1_0' } as const;
const message: PeopleMessage = {
  id: 'ntf_1',
  type: 'task.opened',
  at: 0,
  subject: 'buy is blocked',
  text: 'Order o-1 is blocked.',
  data: {},
};
const destination = { kind: 'webhook', url: 'https://desk.example/', credential: 'SECRET' } as const;

function openAgenda() {
  const store = sqliteStore(openDatabase(':memory:'), () => []);
  const agenda = createAgenda(store);
  /** Returns the entries on the agenda until this time. */
  const timesUntil = async (now: number): Promise<readonly number[]> => (await agenda.due(now)).map(({ at }) => at);
  const entryAt = async (at: number): Promise<AgendaEntry> => {
    const entry = (await agenda.due(at)).find((each) => each.at === at);
    assert.ok(entry);
    return entry;
  };
  return { store, agenda, timesUntil, entryAt };
}

describe('an entry of the agenda', () => {
  test('F-153: moves to another time', async () => {
    const { agenda, timesUntil, entryAt } = openAgenda();
    await agenda.put(5000, subject);
    await agenda.move(await entryAt(5000), 9000);
    assert.deepEqual(await timesUntil(10_000), [9000]);
  });

  test('F-153: stays if it is written again while another process handles it', async () => {
    const { agenda, timesUntil, entryAt } = openAgenda();
    await agenda.put(5000, subject);
    const entry = await entryAt(5000);
    await agenda.put(5000, subject);
    await agenda.remove(entry);
    assert.deepEqual(await timesUntil(10_000), [5000]);
    await agenda.remove(await entryAt(5000));
    assert.deepEqual(await timesUntil(10_000), []);
  });
});

describe('a message for people', () => {
  test('F-153: is still tried after the clock of the notifier has gone back', async () => {
    const { store, agenda, entryAt } = openAgenda();
    await store.putDocument(deliveryDocument({ message, destination, group: 'desk' }, 0, 5000), 0);
    await agenda.put(5000, subject);
    let now = 4000;
    const sent: string[] = [];
    const options = {
      store,
      agenda,
      clock: { now: () => now },
      telemetry: createTelemetry({ level: 'off', write: () => undefined }),
      destinations: { open: async () => undefined, arrived: async () => undefined },
      sender: {
        send: async ({ id }: PeopleMessage) => {
          sent.push(id);
          return { outcome: 'delivered' } as const;
        },
      },
    };
    await deliver(await entryAt(5000), subject.id, options);
    assert.deepEqual(sent, []);
    now = 5000;
    await deliver(await entryAt(5000), subject.id, options);
    assert.deepEqual(sent, ['ntf_1']);
  });
});
