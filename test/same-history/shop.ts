import { type Agent, type App, type Call, defineAgent, defineApp, type Expr, fault, operation, type WorkflowDefinition } from 'redress';
import * as z from 'zod';

export const Refused = fault('Refused');
export const OutOfStock = fault('OutOfStock', Refused);
export const CardDeclined = fault('CardDeclined', Refused);
/** A fault without a handler, as a rule: the order is blocked. */
export const AddressInvalid = fault('AddressInvalid');

/** The fault with which an operation answers `refuses()`. */
export const refusals = {
  'stock.reserve': OutOfStock,
  'bank.charge': CardDeclined,
  'carrier.ship': AddressInvalid,
} as const;

/** `edition`: the version of the requesting workflow, if that states it. */
const About = z.object({ what: z.string(), edition: z.number().optional() });
/** The name of the effect: the idempotency key of its request. */
const Effect = z.object({ id: z.string(), note: z.string().optional() });

const nobody = (): never => {
  throw new Error('Nobody stands behind these operations: see `staffed`.');
};
const doing = { input: About, output: Effect, run: nobody, attemptsMax: 1 } as const;
const undoing = operation({ input: z.object({ id: z.string() }), output: Effect, run: nobody, attemptsMax: 1 });

const stock = defineAgent('stock', {
  reserve: operation({ ...doing, faults: [OutOfStock] }),
  release: undoing,
});
const bank = defineAgent('bank', {
  charge: operation({ ...doing, faults: [CardDeclined] }),
  refund: undoing,
});
const carrier = defineAgent('carrier', {
  ship: operation({ ...doing, faults: [AddressInvalid] }),
  recall: undoing,
});
const mail = defineAgent('mail', { tell: operation({ ...doing, attemptsMax: 2 }) });
const ledger = defineAgent('ledger', {
  enter: operation({ ...doing, atMostOnce: true, lookup: nobody }),
  /** Only a person can say whether it was done. */
  post: operation({ ...doing, atMostOnce: true }),
  strike: undoing,
});
const press = defineAgent('press', { print: operation({ ...doing, completeWithinSeconds: 9, longestSeconds: 40 }) });

export const reserve = (what: Expr<string>, name = 'reserve') =>
  stock
    .reserve({ what })
    .named(name)
    .undo(({ id }) => stock.release({ id }));
export const charge = (what: Expr<string>, name = 'charge') =>
  bank
    .charge({ what })
    .named(name)
    .undo(({ id }) => bank.refund({ id }));
export const ship = (what: Expr<string>, name = 'ship') =>
  carrier
    .ship({ what })
    .named(name)
    .undo(({ id }) => carrier.recall({ id }));
export const tell = (what: Expr<string>, name = 'tell') => mail.tell({ what }).named(name).noUndo();
export const enter = (what: Expr<string>) => ledger.enter({ what }).undo(({ id }) => ledger.strike({ id }));
export const post = (what: Expr<string>) => ledger.post({ what }).undo(({ id }) => ledger.strike({ id }));
export const print = (what: Expr<string>) => press.print({ what }).noUndo();

/** The settings of every workflow here, unless it says otherwise. */
export const Item = z.object({ item: z.string() });
export const tea = { item: 'tea' };

type AnyAgent = Agent<object>;
export const agents: readonly AnyAgent[] = [stock, bank, carrier, mail, ledger, press];

export const shopOf = (workflows: readonly WorkflowDefinition[]): App => defineApp({ workflows, agents });

/** The backend of the operations of one host. */
export interface Remote {
  asked(operation: string, input: unknown, call: Call<string>): Promise<unknown>;
  looked(operation: string, key: string, call: Call<string>): Promise<unknown>;
}

/** The app as one host runs it. */
export const staffed = ({ workflows, agents, consumers, channels }: App, remote: Remote): App => ({
  workflows,
  ...(consumers ? { consumers } : {}),
  ...(channels ? { channels } : {}),
  agents: agents.map(({ name, operations }) => ({
    name,
    operations: Object.fromEntries(
      Object.entries(operations).map(([key, { lookup, ...described }]) => {
        const run = (input: unknown, call: unknown) => remote.asked(`${name}.${key}`, input, call as Call<string>);
        const find = (effect: string, call: unknown) => remote.looked(`${name}.${key}`, effect, call as Call<string>);
        return [key, { ...described, run, ...(lookup ? { lookup: find } : {}) }];
      }),
    ),
  })),
});
