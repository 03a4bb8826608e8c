import * as z from 'zod';
import { catalogOfApp } from '#authoring/catalog';
import type { RuleWorld } from '#core/rules/check-rule';
import type { Rule } from '#core/rules/rule';
import type { RuleEvent, Situation } from '#core/rules/situation';
import { assign, defineAgent, defineApp, defineWorkflow, fault, operation, secret, sequence, variable, waitFor } from '../../lib/index.ts';

/** An order for rules: two steps, a variable, a signal, a secret. */
export const Declined = fault('Declined');
const never = () => Promise.reject(new Error('not called'));
export const agent = defineAgent('payment', {
  charge: operation({
    input: z.strictObject({ amount: z.number(), card: z.string() }),
    output: z.strictObject({ chargeId: z.string(), amount: z.number() }),
    faults: [Declined],
    run: never,
  }),
  refund: operation({ input: z.strictObject({ chargeId: z.string() }), output: z.strictObject({ refundId: z.string() }), run: never }),
  ship: operation({ input: z.strictObject({ chargeId: z.string() }), output: z.strictObject({ tracking: z.string() }), run: never }),
});

const order = z.strictObject({
  total: z.number(),
  customer: z.strictObject({ id: z.string() }),
  card: secret(z.string()),
  items: z.array(z.strictObject({ sku: z.string(), quantity: z.number() })),
  note: z.string().optional(),
});

export const buyOf = (version: number) =>
  defineWorkflow('buy', { version, order, toOperator: [Declined] }, ({ order }) => {
    const charge = agent.charge({ amount: order.total, card: order.card });
    const ship = agent.ship({ chargeId: charge.output.chargeId }).noUndo();
    return sequence(
      charge.undo((output) => agent.refund({ chargeId: output.chargeId })),
      assign(variable<number>('left'), order.total),
      waitFor('papers', z.strictObject({ page: z.number() })),
      ship,
    );
  });

const rescue = defineWorkflow('rescue', { version: 1, order: z.strictObject({ orderId: z.string() }) }, () => sequence());
const app = defineApp({ workflows: [buyOf(1), rescue], agents: [agent] });

export const world: RuleWorld = { workflows: app.workflows, catalog: catalogOfApp(app) };

/** A rule in force about declined cards, with other fields where given. */
export const rule = (more: Partial<Rule> & { readonly id?: string } = {}): Rule => ({
  id: 'declined',
  name: 'A declined card',
  origin: 'people',
  event: { kind: 'exception', type: 'Declined' },
  action: { kind: 'compensate' },
  mode: 'enforce',
  priority: 0,
  timesPerOrder: 3,
  version: 1,
  ...more,
});

/** Returns a rule for a list of events, without the event of a rule for one. */
export const combined = ({ event: _, ...more }: Rule): Rule => more;

let events = 0;
export const event = (more: Partial<RuleEvent> = {}): RuleEvent => ({
  id: `event-${++events}`,
  kind: 'exception',
  at: 1_700_000_000_000,
  type: 'Refused/Declined',
  class: 'expected',
  step: 'order/charge',
  agent: 'payment',
  fingerprint: 'fp',
  ...more,
});

export const signal = (name: string, atSeconds: number, id = `signal-${name}-${atSeconds}`): RuleEvent => ({
  id,
  kind: 'signal',
  at: 1_700_000_000_000 + atSeconds * 1000,
  type: name,
});

export const situation = (of: RuleEvent = event(), values: Partial<Situation['values']> = {}): Situation => ({
  orderId: 'order-1',
  workflow: { name: 'buy', version: 1 },
  event: of,
  values: {
    order: { total: 120, customer: { id: 'c-1' }, items: [{ sku: 'tea', quantity: 2 }] },
    exception: { type: of.type ?? '', message: 'no funds', attempt: 1 },
    step: { path: 'order/charge', name: 'charge', status: 'Faulting' },
    outputs: {},
    variables: {},
    ...values,
  },
});
