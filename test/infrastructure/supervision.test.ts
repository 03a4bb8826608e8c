import assert from 'node:assert/strict';
import { describe, test } from '@jest/globals';
import { Duration } from 'aws-cdk-lib';
import { createTelemetry } from '#ports/telemetry';
import type { SupervisorTask } from '#runtime/topology';
import { create } from '../../functions/supervisor.ts';
import { lineOf, openDesk, stepsNamed, submitted } from '../roles/support.ts';
import { defaults, functionOf, ofType, type Resource, type Synthesized, synthesize } from './support.ts';
import { testContext } from './test-context.ts';

interface Target {
  readonly Arn: { readonly 'Fn::GetAtt': readonly [string, 'Arn'] };
  readonly Input: string;
  readonly DeadLetterConfig?: unknown;
  readonly RetryPolicy?: unknown;
}

interface InvokeConfig {
  readonly FunctionName: { readonly Ref: string };
  readonly MaximumEventAgeInSeconds: number;
  readonly MaximumRetryAttempts: number;
}

/** Returns the schedule of a function: its rate and its task. */
function scheduleOf(synthesized: Synthesized, name: string) {
  const rules = ofType(synthesized, 'Events::Rule').filter(([, { Properties }]) => Properties['ScheduleExpression'] !== undefined);
  const found = rules.flatMap(([, { Properties }]) =>
    (Properties['Targets'] as readonly Target[])
      .filter(
        ({ Arn }) => synthesized.resources[Arn['Fn::GetAtt'][0]]?.Properties === (functionOf(synthesized, name) as Resource['Properties']),
      )
      .map(({ Input }) => ({ every: Properties['ScheduleExpression'], task: JSON.parse(Input) as SupervisorTask })),
  );
  const [schedule, ...others] = found;
  assert.deepEqual(others, []);
  return schedule;
}

describe('the supervisor runs periodically', () => {
  test('F-47: EventBridge starts it every minute, and the sweeper every six hours', () => {
    const schedule = scheduleOf(defaults(), 'supervisor');
    assert.equal(schedule?.every, 'rate(1 minute)');
    assert.equal(schedule?.task.task, 'pass');
    assert.deepEqual(scheduleOf(defaults(), 'sweeper'), { every: 'rate(6 hours)', task: { task: 'sweep' } });
  });

  test('F-47: a run that fails or cannot start within a minute is dropped, because the next run finds what is due', () => {
    const stack = defaults();
    const kept = ofType(stack, 'Lambda::EventInvokeConfig').map(([, { Properties }]) => {
      const { FunctionName, MaximumEventAgeInSeconds, MaximumRetryAttempts } = Properties as unknown as InvokeConfig;
      const description = stack.resources[FunctionName.Ref]?.Properties['Description'];
      return [description, MaximumEventAgeInSeconds, MaximumRetryAttempts];
    });
    assert.deepEqual(kept, [
      ['Redress: supervisor', 60, 0],
      ['Redress: sweeper', 60, 0],
      ['Redress: bulk', 60, 0],
      ['Redress: notifier', 60, 0],
    ]);
    const started = ofType(stack, 'Events::Rule').filter(([, { Properties }]) => Properties['ScheduleExpression'] !== undefined);
    for (const [, { Properties }] of started)
      for (const { RetryPolicy } of Properties['Targets'] as readonly Target[])
        assert.deepEqual(RetryPolicy, { MaximumEventAgeInSeconds: 60, MaximumRetryAttempts: 1 });
    assert.equal(started.length, kept.length);
  });

  test('a bulk run that is announced starts its function at once', () => {
    const stack = defaults();
    const [[, rule] = [], ...others] = ofType(stack, 'Events::Rule').filter(([id]) => id.includes('Announcedbulk'));
    assert.deepEqual(others, []);
    assert.deepEqual(rule?.Properties['EventPattern'], { source: ['redress'], 'detail-type': ['Bulk Run Waiting'] });
  });

  test('F-47: the period of runs, and of passes within a run, is configurable: here five minutes and half a minute', () => {
    const props = { supervisorEvery: Duration.minutes(5), variables: { SUPERVISOR_PERIOD_SECONDS: '30' } };
    const rare = synthesize({ props });
    assert.equal(scheduleOf(rare, 'supervisor')?.every, 'rate(5 minutes)');
    assert.equal(functionOf(rare, 'supervisor').Environment.Variables['SUPERVISOR_PERIOD_SECONDS'], '30');
    const late = ofType(rare, 'CloudWatch::Alarm').find(([, { Properties }]) => /-LateDetection-/.test(String(Properties['AlarmName'])));
    assert.equal(late?.[1].Properties['Threshold'], 300_000);
  });

  test('F-47: one run makes passes until its minute is nearly over, and ends before Lambda would stop it', async () => {
    const schedule = scheduleOf(defaults(), 'supervisor');
    const repeatForMs = schedule?.task.repeatForMs ?? 0;
    assert.ok(repeatForMs > 50_000 && repeatForMs < 60_000, `${repeatForMs} ms`);
    assert.ok(Number(functionOf(defaults(), 'supervisor')['Timeout']) * 1000 > repeatForMs + 10_000);

    const variables = { SUPERVISOR_PERIOD_SECONDS: '5' };
    const desk = openDesk(testContext, lineOf(stepsNamed('one')), { variables });
    const telemetry = createTelemetry({ level: 'off' });
    const run = create({ system: { ...desk.system, telemetry }, environment: {}, accepting: () => true });
    const started = desk.clock.now();
    let endedAt: number | undefined;
    const ended = run({ task: 'pass', repeatForMs }, { stopping: new AbortController().signal }).then(
      () => void (endedAt = desk.clock.now()),
    );
    await desk.clock.advance(60_000);
    await ended;
    assert.ok((endedAt ?? Infinity) - started < 60_000);
    assert.equal(telemetry.counts()['supervisorPass'], 12);
  });
});

