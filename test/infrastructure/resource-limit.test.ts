import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { defineAgent, defineApp, operation } from 'redress';
import * as z from 'zod';
import type { OrderProcessingProps } from '#infrastructure/order-processing';
import { synthesize } from './support.ts';

const Note = z.object({ note: z.string() });
const work = operation({ input: Note, output: Note, run: (note) => note });

type Settings = Pick<OrderProcessingProps, 'agents' | 'alarms'>;

/** How many resources a stack has with so many agents of one operation each. */
function resourcesWith(count: number, settings: Settings): number {
  const agents = Array.from({ length: count }, (_, index) => defineAgent(`agent-${index}`, { work }));
  const { resources } = synthesize({ props: { app: defineApp({ workflows: [], agents }), ...settings } });
  return Object.keys(resources).length;
}

describe('CloudFormation takes 500 resources in a stack', () => {
  const cases: readonly (readonly [string, Settings, number])[] = [
    ['15 agents with a function each', {}, 15],
    ['23 agents in one function', { agents: 'together' }, 23],
    ['25 agents with a function each and no alarms', { alarms: false }, 25],
    ['34 agents in one function without alarms', { agents: 'together', alarms: false }, 34],
  ];
  for (const [what, settings, most] of cases)
    test(`${what} fit in, as docs/deploying.md says, and one more is refused with what would help`, () => {
      assert.ok(resourcesWith(most, settings) <= 500);
      assert.throws(
        () => resourcesWith(most + 1, settings),
        (error: Error) =>
          new RegExp(`would have 5\\d\\d resources with ${most + 1} agents, and CloudFormation takes 500`).test(error.message) &&
          /agents: 'together'.* alarms: false/.test(error.message),
      );
    });

  test('so many resources as it says come with each further agent', () => {
    const each = (settings: Settings): number => Math.round((resourcesWith(10, settings) - resourcesWith(4, settings)) / 6);
    assert.deepEqual([each({}), each({ agents: 'together' })], [25, 16]);
    assert.deepEqual([each({ alarms: false }), each({ agents: 'together', alarms: false })], [25 - 8, 16 - 4]);
  });
});
