import { withUndoPages } from '../../lib/aside.ts';
import { rootPath } from '../../lib/core/definition.ts';
import { undoPlan } from '../../lib/core/undo-plan.ts';
import { discreetPlan } from '../../lib/discretion.ts';
import { UnreadableRecordError } from '../../lib/errors.ts';
import { decodeInstance } from '../../lib/instance.ts';
import { subjectOf } from '../../lib/record.ts';
import { stepsOf, wholeJournal } from '../../lib/steps.ts';
import type { Store } from '../../lib/store.ts';
import { definitions } from './app.ts';
import type { Happening } from './sight.ts';

type Looked = Extract<Happening, { type: 'looked' }>;

/** What a person is shown of an order, read from the store by nobody in particular; undefined where it cannot be read. */
export async function lookAt(store: Store, orderId: string): Promise<Looked | undefined> {
  try {
    const found = await store.load(orderId);
    const program = found && definitions.program(found.order.workflow.name, found.order.workflow.version);
    if (!found || !program) return undefined;
    const { order, state: record } = found;
    const instance = decodeInstance(record);
    const journal = wholeJournal(await store.pages(orderId), instance.tail);
    const steps = stepsOf(program, journal, instance.state);
    const done = steps.filter(({ result }) => result === 'Succeeded').map(({ path }) => path);
    const state = await withUndoPages(store, orderId, instance.state);
    const plan = undoPlan(program, subjectOf(order), state, rootPath, done);
    return { type: 'looked', orderId, rev: record.rev, steps, plan: discreetPlan({ program, order, record, instance }, plan) };
  } catch (error) {
    if (error instanceof UnreadableRecordError) return undefined;
    throw error;
  }
}