/** The part of a log line that CloudWatch reads. */
interface Line {
  readonly _aws: {
    readonly CloudWatchMetrics: readonly [
      { Namespace: string; Dimensions: readonly string[][]; Metrics: readonly { Name: string; Unit: string }[] },
    ];
  };
  readonly [metric: string]: unknown;
}

test('F-47: each run reports the number of examined orders and their greatest lateness, under the metric names of alarms and dashboard', async () => {
  const desk = openDesk(testContext, lineOf(stepsNamed('one')));
  await submitted(desk);
  await submitted(desk);
  await desk.clock.advance(14_000);
  const telemetry = createTelemetry({ level: 'off', role: 'supervisor' });
  const run = create({ system: { ...desk.system, telemetry }, environment: {}, accepting: () => true });
  await run({ task: 'pass' }, { stopping: new AbortController().signal });

  const line = telemetry.embeddedMetrics() as unknown as Line;
  const [{ Namespace, Dimensions, Metrics }] = line._aws.CloudWatchMetrics;
  assert.deepEqual([line['role'], line['supervisorPass'], line['supervisorLooked'], line['expiryCounted']], ['supervisor', 1, 2, 2]);
  assert.deepEqual(line['detectionDelayMs'], [4000, 4000]);
  assert.deepEqual(Metrics.find(({ Name }) => Name === 'detectionDelayMs')?.Unit, 'Milliseconds');

  const others: readonly unknown[] = ['serviceAway', 'messageDeadLettered', 'channelClosed', 'http401', 'http403'];
  const wanted = ofType(defaults(), 'CloudWatch::Alarm').flatMap(([, { Properties }]) =>
    Properties['Namespace'] === Namespace && !others.includes(Properties['MetricName'])
      ? [Properties as { MetricName: string; Dimensions: readonly { Name: string; Value: string }[] }]
      : [],
  );
  assert.deepEqual(wanted.map(({ MetricName }) => MetricName).toSorted(), ['detectionDelayMs', 'supervisorPass']);
  for (const { MetricName, Dimensions: wantedBy } of wanted) {
    assert.ok(Metrics.some(({ Name }) => Name === MetricName));
    assert.deepEqual(wantedBy, [
      { Name: 'deployment', Value: line['deployment'] },
      { Name: 'role', Value: functionOf(defaults(), 'supervisor').Environment.Variables['REDRESS_ROLE'] },
    ]);
  }
  assert.deepEqual(Dimensions, [['deployment', 'role']]);
  const page = JSON.stringify(ofType(defaults(), 'CloudWatch::Dashboard')[0]?.[1].Properties['DashboardBody']);
  for (const metric of ['supervisorLooked', 'detectionDelayMs', 'expiryCounted']) assert.ok(page.includes(metric), metric);
});

test('X-45, F-174: each agent and each consumer has an alarm on the metric with which its function reports an outage of its service', () => {
  const alarms = ofType(defaults(), 'CloudWatch::Alarm').filter(([, { Properties }]) => Properties['MetricName'] === 'serviceAway');
  const agents = [...defaults().orders.functions.keys()].filter((name) => /^(agent|consumer)-/.test(name));
  const roles = agents.map((name) => functionOf(defaults(), name).Environment.Variables['REDRESS_ROLE']);
  assert.deepEqual(
    alarms
      .map(
        ([, { Properties }]) =>
          (Properties['Dimensions'] as readonly { Name: string; Value: string }[]).find(({ Name }) => Name === 'role')?.Value,
      )
      .toSorted(),
    roles.toSorted(),
  );
  assert.ok(roles.length > 0);
});
