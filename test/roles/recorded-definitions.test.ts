import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { call, cel, defineApp, defineWorkflow, type Workflow } from 'redress';
import { startSystem } from 'redress/testing';
import * as z from 'zod';
import { collections } from '#ports/documents';
import { SetupError } from '#ports/errors';
import { liveOrdersOf, recordDefinitions, recordedBytesMax } from '#roles/definitions/recorded-definitions';
import { lineOf, nothing, openDesk, stepsNamed, submitted, temporaryFolder } from './support.ts';

const appOf = (...steps: readonly string[]) => lineOf(stepsNamed(...steps));
const local = { mayReplace: true };

/** Starts an app with these steps on the store of a desk, as `npm start` does. */
const start = (desk: ReturnType<typeof openDesk>, steps: readonly string[], how = local) =>
  recordDefinitions(appOf(...steps).workflows, desk.store, how);

const opened = async (context: TestContext, ...steps: readonly string[]) => {
  const desk = openDesk(context, appOf(...steps));
  await start(desk, steps);
  return desk;
};

describe('the recorded definition of a workflow version', () => {
  test('S20: lets the same workflow start any number of times without a write', async (context) => {
    const desk = await opened(context, 'a', 'b');
    assert.deepEqual(await start(desk, ['a', 'b']), []);
    assert.equal((await desk.store.document(collections.workflow('line'), '1'))?.rev, 1);
  });

  test('S20: refuses a changed workflow at the start while an order runs, and names version, place and remedy', async (context) => {
    const desk = await opened(context, 'a', 'b', 'c');
    await submitted(desk);
    await assert.rejects(start(desk, ['a', 'c']), (error: unknown) => {
      assert.ok(error instanceof SetupError);
      assert.match(error.message, /: line@1 has changed \(order\/b\), and an order under way uses the former definition\.$/);
      assert.match(
        error.remedy,
        /^Give the changed workflow a new version and keep the former one beside it, or undo the change\. "npx redress reset"/,
      );
      return true;
    });
    assert.deepEqual(await start(desk, ['a', 'b', 'c']), []);
  });

  test('S20: allows a developer without running orders to edit the workflow, with one log line', async (context) => {
    const desk = await opened(context, 'a');
    await submitted(desk);
    await desk.answer(await desk.request());
    const logged = ['line@1 has changed (order/a). No order under way uses the former definition, so it was replaced.'];
    assert.deepEqual([await start(desk, ['b']), await start(desk, ['b'])], [logged, []]);
  });

  test('S20: on AWS refuses a changed workflow always, until the record is released', async (context) => {
    const desk = await opened(context, 'a');
    await assert.rejects(start(desk, ['b'], { mayReplace: false }), /line@1 has changed \(order\/a\)\.$/);
    await desk.store.removeDocument(collections.workflow('line'), '1', 1);
    assert.deepEqual(await start(desk, ['b'], { mayReplace: false }), []);
  });

  test('S20: refuses one of two processes that start together with two workflows under one version', async (context) => {
    const desk = openDesk(context, appOf('a'));
    const starts = await Promise.allSettled([start(desk, ['a'], { mayReplace: false }), start(desk, ['b'], { mayReplace: false })]);
    assert.deepEqual(starts.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
  });

  test('S20, F-100: stays in use for a finished called order, because its caller may still compensate it', async (context) => {
    const order = z.object({ item: z.string() });
    const [line = assert.fail()] = appOf('a').workflows;
    const caller = defineWorkflow('caller', { version: 1, order }, () =>
      call(line as Workflow<{ item: string }>, { item: cel<string>`order.item` }),
    );
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

  test('S20: is compared by its hash, without naming a place, if it is too large to be recorded whole', async (context) => {
    const desk = openDesk(context, lineOf({ a: nothing }));
    const [line = assert.fail()] = desk.app.workflows;
    const large = (length: number) => [{ ...line, root: { ...line.root, note: 'x'.repeat(length) } }];
    await recordDefinitions(large(recordedBytesMax), desk.store, local);
    await assert.rejects(recordDefinitions(large(recordedBytesMax + 1), desk.store, { mayReplace: false }), /line@1 has changed\.$/);
  });

  test('S20: stops a test system that restarts on its data folder with a changed workflow, and releases the folder', async (context) => {
    const dataFolder = temporaryFolder(context);
    const system = await startSystem(appOf('a', 'b'), { dataFolder, without: ['agent-worker'] });
    await submitted(system);
    await system.stop();
    await assert.rejects(startSystem(appOf('b'), { dataFolder }), /line@1 has changed/);
    await (await startSystem(appOf('a', 'b'), { dataFolder })).stop();
  });
});
