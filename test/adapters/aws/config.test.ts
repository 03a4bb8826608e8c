import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfig } from '#runtime/config';

const timesIn = (variables: { readonly [name: string]: string | undefined }) => {
  const { stepMs, clockToleranceMs, supervisorPeriodMs } = readConfig(variables);
  return { stepMs, clockToleranceMs, supervisorPeriodMs };
};

test('on AWS the defaults are a minute a step, two seconds of clock tolerance and a pass every five seconds; variables override them', () => {
  const aws = { REDRESS_ADAPTERS: 'aws', CLOCK_TOLERANCE_MS: '', SUPERVISOR_PERIOD_SECONDS: undefined };
  assert.deepEqual(timesIn(aws), { stepMs: 60_000, clockToleranceMs: 2000, supervisorPeriodMs: 5000 });
  assert.deepEqual(timesIn({ ...aws, STEP_COMPLETE_WITHIN_SECONDS: '10', CLOCK_TOLERANCE_MS: '0', SUPERVISOR_PERIOD_SECONDS: '2' }), {
    stepMs: 10_000,
    clockToleranceMs: 0,
    supervisorPeriodMs: 2000,
  });
  const local = { stepMs: 10_000, clockToleranceMs: 0, supervisorPeriodMs: 2000 };
  for (const variables of [{}, { REDRESS_ADAPTERS: 'embedded' }, { REDRESS_ADAPTERS: '' }]) assert.deepEqual(timesIn(variables), local);
});
