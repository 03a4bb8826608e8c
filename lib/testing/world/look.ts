import { rootPath } from '#core/definition/definition';
import { withRuledUndos } from '#core/definition/ruled-undos';
import { undoPlan } from '#core/views/undo-plan';
import type { Definitions } from '#ports/definitions';
import { UnreadableRecordError } from '#ports/errors';
import { subjectOf } from '#ports/records';
import type { Store } from '#ports/store';
import { decodeInstance } from '#roles/scheduler/instance';
import { withUndoPages } from '#roles/scheduler/paging';
import { redactedPlan } from '#roles/scheduler/redaction';
import { stepsOf, wholeJournal } from '#roles/scheduler/step-report';
import type { Observation } from './observation.ts';

type Looked = Extract<Observation, { type: 'viewed' }>;

/** Returns what the API shows a person of an order, read directly from the store; undefined if the order cannot be read. */
export async function lookAt(store: Store, orderId: string, definitions: Pick<Definitions, 'program'>): Promise<Looked | undefined> {
  try {
    const found = await store.load(orderId);
    const defined = found && definitions.program(found.state.workflow.name, found.state.workflow.version);
    if (!found || !defined) return undefined;
    const { order, state: record } = found;
    const instance = decodeInstance(record);
    const program = withRuledUndos(defined, instance.state);
    const journal = wholeJournal(await store.pages(orderId), instance.tail);
    const steps = stepsOf(program, journal, instance.state);
    const done = steps.filter(({ result }) => result === 'Succeeded').map(({ path }) => path);
    const state = await withUndoPages(store, orderId, instance.state);
    const plan = undoPlan(program, subjectOf(order), state, rootPath, done);
    return { type: 'viewed', orderId, rev: record.rev, steps, plan: redactedPlan({ program, order, record, instance }, plan) };
  } catch (error) {
    if (error instanceof UnreadableRecordError) return undefined;
    throw error;
  }
}
