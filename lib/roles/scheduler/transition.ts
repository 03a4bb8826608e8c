import type { Program } from '#core/definition/program';
import type { StateRecord } from '#ports/records';
import { frozenDue, isStopped, nextDeadline, worklistEntry } from './deadlines.ts';
import type { Instance } from './instance.ts';
import { OrderTransition } from './order-transition.ts';
import type { Incoming, Loaded, NeedsPage, PlannedWrite, Settings } from './types.ts';

/** Applies messages to an order; returns undefined when they change nothing. Pure, like the core. */
export function transition(
  loaded: Loaded,
  incoming: readonly Incoming[],
  now: number,
  settings: Settings,
): PlannedWrite | NeedsPage | undefined {
  const order = new OrderTransition(loaded, now, settings);
  order.takeNotes();
  order.catchUp();
  for (const each of incoming) order.take(each);
  order.requestOverdue();
  order.wake();
  return order.neededPage() ?? order.finish();
}

/** The start of a new order: in the write that creates it, at a later claim, or never. */
export type Beginning = 'now' | 'later' | 'never';

/** Plans a new order: claimed, left Pending, or canceled before it begins. */
export function newTransition(loaded: Loaded, begin: Beginning, now: number, settings: Settings): PlannedWrite {
  const order = new OrderTransition(loaded, now, settings);
  order.note({ type: 'OrderSubmitted', workflow: `${loaded.order.workflow.name}@${loaded.order.workflow.version}` });
  order.status('received');
  if (begin === 'now') order.claim();
  if (begin === 'never') order.cancel();
  return order.finish(true) as PlannedWrite;
}

/** Returns an otherwise unchanged order with the supervisor's notes. */
export const withNotes = (loaded: Loaded, now: number, settings: Settings): Pick<PlannedWrite, 'record' | 'instance'> =>
  new OrderTransition(loaded, now, settings).withNotes();

/** Sets the deadline and the worklist entry of a record. Its outbox must be complete, because it may be due, too. */
export function withDeadline(program: Program, instance: Instance, record: StateRecord, now: number): StateRecord {
  const deadline = nextDeadline(program, instance.state, record, now);
  const dueFor = deadline?.for ?? (isStopped(record) ? frozenDue(record) : null);
  return { ...record, nextDueAt: deadline?.at ?? null, nextDueFor: dueFor, ...worklistEntry(record, deadline) };
}
