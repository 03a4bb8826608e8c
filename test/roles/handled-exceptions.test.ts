import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { describe, type TestContext, test } from 'node:test';
import { type App, defineAgent, defineApp, defineWorkflow, operation, sequence } from 'redress';
import * as z from 'zod';
import type { RuleAction } from '#core/rules/rule';
import type { Request } from '#ports/messages';
import { exceptionIdOf, taskIdOf } from '#roles/exceptions/ids';
import { exceptionOf, taskOf } from '#roles/exceptions/read';
import { handlerIdOf } from '#roles/submission/submission';
import { rule } from '../support/rules.ts';
import { type Desk, failed, journalOf, ok, openDesk, submitted, timePasses } from './support.ts';

const run = () => ({});
const Input = z.object({ item: z.string() });
const shop = defineAgent('shop', {
  reserve: operation({ input: Input, output: z.object({ lot: z.number() }), run: () => ({ lot: 7 }) }),
  release: operation({ input: z.object({ lot: z.number() }), output: z.unknown(), run }),
  charge: operation({ input: Input, output: z.unknown(), run }),
  ship: operation({ input: Input, output: z.unknown(), run }),
  tell: operation({ input: Input, output: z.unknown(), run }),
});
const helper = defineAgent('helper', {
  rescue: operation({ input: z.object({ why: z.string(), lot: z.number() }), output: z.unknown(), run }),
});

/** Reserves, charges, ships, tells the customer. */
const buy = defineWorkflow('buy', { version: 1, order: Input }, ({ order }) =>
  sequence(
    shop.reserve({ item: order.item }).undo((output) => shop.release({ lot: output.lot })),
    shop.charge({ item: order.item }).noUndo(),
    shop.ship({ item: order.item }).noUndo(),
    shop.tell({ item: order.item }).noUndo(),
  ),
);
const Handled = z.object({
  exception: z.looseObject({ type: z.string() }),
  orderId: z.string(),
  order: Input,
  outputs: z.object({ reserve: z.object({ lot: z.number() }) }),
});
/** Handles an exception with one step, which reads the exception and what the order has done. */
const rescue = defineWorkflow('rescue', { version: 1, order: Handled }, ({ order }) =>
  sequence(helper.rescue({ why: order.exception.type, lot: order.outputs.reserve.lot }).noUndo()),
);
const other = defineWorkflow('other', { version: 1, order: z.strictObject({ nothing: z.string() }) }, () => sequence());
/** As `buy`; a step whose agent is silent waits for an hour. */
const waiting = defineWorkflow('buy', { version: 1, order: Input, maxFailures: 0, onExhausted: 'wait' }, ({ order }) =>
  sequence(
    shop.reserve({ item: order.item }).undo((output) => shop.release({ lot: output.lot })),
    shop.charge({ item: order.item }).noUndo(),
  ),
);
const patient: App = defineApp({ workflows: [waiting, rescue], agents: [shop, helper] });
const app: App = defineApp({ workflows: [buy, rescue, other], agents: [shop, helper] });

/** An order whose reservation is done and whose charge is at work, with a rule that has `rescue` handle what breaks. */
async function handled(context: TestContext, how: Partial<Extract<RuleAction, { kind: 'handle' }>>) {
  const desk = openDesk(context, app);
  const action = { kind: 'handle', workflow: 'rescue', control: 'ready', ...how } as const;
  const event = { kind: 'exception', type: 'Broken' } as const;
  await desk.system.rules.put(rule({ id: 'rescue', event, object: { workflow: 'buy' }, action }), {
    by: 'ada',
    reason: 'a test',
    expected: undefined,
  });
  const orderId = await submitted(desk);
  const play = new Play(desk, orderId);
  await play.requests();
  await play.ok('order/reserve');
  return { desk, orderId, play, handlerId: handlerIdOf(orderId, 1) };
}

const amendment = { kind: 'amend', by: 'olga', reason: 'the bank is away', handle: [{ fault: 'Broken', workflow: 'rescue' }] } as const;

