import assert from 'node:assert/strict';
import { afterAll, describe, test } from '@jest/globals';
import { keys } from '#adapters/aws/dynamodb/keys';
import type { IamQuestion } from '#adapters/aws/iam';
import type { SystemFunction } from '#infrastructure/lambda-function';
import { collections } from '#ports/documents';
import { isDeadLetterQueue } from '#ports/messages';
import { responseQueuePrefix } from '#ports/queues';
import { deployed, startEmulators } from '../adapters/aws/deployment.ts';
import { startKms } from '../support/emulators.ts';
import { startLambdaApi } from '../support/lambda-api.ts';
import app from './app.ts';
import { everything } from './everything.ts';
import { allowedBy, holdsFor, matches, partitionsOf, type Statement, statementsOf } from './policies.ts';
import { openRoles } from './roles.ts';
import { functionOf, ofType, region, synthesize } from './support.ts';

const emulators = await startEmulators();
afterAll(emulators.stop);
const lambda = await startLambdaApi();
afterAll(lambda.stop);
const kms = await startKms();
afterAll(kms.stop);
const endpoints = { ...emulators.endpoints, lambda: lambda.endpoint, kms: kms.endpoint };
const made = await deployed(app, endpoints);
const deployment = { ...made, queueArns: `arn:aws:sqs:${made.region}:000000000000:${made.queuePrefix}`, secretsKey: 'secrets' };
const roles = await openRoles({
  app,
  endpoints,
  deployment,
  variables: { RETENTION_DAYS: '1', ANNOUNCE_PROCESSED: 'on', NOTIFY_URL: 'https://hooks.invalid/' },
});
afterAll(roles.close);
await everything(roles, deployment);

/** With tracing, so that its rights are checked, too. */
const stack = synthesize({ props: { tracing: true } });

/** Actions that the platform performs in the name of a function, so that no call of the function shows them. */
interface Platform {
  readonly actions: readonly string[];
  readonly on: (job: SystemFunction) => readonly string[];
  readonly reason: string;
}

const auditLogOf = (synthesized: typeof stack): string | undefined =>
  ofType(synthesized, 'Logs::LogGroup').find(([id]) => id.startsWith('OrdersAuditLog'))?.[0];

const isOfTable = ({ permissions: { table, breakers, documents, recordsIntents } }: SystemFunction): boolean =>
  table.length + breakers.length + documents.length > 0 || recordsIntents;
const platform: readonly Platform[] = [
  {
    actions: ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes'],
    on: ({ spec }) => spec.sources.map(({ queue }) => `queue/${queue}`),
    reason: 'Lambda polls the queues in the name of the function',
  },
  {
    actions: ['kms:Decrypt', 'kms:GenerateDataKey'],
    on: () => ['KMS::Key'],
    reason: 'SQS, EventBridge and Secrets Manager use a data key in the name of their caller',
  },
  {
    actions: ['kms:DescribeKey', 'kms:Encrypt', 'kms:ReEncryptFrom', 'kms:ReEncryptTo'],
    on: (job) => (isOfTable(job) ? ['KMS::Key'] : []),
    reason: 'DynamoDB asks its caller for these, too',
  },
  {
    actions: ['secretsmanager:GetSecretValue'],
    on: ({ spec }) => (functionOf(stack, spec.name).Environment.Variables['REDRESS_CURSOR_SECRET'] ? ['SecretsManager::Secret'] : []),
    reason: 'lib/runtime/lambda.ts reads the key of list cursors where the environment names it (test/runtime/lambda.test.ts)',
  },
  {
    actions: ['logs:CreateLogStream', 'logs:PutLogEvents'],
    on: ({ spec, permissions }) => [
      `log-group/${functionOf(stack, spec.name).LoggingConfig.LogGroup.Ref}`,
      ...(permissions.writesAuditLog ? [`log-group/${auditLogOf(stack)}`] : []),
    ],
    reason: 'Lambda writes its log. Another test shows the calls to the log of the audit: test/adapters/aws/audit-log.test.ts',
  },
  {
    actions: ['sns:Publish'],
    on: ({ permissions }) => (permissions.notifies ? ['SNS::Topic'] : []),
    reason: 'another test shows the calls to the topic: test/adapters/aws/sns.test.ts',
  },
  {
    actions: ['xray:PutTelemetryRecords', 'xray:PutTraceSegments'],
    on: () => ['*'],
    reason: 'Lambda sends traces, which know no resource',
  },
];

