import { hash } from 'node:crypto';
import type { Json, JsonObject } from '#core/data/json';
import type { Clock } from '#ports/clock';
import type { Document, Documents } from '#ports/documents';
import type { Store } from '#ports/store';
import type { Tallies } from '#ports/tallies';
import { type TaskCall, type TaskRecord, taskLimits } from '#ports/tasks';
import { compareAndSet } from '#ports/util/compare-and-set';
import { dayMs } from '#ports/util/days';
import { taskPlaceOf } from '#roles/exceptions/ids';
import { storedTask, taskOf, unsent } from '#roles/exceptions/read';
import { taskDocument, taskKey } from '#roles/exceptions/records';
import { storeCause } from '#roles/exceptions/store';
import { createAgenda } from '#roles/notifier/agenda';
import { referenceOf } from '#roles/scheduler/load';
import { type Act, actOnTask } from './act.ts';
import { listTasks, type TaskFilter, type TaskPage } from './list.ts';

interface Ports {
  readonly store: Documents & Tallies & Pick<Store, 'head' | 'load'>;
  readonly clock: Clock;
}

/** An act of a person on a task. */
export interface PersonsAct {
  readonly act: Act;
  readonly by: string;
  /** An admin may take a task from the person who has claimed it. */
  readonly isAdmin: boolean;
  readonly key?: string | undefined;
  /** Returns new documents for the transaction of the write, such as the audit's entry. */
  readonly beside?: (before: TaskRecord, after: TaskRecord) => readonly Document[];
}

export type TaskActed =
  /** `unchanged`: the task was so already. */
  | { readonly outcome: 'done' | 'unchanged' | 'replayed'; readonly task: TaskRecord }
  | { readonly outcome: 'not-found' | 'key-reused' }
  | { readonly outcome: 'conflict'; readonly reason: string };

/** The tasks of people. An act of a person changes the task alone, never its order. */
export interface Tasks {
  task(id: string): Promise<TaskRecord | undefined>;
  /** Lists tasks. `after`: the `next` of the page before. */
  list(filter: TaskFilter, after: string | undefined, limit: number): Promise<TaskPage>;
  act(id: string, act: PersonsAct): Promise<TaskActed>;
}

export function createTasks({ store, clock }: Ports): Tasks {
  const agenda = createAgenda(store);

  /**
   * Returns the stored task. A task or a resolution that is still in the outbox of its order is stored first: if the act stored a
   * resolution itself, the figures of the solution would not count it.
   */
  async function stored(id: string): Promise<TaskRecord | undefined> {
    const place = taskPlaceOf(id);
    if (!place) return undefined;
    const found = await storedTask(place, store);
    if (found?.resolution) return found;
    const { opened, closed } = await unsent(place, store);
    if (!found && !opened?.task) return undefined;
    if (!found && opened) await storeCause(opened, store, await referenceOf(place.orderId, store));
    if (closed) await storeCause(closed, store);
    return found && !closed ? found : storedTask(place, store);
  }

  async function actOnce(id: string, { act, by, isAdmin, key, beside = () => [] }: PersonsAct): Promise<TaskActed | 'lost'> {
    const task = await stored(id);
    if (!task) return { outcome: 'not-found' };
    const now = clock.now();
    const call = key === undefined ? undefined : callOf(by, key, act, now);
    const before = call && task.calls?.find(({ name, at }) => name === call.name && now - at < dayMs);
    if (before) return before.hash === call.hash ? { outcome: 'replayed', task } : { outcome: 'key-reused' };
    const changed = actOnTask(task, act, { by, isAdmin, now });
    if (typeof changed === 'string') return { outcome: 'conflict', reason: changed };
    if (changed === task) return { outcome: 'unchanged', task };
    const calls = call ? { calls: [...(task.calls ?? []), call].slice(-taskLimits.callsMax) } : {};
    const next = { ...changed, ...calls, rev: task.rev + 1 };
    const { nextReminderAt } = next;
    // The notifier must look at the task at the time of the next reminder, which may be earlier than its present entry says.
    if (typeof nextReminderAt === 'number' && nextReminderAt !== task.nextReminderAt)
      await agenda.put(nextReminderAt, { what: 'task', ...placeOf(next), isNew: false });
    const { outcome } = await store.putDocument(taskDocument(next), task.rev, beside(task, next));
    return outcome === 'written' ? { outcome: 'done', task: next } : 'lost';
  }

  return {
    task: (id) => taskOf(id, store),
    list: (filter, after, limit) => listTasks(store, filter, { after, limit, now: clock.now() }),
    async act(id, act) {
      const acted = await compareAndSet(() => actOnce(id, act));
      if (acted === 'lost') throw new Error(`The task ${id} changes too often. Try again.`);
      return acted;
    },
  };
}

const placeOf = ({ orderId, seq }: TaskRecord) => taskKey(orderId, seq);

const callOf = (by: string, key: string, act: Act, at: number): TaskCall => ({
  name: shortHash([by, key]),
  hash: shortHash(act as unknown as JsonObject),
  at,
});

const shortHash = (value: Json): string => hash('sha256', JSON.stringify(value), 'base64url').slice(0, 16);
