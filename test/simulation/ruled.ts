import type { Rule } from '#core/rules/rule';
import { callKey } from '#roles/operator/idempotency';
import { unreadable } from '#testing/world/clients';
import { offers } from './app.ts';
import type { Clients, Reach } from './clients.ts';
import { type Chance, isIn, restoredIn } from './random.ts';

type Draft = Omit<Rule, 'version'>;

const rule = (id: string, more: Pick<Rule, 'action'> & Partial<Rule>): Draft => ({
  id,
  name: id,
  origin: 'people',
  mode: 'enforce',
  priority: 0,
  timesPerOrder: 3,
  ...more,
});

/** The begin of the ids of rules that are never in force. */
const dry = 'dry-';
export const isDryRule = (id: string): boolean => id.startsWith(dry);

const exception = { kind: 'exception' } as const;
const tell = { kind: 'announce', text: 'look' } as const;
/** The rules that an admin of these worlds writes, changes and deletes. */
const rules: readonly Draft[] = [
  rule('again', { event: exception, action: { kind: 'retry' }, timesPerOrder: 1 }),
  rule('again-later', { event: { kind: 'exception', type: 'AddressInvalid' }, action: { kind: 'retry', afterSeconds: 20 }, priority: 1 }),
  rule('give-up', { event: { kind: 'exception', class: 'unexpected' }, action: { kind: 'compensate' }, priority: 2 }),
  rule('recover', { event: { kind: 'exception', type: 'TooLate' }, action: { kind: 'recover' }, priority: 4 }),
  rule('recover-sale', {
    event: { kind: 'order-age', afterSeconds: 60 },
    object: { workflow: 'sale' },
    action: { kind: 'recover', path: 'order/ship' },
  }),
  rule('tell', { event: { kind: 'step-state', type: 'Closed' }, action: tell }),
  rule('ask', { event: { kind: 'order-age', afterSeconds: 120 }, action: { kind: 'task', group: 'desk' } }),
  rule('late', { event: { kind: 'step-late' }, action: tell }),
  rule('both', {
    all: [
      { kind: 'step-state', type: 'Executing' },
      { kind: 'step-state', type: 'Closed' },
    ],
    withinSeconds: 60,
    action: tell,
  }),
  // Nobody plans to resume these orders: at the end of a world, operators resume all suspended orders.
  rule('hold', { event: { kind: 'order-age', afterSeconds: 40 }, action: { kind: 'suspend' }, timesPerOrder: 1 }),
  rule('too-late', {
    event: { kind: 'order-age', afterSeconds: 90 },
    action: { kind: 'raise', type: 'AddressInvalid', message: 'too late' },
    timesPerOrder: 1,
  }),
  rule('approve', {
    event: { kind: 'order-age', afterSeconds: 15 },
    object: { workflow: 'approval' },
    action: { kind: 'signal', name: 'approved', payload: { by: 'a rule' } },
  }),
  rule('hand-over', {
    event: { kind: 'exception', type: 'AddressInvalid' },
    action: { kind: 'handle', workflow: 'handling', control: 'ready' },
    priority: 3,
  }),
  rule('beside', { event: { kind: 'order-age', afterSeconds: 30 }, action: { kind: 'handle', workflow: 'handling', control: 'parallel' } }),
  rule('tie', {
    event: { kind: 'step-state', type: 'Compensating' },
    object: { workflow: 'sale', step: 'order/tell' },
    action: { kind: 'compensate-with', agent: 'mail', operation: 'tell', input: { what: 'sorry' } },
  }),
  rule(`${dry}undo`, { event: { kind: 'step-state' }, action: { kind: 'compensate' }, mode: 'dry-run', priority: 9 }),
  rule(`${dry}stop`, { event: exception, action: { kind: 'suspend' }, mode: 'dry-run', priority: 9 }),
  rule(`${dry}ask`, { event: { kind: 'order-state' }, action: { kind: 'task' }, mode: 'dry-run' }),
];

const within = 240_000;

/** In one world of fifteen, admins change rules while orders run, and outsiders raise exceptions. */
export function rulePeople(reach: Reach, clients: Clients, seed: number): void {
  const chance = isIn(seed, 10);
  // Worlds with a restore have no such rules: the recorded versions would be newer than the restored rules.
  if (!chance || restoredIn(seed)) return;
  reach.around.carriedOut('emitted rules of people');
  for (let changes = chance.between(6, 14); changes > 0; changes--) changeRule(reach, clients, chance);
  for (let number = chance.between(3, 6); number > 0; number--) {
    const orderId = clients.submitSomething(700 + number, chance.pick(offers));
    if (chance.happens(0.6))
      reach.around.timeline.after(chance.between(500, within), 'somebody reports', () => report(reach, clients, orderId));
  }
}

/** Writes, switches off or deletes one rule. Two admins may do so at the same time, and one of them is refused. */
function changeRule({ around }: Reach, clients: Clients, chance: Chance): void {
  const draft = chance.pick(rules);
  const change = chance.pick(['put', 'put', 'put', 'off', 'remove'] as const);
  around.timeline.after(chance.between(0, within), `an admin changes ${draft.id}`, () =>
    clients.persist('operator', `${change} ${draft.id}`, async ({ system }) => {
      const expected = (await system.rules.rule(draft.id))?.version;
      const by = { by: 'ada', reason: change, expected };
      if (change === 'remove') await system.rules.remove(draft.id, by);
      else await system.rules.put(change === 'off' ? { ...draft, mode: 'off' } : draft, by);
      around.carriedOut(`emitted rule ${change}`);
      return true;
    }),
  );
}

/** Raises an exception from outside, and repeats the call until it is answered. */
function report({ around }: Reach, clients: Clients, orderId: string): void {
  const key = clients.nameFor('report');
  const given = { kind: 'report', by: 'operator', type: 'TooLate', message: 'The goods are damaged.' } as const;
  let tries = 0;
  clients.persist('operator', key, async ({ system }) => {
    const how = { id: `${key}/${++tries}`, key: callKey('operator', key, { ...given }) };
    const { outcome } = await system.scheduler.instruct(orderId, given, how).catch(unreadable);
    around.carriedOut(`emitted report ${outcome}`);
    return outcome !== 'not-found' || tries > 5;
  });
}
