import { defineAgent, defineApp, defineWorkflow, fault, operation, sequence, TransientFailure } from 'redress';
import * as z from 'zod';

/** The fault that the broken warehouse returns for each order. */
const LabelRefused = fault('LabelRefused');
const Parcel = z.object({ number: z.int() });
const url = process.env['INCIDENT_URL'] ?? '';

const warehouse = defineAgent('warehouse', {
  label: operation({
    input: Parcel,
    output: z.object({ label: z.string() }),
    faults: [LabelRefused],
    async run({ number }, call) {
      const answer = await fetch(url, {
        method: 'POST',
        body: JSON.stringify({ number, key: call.idempotencyKey }),
        signal: call.signal,
      });
      if (answer.status === 409) return call.failed(LabelRefused, 'The printer has no paper.');
      if (!answer.ok) throw new TransientFailure(`The warehouse answers ${answer.status}.`);
      return { label: await answer.text() };
    },
  }),
});

const parcel = defineWorkflow('parcel', { version: 1, order: Parcel, toOperator: [LabelRefused] }, ({ order }) =>
  sequence(warehouse.label({ number: order.number }).noUndo()),
);

export default defineApp({ workflows: [parcel], agents: [warehouse] });
