import test from 'node:test';
import fc from 'fast-check';
import { checkEffects, events, goWell, suffer, type World } from '../support/chaos.ts';
import { startRun, stepMs } from '../support/run.ts';
import { Service } from '../support/service.ts';
import { definitionOf, roots } from '../support/shapes.ts';

/** `LANGUAGE_RUNS=20000` for a long night; `LANGUAGE_SEED` for one that went wrong. */
const numRuns = Number(process.env['LANGUAGE_RUNS'] ?? 4000);
const seed = process.env['LANGUAGE_SEED'] || undefined;

/** How much of its undo list lies in pages outside of the state: nothing, one entry a page, or some. */
const undoPages = fc.constantFrom(undefined, 1, 200);

/** Whether its state may grow too large, and some of its steps fault because of that. */
const rooms = fc.constantFrom(undefined, undefined, 1800);

test('S5, S6, S11, S12, S13, F-72, F-79, F-86, F-93, F-100: whatever befalls an order of any shape, every law of the language holds, and it comes to its end', () => {
  fc.assert(
    fc.property(roots, events, undoPages, rooms, (shape, happen, undoPage, room) => {
      const world: World = { run: startRun(definitionOf(shape), { undoPage, room }), service: new Service() };
      world.run.happen({ type: 'started', stepMs });
      suffer(world, happen);
      goWell(world);
      checkEffects(world);
    }),
    { numRuns, ...(seed === undefined ? {} : { seed: Number(seed) }) },
  );
});
