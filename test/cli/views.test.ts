import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { defineAgent, defineApp, defineWorkflow, delay, fault, operation, parallel, raise, sequence, waitFor } from 'redress';
import * as z from 'zod';
import { openEmbedded } from '#adapters/sqlite/open';
import { openLocalIssuer } from '#api/local-issuer';
import { changesBetween, statusText } from '#cli/changes';
import { decisionRows } from '#cli/decision-rows';
import { durationMs, type OrderView, type StepView, stateText, stepLabel } from '#cli/orders';
import { systemClock } from '#ports/clock';
import { folderFor, type RunningSystem, redress, runningSystem } from './support.ts';

const Nothing = z.object({});
const NoRoom = fault('NoRoom');
const desk = defineAgent('desk', { tell: operation({ input: Nothing, output: Nothing, run: () => ({}) }) });
const tell = () => desk.tell({}).named('tell').noUndo();
const claim = defineWorkflow('claim', { version: 1, order: Nothing, completeWithinSeconds: 86_400 }, () =>
  sequence(tell(), waitFor('approval', z.unknown(), { withinSeconds: 3600 })),
);
const refuse = defineWorkflow('refuse', { version: 1, order: Nothing, toOperator: [NoRoom] }, () =>
  sequence(parallel(tell(), sequence(delay({ seconds: 0 }), tell()).named('other')), raise(NoRoom, 'The house is full.')),
);
const app = defineApp({ workflows: [claim, refuse], agents: [desk] });

/** The rows of a table by the first cell. */
const rowsOf = (out: string): ReadonlyMap<string, readonly string[]> =>
  new Map(
    out
      .split('\n')
      .map((line) => line.split(/ {2,}/))
      .map((cells) => [cells[0] ?? '', cells.slice(1)]),
  );

