import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Rule } from '#core/rules/rule';
import { exceptionIdOf } from '#roles/exceptions/ids';
import { exceptionOf } from '#roles/exceptions/read';
import { rule } from '../../support/rules.ts';
import { type Desk, failed, journalOf, ok, openDesk, submitted, timePasses } from '../support.ts';
import { foundIn, received, told, warehouseApp } from './warehouse.ts';

const papers = (given: Partial<Rule>): Rule => rule({ id: 'papers', name: 'papers', ...given });

async function passes(desk: Desk, ms: number): Promise<void> {
  await desk.clock.advance(ms);
  await timePasses(desk.clock, desk.supervisor.pass());
  await desk.deliver('wake-ups');
}

/** Answers every request of an order until there is none; resolves to their steps. */
async function playedOut(desk: Desk, orderId: string): Promise<readonly string[]> {
  const steps: string[] = [];
  for (let requests = await desk.requests(); requests.length > 0; requests = await desk.requests())
    for (const request of requests.filter((each) => each.type === 'request' && each.orderId === orderId)) {
      steps.push(request.path.slice('order/'.length));
      await desk.answer(request, ok({}));
    }
  return steps;
}

const declined = { event: { kind: 'exception', type: 'PapersWrong' } } as const;
const wrong = failed('PapersWrong');

test('F-133, F-152: a rule recovers a whole order: it ends as compensated, and an order that has read from it learns of it', async (context) => {
  const { desk, receipt, sale, pack } = await received(context, papers({ ...declined, action: { kind: 'recover' } }));
  await desk.answer(pack, wrong);
  assert.deepEqual(await playedOut(desk, receipt), ['book/undo']);
  await told(desk);
  assert.equal((await desk.state(receipt)).outcome, 'compensated');
  assert.partialDeepStrictEqual(await exceptionOf(exceptionIdOf(receipt, 1), desk.store), {
    handling: { by: 'rule', id: 'papers', control: 'none' },
  });
  assert.equal(await foundIn(desk, sale), 1);
  assert.equal((await exceptionOf(exceptionIdOf(sale, 1), desk.store))?.causedBy, exceptionIdOf(receipt, 1));
});

test('F-133, F-148: a rule recovers a step: what depends on it is undone, the order goes on there, and the readers learn of it', async (context) => {
  const object = { workflow: 'receive' };
  const { desk, receipt, sale, pack } = await received(
    context,
    papers({
      ...declined,
      object,
      action: { kind: 'recover', path: 'order/book' },
    }),
  );
  await desk.answer(pack, wrong);
  const steps = await playedOut(desk, receipt);
  assert.deepEqual(steps, ['book/undo', 'book', 'pack']);
  await told(desk);
  assert.deepEqual([(await desk.state(receipt)).outcome, await foundIn(desk, sale)], ['completed', 1]);
  const acted = (await journalOf(desk, receipt)).filter(({ type }) => /^(RuleActed|ExceptionHandled)$/.test(type));
  assert.partialDeepStrictEqual(acted, [
    { type: 'RuleActed', ruleId: 'papers', action: { kind: 'recover', path: 'order/book' } },
    { type: 'ExceptionHandled', handling: { by: 'rule', id: 'papers', control: 'resumed' } },
  ]);
});

test('F-164: a rule recovers a step about which somebody has raised an exception, after the step at work was canceled', async (context) => {
  const { desk, receipt, pack } = await received(
    context,
    papers({
      event: { kind: 'exception', type: 'GoodsDamaged' },
      object: { workflow: 'receive' },
      action: { kind: 'recover', path: 'order/book' },
    }),
  );
  const report = { kind: 'report', by: 'olga', type: 'GoodsDamaged', message: 'wet', path: 'order/pack' } as const;
  await timePasses(desk.clock, desk.system.scheduler.instruct(receipt, report, { id: 'r' }));
  await desk.answer(pack, failed('Stopped'));
  const steps = await playedOut(desk, receipt);
  assert.deepEqual(steps, ['book/undo', 'book', 'pack']);
  assert.equal((await desk.state(receipt)).outcome, 'completed');
});

test('F-141: a rule in dry-run notes the recovery that it would have begun, and a person decides', async (context) => {
  const { desk, receipt, pack } = await received(context, papers({ ...declined, mode: 'dry-run', action: { kind: 'recover' } }));
  await desk.answer(pack, wrong);
  assert.deepEqual(await playedOut(desk, receipt), []);
  assert.equal((await desk.state(receipt)).processState, 'Error');
  const noted = (await journalOf(desk, receipt)).find(({ type }) => type === 'RuleWouldHave');
  assert.partialDeepStrictEqual(noted, { ruleId: 'papers', action: { kind: 'recover' } });
});

test('a rule that begins a recovery which is infeasible for a person too raises an exception, and nothing is undone', async (context) => {
  const desk = openDesk(context, warehouseApp);
  await desk.system.rules.put(
    papers({
      event: { kind: 'order-age', afterSeconds: 5 },
      object: { workflow: 'receive' },
      action: { kind: 'recover', path: 'order/pack' },
    }),
    { by: 'ada', reason: 'a test', expected: undefined },
  );
  const receipt = await submitted(desk, { lot: '4711' }, { workflow: 'receive' });
  await passes(desk, 6_000);
  const { processState, fault } = await desk.state(receipt);
  assert.deepEqual([processState, fault?.type], ['Error', 'RuleFailed']);
  assert.match(fault?.message ?? '', /Neither order\/pack nor any activity/);
});

test('F-125: a rule about the age of an order recovers it while it is at work', async (context) => {
  const event = { kind: 'order-age', afterSeconds: 60 } as const;
  const { desk, receipt, sale, pack } = await received(
    context,
    papers({ event, object: { workflow: 'receive' }, action: { kind: 'recover' } }),
  );
  await passes(desk, 61_000);
  await desk.answer(pack, failed('Stopped'));
  assert.deepEqual(await playedOut(desk, receipt), ['book/undo']);
  await told(desk);
  assert.deepEqual([(await desk.state(receipt)).outcome, await foundIn(desk, sale)], ['compensated', 1]);
});

test('F-125: a rule that would recover an activity which a person is recovering already does nothing, and raises no exception', async (context) => {
  const event = { kind: 'order-age', afterSeconds: 60 } as const;
  const { desk, receipt, pack } = await received(
    context,
    papers({ event, object: { workflow: 'receive' }, action: { kind: 'recover', path: 'order/book' } }),
  );
  const recover = { kind: 'recover', path: 'order/book', by: 'olga', reason: 'wrong papers' } as const;
  assert.equal((await timePasses(desk.clock, desk.system.scheduler.instruct(receipt, recover, { id: 'i' }))).outcome, 'done');
  await passes(desk, 61_000);
  assert.partialDeepStrictEqual(await desk.state(receipt), { processState: 'Processing' });
  await desk.answer(pack, failed('Stopped'));
  assert.deepEqual(await playedOut(desk, receipt), ['book/undo', 'book', 'pack']);
  const { outcome, causes = 0 } = await desk.state(receipt);
  assert.deepEqual([outcome, causes], ['completed', 0]);
});
