import type { Program } from '#core/definition/program';
import type { StateRecord } from '#ports/records';
import { frozenDue, isStopped, nextDeadline, worklistEntry } from './deadlines.ts';
import type { Instance } from './instance.ts';
import { OrderDraft } from './order-transition.ts';
import type { Incoming, Loaded, Planned, Settings, Wanting } from './types.ts';

/** What the events do to the order; undefined when they change nothing. Pure, like the core. */
export function plan(loaded: Loaded, incoming: readonly Incoming[], now: number, settings: Settings): Planned | Wanting | undefined {
  const draft = new OrderDraft(loaded, now, settings);
  draft.takeNotes();
  draft.catchUp();
  for (const each of incoming) draft.take(each);
  draft.askAgain();
  draft.wake();
  return draft.wanting() ?? draft.finish();
}

/** When a new order begins: in the very write that creates it, when it is claimed later, or never. */
export type Beginning = 'now' | 'later' | 'never';

/** The plan of a new order: claimed, left Pending, or canceled before it begins. */
export function planNew(loaded: Loaded, begin: Beginning, now: number, settings: Settings): Planned {
  const draft = new OrderDraft(loaded, now, settings);
  draft.note({ type: 'OrderSubmitted', workflow: `${loaded.order.workflow.name}@${loaded.order.workflow.version}` });
  draft.status('received');
  if (begin === 'now') draft.claim();
  if (begin === 'never') draft.cancel();
  return draft.finish(true) as Planned;
}

/** An order to which nothing happens, with what the supervisor noted. */
export const withNotes = (loaded: Loaded, now: number, settings: Settings): Pick<Planned, 'record' | 'instance'> =>
  new OrderDraft(loaded, now, settings).withNotes();

/** The deadline and worklist entry that a record gets as its last touch, once its outbox is known. */
export function withDeadline(program: Program, instance: Instance, record: StateRecord, now: number): StateRecord {
  const deadline = nextDeadline(program, instance.state, record, now);
  const dueFor = deadline?.for ?? (isStopped(record) ? frozenDue(record) : null);
  return { ...record, nextDueAt: deadline?.at ?? null, nextDueFor: dueFor, ...worklistEntry(record, deadline) };
}