/** Rights that not every function of a kind happens to use here, each with its reason. */
const rare: { readonly [right: string]: string } = {
  'dynamodb:PutItem WORKFLOW#*': 'the function that starts first records the definitions of new versions',
  'dynamodb:UpdateItem INTENT#*': 'the function that ends an order gives its intents their expiry',
  'dynamodb:GetItem KEY#*': 'most functions meet no secret here',
  'dynamodb:PutItem KEY#*': 'the function that starts a day makes its key',
  'dynamodb:UpdateItem FINISHED#*': 'a function that ends orders adds their count every ten seconds',
  'dynamodb:UpdateItem GROUPS#*': 'an order that is blocked as it is created is rare',
  'dynamodb:UpdateItem SOLUTION-FIGURES#*': 'a function that ends what a solution began counts its outcome',
  'dynamodb:GetItem FINGERPRINTS#*': 'the function that meets an undeclared fault counts its fingerprint',
  'dynamodb:PutItem FINGERPRINTS#*': 'the function that meets an undeclared fault counts its fingerprint',
  'dynamodb:GetItem AGENDA#*': 'the function that opens a task puts it on the agenda',
  'dynamodb:PutItem AGENDA#*': 'the function that opens a task puts it on the agenda',
  'dynamodb:PutItem OBJ#*': 'the function that takes the reply of a step stores what the step has used',
  'dynamodb:Query OBJ#*': 'only a recovery looks for the orders that have read what it undoes',
  'dynamodb:DeleteItem DELIVERIES': 'no receiver answers here, so each message waits for its next try',
  'dynamodb:DeleteItem NOTICES#*': 'a notice is forgotten after a quiet day',
  'dynamodb:Query RULESET#*': 'most deployments have no rules of people',
  'dynamodb:GetItem RULE-COUNTS': 'few orders meet a rule',
  'dynamodb:PutItem RULE-COUNTS': 'few orders meet a rule',
  'dynamodb:GetItem RULE-OUTCOMES': 'the function that ends what a rule began counts its outcome',
  'dynamodb:PutItem RULE-OUTCOMES': 'the function that ends what a rule began counts its outcome',
  'dynamodb:GetItem STALE-RULES': 'people hear once of a rule that names what is gone',
  'dynamodb:PutItem STALE-RULES': 'people hear once of a rule that names what is gone',
  'dynamodb:PutItem RULES': 'a rule that goes on failing is demoted',
  'dynamodb:PutItem RULESET#*': 'a rule that goes on failing is demoted',
  'dynamodb:PutItem RULE#*': 'a rule that goes on failing is demoted',
  'dynamodb:Query RULE#*': 'a rule that goes on failing is demoted',
  'dynamodb:DeleteItem INBOX#*': 'few messages meet a lock',
  'dynamodb:PutItem INBOX#*': 'few messages meet a lock',
  'dynamodb:Query INBOX#*': 'few messages meet a lock',
  'dynamodb:GetItem CALLS#*': 'an order holds the keys of its last twenty calls itself',
  'dynamodb:PutItem CALLS#*': 'an order holds the keys of its last twenty calls itself',
};

/** Rights about queues that a function happens not to use here: an order that is restarted is rare. */
const rareQueues: ReadonlySet<string> = new Set(['sqs:GetQueueUrl queue/submissions', 'sqs:SendMessage queue/submissions']);

/** Actions that a function needs seldom: few bulk runs meet an order whose lock has just ended. */
const rareActions: ReadonlySet<string> = new Set(['bulk dynamodb:DeleteItem table']);

/** Translates a call to the resource names of the template. */
function asAllowed({ action, resource }: IamQuestion): string {
  const name = resource
    .replace(`table/${deployment.table}`, 'table')
    .replace(`queue/${deployment.queuePrefix}`, 'queue/')
    .replace(`event-bus/${deployment.bus}`, 'event-bus')
    .replace(/^event-source-mapping:.*/, 'event-source-mapping:*')
    .replace(/^key\/.*/, 'KMS::Key')
    .replace(new RegExp(`^queue/${responseQueuePrefix}.*`), `queue/${responseQueuePrefix}*`);
  return `${action} ${name}`;
}

