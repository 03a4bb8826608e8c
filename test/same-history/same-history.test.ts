import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { difference } from './compare.ts';
import { startAwsServers } from './places/aws.ts';
import { openEmbeddedPlace } from './places/embedded.ts';
import { openSimulatedPlace } from './places/simulation.ts';
import { play } from './play.ts';
import type { Scenario } from './scenario.ts';
import { calls } from './scenarios/calls.ts';
import { handlers } from './scenarios/handlers.ts';
import { scenarios } from './scenarios/index.ts';
import { messages } from './scenarios/messages.ts';
import { people } from './scenarios/people.ts';
import { steps } from './scenarios/steps.ts';
import { unknown } from './scenarios/unknown.ts';
import { roundabout } from './scenarios/ways.ts';

/** One of each theme; `npm run verify -- G19` plays them all. */
const some = [steps, handlers, people, unknown, roundabout, calls, messages].flatMap((theme) => theme.slice(-1));

const aws = await startAwsServers();
after(() => aws.stop());

describe('G19: a scenario leaves the same history on every implementation of the ports', () => {
  for (const scenario of some) {
    test(scenario.title, async () => {
      const embedded = await play(scenario, openEmbeddedPlace());
      for (const words of scenario.shows)
        assert.ok(
          embedded.some((line) => line.includes(words)),
          `it shows ${words}`,
        );
      for (const [name, open] of [['simulation', openSimulatedPlace] as const, ['aws', aws.open] as const]) {
        const wrong = difference(['embedded', embedded], [name, await play(scenario, open)]);
        assert.equal(wrong, undefined, wrong);
      }
    });
  }
});

test('each scenario has a unique title, which is also the key of its order', () => {
  assert.equal(new Set(scenarios.map(({ title }) => title)).size, scenarios.length);
  assert.ok(scenarios.length >= 60);
});

test('a difference is reported with both histories side by side from the first difference on', async () => {
  const [first] = steps as [Scenario, ...Scenario[]];
  const other: Scenario = { ...first, answers: { 'order/ship': [{ does: false, says: 'refusal' }] } };
  const [one, two] = [await play(first, openSimulatedPlace), await play(other, openSimulatedPlace)];
  const shown = difference(['one', one], ['two', two]) ?? '';
  assert.match(shown, /^ {2}one .*\| two\n/);
  assert.match(shown, /\n\| 11 ActivityClosed order\/ship .*\| 11 OrderBlocked order\/ship /);
});
