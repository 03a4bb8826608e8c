import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Activity } from '#core/definition/definition';
import { programOf } from '#core/definition/program';
import { dependentsOf } from '#core/recovery/dependents';
import { bruteForce } from './brute-force.ts';
import { trees } from './trees.ts';

/** `DEPENDENTS_RUNS=100000` for a long run; `DEPENDENTS_SEED` repeats a failed one. */
const numRuns = Number(process.env['DEPENDENTS_RUNS'] ?? 10_000);
const seed = process.env['DEPENDENTS_SEED'] || undefined;

const program = (root: Activity) => programOf({ name: 'w', version: 1, exprVersion: 1, order: {}, toOperator: [], root });

test('F-146, F-147, F-148: the dependents of each activity of any workflow are those that brute force finds', () => {
  fc.assert(
    fc.property(trees, (root) => {
      const expected = bruteForce(root);
      const prepared = program(root);
      for (const path of expected.paths) {
        const { data, control, scope } = dependentsOf(prepared, path);
        const found = [data, control, scope].map((paths) => paths.toSorted().join());
        assert.equal(found.join('; '), [expected.data, expected.control, expected.scope].map((of) => of(path).join()).join('; '), path);
      }
    }),
    { numRuns, ...(seed === undefined ? {} : { seed: Number(seed) }) },
  );
});

test('the random workflows have data dependents, control dependents, and scopes that need both', () => {
  const found = fc.sample(trees, { numRuns: 200, seed: 1 }).flatMap((root) => {
    const prepared = program(root);
    return [...prepared.nodes.keys()].map((path) => dependentsOf(prepared, path));
  });
  assert.ok(found.some(({ data }) => data.length > 1));
  assert.ok(found.some(({ control }) => control.length > 1));
  assert.ok(found.some(({ data, control, scope }) => scope.length > new Set([...data, ...control]).size + 1));
});
