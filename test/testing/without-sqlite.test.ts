import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, test } from 'node:test';

/** Runs a module in a Node without SQLite, and returns what it prints. */
function printedBy(source: string): string {
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ['-C', 'redress-source', '--no-experimental-sqlite', '--input-type=module', '-e', `${workflow}\n${source}`],
    { encoding: 'utf8' },
  );
  assert.equal(stderr, '');
  return stdout.trim();
}

const workflow = `
import { defineAgent, defineApp, defineWorkflow, operation } from 'redress';
import { crashTest, rehearse, startSystem } from 'redress/testing';
import * as z from 'zod';
const bank = defineAgent('bank', { charge: operation({ input: z.object({}), output: z.object({}), run: () => ({}) }) });
const paid = defineWorkflow('paid', { version: 1, order: z.object({}) }, () => bank.charge({}).noUndo());
`;

describe('with a Node that has no SQLite', () => {
  test('an order is rehearsed', () => {
    assert.equal(printedBy('console.log(rehearse(paid, {}).story())'), 'bank.charge ok, completed');
  });

  for (const call of ['crashTest(paid, [bank])', 'startSystem(defineApp({ workflows: [paid], agents: [bank] }))'])
    test(`a call that needs the whole system is refused with the remedy: ${call}`, () => {
      const said = printedBy(`await ${call}.catch((error) => console.log(error.name + ': ' + error.message));`);
      assert.equal(
        said,
        `SetupError: This Node (${process.version}) has no node:sqlite, which crashTest, startSystem and "redress start" need.`,
      );
    });
});
