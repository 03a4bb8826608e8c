import type { Rule } from '#core/rules/rule';
import type { Clients, Reach } from './clients.ts';
import { shareLots } from './object-groups.ts';
import { giveRecovery, isDone, whenReady } from './object-looks.ts';
import { type Chance, isIn, restoredIn, themeOf } from './random.ts';
import type { Services } from './services.ts';

const theme = 13;
/** The number of lots in a usual world, and in one with many orders. */
const lotsOf = { few: 3, many: 25 } as const;
/** The times that orders wait between their steps, and before their end. */
const waitSeconds = [0, 40] as const;
const lastSeconds = [20, 160] as const;
const actsAfterMs = [20_000, 240_000] as const;
/** The time that an operation of the warehouse takes, and the probability that the warehouse refuses it. */
const worksMs = [500, 35_000] as const;
const refusedShare = 0.15;
const recoveredShare = 0.7;
/** Some orders are recovered once more, so that what they have done again is undone. */
const recoveredAgainShare = 0.4;
/** The time that the warehouse takes to undo. */
const undoesMs = [200, 25_000] as const;
/** The time that an operator waits after finding an order that has not come as far as the step. */
const readAfterMs = [0, 40_000] as const;
/** The share of messages about undone writes that are lost; then the share of orders that people cancel or undo without a recovery. */
const lostShare = 0.25;
const undoneShare = 0.2;

/** The activities that operators recover, by workflow. `order`: the whole order. */
const recovers: { readonly [workflow: string]: readonly string[] } = {
  receipt: ['order/book', 'order/book', 'order/move', 'order/take', 'order', 'order'],
  exchange: ['order/take', 'order/both', 'order/both/there/move', 'order'],
  withdrawal: ['order/take', 'order'],
};

const rule = (id: string, more: Pick<Rule, 'action'> & Partial<Rule>): Omit<Rule, 'version'> => ({
  ...{ id, name: id, origin: 'people', mode: 'enforce', priority: 5, timesPerOrder: 1 },
  ...more,
});
const rules = [
  rule('recover-exchange', {
    event: { kind: 'exception', type: 'OutOfStock' },
    object: { workflow: 'exchange' },
    action: { kind: 'recover', path: 'order/both' },
  }),
  rule('recover-withdrawal', {
    event: { kind: 'exception', type: 'OutOfStock' },
    object: { workflow: 'withdrawal' },
    action: { kind: 'recover' },
  }),
  // An order that has read an undone write recovers, so the orders that have read its own writes get a message.
  rule('recover-consumer', { event: { kind: 'exception', type: 'Inconsistent' }, action: { kind: 'recover' } }),
  rule('recover-late', {
    event: { kind: 'order-age', afterSeconds: 70 },
    object: { workflow: 'receipt' },
    action: { kind: 'recover', path: 'order/move' },
  }),
];

/** Whether the orders of a world share objects: one world of fifteen. */
const objectsIn = (seed: number): Chance | undefined =>
  // Worlds with a restore have none: the records of uses would be newer than the restored orders.
  restoredIn(seed) ? undefined : isIn(seed, theme);

/** Many orders read and write the same objects, and people and rules undo some of them by recovery and some without. */
export function shareObjects(reach: Reach, services: Services, clients: Clients, seed: number, many?: number): void {
  const chance = many === undefined ? objectsIn(seed) : themeOf(seed, theme);
  if (!chance) return;
  reach.around.carriedOut('emitted shared objects');
  // A separate random sequence, which leaves the choices below as they are.
  const further = themeOf(seed, theme + 100);
  services.lasts.set('stock.release', () => further.between(...undoesMs));
  reach.queues.losesNews = () => further.happens(lostShare);
  for (const operation of ['book', 'move', 'take']) services.lasts.set(`stock.${operation}`, () => chance.between(...worksMs));
  for (const operation of ['book', 'take']) services.refuses.set(`stock.${operation}`, () => chance.happens(refusedShare));
  for (const each of rules) if (chance.happens(0.5)) putRule(reach, clients, chance, each);
  const lot = (): string => `l${chance.between(1, many === undefined ? lotsOf.few : lotsOf.many)}`;
  for (let number = many ?? chance.between(6, 12); number > 0; number--) {
    const workflow = chance.pick(Object.keys(recovers));
    const body = {
      lot: lot(),
      to: lot(),
      wait: chance.between(...waitSeconds),
      last: chance.between(...lastSeconds),
    };
    const orderId = clients.submitSomething((many === undefined ? 1000 : 10_000) + number, { workflow, body });
    if (chance.happens(recoveredShare)) {
      const path = chance.pick(recovers[workflow] ?? []);
      recover(reach, clients, chance, { orderId, path, afterMs: chance.between(...actsAfterMs) });
      if (further.happens(recoveredAgainShare))
        recover(reach, clients, further, { orderId, path, afterMs: further.between(...actsAfterMs) });
    }
    if (chance.happens(undoneShare)) act(reach, clients, chance, orderId, chance.pick(['cancel', 'compensate']));
    if (chance.happens(0.3)) act(reach, clients, chance, orderId, 'acknowledge');
  }
  if (many === undefined) shareLots(reach, services, clients, themeOf(seed, theme + 200));
}

function putRule({ around }: Reach, clients: Clients, chance: Chance, draft: Omit<Rule, 'version'>): void {
  around.timeline.after(chance.between(0, 100_000), `an admin writes ${draft.id}`, () =>
    clients.persist('operator', `put ${draft.id}`, async ({ system }) => {
      const expected = (await system.rules.rule(draft.id))?.version;
      await system.rules.put(draft, { by: 'ada', reason: 'objects', expected });
      around.carriedOut('emitted rule of recovery');
      return true;
    }),
  );
}

interface Recovery {
  readonly orderId: string;
  readonly path: string;
  readonly afterMs: number;
}

/** An operator recovers an order as soon as the step is done, in some cases after a dry run. */
function recover(reach: Reach, clients: Clients, chance: Chance, { orderId, path, afterMs }: Recovery): void {
  const { around } = reach;
  around.timeline.after(afterMs, 'an operator looks at an order', () =>
    whenReady(
      around,
      () => isDone(reach, orderId, path),
      (looks) => {
        const give = (): void => giveRecovery(reach, clients, { orderId, path, foresees: chance.happens(0.5) });
        if (looks === 1) give();
        else around.timeline.after(chance.between(...readAfterMs), 'an operator recovers', give);
      },
    ),
  );
}

function act({ around }: Reach, clients: Clients, chance: Chance, orderId: string, kind: 'cancel' | 'compensate' | 'acknowledge'): void {
  around.timeline.after(chance.between(...actsAfterMs), `an operator gives ${kind}`, () => {
    const key = clients.nameFor(kind);
    clients.instruct(orderId, { kind, by: 'operator', reason: key }, key);
  });
}
