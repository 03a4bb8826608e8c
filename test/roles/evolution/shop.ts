import { defineAgent, defineApp, defineWorkflow, fault, operation, sequence } from 'redress';
import type { TestSystem } from 'redress/testing';
import * as z from 'zod';
import type { WorkflowDefinition } from '#core/definition/definition';
import { programOf } from '#core/definition/program';
import { loadDefinitions } from '#roles/definitions/load';

export const NoPrinter = fault('NoPrinter');
export const TooHeavy = fault('TooHeavy');
const none = z.object({});
const Parcel = z.object({ depot: z.string(), printer: z.boolean(), kilos: z.int() });
export type Parcel = z.infer<typeof Parcel>;

const depot = defineAgent('depot', {
  pack: operation({ input: Parcel, output: none, run: () => ({}) }),
  unpack: operation({ input: Parcel, output: none, run: () => ({}) }),
  label: operation({
    input: Parcel,
    output: none,
    faults: [NoPrinter],
    run: ({ printer }, call) => (printer ? {} : call.failed(NoPrinter, 'The printer is not there.')),
  }),
  send: operation({
    input: Parcel,
    output: none,
    faults: [TooHeavy],
    run: ({ kilos }, call) => (kilos > 30 ? call.failed(TooHeavy, `${kilos} kg are too heavy.`) : {}),
  }),
});

/** A parcel is packed, labeled and sent. A label needs a printer, and a parcel may be too heavy: both faults go to an operator. */
export const parcels = defineWorkflow('parcel', { version: 1, order: Parcel, toOperator: [NoPrinter, TooHeavy] }, ({ order }) =>
  sequence(
    depot.pack(order).undo(() => depot.unpack(order)),
    depot.label(order).noUndo(),
    depot.send(order).noUndo(),
  ),
);

/** An app with the first version of the workflow and, if given, a proposed one. */
export const appOf = (...proposed: readonly WorkflowDefinition[]) => defineApp({ workflows: [parcels, ...proposed], agents: [depot] });

export const parcelDefinitions = loadDefinitions(appOf());
export const parcelProgram = programOf(parcels);

/** Submits parcels and lets them run until each has ended or is blocked. Returns their ids. */
export async function sent(system: TestSystem, all: readonly Parcel[]): Promise<readonly string[]> {
  const ids: string[] = [];
  for (const parcel of all) {
    const answer = await system.submit(parcel, { workflow: 'parcel' });
    if (answer.outcome !== 'accepted') throw new Error(JSON.stringify(answer));
    ids.push(answer.order.orderId);
  }
  await system.passTime(60_000);
  return ids;
}
