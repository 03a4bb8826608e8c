import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { behaviors } from '#core/activities/index';
import { crash } from './crash.ts';
import { crashPointsOf, definitions, smallest } from './definitions.ts';
import { unreached } from './ports.ts';

/** `npm run verify -- G5` dies at all of them. */
const every = 50;

describe('where processes die', () => {
  test('every activity is in some workflow whose processes die', () => {
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

    test('is called by some workflow whose processes die, or left out for a reason', async () => {
      assert.deepEqual(await unreached(reached), []);
    });

    test('that is new is missed', async () => {
      reached.delete('store.patch');
      assert.deepEqual(await unreached(reached), ['store.patch is never reached']);
    });
  });
});

describe('F-58, X-1, L1, S5, S7, S11, S17, S18: a process dies at one of its calls, and the order comes to where it comes without that', () => {
  for (const [index, name] of Object.keys(definitions).entries())
    test(name, async () => {
      const { runs, broken } = await crash({ name, writesAndSendsAtomically: index % 2 === 1, twice: false, first: index % 7, every: 12 });
      assert.deepEqual(broken, []);
      assert.ok(runs > 0);
    });

  for (const name of smallest)
    test(`${name}, and the process that goes on dies too`, async () => {
      const { runs, broken } = await crash({ name, writesAndSendsAtomically: false, twice: true, first: 4, every });
      assert.deepEqual(broken, []);
      assert.ok(runs > 0);
    });
});
