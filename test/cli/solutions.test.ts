import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { declined, type RunningSystem, runningSystem } from './support.ts';

const folder = mkdtempSync(join(tmpdir(), 'redress-solutions-'));
const fileWith = (value: unknown): string => {
  const file = join(folder, 'solution.json');
  writeFileSync(file, typeof value === 'string' ? value : JSON.stringify(value));
  return file;
};
const another = {
  name: 'Another card',
  appliesWhen: 'exception.type == "CardDeclined"',
  instruction: { kind: 'replace-input', input: { card: '{{card}}' } },
  parameters: [{ name: 'card', schema: { type: 'string' } }],
};

describe('solutions at the command line', () => {
  let system: RunningSystem;
  before(async () => {
    declined.add('void');
    system = await runningSystem();
  });
  after(async () => {
    declined.delete('void');
    await system.stop();
    rmSync(folder, { recursive: true });
  });

  const run = (...args: readonly string[]) => system.redress(args);
  const put = (id: string, value: unknown) => run('solution', 'put', id, fileWith(value), '--reason', 'it works');

  test('F-156: a person writes a solution from a file, changes it, and deletes it', async () => {
    assert.deepEqual((await put('card', another)).err, 'card: version 1.\n');
    const { json } = await run('solution', 'show', 'card', '--json');
    assert.partialDeepStrictEqual(json, { ...another, createdBy: 'cli', stats: { used: 0 } });
    assert.deepEqual((await put('card', { ...json, name: 'A card that works' })).err, 'card: version 2.\n');
    assert.match(
      (await run('solution', 'list')).out,
      /^solution +does +used .*\ncard +replace-input +0 +0 +0 +never +A card that works\n$/,
    );
    assert.equal((await run('solution', 'delete', 'card', '--reason', 'over')).err, 'card is deleted.\n');
    assert.match((await run('solution', 'list')).err, /^There are no solutions\. To keep one: redress task resolve/);
  });

  test('F-157: an invalid solution is refused with the wrong field, and wrong arguments with what to write', async () => {
    const wrong = await put('card', { ...another, parameters: [] });
    assert.deepEqual([wrong.exitCode, /\/instruction\/input\/card/.test(wrong.err)], [1, true], wrong.err);
    for (const [args, said] of [
      [['solution', 'put', 'card', fileWith('[]'), '--reason', 'r'], /is not a solution: expected a JSON object/],
      [['solution', 'show', 'No?'], /Invalid solution id No\?: .* redress solution list/],
      [['task', 'resolve', 'x', '--reason', 'r'], /Give the kind of an instruction, or a solution with --solution/],
      [['task', 'resolve', 'x', 'skip', '--solution', 'card', '--reason', 'r'], /Give the kind/],
      [['task', 'resolve', 'x', 'skip', '--parameter', 'a=1', '--reason', 'r'], /--parameter goes with --solution/],
      [['task', 'resolve', 'x', '--solution', 'card', '--fields', '{}', '--reason', 'r'], /--fields goes with the kind/],
      [['task', 'resolve', 'x', '--solution', 'card', '--parameter', 'card', '--reason', 'r'], /expected name=value/],
      [['task', 'resolve', 'x', 'skip', '--applies-when', 'true', '--reason', 'r'], /--applies-when goes with --save-as/],
    ] as const) {
      const { exitCode, err } = await run(...args);
      assert.deepEqual([exitCode, said.test(err)], [2, true], err);
    }
  });

  test('F-155: a bulk run requires an expression for a parameter whose value differs by order, and refuses a literal', async () => {
    await put('card', another);
    await system.order('void');
    const preview = (value: string) =>
      run('bulk', 'preview', '--solution', 'card', '--parameter', `card=${value}`, '--state', 'Error', '--reason', 'r', '--json');
    assert.match((await preview('new')).err, /sameForAll/);
    const { json } = await preview('{"$cel":"order.item"}');
    assert.partialDeepStrictEqual(json, { state: 'ready', feasible: 1, infeasible: 0 });
  });

  test('F-156: a rule is made from a solution, with its back-test, and an admin can store it unchanged', async () => {
    await put('again', { appliesWhen: 'exception.type == "CardDeclined"', instruction: { kind: 'resubmit' } });
    await system.order('void');
    const made = await run('solution', 'rule', 'again');
    assert.match(
      made.err,
      /^\d+ examined, \d+ matched: 0 with the same outcome, \d+ with another one\.\nTo write it: redress rule put again FILE/,
    );
    const written = await system.redress(['rule', 'put', 'again', '-', '--reason', 'r', '--json'], { input: made.out });
    assert.partialDeepStrictEqual(written.json, { id: 'again', mode: 'dry-run', action: { kind: 'retry' } });
    await run('solution', 'put', 'card', fileWith(another), '--reason', 'r');
    const refused = await run('solution', 'rule', 'card');
    assert.match(refused.err, /\/parameters\/card.*Give a value, or an expression over each order/);
  });
});
