import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import type { WorkflowDefinition } from 'redress';
import { recordDefinitions } from '#roles/definitions/recorded-definitions';
import { put } from '../support/records.ts';
import { sequence, step, workflow } from '../support/workflows.ts';
import { folderFor, redress, storeIn } from './support.ts';

const line = (...steps: readonly string[]): WorkflowDefinition =>
  workflow(sequence('', ...steps.map((name) => step(name))), { name: 'line' });
const later = (...steps: readonly string[]): WorkflowDefinition => ({ ...line(...steps), version: 2 });

/** A module that exports an app with these workflows, and one agent with the operations `a`, `b` and `c`. */
const appText = (workflows: readonly WorkflowDefinition[]): string => `
import * as z from '${import.meta.resolve('zod')}';
const any = { input: z.any(), output: z.any(), run: () => ({}) };
export default { workflows: ${JSON.stringify(workflows)}, agents: [{ name: 'agent', operations: { a: any, b: any, c: any } }] };
`;

let apps = 0;

/** A data folder with these recorded workflows and running orders, and a function that checks an app against it. */
async function recorded(context: TestContext, workflows: readonly WorkflowDefinition[], orders: { readonly [orderId: string]: number }) {
  const folder = folderFor(context);
  await storeIn(folder, async ({ store }) => {
    await recordDefinitions(workflows, store, { mayReplace: false });
    for (const [orderId, version] of Object.entries(orders)) await put(store, orderId, { workflow: { name: 'line', version } });
  });
  const check = (app: readonly WorkflowDefinition[], ...more: readonly string[]) => {
    const file = join(folder, `app-${++apps}.mjs`);
    writeFileSync(file, appText(app));
    return redress(['workflow', 'check', file, '--data', folder, ...more]);
  };
  return { folder, check };
}

describe('a check of workflows before a deployment', () => {
  test('S20: names the changed version, the changed place, and the orders that could not continue', async (context) => {
    const { check } = await recorded(context, [line('a', 'b')], { o1: 1 });
    const { exitCode, out } = await check([line('a', 'c'), later('a')]);
    assert.equal(exitCode, 1);
    assert.match(out, /^line@1 +changed: order\/b +1$/m);
    assert.match(out, /^line@2 +new +0$/m);
    assert.match(out, /^o1 +line@1 +Processing +2026-01-01T12:00:00/m);
    assert.match(out, /Give a changed workflow a new version/);
  });

  test('before the first start, compares nothing with the default data folder; a data folder that the user names must have a store', async (context) => {
    const folder = folderFor(context);
    const file = join(folder, 'app.mjs');
    writeFileSync(file, appText([line('a')]));
    const home = process.cwd();
    process.chdir(folder);
    context.after(() => process.chdir(home));
    const { exitCode, out, err } = await redress(['workflow', 'check', file]);
    assert.equal(exitCode, 0);
    assert.match(out, /^line@1 +new +0$/m);
    assert.match(err, /^Nothing has started with .redress yet/);
    assert.equal((await redress(['workflow', 'check', file, '--data', folder])).exitCode, 2);
  });

  test('S20: prints the same facts as JSON, even for a version that the app no longer has', async (context) => {
    const { check } = await recorded(context, [line('a'), later('a', 'b')], { o1: 1, o2: 2 });
    const { exitCode, json } = await check([later('a', 'b')], '--json');
    const orders = [
      { orderId: 'o1', workflow: { name: 'line', version: 1 }, processState: 'Processing', submittedAt: '2026-01-01T12:00:00.000Z' },
    ];
    assert.equal(exitCode, 1);
    assert.deepEqual(json.workflows, [
      { name: 'line', version: 2, found: 'same', orders: [], more: false, fits: true },
      { name: 'line', version: 1, found: 'missing', orders, more: false, fits: false },
    ]);
  });

  test('S20: succeeds if nothing blocks the deployment, also for a changed workflow without orders', async (context) => {
    const { check } = await recorded(context, [line('a')], {});
    assert.equal((await check([line('a')])).exitCode, 0);
    const { exitCode, out } = await check([line('b')]);
    assert.deepEqual([exitCode, /^line@1 +changed: order\/a +0$/m.test(out)], [0, true]);
  });

  test('X-36: refuses an app whose step names an agent or an operation that the app does not have', async (context) => {
    const { check } = await recorded(context, [line('a')], {});
    const other = workflow(sequence('', step('a', { agent: 'other' }), step('d')), { name: 'line' });
    const { exitCode, out, err } = await check([other]);
    assert.deepEqual([exitCode, out], [2, '']);
    assert.match(err, /line@1 order\/a: The app has no agent "other"\. List it in the agents of defineApp\.\n/);
    assert.match(err, /line@1 order\/d: The agent "agent" has no operation "d"\./);
  });

  test('fails if the data folder that the user names is empty', async (context) => {
    const { check } = await recorded(context, [line('a')], {});
    assert.equal((await check([line('a')], '--data', folderFor(context))).exitCode, 2);
  });
});
