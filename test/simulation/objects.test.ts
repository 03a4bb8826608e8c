import assert from 'node:assert/strict';
import { test } from 'node:test';
import { World } from './world.ts';

/** `OBJECTS_SEED=7` plays another world. */
const seed = Number(process.env['OBJECTS_SEED'] ?? 3);

test('S46: each of 200 orders that share objects in one world learns of exactly the undone writes that it has read, even if messages are lost', async () => {
  const { broken, happened } = await new World(seed, undefined, { objectOrders: 200 }).run();
  assert.deepEqual(broken, []);
  const count = (what: string) => happened.get(what) ?? 0;
  const [uses, found, lost] = [count('ObjectsUsed'), count('InconsistencyFound'), count('emitted lost message about an undone write')];
  assert.ok(uses > 200 && found > 36 && lost > 5, `${uses} uses, ${found} undone writes found, ${lost} messages about them lost`);
});