const questionsOf = (name: string) => roles.meter.entries().filter(({ role }) => role === name);
const questionsAbout = (name: string): readonly IamQuestion[] =>
  questionsOf(name).flatMap(({ questions }) => questions.filter(({ action }) => action.startsWith('dynamodb:')));
const actionsOf = ({ Action }: Statement): readonly string[] => [Action].flat();
/** Whether a condition holds for keys of days alone. */
const isOfDayKeys = (condition: Statement['Condition']): boolean =>
  condition?.['StringEquals']?.['kms:EncryptionContext:redress'] === 'day-key';
const roleIdOf = (name: string): string => functionOf(stack, name).Role['Fn::GetAtt'][0];
const allowedFor = (name: string): ReadonlySet<string> => allowedBy(statementsOf(stack, roleIdOf(name)), stack);
const sorted = (set: Iterable<string>): readonly string[] => [...set].toSorted();

describe('a role may do what its function does, and nothing else', () => {
  test('A5: the audit is append-only: no role may update or delete an entry, and only the API may add one', () => {
    const entries = [collections.audit('2026-01-01'), collections.auditedReads('2026-01-01')];
    const adding: string[] = [];
    for (const { spec } of stack.orders.functions.values())
      for (const statement of statementsOf(stack, roleIdOf(spec.name))) {
        const reached = entries.some((partition) => holdsFor(statement, { partition, attributes: ['pk', 'sk'] }));
        const writing = actionsOf(statement).filter((action) => /^dynamodb:(?!BatchGet|Get|Query|Scan)/.test(action));
        if (!reached || writing.length === 0) continue;
        assert.deepEqual(writing, ['dynamodb:PutItem'], `${spec.name}: ${JSON.stringify(statement)}`);
        adding.push(spec.name);
      }
    assert.deepEqual([...new Set(adding)], ['api']);
  });

  test('A5: the audit has a log of its own, which keeps lines for 400 days, outlives its stack and takes lines only from its writers', () => {
    const log = stack.resources[auditLogOf(stack) ?? ''];
    assert.deepEqual(
      [log?.Properties['RetentionInDays'], log?.DeletionPolicy, log?.Properties['KmsKeyId'] !== undefined],
      [400, 'RetainExceptOnCreate', true],
    );
    for (const { spec } of stack.orders.functions.values()) {
      const rights = [...allowedFor(spec.name)].filter((right) => right.endsWith(`log-group/${auditLogOf(stack)}`));
      const writes = spec.name === 'api' || spec.name === 'sweeper';
      assert.deepEqual(rights.length > 0, writes, spec.name);
      assert.deepEqual(functionOf(stack, spec.name).Environment.Variables['REDRESS_AUDIT_LOG'] !== undefined, writes, spec.name);
    }
  });

  for (const job of stack.orders.functions.values()) {
    test(`G21: ${job.spec.name} uses every right that it has, and has every right that it uses`, () => {
      const used = questionsOf(job.spec.name).flatMap(({ questions }) => questions.map(asAllowed));
      const byPlatform = platform.flatMap(({ actions, on }) =>
        actions.flatMap((action) => on(job).map((resource) => `${action} ${resource}`)),
      );
      const allowed = [...allowedFor(job.spec.name)].filter(
        (right) => used.includes(right) || !(rareQueues.has(right) || rareActions.has(`${job.spec.name} ${right}`)),
      );
      assert.deepEqual(sorted(new Set(allowed)), sorted(new Set([...used, ...byPlatform])));
    });

    test(`G21: ${job.spec.name} may make each of its calls to the table, with the partition and the attributes of the call`, () => {
      const statements = statementsOf(stack, roleIdOf(job.spec.name));
      const denied = questionsAbout(job.spec.name).filter(
        (question) => !statements.some((each) => allowedBy([each], stack).has(asAllowed(question)) && holdsFor(each, question)),
      );
      assert.deepEqual(denied, []);
    });

    test(`G21: ${job.spec.name} uses each action that it may use on each partition that it may reach`, () => {
      const called = questionsAbout(job.spec.name);
      const unused = statementsOf(stack, roleIdOf(job.spec.name)).flatMap((statement) =>
        (partitionsOf(statement) ?? []).flatMap((pattern) =>
          actionsOf(statement).flatMap((action) =>
            called.some((each) => each.action === action && matches(pattern, each.partition ?? '')) ? [] : [`${action} ${pattern}`],
          ),
        ),
      );
      assert.deepEqual(
        unused.filter((each) => !(each in rare)),
        [],
      );
    });

    test(`G21: ${job.spec.name} has a condition on the partition in each statement about the table, except for a scan`, () => {
      const open = statementsOf(stack, roleIdOf(job.spec.name)).filter(
        (each) => actionsOf(each).some((action) => action.startsWith('dynamodb:')) && !JSON.stringify(each.Resource).includes('/index/'),
      );
      for (const each of open)
        if (actionsOf(each).join() === 'dynamodb:Scan') assert.ok(!holdsFor(each, {}), 'a scan of whole items');
        else assert.deepEqual(each.Condition?.['Null'], { 'dynamodb:LeadingKeys': 'false' }, JSON.stringify(each));
    });

    test(`G21: ${job.spec.name} may use the key of the stack only through the services that it calls`, () => {
      const called = new Set(questionsOf(job.spec.name).map(({ service }) => service));
      const expected = [
        ...(called.has('DynamoDB') ? ['dynamodb'] : []),
        ...(called.has('SQS') || job.spec.sources.length > 0 ? ['sqs'] : []),
        ...(called.has('EventBridge') ? ['events'] : []),
        ...(job.permissions.notifies ? ['sns'] : []),
        ...(job.permissions.readsCursorSecret ? ['secretsmanager'] : []),
      ].map((service) => `${service}.${region}.amazonaws.com`);
      const [statement, ...others] = statementsOf(stack, roleIdOf(job.spec.name)).filter(
        ({ Action, Condition }) => String(Action).includes('kms:') && !isOfDayKeys(Condition),
      );
      assert.deepEqual(others, []);
      assert.deepEqual([statement?.Condition?.['StringEquals']?.['kms:ViaService']].flat(), expected);
    });
  }

  test('A9: only the roles that handle secrets may decrypt day keys, and only with the encryption context of those keys', () => {
    const rightsOf = (name: string) =>
      statementsOf(stack, roleIdOf(name)).flatMap((each) => (isOfDayKeys(each.Condition) ? actionsOf(each) : []));
    const all = [...stack.orders.functions.keys()].flatMap((name) => (rightsOf(name).length > 0 ? [[name, rightsOf(name)]] : []));
    const make = ['kms:Decrypt', 'kms:GenerateDataKey'];
    assert.deepEqual(Object.fromEntries(all), {
      api: make,
      submissions: make,
      'consumer-ledger': make,
      bulk: ['kms:Decrypt'],
      'dead-letter': make,
    });
  });

  test('every function has its own role, and every role and policy is covered here', () => {
    const known = [...stack.orders.functions.keys()].map(roleIdOf);
    assert.equal(new Set(known).size, known.length);
    assert.deepEqual(sorted(ofType(stack, 'IAM::Role').map(([id]) => id)), sorted(known));
    for (const [, { Properties }] of ofType(stack, 'IAM::Role'))
      assert.deepEqual([Properties['ManagedPolicyArns'], Properties['Policies']], [undefined, undefined]);
  });
});

