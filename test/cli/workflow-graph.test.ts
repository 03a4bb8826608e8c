import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { redress } from './support.ts';

const example = (file: string) => fileURLToPath(new URL(`../../examples/orders/${file}`, import.meta.url));
const two = fileURLToPath(new URL('../processes/app.ts', import.meta.url));

test('the workflows of an app or of a module are drawn', async () => {
  for (const file of ['app.ts', 'workflow.ts']) {
    const { exitCode, out } = await redress(['workflow', 'graph', example(file)]);
    assert.equal(exitCode, 0);
    assert.match(out, /^flowchart TD\n {2}n1\(\["fulfil-order@1"\]\)\n/);
  }
  const { json } = await redress(['workflow', 'graph', example('app.ts'), '--json']);
  assert.partialDeepStrictEqual(json, { graphs: [{ name: 'fulfil-order', version: 1 }] });
});

test('--svg draws a workflow as one document; with several workflows, one must be named', async () => {
  const { exitCode, out } = await redress(['workflow', 'graph', example('app.ts'), '--svg']);
  assert.equal(exitCode, 0);
  assert.ok(out.startsWith('<svg xmlns="http://www.w3.org/2000/svg"') && out.endsWith('\n</svg>\n'));
  const { json } = await redress(['workflow', 'graph', example('app.ts'), '--svg', '--json']);
  assert.equal(json.graphs[0].svg, out);

  const several = await redress(['workflow', 'graph', two, '--svg']);
  assert.equal(several.exitCode, 2);
  assert.match(several.err, /has several workflows\. Choose one with --workflow: line, pair, odd/);
  assert.match((await redress(['workflow', 'graph', two, '--svg', '--workflow', 'pair'])).out, /The workflow pair@1/);
  const unknown = await redress(['workflow', 'graph', two, '--workflow', 'pare']);
  assert.equal(unknown.exitCode, 2);
  assert.match(unknown.err, /has no workflow pare. It has: line, pair, odd/);
});

test('a module that has no workflow, or does not exist, is a usage error', async () => {
  const none = await redress(['workflow', 'graph', example('faults.ts')]);
  assert.equal(none.exitCode, 2);
  assert.match(none.err, /exports no workflow and no app/);
  const missing = await redress(['workflow', 'graph', '/no/such/file.ts']);
  assert.equal(missing.exitCode, 2);
  assert.match(missing.err, /Cannot find the module/);
});
