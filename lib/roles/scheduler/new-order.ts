import { workflowRef } from '#core/definition/workflow-ref';
import type { Definitions } from '#ports/definitions';
import type { OrderRecord } from '#ports/records';
import { hashOf } from '#roles/definitions/pinning';
import { decodeInstance, newRecord, type Pinned } from './instance.ts';
import { byteBudgetOf, fitted } from './size-limit.ts';
import type { TaskWatch } from './task-watches.ts';
import { type Beginning, newTransition } from './transition.ts';
import type { Loaded, PlannedWrite, Settings } from './types.ts';

/** The data that a new order takes over from the order that it replaces. */
export interface Inherited {
  readonly watches?: readonly TaskWatch[];
}

/** Returns a new order with its record and its instance. Its workflow must be part of the app. */
export function newOrder(definitions: Definitions, order: OrderRecord, { watches = [], ...pinned }: Pinned & Inherited): Loaded {
  const { name, version } = order.workflow;
  const program = definitions.program(name, version);
  if (!program)
    throw new Error(`The workflow ${workflowRef(order.workflow)} is not part of this app. Add it to the workflows of defineApp.`);
  const record = newRecord(order, program.definition, { ...pinned, hash: hashOf(program.definition) });
  const instance = decodeInstance(record);
  return { program, order, record, instance: watches.length > 0 ? { ...instance, watches } : instance };
}

/** Plans the first write of an order; plans it again within a byte budget if it is too large. */
export function plannedStart(loaded: Loaded, begin: Beginning, now: number, settings: Settings): PlannedWrite {
  const planned = newTransition(loaded, begin, now, settings);
  const byteBudget = byteBudgetOf(fitted(planned.record, planned.instance), planned.instance);
  return byteBudget === undefined ? planned : newTransition(loaded, begin, now, { ...settings, byteBudget });
}