const within = (...partitions: string[]) => ({
  'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': partitions },
  Null: { 'dynamodb:LeadingKeys': 'false' },
});

describe('an agent writes only its intents, its breaker, its failures and its channel', () => {
  const conditions = (name: string) =>
    statementsOf(stack, roleIdOf(name))
      .filter(({ Action }) => String(Action).includes('dynamodb:'))
      .map(({ Condition }) => Condition);
  const own = (name: string) => [
    within(keys.breaker(name).pk, collections.channels, collections.channel(name)),
    within(collections.tracks(name)),
  ];

  test('X-20: an agent with an at-most-once operation may write intents, in their partitions only', () => {
    assert.deepEqual(conditions('agent-post'), [within('INTENT#*'), ...own('post')]);
    assert.ok(keys.intent('o1', 'o1/order/pay/1').pk.startsWith('INTENT#'));
  });

  test('X-13, X-20, X-45: an agent without an at-most-once operation may write its own breaker, failures and channel, and the list of closed channels', () => {
    assert.deepEqual(conditions('agent-stock'), own('stock'));
  });
});

test('X-13: the dead-letter function writes no order: it keeps messages, deletes failure counts and notifies senders', () => {
  const written = statementsOf(stack, roleIdOf('dead-letter'))
    .filter(({ Action }) => /dynamodb:(Put|Delete|Update)/.test(String(Action)))
    .map(({ Action, Condition }) => [Action, Condition?.['ForAllValues:StringLike']?.['dynamodb:LeadingKeys']]);
  const channels = ['submissions', 'workflows', 'stock', 'post', 'ledger', 'wake-ups'];
  assert.deepEqual(written, [
    [['dynamodb:GetItem', 'dynamodb:PutItem'], ['KEY#*']],
    [['dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:DeleteItem'], channels.map(collections.tracks)],
    ['dynamodb:PutItem', channels.map(collections.deadLetters)],
  ]);
});

