import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seedsFrom, spread } from '../../dev/verify/spread.ts';

const module = new URL('./squares.ts', import.meta.url);

test('jobs that are spread over processes all run, each once, in several processes', async () => {
  const done = new Map<number, number>();
  const processes = new Set<number>();
  await spread<{ readonly first: number; readonly runs: number }, { readonly squares: readonly number[]; readonly process: number }>({
    module,
    jobs: seedsFrom(10, 7, 2),
    cores: 2,
    onResult({ squares, process }, { first }) {
      for (const [index, square] of squares.entries()) done.set(first + index, square);
      processes.add(process);
    },
  });
  assert.deepEqual(
    [...done].toSorted(([one], [other]) => one - other),
    [10, 11, 12, 13, 14, 15, 16].map((n) => [n, n * n]),
  );
  assert.ok(!processes.has(process.pid));
});

test('a failing job and a crashing process are reported with the job, and never count as done', async () => {
  const failing = (first: number) =>
    spread({ module, jobs: [{ first, runs: 1 }], cores: 1, onResult: () => assert.fail('it was not done') });
  await assert.rejects(failing(-1), /\{"first":-1,"runs":1\}: RangeError: no such seed/);
  await assert.rejects(failing(-2), /The process that was at \{"first":-2,"runs":1\} ended: 7/);
});
