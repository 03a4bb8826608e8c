import assert from 'node:assert/strict';
import { describe, test } from '@jest/globals';
import { defineAgent, defineApp, operation } from 'redress';
import * as z from 'zod';
import type { OrderProcessingProps } from '#infrastructure/order-processing-props';
import { type Resources, synthesize } from './support.ts';

const Note = z.object({ note: z.string() });
const work = operation({ input: Note, output: Note, run: (note) => note });

type Settings = Pick<OrderProcessingProps, 'agents' | 'alarms'>;

function resourcesOf(count: number, settings: Settings): Resources {
  const agents = Array.from({ length: count }, (_, index) => defineAgent(`agent-${index}`, { work }));
  return synthesize({ props: { app: defineApp({ workflows: [], agents }), ...settings } }).resources;
}

/** Returns the number of resources in a stack with this number of agents, one operation each. */
const resourcesWith = (count: number, settings: Settings): number => Object.keys(resourcesOf(count, settings)).length;

/** Returns the same without the policies into which CDK splits a long policy: they do not come with each agent. */
const plainResourcesWith = (count: number, settings: Settings): number =>
  Object.values(resourcesOf(count, settings)).filter(({ Type }) => Type !== 'AWS::IAM::ManagedPolicy').length;

describe('a stack stays within the 500 resources of CloudFormation', () => {
  const cases: readonly (readonly [string, Settings, number])[] = [
    ['14 agents with a function each', {}, 14],
    ['21 agents in one function', { agents: 'together' }, 21],
    ['23 agents with a function each and no alarms', { alarms: false }, 23],
    ['32 agents in one function without alarms', { agents: 'together', alarms: false }, 32],
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
    const each = (settings: Settings): number => (plainResourcesWith(7, settings) - plainResourcesWith(4, settings)) / 3;
    assert.deepEqual([each({}), each({ agents: 'together' })], [25, 16]);
    assert.deepEqual([each({ alarms: false }), each({ agents: 'together', alarms: false })], [25 - 8, 16 - 4]);
  });
});
