import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { activityTypes } from '#core/activities/index';
import { checkEffects, events, goWell, suffer, worldOf } from '../support/chaos.ts';
import { startRun, stepMs } from '../support/run.ts';
import { definitionOf, faultTypes, roots } from '../support/shapes.ts';

/** `LANGUAGE_RUNS=20000` for a long run; `LANGUAGE_SEED` repeats a failed one. */
const numRuns = Number(process.env['LANGUAGE_RUNS'] ?? 4000);
const seed = process.env['LANGUAGE_SEED'] || undefined;
const parameters = { numRuns, ...(seed === undefined ? {} : { seed: Number(seed) }) };

/** The part of the undo list that is in pages outside the state: none, one entry a page, or some. */
const undoPages = fc.constantFrom(undefined, 1, 200);

test('the random orders use every activity type', () => {
  const drawn = JSON.stringify(fc.sample(roots, { numRuns: 500, seed: 1 }).map((shape) => definitionOf(shape)));
  assert.deepEqual(
    activityTypes().filter((type) => !drawn.includes(`"activity":"${type}"`)),
    [],
  );
});

test('S5, S6, S11, S12, S13, F-72, F-79, F-86, F-93, F-100: an order of any shape, with any events, keeps every law of the language and reaches its end', () => {
  fc.assert(
    fc.property(roots, events, undoPages, (shape, happen, undoPage) => {
      const world = worldOf(startRun(definitionOf(shape), { undoPage }));
      world.run.happen({ type: 'started', stepMs });
      suffer(world, happen);
      goWell(world);
      checkEffects(world);
    }),
    parameters,
  );
});

test('S11, F-100, F-106: a called order, with any events, is completed or leaves no effects; after its caller compensates it, it leaves none', () => {
  const toCaller = fc.subarray(['Refused', 'Busy', faultTypes[1], 'Engine/ComputeFailed'], { minLength: 1 });
  fc.assert(
    fc.property(roots, events, toCaller, fc.boolean(), undoPages, (shape, happen, toCaller, recalls, undoPage) => {
      const world = worldOf(startRun(definitionOf(shape, toCaller), { undoPage }));
      world.run.happen({ type: 'started', stepMs, called: true });
      suffer(world, happen);
      goWell(world);
      if (recalls) world.run.happen({ type: 'compensatedByCaller' });
      goWell(world);
      checkEffects(world);
    }),
    { ...parameters, numRuns: Math.ceil(numRuns / 4) },
  );
});

/** Activities that wait for a person, for others or for a cleanup have other faults if the state is too large. */
const others = /"(?:call|askOperator|waitFor|compute)"|"story:/;

test('S23: with a small state limit, some outputs are faults for their size, and every law of the language still holds', () => {
  fc.assert(
    fc.property(roots, events, undoPages, (shape, happen, undoPage) => {
      const definition = definitionOf(shape);
      fc.pre(!others.test(JSON.stringify(definition)));
      const world = worldOf(startRun(definition, { undoPage, byteBudget: 1800 }));
      world.run.happen({ type: 'started', stepMs });
      suffer(world, happen);
      goWell(world);
      checkEffects(world);
    }),
    { ...parameters, numRuns: Math.ceil(numRuns / 8) },
  );
});