describe('an order at the command line', () => {
  let system: RunningSystem;
  let waiting = '';
  let blocked = '';

  /** Submits an order, and waits until its explanation matches. */
  async function order(workflow: string, why: RegExp): Promise<string> {
    const { json } = await system.redress(['order', 'submit', '-', '--workflow', workflow, '--json'], { input: '{"order":{}}' });
    for (let looks = 0; looks < 500; looks++) {
      const { explanation } = (await system.redress(['order', 'get', json.orderId, '--json'])).json;
      if (why.test(explanation)) return json.orderId;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    throw new Error(`The order of ${workflow} does not come to ${why}.`);
  }

  before(async () => {
    system = await runningSystem(app);
    waiting = await order('claim', /approval/);
    blocked = await order('refuse', /NoRoom/);
  });
  after(() => system.stop());

  test('a wait for a signal is shown among the steps with its signal and its time, and in the list as the state of the order', async () => {
    const { out } = await system.redress(['order', 'get', waiting]);
    const rows = rowsOf(out);
    assert.match(
      rows.get('approval')?.join('  ') ?? '',
      /^signal approval {2}waits for the signal approval until \d{4}-\d\d-\d\dT[\d:]{8}Z$/,
    );
    assert.match(rows.get('tell')?.join('  ') ?? '', /^desk\.tell {2}ok {2}1 {2}\d\.\d s$/);
    assert.match(out, /\nend by {6}\d{4}-/);
    const list = rowsOf((await system.redress(['order', 'list'])).out);
    assert.match(list.get(waiting)?.[0] ?? '', /^waits for the signal approval until /);
    assert.equal(list.get(blocked)?.[0], 'blocked: NoRoom');
  });

  test('two steps of one name are shown by their paths', async () => {
    const rows = rowsOf((await system.redress(['order', 'get', blocked])).out);
    assert.deepEqual(
      [rows.get('order/parallel/tell')?.[1], rows.get('order/parallel/other/tell')?.[1], rows.has('tell')],
      ['ok', 'ok', false],
    );
  });

  test('order show does the same as order get', async () => {
    assert.equal((await system.redress(['order', 'show', blocked])).out, (await system.redress(['order', 'get', blocked])).out);
    assert.match((await redress(['order', '--help'])).out, /get\|show/);
  });

  test('the token of a client shows its order with names and states, without an empty column', async () => {
    const token = (await system.redress(['token', '--role', 'client', '--client', 'cli'])).out.trim();
    const { out, exitCode } = await system.redress(['order', 'get', blocked, '--token', token]);
    assert.equal(exitCode, 0);
    assert.doesNotMatch(out, /undefined|NaN/);
    assert.match(out, /\nfault +NoRoom\n/);
    assert.match(out, /\nstep +status\ntell +ok\ntell \(2\) +ok\n$/);

    const watched = await system.redress(['order', 'watch', blocked, '--token', token]);
    assert.equal(watched.out, 'tell ok\ntell (2) ok\nblocked: NoRoom\n');
    const list = await system.redress(['order', 'list', '--token', token]);
    assert.equal(rowsOf(list.out).get(waiting)?.[0], 'running');
  });

  test('alerts lists a blocked order once, and with --json every announcement', async () => {
    const { out } = await system.redress(['alerts']);
    assert.deepEqual(out.match(/(Order In Error|Workflow Terminated)/g), ['Order In Error']);
    const { items } = (await system.redress(['alerts', '--json'])).json;
    assert.deepEqual(
      items.map(({ detailType }: { detailType: string }) => detailType),
      ['Order In Error', 'Workflow Terminated', 'Exception Raised', 'Task Opened'],
    );
  });

  test('F-123: an operator finds the exception of a blocked order among the groups of alike exceptions, in the list and by its id', async () => {
    const { exceptionId } = (await system.redress(['order', 'get', blocked, '--json'])).json;
    const group = (await system.redress(['exception', 'groups'])).out.split('\n')[1] ?? '';
    assert.match(group, /^1 +1 +NoRoom +refuse order\/raise +\S+ +\w+ +The house is full\.$/);
    const { out } = await system.redress(['exception', 'list', '--type', 'NoRoom', '--state', 'open']);
    assert.match(out.split('\n')[1] ?? '', new RegExp(`open +NoRoom +order/raise +${blocked} +${exceptionId}$`));
    const asJson = (await system.redress(['exception', 'list', '--workflow', 'refuse', '--json'])).json;
    assert.deepEqual(
      asJson.items.map(({ id }: { id: string }) => id),
      [exceptionId],
    );
    const shown = await system.redress(['exception', 'show', exceptionId]);
    assert.match(shown.out, /^NoRoom: The house is full\.\n/);
    assert.match(shown.out, /class +expected \(user, semantic\)\n.*Processing, then Error \(Faulting\)\n.*\n.*not yet; task tsk_/);
    assert.equal((await system.redress(['exception', 'show', 'exc_abc_1'])).exitCode, 1);
    assert.match((await system.redress(['exception', 'list', '--class', 'basic-failure'])).err, /No exceptions match\./);
  });

  test('a service is shown as available or unavailable; only a channel is shown as open or closed', async () => {
    const { store, database } = openEmbedded(system.folder, { clock: systemClock });
    const now = systemClock.now();
    await store.putBreaker({ agent: 'desk', rev: 1, openedAt: now, probeAt: now + 60_000, failedProbes: 0, closedAt: null }, 0);
    await database.close();
    const { out } = await system.redress(['breaker', 'list']);
    assert.match(out, /^agent +service +away since/);
    assert.equal(rowsOf(out).get('desk')?.[0], 'away');
    assert.doesNotMatch(out, /open|closed/);
    assert.equal((await system.redress(['breaker', 'list', '--json'])).json.items[0].phase, 'open');
    assert.equal((await system.redress(['alerts'])).err, 'The service of desk is away now: redress breaker list\n');
    assert.equal(rowsOf((await system.redress(['channel', 'status'])).out).get('desk')?.[0], 'open');
  });

  test('a registration with one response channel is reported in the singular', async () => {
    const { err } = await system.redress(['client', 'put', 'hr', '--channel', 'redress-response-hr', '--reason', 'new']);
    assert.equal(err, 'hr: 1 response channel, 0 senders, 0 app clients.\n');
  });
});

describe('the help of a command', () => {
  test('the default of a time span is shown as a time span, not in milliseconds', async () => {
    assert.match((await redress(['token', '--help'])).out, /\(default:\s+12h\)/);
  });

  test('each command and each group of commands is described in a sentence of its own', async () => {
    const { out } = await redress(['--help']);
    for (const [name = '', text = ''] of out.matchAll(/^ {2}([a-z-]+) .*? {2}(\S.*)$/gm)) assert.notEqual(text.toLowerCase(), name);
    assert.match(out, /breaker +Show circuit breakers/);
  });

  test('a token is valid for the default time that the help shows', async (context) => {
    const folder = folderFor(context);
    openLocalIssuer(folder);
    const { json } = await redress(['token', '--role', 'operator', '--json', '--data', folder]);
    assert.ok(Math.abs(Date.parse(json.expiresAt) - Date.now() - 43_200_000) < 60_000);
  });
});

const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString();
const orderView = (more: Partial<OrderView>): OrderView => ({
  orderId: 'ord_1',
  workflow: { name: 'w', version: 1 },
  processState: 'Processing',
  submittedAt: at(0),
  updatedAt: at(1),
  ...more,
});
const step = (more: Partial<StepView> = {}): StepView => ({
  path: 'order/confirm',
  name: 'confirm',
  agent: 'customer',
  operation: 'notify',
  status: 'Closed',
  result: 'Succeeded',
  attempts: 1,
  ...more,
});

describe('the words for an order', () => {
  test('a step took the time from its request to its answer, although it closed after a resubmission', () => {
    assert.equal(durationMs(step({ startedAt: at(0), requestedAt: at(1), answeredAt: at(2), closedAt: at(43) })), 1000);
    assert.equal(durationMs(step({ startedAt: at(0), closedAt: at(4) })), 4000);
    assert.equal(durationMs(step({ status: 'Executing', requestedAt: at(1), answeredAt: at(2), closedAt: null })), undefined);
  });

  test('orders that wait for a signal, are in an outage, have a failing undo or are at work are shown with different states', () => {
    const states = [
      { kind: 'signal', name: 'approval', until: null },
      { kind: 'signal', name: null, until: null },
      { kind: 'outage', agent: 'payment', since: at(3), until: null },
      { kind: 'order', workflow: 'ship-one@1', until: null },
      { kind: 'time', until: at(9) },
      { kind: 'undo', path: 'order/charge', until: at(9) },
      { kind: 'confirmation', path: 'order/charge', until: null },
      null,
    ].map((waitsFor) => stateText(orderView({ waitsFor })));
    assert.deepEqual(states, [
      'waits for the signal approval',
      'waits for a signal',
      'waits for the agent payment since 2026-01-01T00:00:03Z',
      'waits for an order of ship-one@1',
      'waits until 2026-01-01T00:00:09Z',
      'undo failing: order/charge, next request at 2026-01-01T00:00:09Z',
      'outcome unknown: order/charge',
      'running',
    ]);
  });

  test('F-153: an order that is being undone has a state of its own, also while it is suspended', () => {
    const undone = { undoing: true, waitsFor: null };
    assert.equal(stateText(orderView(undone)), 'being undone');
    assert.equal(stateText(orderView({ ...undone, suspended: true })), 'suspended, being undone');
    assert.equal(stateText(orderView({ ...undone, processState: 'Processed', outcome: 'canceled' })), 'canceled');
  });

  test('the last instruction is shown with its reason, each value before and after, and the fault before', () => {
    const given = { kind: 'amend', by: 'olga', at: at(3), reason: 'r', verified: 'failed-otherwise', fault: { type: 'MailboxFull' } };
    const changed = { before: { variables: { to: 'a', copies: 1 } }, after: { variables: { to: 'b', copies: 1 }, maxFailures: 5 } };
    const rows = decisionRows(orderView({ lastInstruction: { ...given, ...changed, faultBefore: { type: 'EmailRejected' } } }));
    assert.deepEqual(rows, [
      ['last instruction', 'amend by olga at 2026-01-01T00:00:03Z: failed otherwise: MailboxFull'],
      ['its reason', 'r'],
      ['it changes', 'variables.to: "a" becomes "b"'],
      ['it says', 'maxFailures 5'],
      ['fault before', 'EmailRejected'],
    ]);
    const many = Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`v${index}`, index]));
    const cut = decisionRows(orderView({ lastInstruction: { ...given, after: many } }));
    assert.deepEqual(cut.at(-1), ['', 'and 4 more: see redress order history']);
  });

  test('a watcher reads that an order waits for a signal, and that the signal came', () => {
    const approval = {
      path: 'order/approval',
      name: 'approval',
      agent: null,
      operation: null,
      waitsFor: { kind: 'signal', name: 'approval' },
    };
    const waits = orderView({ steps: [step({ ...approval, status: 'Executing', result: null, attempts: 0, completeBy: at(50) })] });
    const came = orderView({ steps: [step({ ...approval, attempts: 0, startedAt: at(1), closedAt: at(21) })] });
    assert.deepEqual(changesBetween(undefined, waits), ['approval waits for the signal approval until 2026-01-01T00:00:50Z']);
    assert.deepEqual(changesBetween(waits, came), ['approval ok 20 s']);
  });

  test('a client reads the fault of its order at the step that is blocked, and at no earlier one', () => {
    const fault = { type: 'NoRoom' };
    assert.equal(statusText({ name: 'book', status: 'Faulting', result: null }, { fault }), 'failed: NoRoom');
    assert.equal(statusText({ name: 'pay', status: 'Closed', result: 'Faulted' }, { fault }), 'failed');
  });

  test('a client that sees two steps of one name sees different names for them', () => {
    const alike = [
      { name: 'tell', status: 'Closed', result: 'Succeeded' },
      { name: 'tell', status: 'Executing', result: null },
    ];
    assert.deepEqual(
      alike.map((each) => stepLabel(each, alike)),
      ['tell', 'tell (2)'],
    );
  });
});
