import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { call, cel, defineApp, defineWorkflow } from 'redress';
import { startSystem } from 'redress/testing';
import * as z from 'zod';
import { collections } from '#ports/documents';
import { SetupError } from '#ports/errors';
import { liveOrdersOf, recordDefinitions, recordedBytesMax } from '#roles/definitions/recorded-definitions';
import { lineOf, nothing, openDesk, stepsNamed, submitted, temporaryFolder } from './support.ts';

const appOf = (...steps: readonly string[]) => lineOf(stepsNamed(...steps));
const local = { mayReplace: true };

/** What a start with these steps says to the store of a desk, as `npm start` does. */
const start = (desk: ReturnType<typeof openDesk>, steps: readonly string[], how = local) =>
  recordDefinitions(appOf(...steps).workflows, desk.store, how);

const opened = async (context: TestContext, ...steps: readonly string[]) => {
  const desk = openDesk(context, appOf(...steps));
  await start(desk, steps);
  return desk;
};

describe('what is recorded of each version of a workflow', () => {
  test('S20: the same again starts, however often, and writes nothing', async (context) => {
    const desk = await opened(context, 'a', 'b');
    assert.deepEqual(await start(desk, ['a', 'b']), []);
    assert.equal((await desk.store.document(collections.workflow('line'), '1'))?.rev, 1);
  });

  test('S20: while an order is under way a changed workflow is refused at the start: it names the version, the place and the remedy', async (context) => {
    const desk = await opened(context, 'a', 'b', 'c');
    await submitted(desk);
    await assert.rejects(start(desk, ['a', 'c']), (error: unknown) => {
      assert.ok(error instanceof SetupError);
      assert.match(error.message, /: line@1 has changed \(order\/b\), and an order under way began with the former one\.$/);
      assert.match(
        error.remedy,
        /^Give the changed workflow a new version and keep the former one beside it, or undo the change\. "npx redress reset"/,
      );
      return true;
    });
    assert.deepEqual(await start(desk, ['a', 'b', 'c']), []);
  });

  test('S20: a developer whose orders are all finished edits his workflow, and is told in a line', async (context) => {
    const desk = await opened(context, 'a');
    await submitted(desk);
    await desk.answer(await desk.request());
    const told = ['line@1 has changed (order/a). No order under way began with it: it is replaced.'];
    assert.deepEqual([await start(desk, ['b']), await start(desk, ['b'])], [told, []]);
  });

  test('S20: on AWS a changed workflow is refused whatever is under way, until what is recorded is released', async (context) => {
    const desk = await opened(context, 'a');
    await assert.rejects(start(desk, ['b'], { mayReplace: false }), /line@1 has changed \(order\/a\)\.$/);
    await desk.store.removeDocument(collections.workflow('line'), '1', 1);
    assert.deepEqual(await start(desk, ['b'], { mayReplace: false }), []);
  });

  test('S20: of processes that start at the same moment with two workflows under one version, one is refused', async (context) => {
    const desk = openDesk(context, appOf('a'));
    const starts = await Promise.allSettled([start(desk, ['a'], { mayReplace: false }), start(desk, ['b'], { mayReplace: false })]);
    assert.deepEqual(starts.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
  });

  test('S20, F-100: an order that called the version needs it too, for it may still have it undone', async (context) => {
    const order = z.object({ item: z.string() });
    const [line = assert.fail()] = appOf('a').workflows;
    const caller = defineWorkflow('caller', { version: 1, order }, () => call(line as never, { item: cel<string>`order.item` }));
    const app = defineApp({ workflows: [caller, line], agents: [] });
    const desk = openDesk(context, { ...app, agents: appOf('a').agents });
    const orderId = await submitted(desk);
    const [edited = assert.fail()] = appOf('b').workflows;
    const live = await liveOrdersOf(edited, [caller, edited], desk.store, 10);
    assert.deepEqual(
      live.map((head) => head.orderId),
      [orderId],
    );
  });

  test('S20: a workflow that is too large to be recorded whole is compared by its hash, and no place is named', async (context) => {
    const desk = openDesk(context, lineOf({ a: nothing }));
    const [line = assert.fail()] = desk.app.workflows;
    const large = (length: number) => [{ ...line, root: { ...line.root, note: 'x'.repeat(length) } }];
    await recordDefinitions(large(recordedBytesMax), desk.store, local);
    await assert.rejects(recordDefinitions(large(recordedBytesMax + 1), desk.store, { mayReplace: false }), /line@1 has changed\.$/);
  });

  test('S20: a test system that is started again on its data folder refuses as well, and leaves the folder to others', async (context) => {
    const dataFolder = temporaryFolder(context);
    const system = await startSystem(appOf('a', 'b'), { dataFolder, without: ['agent-worker'] });
    await submitted(system);
    await system.stop();
    await assert.rejects(startSystem(appOf('b'), { dataFolder }), /line@1 has changed/);
    await (await startSystem(appOf('a', 'b'), { dataFolder })).stop();
  });
});
