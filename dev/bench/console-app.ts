import { defineAgent, defineApp, defineWorkflow, fault, operation, sequence } from 'redress';
import * as z from 'zod';

/** The app whose orders the console shows. An order with a `trouble` fails and waits for a person; each trouble makes its own group. */
const Refused = fault('Refused', { groupBy: 'message' });
const Parcel = z.object({ number: z.int(), trouble: z.string().optional() });

const warehouse = defineAgent('warehouse', {
  label: operation({
    input: Parcel,
    output: z.object({ label: z.string() }),
    faults: [Refused],
    run: ({ number, trouble }, call) =>
      trouble === undefined ? { label: `L-${number}` } : call.failed(Refused, `The printer says ${trouble}.`),
  }),
});

const parcel = defineWorkflow('parcel', { version: 1, order: Parcel, toOperator: [Refused] }, ({ order }) =>
  sequence(warehouse.label(order).noUndo().named('label')),
);

export default defineApp({ workflows: [parcel], agents: [warehouse] });