describe('only roles that need a partition, or the content of an order, may reach it', () => {
  const functions = [...stack.orders.functions.keys()];
  const mayCall = (action: string, call: { partition?: string; attributes?: readonly string[] }) =>
    functions.filter((name) =>
      statementsOf(stack, roleIdOf(name)).some(
        (each) =>
          actionsOf(each).includes(`dynamodb:${action}`) && !JSON.stringify(each.Resource).includes('/index/') && holdsFor(each, call),
      ),
    );

  test('only the API writes the registrations of clients, and only functions that need them read them', () => {
    for (const action of ['PutItem', 'UpdateItem', 'DeleteItem'])
      assert.deepEqual(mayCall(action, { partition: 'CLIENTS' }), action === 'PutItem' ? ['api'] : [], action);
    assert.deepEqual(mayCall('GetItem', { partition: 'CLIENTS' }), ['api', 'submissions', 'dead-letter']);
    assert.deepEqual(mayCall('BatchGetItem', { partition: 'CLIENTS' }), []);
  });

  test('the supervisor, the sweeper and the dead-letter function read only the head of an order, and never a whole item of the table', () => {
    const readers = ['api', 'submissions', 'children', 'consumer-ledger', 'scheduler', 'bulk'];
    const partition = keys.order('o1').pk;
    // Tasks lie beside their orders, and IAM limits no read by sort key.
    const reading = [...readers, 'notifier'];
    assert.deepEqual(mayCall('GetItem', { partition }), reading);
    for (const secret of ['body', 'blob', 'caller', 'page'])
      assert.deepEqual(mayCall('GetItem', { partition, attributes: ['pk', secret] }), reading);
    assert.deepEqual(mayCall('GetItem', { partition, attributes: ['pk', 'rev'] }), [
      ...readers.filter((name) => name !== 'bulk'),
      'supervisor',
      'sweeper',
      'bulk',
      'notifier',
      'dead-letter',
    ]);
    assert.deepEqual(mayCall('UpdateItem', { partition, attributes: ['blob'] }), readers);
    assert.deepEqual(mayCall('Scan', { attributes: ['pk'] }), ['sweeper']);
    assert.deepEqual(mayCall('Scan', { attributes: ['body'] }), []);
    assert.deepEqual(mayCall('Scan', {}), []);
  });

  test('no role with a limit on attributes asks for the item of a refused write, which no condition of IAM covers', () => {
    for (const name of ['supervisor', 'sweeper', 'dead-letter']) {
      const updates = questionsAbout(name).filter(({ action }) => action === 'dynamodb:UpdateItem');
      assert.deepEqual(
        updates.filter(({ returnsAll }) => returnsAll),
        [],
        name,
      );
    }
    assert.ok(questionsAbout('supervisor').some(({ action }) => action === 'dynamodb:UpdateItem'));
  });

  test('no function may use the table without naming a partition key that its role allows', () => {
    for (const action of ['GetItem', 'PutItem', 'UpdateItem', 'DeleteItem', 'BatchGetItem', 'Query'])
      assert.deepEqual(mayCall(action, {}), []);
  });
});

