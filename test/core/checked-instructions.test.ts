import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { State } from '#core/data/state';
import { isAt } from '#core/engine/undo-pages';
import { events, suffer, worldOf } from '../support/chaos.ts';
import { carriedOut, carryOut, give, instructionsFor, judgedOf, recoveriesFor, scopesFor } from '../support/deeds.ts';
import { startRun, stepMs } from '../support/run.ts';
import { definitionOf, roots } from '../support/shapes.ts';
import '../support/seed.ts';

const numRuns = Number(process.env['INSTRUCTION_RUNS'] ?? 60);

/** Warnings about steps that may not be undone after all: nobody knows whether they were done, or the order stops before. */
const mayNotUndo: ReadonlySet<string> = new Set(['outcome-unknown', 'undo-running']);

test('F-157: an instruction undoes what its check names, and nothing else', () => {
  assert.ok(checked(instructionsFor, numRuns) > numRuns);
});

test('F-150, F-157: a recovery undoes what its check names, and nothing else', () => {
  assert.ok(checked(recoveriesFor, numRuns) > numRuns / 4);
});

test('F-100, F-157: compensating a scope undoes all that was done in it, nothing else, and the order continues after the scope', () => {
  let closed = 0;
  fc.assert(
    fc.property(roots, events, fc.nat(), (shape, happen, first) => {
      const world = worldOf(startRun(definitionOf(shape)));
      world.run.happen({ type: 'started', stepMs });
      suffer(world, happen.slice(0, first % 14));
      for (const instruction of scopesFor(world)) {
        const done = give(world, judgedOf(world), instruction);
        if (!done) continue;
        // A reply that came meanwhile may make another branch fail, which undoes more.
        if (Object.entries(done.state.activities).some(([path, { status }]) => !isAt(path, instruction.path) && status !== 'Executing'))
          continue;
        const isUndone = ({ activities }: State): boolean => activities[instruction.path]?.status === 'Executing';
        const { undone, state } = carriedOut(world, done, isUndone);
        const about = JSON.stringify(instruction);
        const outside = undone.filter((path) => !isAt(path, instruction.path));
        assert.deepEqual(outside, [], `${about}: undone outside of the scope`);
        if (state.activities[instruction.path]) continue;
        closed += 1;
        const left = (state.undo ?? []).filter(({ path }) => isAt(path, instruction.path));
        assert.deepEqual(left, [], `${about}: left in the scope`);
      }
    }),
    { numRuns },
  );
  assert.ok(closed > numRuns / 10, `${closed} scopes were compensated`);
});

/** Checks and carries out instructions about random orders; returns how many were feasible. */
function checked(instructions: typeof instructionsFor, numRuns: number): number {
  let given = 0;
  fc.assert(
    fc.property(roots, events, fc.nat(), (shape, happen, first) => {
      const world = worldOf(startRun(definitionOf(shape)));
      world.run.happen({ type: 'started', stepMs });
      suffer(world, happen.slice(0, first % 14));
      const judged = judgedOf(world);
      const all = instructions(world);
      // Each order gets some of them: the services keep what they have done.
      for (let count = 0; count < Math.min(30, all.length); count++) {
        const instruction = all[(first + count * 7) % all.length];
        const done = instruction && give(world, judged, instruction);
        if (!done) continue;
        given += 1;
        const about = JSON.stringify(instruction);
        const foreseen = done.check.effects.undoes.map(({ path }) => path);
        const unsure = new Set(done.check.warnings.flatMap(({ code, path }) => (mayNotUndo.has(code) && path ? [path] : [])));
        const undone = new Set(carryOut(world, done));
        assert.deepEqual(
          [...undone].filter((path) => !foreseen.includes(path)),
          [],
          `${about}: undone, and not foreseen`,
        );
        assert.deepEqual(
          foreseen.filter((path) => !undone.has(path) && !unsure.has(path)),
          [],
          `${about}: foreseen, and not undone`,
        );
      }
    }),
    { numRuns },
  );
  return given;
}
