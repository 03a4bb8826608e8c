import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import type { Json } from '#core/data/json';
import type { WorkflowDefinition } from '#core/definition/definition';
import { programOf } from '#core/definition/program';
import { propose } from '#core/evolution/propose';
import { recordingOf } from '#core/evolution/recorded-answers';
import { waysOf } from '#core/evolution/ways';
import { whatIf } from '#core/evolution/what-if';
import { subjectOf } from '#ports/records';
import type { Instruction } from '#roles/operator/instruction';
import { loadOrder } from '#roles/scheduler/load';
import { storedJournal } from '#roles/scheduler/step-report';
import { type Desk, failed, ok, openDesk, submitted, timePasses } from '../support.ts';
import { appOf, parcelDefinitions, parcelProgram } from './shop.ts';

const parcel = { depot: 'south', printer: false, kilos: 10 };
const noPrinter = failed('NoPrinter', 'no printer');

async function blocked(context: TestContext) {
  const desk = openDesk(context, appOf());
  const orderId = await submitted(desk, parcel, { workflow: 'parcel' });
  await desk.answer(await desk.request('depot'), ok(), { agent: 'depot' });
  await next(desk, noPrinter);
  const instruct = async (given: object): Promise<void> => {
    const decision = { ...given, by: 'olga', reason: 'mended' } as Instruction;
    assert.equal(
      (await timePasses(desk.clock, desk.system.scheduler.instruct(orderId, decision, { id: JSON.stringify(given) }))).outcome,
      'done',
    );
  };
  return { desk, orderId, instruct };
}

const next = async (desk: Desk, result: Parameters<Desk['answer']>[1] = ok()): Promise<void> =>
  desk.answer(await desk.request('depot'), result, { agent: 'depot' });

/** Returns a proposal about the label as if people had always given this instruction. */
function after(instruction: { readonly [field: string]: Json }): WorkflowDefinition {
  const uses = Array.from({ length: 5 }, (_, index) => ({
    orderId: `${index}`,
    instruction,
    verified: 'passed' as const,
    waitedMs: 60_000,
  }));
  const about = { program: parcelProgram, catalog: parcelDefinitions.catalog };
  const proposed = propose({ step: 'order/label', type: 'NoPrinter' }, waysOf(uses), about, { failed: [], good: [] });
  assert.ok(proposed.ok);
  return proposed.proposal.definition;
}

const retried = after({ kind: 'resubmit' });
const skipped = after({ kind: 'skip', output: {}, effect: 'none' });
const undone = after({ kind: 'compensate' });

async function replayed({ store, system }: Desk, orderId: string, definition: WorkflowDefinition) {
  const loaded = await loadOrder(orderId, { store, definitions: system.definitions });
  assert.ok(loaded);
  const lines = storedJournal(await store.pages(orderId), loaded.instance.tail);
  const played = { program: programOf(definition), subject: subjectOf(loaded.order), catalog: parcelDefinitions.catalog, stepMs: 30_000 };
  return whatIf(played, recordingOf(orderId, loaded.program, lines));
}

describe('an order played on another definition with the answers of its own history', () => {
  test('F-161: needs a person where it needed one, and none where a retry gets the answer that the resubmission got', async (context) => {
    const { desk, orderId, instruct } = await blocked(context);
    await instruct({ kind: 'resubmit' });
    for (const _ of ['label', 'send']) await next(desk);
    const { definition } = parcelProgram;
    assert.deepEqual(await replayed(desk, orderId, definition), { ends: 'person', why: 'NoPrinter blocks it.', path: 'order/label' });
    assert.deepEqual(await replayed(desk, orderId, retried), { ends: 'alone' });
  });

  test('F-161: needs a person if a retry has no recorded answer', async (context) => {
    const { desk, orderId } = await blocked(context);
    const why = 'The history has no recorded answer for this request of the changed workflow.';
    assert.deepEqual(await replayed(desk, orderId, retried), { ends: 'person', why, path: 'order/label-again/label' });
  });

  test('F-161: rests on an assumption if it requests a step or an undo that its history does not contain', async (context) => {
    const { desk, orderId, instruct } = await blocked(context);
    assert.deepEqual(await replayed(desk, orderId, skipped), { ends: 'assumed' });
    assert.deepEqual(await replayed(desk, orderId, undone), { ends: 'assumed' });
    await instruct({ kind: 'compensate' });
    await next(desk);
    assert.deepEqual(await replayed(desk, orderId, undone), { ends: 'alone' });
  });

  test('F-161: needs a person for a later fault of its history', async (context) => {
    const { desk, orderId, instruct } = await blocked(context);
    await instruct({ kind: 'skip', output: {}, effect: 'none' });
    await next(desk, failed('TooHeavy'));
    assert.deepEqual(await replayed(desk, orderId, skipped), { ends: 'person', why: 'TooHeavy blocks it.', path: 'order/send' });
  });
});
