import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, test } from '@jest/globals';
import { commands } from '#cli/commands/index';
import { alarmKinds } from '#infrastructure/alarm-kinds';
import { alertTypes } from '#ports/records';
import { metricNamespace } from '#ports/telemetry';
import { alarmsOf, defaults, ofType } from './support.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (file: string): string => readFileSync(`${root}${file}`, 'utf8');
const runbook = read('docs/operations/runbook.md');
const deploying = read('docs/guides/deploying.md');

/** Returns the articles of a chapter, by their headings. */
function articlesIn(chapter: string): ReadonlyMap<string, string> {
  const [, text = ''] = runbook.split(new RegExp(`^# ${chapter}$`, 'm'));
  const [own = ''] = text.split(/^# /m);
  return new Map(
    own
      .split(/^## /m)
      .slice(1)
      .map((article) => [article.slice(0, article.indexOf('\n')), article]),
  );
}

const alarmArticles = articlesIn('Alarms');
/** Returns the commands in a text: shell blocks and inline code. */
const blocksIn = (text: string): readonly string[] => [...text.matchAll(/^ *```sh\n([\s\S]*?)^ *```/gm)].map(([, block = '']) => block);
const typedIn = (text: string): readonly string[] => [
  ...blocksIn(text).flatMap((block) => block.split('\n')),
  ...[...text.matchAll(/`([^`\n]+)`/g)].map(([, typed = '']) => typed),
];

describe('alarms and their articles in the runbook', () => {
  test('every alarm has an article, and every article has an alarm', () => {
    assert.deepEqual([...alarmArticles.keys()].toSorted(), Object.keys(alarmKinds).toSorted());
  });

  test('an article says what the alarm means for orders, what to look at first, what to do, and when it is over', () => {
    for (const [name, article] of alarmArticles) {
      const leads = [...article.matchAll(/^\*\*(.+?)\*\*/gm)].map(([, lead]) => lead);
      assert.deepEqual(leads, ['For orders.', 'Look first.', 'Do.', 'Over when'], name);
    }
  });

  test('every deployed alarm has the name of its kind, a description and a link to its article', () => {
    const alarms = ofType(defaults(), 'CloudWatch::Alarm').map(([, { Properties }]) => Properties);
    assert.ok(alarms.length >= Object.keys(alarmKinds).length);
    for (const { AlarmName, AlarmDescription } of alarms) {
      const [, kind = ''] = /^redress-([A-Za-z]+)-[\w-]+$/.exec(String(AlarmName)) ?? [];
      assert.match(String(AlarmDescription), new RegExp(`^[A-Z].+\\. What to do: docs/operations/runbook\\.md, ${kind}\\.$`));
      assert.ok(alarmArticles.has(kind), String(AlarmName));
    }
    const kinds = new Set(alarms.map(({ AlarmName }) => String(AlarmName).split('-')[1]));
    assert.deepEqual([...kinds].toSorted(), Object.keys(alarmKinds).toSorted());
  });

  test('the code counts every metric of its own that an alarm or the dashboard watches', () => {
    // An alarm has a metric as fields, and the dashboard as a list in a text of JSON.
    const ours = new RegExp(`"MetricName":"(\\w+)","Namespace":"${metricNamespace}"|\\["${metricNamespace}","(\\w+)"`, 'g');
    const template = JSON.stringify(defaults().resources).replaceAll('\\"', '"');
    const watched = [...template.matchAll(ours)].map(([, ofAlarm, ofDashboard]) => String(ofAlarm ?? ofDashboard));
    assert.ok(watched.includes('supervisorPass') && watched.includes('detectionDelayMs'), watched.join(', '));
    const sources = globSync(`${root}lib/**/*.ts`).map((file) => readFileSync(file, 'utf8'));
    const counted = new Set(sources.flatMap((text) => [...text.matchAll(/\b(?:count|measure)\('(\w+)'/g)].map(([, name]) => String(name))));
    assert.deepEqual(
      watched.filter((name) => !counted.has(name) && !/^http[45]\d\d$/.test(name)),
      [],
    );
  });
});

test('the runbook says what to do about an undo that keeps failing', () => {
  const alerts = articlesIn('Alerts');
  assert.deepEqual([...alerts.keys()], ['Compensation Stuck']);
  for (const name of alerts.keys()) assert.ok((alertTypes as readonly string[]).includes(name), name);
});

test('the runbook covers the rare tasks', () => {
  assert.deepEqual(
    [...articlesIn('Rare tasks').keys()],
    [
      'Restore to a point in time',
      'A workflow has changed under its version',
      'Change the cursor key',
      'Redrive dead letters',
      'Register a client',
      'First operator',
      "Rotate an external issuer's keys",
      'Destroy what is kept',
    ],
  );
});

describe('documented commands work', () => {
  const text = runbook + deploying;

  test('every block is valid for the shell', () => {
    for (const block of blocksIn(text)) {
      const { status, stderr } = spawnSync('sh', ['-n'], { input: block.replaceAll('…', '') });
      assert.equal(status, 0, `${stderr}\n${block}`);
    }
  });

  test('every redress command in the runbook exists', () => {
    const known = commands.map(({ name }) => name);
    const typed = typedIn(text).flatMap((line) =>
      [...line.matchAll(/(?:^|\s|`)redress ((?:[a-z]+(?:-[a-z]+)* ?){1,2})/g)].map(([, words = '']) => words.trim()),
    );
    assert.ok(typed.length > 5);
    for (const words of typed)
      assert.ok(
        known.some((name) => words === name || words.startsWith(`${name} `)),
        words,
      );
  });

  test('every command of the AWS command line exists in the SDK, if that is installed', async () => {
    const clients: { readonly [service: string]: string } = {
      sqs: 'client-sqs',
      sns: 'client-sns',
      lambda: 'client-lambda',
      dynamodb: 'client-dynamodb',
      events: 'client-eventbridge',
      secretsmanager: 'client-secrets-manager',
    };
    const typed = new Set(typedIn(text).flatMap((line) => [...line.matchAll(/aws ([a-z-]+) ([a-z-]+)/g)].map(([all]) => all)));
    for (const call of typed) {
      const [, service = '', operation = ''] = call.split(' ');
      const client = clients[service];
      if (!client || operation === 'wait') continue;
      const sdk = (await import(`@aws-sdk/${client}`)) as { readonly [name: string]: unknown };
      const name = operation.replaceAll(/(?:^|-)([a-z])/g, (_, letter: string) => letter.toUpperCase());
      assert.ok(sdk[`${name}Command`], call);
    }
  });

  test('every named queue, function and metric exists', () => {
    const { queues, functions } = defaults().orders;
    const named = (pattern: RegExp) => [...text.matchAll(pattern)].map(([, name = '']) => name.replace('payment', 'stock'));
    for (const name of named(/\$\(queue ([a-z-]+)\)/g)) assert.ok(queues.names.includes(name), name);
    for (const name of [...named(/\$\(job ([a-z-]+)\)/g), ...named(/^logs ([a-z-]+)/gm)]) assert.ok(functions.has(name), name);
    for (const name of named(/\$\(output ([A-Za-z]+)\)/g)) assert.ok(defaults().outputs[name], name);
    assert.ok(alarmsOf(defaults()).some(({ MetricName }) => MetricName === 'supervisorPass'));
  });

  test('a restore stops and starts every function of the system', () => {
    const prefix = /^jobs\(\) .*startswith\("(Redress: )"\)/m.exec(runbook)?.[1] ?? 'no prefix';
    const described = ofType(defaults(), 'Lambda::Function').map(([, { Properties }]) => String(Properties['Description'] ?? ''));
    const listed = described.filter((text) => text.startsWith(prefix)).map((text) => text.slice(prefix.length));
    assert.deepEqual(listed.toSorted(), [...defaults().orders.functions.keys()].toSorted());
    const restore = articlesIn('Rare tasks').get('Restore to a point in time') ?? '';
    assert.match(restore, /for name in \$\(jobs\); do aws lambda put-function-concurrency .*--reserved-concurrent-executions 0; done/);
    assert.match(restore, /for name in \$\(jobs\); do aws lambda delete-function-concurrency /);
  });

  test('every link has a target', () => {
    const slugOf = (heading: string): string =>
      heading
        .toLowerCase()
        .replaceAll(/[^\w\s-]/g, '')
        .replaceAll(' ', '-');
    for (const [file, page] of [
      ['docs/operations/runbook.md', runbook],
      ['docs/guides/deploying.md', deploying],
    ] as const)
      for (const [, target = ''] of page.matchAll(/\]\(([^)]+)\)/g)) {
        const [path, anchor] = target.split('#');
        const linked = path ? new URL(path, `file:///${file}`).pathname.slice(1) : file;
        const headings = [...read(linked).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => slugOf(heading));
        assert.ok(!anchor || headings.includes(anchor), `${file}: ${target}`);
      }
  });
});

test('the documentation explains every property of OrderProcessing, and no other', () => {
  const source = read('lib/infrastructure/order-processing-props.ts');
  const [, body = ''] = /interface OrderProcessingProps[^{]*\{([\s\S]*?)^\}/m.exec(source) ?? [];
  const [, inherited = ''] = /Pick<OrderTableProps, ([^>]+)>/.exec(source) ?? [];
  const properties = [
    ...[...body.matchAll(/^ {2}readonly (\w+)\??:/gm)].map(([, name = '']) => name),
    ...[...inherited.matchAll(/'(\w+)'/g)].map(([, name = '']) => name),
  ];
  const [, table = ''] = deploying.split('## Properties of OrderProcessing');
  const explained = [...(table.split('\n## ')[0] ?? '').matchAll(/^\| `(\w+)` \|/gm)].map(([, name = '']) => name);
  assert.deepEqual(explained.toSorted(), properties.toSorted());
});