describe('the rights to close a channel are narrow', () => {
  const statementFor = (name: string, action: string) =>
    statementsOf(stack, roleIdOf(name)).filter(({ Action }) => [Action].flat().includes(action));
  const functionsIn = (name: string) => {
    const [statement] = statementFor(name, 'lambda:UpdateEventSourceMapping');
    return statement?.Condition?.['ArnEquals']?.['lambda:FunctionArn'];
  };
  const arnsOf = (names: readonly string[]) => {
    const ids = names.map(
      (name) => ofType(stack, 'Lambda::Function').find(([, { Properties }]) => Properties === functionOf(stack, name))?.[0],
    );
    return ids.map((id) => ({ 'Fn::GetAtt': [id, 'Arn'] }));
  };
  const closing = [...stack.orders.functions.values()]
    .filter(({ permissions }) => permissions.closesChannelOf.length > 0)
    .map(({ spec }) => spec.name);

  test('F-108: a function may disable only its own mappings; the supervisor may disable those of each channel that can be closed', () => {
    assert.deepEqual(closing, ['submissions', 'children', 'agent-stock', 'agent-post', 'consumer-ledger', 'scheduler']);
    for (const name of closing) assert.deepEqual(functionsIn(name), arnsOf([name]), name);
    assert.deepEqual(functionsIn('supervisor'), arnsOf(closing));
    for (const name of ['api', 'sweeper', 'dead-letter']) assert.equal(functionsIn(name), undefined, name);
  });

  for (const name of ['agent-stock', 'supervisor'])
    test(`F-108: the ${name} may announce that a channel is closed, and nothing else`, () => {
      const condition = { 'ForAllValues:StringEquals': { 'events:source': 'redress', 'events:detail-type': 'Channel Closed' } };
      assert.deepEqual(
        statementFor(name, 'events:PutEvents').map(({ Condition }) => Condition),
        [condition],
      );
    });

  test('F-108, F-54: the supervisor puts only the overview, and records of channels to note that it has announced them', () => {
    assert.deepEqual(
      statementFor('supervisor', 'dynamodb:PutItem').map(({ Condition }) => Condition),
      [within(collections.channel('*')), within(collections.overview)],
    );
  });

  test('F-54, F-57: the sweeper puts only its position, its counts and the digests of the audit', () => {
    assert.deepEqual(
      statementFor('sweeper', 'dynamodb:PutItem').map(({ Condition }) => Condition),
      [within(collections.sweep, collections.overview), within(collections.auditDigests, collections.auditDigestParts('*'))],
    );
  });

  for (const name of ['supervisor', 'sweeper'])
    test(`F-54: the ${name} queries only the list of closed channels in the table, and ${name === 'sweeper' ? 'the rules and the audit' : 'the counts of exceptions and ended orders'}`, () => {
      const statements = statementFor(name, 'dynamodb:Query').filter(({ Resource }) => !JSON.stringify(Resource).includes('/index/'));
      const ofSweeper = within('CHANNELS', collections.ruleSet('*'), collections.audit('*'));
      const ofSupervisor = within('CHANNELS', collections.exceptionGroups('*'), collections.finished('*'));
      assert.deepEqual(
        statements.map(({ Condition }) => Condition),
        [name === 'sweeper' ? ofSweeper : ofSupervisor],
      );
    });
});

describe('the supervisor knows no workflow', () => {
  const replies = ['post-replies', 'stock-replies', 'workflows-replies'];
  const consumed = [...stack.orders.functions.values()]
    .flatMap(({ spec }) => spec.sources.map(({ queue }) => queue))
    .filter((queue) => !isDeadLetterQueue(queue));
  for (const name of ['supervisor', 'sweeper']) {
    test(`F-54: the ${name} sends only wake-ups, reads queue depths, announces nothing about orders and puts no whole item`, () => {
      const allowed = sorted(allowedFor(name)).filter((each) => /^(dynamodb|sqs|events):/.test(each));
      assert.deepEqual(allowed, [
        'dynamodb:GetItem table',
        'dynamodb:PutItem table',
        'dynamodb:Query table',
        ...(name === 'supervisor'
          ? ['in-error', 'listA', 'listB', 'worklist'].map((index) => `dynamodb:Query table/index/${index}`)
          : ['dynamodb:Scan table']),
        'dynamodb:UpdateItem table',
        ...(name === 'supervisor' ? ['events:PutEvents event-bus'] : []),
        ...(name === 'supervisor' ? consumed : replies).toSorted().map((queue) => `sqs:GetQueueAttributes queue/${queue}`),
        ...[...new Set([...(name === 'supervisor' ? consumed : replies), 'wake-ups'])]
          .toSorted()
          .map((queue) => `sqs:GetQueueUrl queue/${queue}`),
        'sqs:SendMessage queue/wake-ups',
      ]);
    });
  }
});