/** As `handled`, but a person has given the handler to this order alone. */
async function amended(context: TestContext) {
  const desk = openDesk(context, app);
  const orderId = await submitted(desk);
  const given = await timePasses(desk.clock, desk.system.scheduler.instruct(orderId, amendment, { id: 'amended' }));
  assert.equal(given.outcome, 'done', JSON.stringify(given));
  const play = new Play(desk, orderId);
  await play.requests();
  await play.ok('order/reserve');
  return { desk, orderId, play };
}

/** Writes what happens to an order and to its handler, one line each. */
class Play {
  readonly lines: string[] = [];
  private readonly open = new Map<string, Request>();
  private readonly desk: Desk;
  private readonly orderId: string;

  constructor(desk: Desk, orderId: string) {
    this.desk = desk;
    this.orderId = orderId;
  }

  /** Takes the requests of all agents, and has the handler begin or report as soon as it can. */
  async requests(): Promise<void> {
    for (const queue of ['submissions', 'wake-ups']) await this.desk.deliver(queue);
    for (const agent of ['shop', 'helper'])
      for (const message of (await this.desk.take(`${agent}-requests`)) as unknown as readonly (
        | Request
        | { readonly type: 'cancel'; readonly path: string; readonly orderId: string }
      )[]) {
        const name = this.nameOf(message);
        if (message.type === 'cancel') this.lines.push(`-> cancel ${name}`);
        else {
          this.lines.push(`-> ${name} attempt ${message.attempt}`);
          this.open.set(name, message);
        }
      }
    const { processState, suspended, outcome, fault } = await this.desk.state(this.orderId);
    const state = `== ${[processState, suspended ? 'suspended' : '', outcome ?? '', fault?.type ?? ''].filter((word) => word !== '').join(' ')}`;
    if (this.lines.findLast((line) => line.startsWith('==')) !== state) this.lines.push(state);
  }

  private readonly nameOf = ({ orderId, path }: { readonly orderId: string; readonly path: string }): string =>
    orderId === this.orderId ? path : `handler ${path}`;

  async ok(name: string): Promise<void> {
    this.lines.push('', `ok ${name}`);
    await this.answer(name, ok({ lot: 7 }));
  }

  async fails(name: string, type: string): Promise<void> {
    this.lines.push('', `${type} ${name}`);
    await this.answer(name, failed(type));
  }

  /** Fails a step. The message that begins its handler is lost. */
  async failsUnheard(name: string, type: string): Promise<readonly unknown[]> {
    const request = this.open.get(name) ?? assert.fail(`${name} is not requested`);
    await this.desk.answer(request, failed(type), { agent: 'shop' });
    return this.desk.take('submissions');
  }

  /** Answers the last step of a handler. The message to the order is lost. */
  async answersUnheard(name: string): Promise<void> {
    const request = this.open.get(name) ?? assert.fail(`${name} is not requested`);
    await this.desk.answer(request, ok({ lot: 7 }), { agent: 'helper' });
    await this.desk.take('wake-ups');
  }

  private async answer(name: string, result: ReturnType<typeof ok>): Promise<void> {
    const request = this.open.get(name);
    assert.ok(request, `${name} is not requested: ${this.lines.join(' | ')}`);
    await this.desk.answer(request, result, { agent: name.startsWith('handler') ? 'helper' : 'shop' });
    await this.requests();
  }

  async raise(path: string): Promise<void> {
    this.lines.push('', `Broken is raised about ${path}`);
    const report = { kind: 'report', by: 'olga', type: 'Broken', message: 'It broke', path } as const;
    await timePasses(this.desk.clock, this.desk.system.scheduler.instruct(this.orderId, report, { id: `raise ${this.lines.length}` }));
    await this.requests();
  }

  async resubmit(): Promise<void> {
    this.lines.push('', 'a person resubmits it');
    const given = { kind: 'resubmit', by: 'olga', reason: 'seen' } as const;
    await timePasses(this.desk.clock, this.desk.system.scheduler.instruct(this.orderId, given, { id: `resubmit ${this.lines.length}` }));
    await this.requests();
  }
}

/** Lets ten minutes pass, after which a suspended order asks for its handler again. */
async function waitForHandler(desk: Desk): Promise<void> {
  await desk.clock.advance(601_000);
  await timePasses(desk.clock, desk.supervisor.pass());
  await desk.deliver('wake-ups');
}

