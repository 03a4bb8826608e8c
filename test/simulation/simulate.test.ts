import assert from 'node:assert/strict';
import { test } from 'node:test';
import { simulate } from './simulate.ts';
import { World } from './world.ts';

test('G1: with crashes, lost messages and failing services, every order ends or waits for a person, and no law is broken', async () => {
  // `npm run verify` plays more worlds, and checks that every kind of fault has hit.
  const { broken } = await simulate(1, 20);
  assert.deepEqual(
    broken.map(({ wrong, again }) => ({ wrong: wrong[0], again })),
    [],
  );
});

test('G3, S21: the same seed gives the same run, and another seed gives another one', async () => {
  const fingerprints = async (first: number) => {
    const { fingerprint, happened, landed } = await new World(first).run();
    return JSON.stringify([fingerprint, [...happened], [...landed]]);
  };
  for (const seed of [1, 2, 3, 4, 5]) assert.equal(await fingerprints(seed), await fingerprints(seed));
  assert.notEqual(await fingerprints(1), await fingerprints(2));
});
