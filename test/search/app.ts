import { type App, type Call, defineAgent, defineApp, defineWorkflow, type Expr, fault, operation, sequence } from 'redress';
import * as z from 'zod';

const Refused = fault('Refused');
const About = z.object({ what: z.string() });
/** The name of the effect: the idempotency key of its request. */
const Effect = z.object({ id: z.string() });
const Body = z.object({ item: z.string() });

/** Carries out an operation for the running agent. `undoes`: the key of the effect to undo. */
export type Remote = (operation: string, call: Call<string>, undoes?: string) => Promise<'done' | 'refused'>;

/** Two steps, each with an undo. The service may refuse the second one for good; then the first one is undone. */
export function appOn(remote: Remote): App {
  const step = (name: string) =>
    operation({
      input: About,
      output: Effect,
      faults: [Refused],
      run: async (_, call) =>
        (await remote(name, call)) === 'done' ? { id: call.idempotencyKey } : call.failed(Refused, 'It is refused for good.'),
    });
  const undo = (name: string) =>
    operation({
      input: Effect,
      output: Effect,
      run: async ({ id }, call) => {
        await remote(name, call, id);
        return { id };
      },
    });
  const shop = defineAgent('shop', { reserve: step('reserve'), release: undo('release'), charge: step('charge'), refund: undo('refund') });
  const steps = (what: Expr<string>) =>
    sequence(
      shop.reserve({ what }).undo(({ id }) => shop.release({ id })),
      shop.charge({ what }).undo(({ id }) => shop.refund({ id })),
    ).on(Refused, ({ compensate }) => compensate());
  const described = { version: 1, order: Body, maxFailures: 1 } as const;
  return defineApp({
    agents: [shop],
    workflows: [
      defineWorkflow('by-step', described, ({ order }) => steps(order.item)),
      defineWorkflow('by-order', { ...described, recover: 'order' }, ({ order }) => steps(order.item)),
    ],
  });
}
