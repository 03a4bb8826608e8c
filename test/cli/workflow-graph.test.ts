import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { redress } from './support.ts';

const example = (file: string) => fileURLToPath(new URL(`../../examples/orders/${file}`, import.meta.url));

test('the workflows of an app, or of a module, are drawn', async () => {
  for (const file of ['app.ts', 'workflow.ts']) {
    const { exitCode, out } = await redress(['workflow', 'graph', example(file)]);
    assert.equal(exitCode, 0);
    assert.match(out, /^flowchart TD\n {2}n1\(\["fulfil-order@1"\]\)\n/);
  }
  const { json } = await redress(['workflow', 'graph', example('app.ts'), '--json']);
  assert.partialDeepStrictEqual(json, { graphs: [{ name: 'fulfil-order', version: 1 }] });
});

test('a module without a workflow, and one that is not there, are wrong use', async () => {
  const none = await redress(['workflow', 'graph', example('faults.ts')]);
  assert.equal(none.exitCode, 2);
  assert.match(none.err, /exports no workflow and no app/);
  const missing = await redress(['workflow', 'graph', '/no/such/file.ts']);
  assert.equal(missing.exitCode, 2);
  assert.match(missing.err, /cannot be loaded/);
});
