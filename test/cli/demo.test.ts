import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { declined, type RunningSystem, runningSystem } from './support.ts';

describe('redress demo', () => {
  let system: RunningSystem;
  let samples = '';
  before(async () => {
    declined.add('empty');
    system = await runningSystem();
    samples = `${system.folder}/samples`;
    mkdirSync(samples);
    writeFileSync(`${samples}/1-good.json`, '{"order":{"item":"tea","card":"full"}}');
    writeFileSync(`${samples}/2-declined.json`, '{"order":{"item":"tea","card":"empty"}}');
    writeFileSync(`${samples}/3-wrong.json`, '{"order":{"item":7,"card":"full"}}');
    writeFileSync(`${samples}/README.md`, 'not an order');
  });
  after(() => system.stop());

  test('prints in a pipe how each order ends, line by line, with a summary', async () => {
    const { exitCode, out, err } = await system.redress(['demo', '--samples', samples]);
    assert.equal(exitCode, 0);
    assert.match(out, /^1-good {6}completed \d\S* s after its submission$/m);
    assert.match(out, /^2-declined {2}blocked: CardDeclined/m);
    assert.match(out, /^3-wrong {5}refused: \/order\/item /m);
    assert.match(out, /\n3 orders: 1 completed, 1 blocked, 1 refused\n$/);
    assert.match(err, /1 order is blocked: redress order list --state Error/);
  });

  test('draws a table on a terminal, never wider than the terminal', async () => {
    const { out } = await system.redress(['demo', '--samples', samples], { isScreen: true });
    const last = out.slice(out.lastIndexOf('\u001b[3A\u001b[J') + '\u001b[3A\u001b[J'.length).split('\n');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colours take no room.
    const plain = last.map((line) => line.replace(/\u001b\[\d+m/g, ''));
    assert.match(plain[0] ?? '', /^1-good +completed +reserve ok, charge ok$/);
    assert.match(plain[2] ?? '', /^3-wrong +refused: invalid$/);
    assert.ok(plain.slice(0, 3).every((line) => line.length < 80));
  });

  test('prints one JSON text with --json, and messages on stderr', async () => {
    const { json, err } = await system.redress(['demo', '--samples', samples, '--json']);
    assert.deepEqual(
      json.items.map(({ name, order, problem }: { name: string; order?: { processState: string }; problem?: { code: string } }) => [
        name,
        order?.processState ?? problem?.code,
      ]),
      [
        ['1-good', 'Processed'],
        ['2-declined', 'Error'],
        ['3-wrong', 'invalid'],
      ],
    );
    assert.match(err, /1-good +completed/);
  });
});