const file = new URL('handled-exceptions.txt', import.meta.url);
const written = readFileSync(file, 'utf8').split(/^# /m).slice(1);
const updated: string[] = [];

/** Compares what happened with the transcript of this title. `UPDATE_TRANSCRIPTS=1` writes the transcripts. */
function isTranscript(title: string, { lines }: Play): void {
  const text = `${title}\n${lines.join('\n')}\n`;
  updated.push(text);
  if (process.env['UPDATE_TRANSCRIPTS']) return writeFileSync(file, updated.map((each) => `# ${each}`).join('\n'));
  assert.equal(text.trim(), written.find((each) => each.startsWith(`${title}\n`))?.trim());
}

const ready = 'F-138: raised about a step that has not begun';
const atWork = 'F-139: raised about a step at work';

describe('an exception that another order handles', () => {
  for (const [about, path] of [
    [ready, 'order/ship'],
    [atWork, 'order/charge'],
  ] as const) {
    const none = `${about}: control does not return, and the order ends with its handler`;
    test(none, async (context) => {
      const { play } = await handled(context, { control: 'none' });
      await play.raise(path);
      await play.ok('handler order/rescue');
      isTranscript(none, play);
    });

    const again = `${about}: the step is ready again when the handler has completed`;
    test(again, async (context) => {
      const { play } = await handled(context, { control: 'ready' });
      await play.raise(path);
      await play.ok('handler order/rescue');
      await play.ok('order/charge');
      await play.ok('order/ship');
      await play.ok('order/tell');
      isTranscript(again, play);
    });

    const elsewhere = `${about}: the order goes on at another step`;
    test(elsewhere, async (context) => {
      const to = path === 'order/ship' ? 'order/tell' : 'order/ship';
      const { play } = await handled(context, { control: 'resumed', path: to });
      await play.raise(path);
      await play.ok('handler order/rescue');
      await play.ok('order/charge');
      await play.ok(to);
      if (to === 'order/ship') await play.ok('order/tell');
      isTranscript(elsewhere, play);
    });

    const aside = `${about}: the order goes on at once, and the handler runs beside it`;
    test(aside, async (context) => {
      const { play } = await handled(context, { control: 'parallel' });
      await play.raise(path);
      await play.ok('order/charge');
      await play.ok('handler order/rescue');
      await play.ok('order/ship');
      await play.ok('order/tell');
      isTranscript(aside, play);
    });
  }
});

describe('another order handles an exception', () => {
  test('F-127, F-128: the two orders name each other, and the handler gets the exception, the order and its outputs', async (context) => {
    const { desk, orderId, play, handlerId } = await handled(context, { control: 'ready' });
    await play.fails('order/charge', 'Broken');
    const started = (await journalOf(desk, orderId)).find(({ type }) => type === 'HandlerStarted');
    assert.partialDeepStrictEqual(started ?? {}, { exceptionId: exceptionIdOf(orderId, 1), handler: handlerId, workflow: 'rescue' });
    const handler = await desk.store.load(handlerId);
    assert.partialDeepStrictEqual(handler?.order ?? {}, {
      handles: { orderId, seq: 1 },
      body: { orderId, order: { item: 'tea' }, outputs: { reserve: { lot: 7 } }, exception: { type: 'Broken', step: 'order/charge' } },
    });
    assert.partialDeepStrictEqual(await exceptionOf(exceptionIdOf(orderId, 1), desk.store), {
      handling: { by: 'rule', id: 'rescue', control: 'ready' },
    });
    const order = (await journalOf(desk, orderId)).map(({ type }) => type);
    assert.ok(order.indexOf('OrderBlocked') < order.indexOf('HandlerStarted'), 'F-130, F-165: it is stopped first');
    await play.ok('handler order/rescue');
    assert.deepEqual(play.lines.slice(-2), ['-> order/charge attempt 2', '== Processing']);
  });

  test('F-167: a workflow that a person gave to one order handles the exceptions of that order alone, and before all rules', async (context) => {
    const { desk, orderId, play } = await amended(context);
    await play.fails('order/charge', 'Broken');
    await play.ok('handler order/rescue');
    assert.deepEqual(play.lines.slice(-2), ['-> order/charge attempt 2', '== Processing']);
    assert.partialDeepStrictEqual(await exceptionOf(exceptionIdOf(orderId, 1), desk.store), {
      handling: { by: 'rule', id: 'amend:handle', control: 'ready' },
    });
    const other = await submitted(desk, undefined, { key: 'other' });
    const elsewhere = new Play(desk, other);
    await elsewhere.requests();
    await elsewhere.ok('order/reserve');
    await elsewhere.fails('order/charge', 'Broken');
    assert.equal((await desk.state(other)).processState, 'Error');
  });

  test('F-167: a workflow that a person gave to an order handles one exception three times, then a person decides', async (context) => {
    const { desk, orderId, play } = await amended(context);
    for (let times = 0; times < 3; times++) {
      await play.fails('order/charge', 'Broken');
      await play.ok('handler order/rescue');
    }
    await play.fails('order/charge', 'Broken');
    assert.partialDeepStrictEqual(await desk.state(orderId), { processState: 'Error', fault: { type: 'Broken' } });
  });

  test('F-167: a workflow that the app does not have, or not in that version, is refused', async (context) => {
    const { desk, orderId } = await amended(context);
    const handle = [
      { fault: 'Broken', workflow: 'none' },
      { fault: 'Wet', workflow: 'rescue', version: 7 },
    ];
    const refused = await desk.system.scheduler.instruct(orderId, { ...amendment, handle }, { id: 'refused', dryRun: true });
    assert.deepEqual(refused.outcome === 'planned' && refused.check.refusals.map(({ code, pointer }) => [code, pointer]), [
      ['input-invalid', '/handle/0/workflow'],
      ['version-differs', '/handle/1/version'],
    ]);
  });

  test('F-133: a handler that fails leaves the exception to a person, who has the failed step requested again', async (context) => {
    const { desk, orderId, play, handlerId } = await handled(context, { control: 'ready' });
    await play.fails('order/charge', 'Broken');
    await timePasses(desk.clock, desk.system.scheduler.instruct(handlerId, { kind: 'terminate', by: 'olga', reason: 'no' }, { id: 'end' }));
    await play.requests();
    assert.partialDeepStrictEqual(await desk.state(orderId), {
      processState: 'Error',
      suspended: false,
      fault: { type: 'ChildNotCompleted' },
    });
    assert.partialDeepStrictEqual(await taskOf(taskIdOf(orderId, 2), desk.store), {
      state: 'open',
      fault: { class: 'application-failure' },
    });
    await play.resubmit();
    assert.ok(play.lines.includes('-> order/charge attempt 2'), play.lines.join('\n'));
  });

  test('F-133: a handler that cannot begin leaves the exception to a person, with the reason', async (context) => {
    const { desk, orderId, play } = await handled(context, { workflow: 'other' });
    await play.fails('order/charge', 'Broken');
    await play.requests();
    const { fault, processState } = await desk.state(orderId);
    assert.equal(processState, 'Error');
    assert.match(fault?.message ?? '', /The workflow other does not take the exception: .*nothing/);
  });

  test('F-128: a client sees its order, but not the one that handles its exception', async (context) => {
    const { desk, play, handlerId } = await handled(context, { control: 'ready' });
    await play.fails('order/charge', 'Broken');
    assert.notEqual((await desk.store.load(handlerId))?.order.client, 'test');
  });

  test('F-131: a message that comes twice, in either direction, begins no second handler and does not continue the order twice', async (context) => {
    const { desk, orderId, play, handlerId } = await handled(context, { control: 'ready' });
    await play.fails('order/charge', 'Broken');
    await desk.send('submissions', { v: 1, type: 'handle', orderId, seq: 1 });
    await play.ok('handler order/rescue');
    const { rev } = await desk.state(orderId);
    const sentAt = new Date(desk.clock.now()).toISOString();
    const ended = { seq: 1, handler: handlerId, isCompleted: false, message: 'late' };
    await desk.send('wake-ups', { v: 1, type: 'wake-up', orderId, sentAt, handled: ended });
    await play.requests();
    assert.deepEqual([(await desk.state(orderId)).rev, play.lines.filter((line) => line.includes('handler')).length], [rev, 2]);
  });

  test('F-29, F-131: when the record of an order is damaged, the message that begins its handler is dead-lettered with what to do next', async (context) => {
    const { desk, orderId, play } = await handled(context, { control: 'ready' });
    await play.failsUnheard('order/charge', 'Broken');
    desk.database.prepare('UPDATE states SET blob = ?').run('{"half');
    await desk.send('submissions', { v: 1, type: 'handle', orderId, seq: 1 });
    await desk.deliver('submissions');
    const [letter, ...others] = await desk.deadLetter();
    assert.match(
      letter?.reason ?? '',
      /^The record of order \S+ cannot be read: .+ Rebuild that order \(npx redress order rebuild\), then resubmit this message\.$/,
    );
    assert.deepEqual(others, []);
  });

  test('F-131: when the message that begins a handler, or its reply, is lost, the order sends the message again', async (context) => {
    const { desk, orderId, play } = await handled(context, { control: 'ready' });
    const charge = await play.failsUnheard('order/charge', 'Broken');
    assert.equal(charge.length, 1, 'the message that begins the handler');
    await waitForHandler(desk);
    await play.requests();
    await play.answersUnheard('handler order/rescue');
    assert.equal((await desk.state(orderId)).suspended, true);
    await waitForHandler(desk);
    await play.requests();
    assert.deepEqual(play.lines.slice(-2), ['-> order/charge attempt 2', '== Processing']);
    assert.equal(play.lines.filter((line) => line.startsWith('-> handler')).length, 1, 'one handler');
  });

  test('F-133: after a person has resumed the order, nothing changes in it when the order that handles its exception ends', async (context) => {
    const { desk, orderId, play } = await handled(context, { control: 'none' });
    await play.fails('order/charge', 'Broken');
    await timePasses(desk.clock, desk.system.scheduler.instruct(orderId, { kind: 'resume', by: 'olga', reason: 'go' }, { id: 'go' }));
    await play.requests();
    await play.ok('handler order/rescue');
    assert.partialDeepStrictEqual(await desk.state(orderId), { processState: 'Processing', suspended: false });
  });

  test('F-125: an event that is no exception becomes one, and another order handles it', async (context) => {
    const desk = openDesk(context, app);
    const action = { kind: 'handle', workflow: 'rescue', control: 'ready' } as const;
    const late = rule({ id: 'late', event: { kind: 'step-late' }, object: { workflow: 'buy' }, action });
    await desk.system.rules.put(late, { by: 'ada', reason: 'a test', expected: undefined });
    const orderId = await submitted(desk);
    const play = new Play(desk, orderId);
    await play.requests();
    await play.ok('order/reserve');
    await desk.clock.advance(31_000);
    await timePasses(desk.clock, desk.supervisor.pass());
    await desk.deliver('wake-ups');
    await play.requests();
    assert.equal((await desk.state(orderId)).suspended, true);
    assert.partialDeepStrictEqual(await exceptionOf(exceptionIdOf(orderId, 1), desk.store), {
      type: 'EventHandled',
      step: 'order/charge',
      handling: { by: 'rule', id: 'late', control: 'ready' },
    });
    await play.ok('handler order/rescue');
    assert.deepEqual(play.lines.slice(-2), ['-> order/charge attempt 2', '== Processing']);
  });

  test('F-13, F-125: the long wait of a step goes on while another order handles an exception of its order', async (context) => {
    const desk = openDesk(context, patient);
    const action = { kind: 'handle', workflow: 'rescue', control: 'parallel' } as const;
    const old = rule({ id: 'old', event: { kind: 'order-age', afterSeconds: 60 }, object: { workflow: 'buy' }, action });
    await desk.system.rules.put(old, { by: 'ada', reason: 'a test', expected: undefined });
    const orderId = await submitted(desk);
    const play = new Play(desk, orderId);
    await play.requests();
    await play.ok('order/reserve');
    await desk.clock.advance(31_000);
    assert.equal((await timePasses(desk.clock, desk.supervisor.pass())).counted, 1);
    await desk.clock.advance(60_000);
    await timePasses(desk.clock, desk.supervisor.pass());
    await desk.deliver('wake-ups');
    await play.requests();
    assert.equal(play.lines.filter((line) => line.includes('handler')).length, 1, play.lines.join('\n'));
    const { failureCount, nextDueFor } = await desk.state(orderId);
    assert.deepEqual([failureCount, nextDueFor?.kind], [1, 'timer']);
  });
});
