import assert from 'node:assert/strict';
import { describe, test } from '@jest/globals';
import { defineAgent, defineApp, operation } from 'redress';
import * as z from 'zod';
import type { OrderProcessingProps } from '#infrastructure/order-processing';
import { synthesize } from './support.ts';

const Note = z.object({ note: z.string() });
const work = operation({ input: Note, output: Note, run: (note) => note });

type Settings = Pick<OrderProcessingProps, 'agents' | 'alarms'>;

/** Returns the number of resources in a stack with this number of agents, one operation each. */
function resourcesWith(count: number, settings: Settings): number {
  const agents = Array.from({ length: count }, (_, index) => defineAgent(`agent-${index}`, { work }));
  const { resources } = synthesize({ props: { app: defineApp({ workflows: [], agents }), ...settings } });
  return Object.keys(resources).length;
}

describe('a stack stays within the 500 resources of CloudFormation', () => {
  const cases: readonly (readonly [string, Settings, number])[] = [
    ['15 agents with a function each', {}, 15],
    ['23 agents in one function', { agents: 'together' }, 23],
    ['24 agents with a function each and no alarms', { alarms: false }, 24],
    ['34 agents in one function without alarms', { agents: 'together', alarms: false }, 34],
  ];
  for (const [what, settings, most] of cases)
    test(`${what} fit in, as docs/guides/deploying.md says, and one more is refused with a remedy`, () => {
      assert.ok(resourcesWith(most, settings) <= 500);
      assert.throws(
        () => resourcesWith(most + 1, settings),
        (error: Error) =>
          new RegExp(`would have 5\\d\\d resources with ${most + 1} agents, but CloudFormation allows 500`).test(error.message) &&
          /agents: 'together'.* alarms: false/.test(error.message),
      );
    });

  test('each further agent adds the documented number of resources', () => {
    const each = (settings: Settings): number => Math.round((resourcesWith(10, settings) - resourcesWith(4, settings)) / 6);
    assert.deepEqual([each({}), each({ agents: 'together' })], [25, 16]);
    assert.deepEqual([each({ alarms: false }), each({ agents: 'together', alarms: false })], [25 - 8, 16 - 4]);
  });
});
