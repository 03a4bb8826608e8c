import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { behaviors } from '#core/activities/index';
import { crash } from './crash.ts';
import { crashPointsOf, definitions, smallest } from './definitions.ts';
import { unreached } from './ports.ts';

/** `npm run verify -- G5` crashes at every twelfth call in its short form, and at all of them in its full form. */
const every = { single: 60, double: 50 };

describe('the crash points of processes', () => {
  test('every kind of activity is in a workflow that is played with crashes', () => {
    const workflows = JSON.stringify(Object.values(definitions).map(({ scenario }) => scenario.app.workflows));
    const activities = new Set([...workflows.matchAll(/"activity":"(\w+)"/g)].map(([, activity]) => activity));
    assert.deepEqual(
      Object.keys(behaviors).filter((activity) => !activities.has(activity)),
      [],
    );
  });

  describe('G5: every method of a port', () => {
    const reached = new Set<string>();

    before(async () => {
      for (const definition of Object.values(definitions)) {
        const { without } = await crashPointsOf(definition, false);
        for (const site of without.reached) reached.add(site);
      }
    });

    test('is called by a workflow that is played with crashes, or is left out for a reason', async () => {
      assert.deepEqual(await unreached(reached), []);
    });

    test('is reported if no workflow calls it and no reason leaves it out', async () => {
      reached.delete('store.patch');
      assert.deepEqual(await unreached(reached), ['store.patch is never reached']);
    });
  });
});

describe('F-58, X-1, L1, S5, S7, S11, S17, S18: a process crashes at one of its calls, and the order ends as it does without the crash', () => {
  for (const [index, name] of Object.keys(definitions).entries())
    test(name, async () => {
      const { runs, broken } = await crash({
        name,
        writesAndSendsAtomically: index % 2 === 1,
        twice: false,
        first: index % 7,
        every: every.single,
      });
      assert.deepEqual(broken, []);
      assert.ok(runs > 0);
    });

  for (const name of smallest)
    test(`${name}, and the process that continues the order crashes, too`, async () => {
      const { runs, broken } = await crash({ name, writesAndSendsAtomically: false, twice: true, first: 4, every: every.double });
      assert.deepEqual(broken, []);
      assert.ok(runs > 0);
    });
});
