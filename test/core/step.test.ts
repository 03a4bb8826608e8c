import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { requestIdOf } from '#core/data/ids';
import { limits } from '#core/definition/definition';
import { play } from '../support/play.ts';
import { fault, ok, type Run, rejected, startRun, stepMs } from '../support/run.ts';
import { delay, outline, parallel, sequence, step, workflow } from '../support/workflows.ts';

const path = 'order/charge';
const started = (run: Run): Run => {
  run.happen({ type: 'started', stepMs });
  return run;
};
const charging = (): Run => started(startRun(workflow(sequence('order', step('charge'), step('ship')))));

/** Events that may precede the success of a step: each causes one more request. */
const setbacks = {
  expiry: (run: Run) => {
    run.now = run.latestRequest(path).completeBy;
    run.happen({ type: 'expired' });
  },
  crash: (run: Run) => {
    run.epoch += 1;
    run.happen({ type: 'reclaimed' });
  },
  threshold: (run: Run) => {
    run.happen({ type: 'exhausted', path });
    run.happen({ type: 'resubmitted' });
  },
  'transient failure': (run: Run) => {
    run.reply(path, fault('Busy', { permanent: false }));
    setbacks.expiry(run);
  },
  'unknown outcome': (run: Run) => {
    run.reply(path, fault('InvalidReply', { unknown: true }));
    run.happen({ type: 'resubmitted' });
  },
  'output too large': (run: Run) => {
    run.reply(path, ok('x'.repeat(limits.outputBytesMax)));
    run.happen({ type: 'resubmitted' });
  },
  refusal: (run: Run) => {
    run.reply(path, fault('CardDeclined'));
    run.happen({ type: 'resubmitted' });
  },
  rejection: (run: Run) => {
    run.reply(path, rejected);
    run.happen({ type: 'resubmitted' });
  },
  'refusal while held': (run: Run) => {
    run.happen({ type: 'exhausted', path });
    run.reply(path, fault('CardDeclined'));
    run.happen({ type: 'resubmitted' });
  },
  'unknown outcome while held': (run: Run) => {
    run.happen({ type: 'exhausted', path });
    run.reply(path, fault('InvalidReply', { unknown: true }));
    run.happen({ type: 'resubmitted' });
  },
  'transient failure while held': (run: Run) => {
    run.happen({ type: 'exhausted', path });
    run.reply(path, fault('Busy', { permanent: false }));
    run.happen({ type: 'resubmitted' });
  },
} satisfies { [setback: string]: (run: Run) => void };

type Setback = keyof typeof setbacks;
const definite = new Set<Setback>(['refusal', 'rejection', 'refusal while held']);

test('F-44: a step keeps its idempotency key over attempts, resets and resubmissions, and gets a new one after a definite refusal', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...(Object.keys(setbacks) as Setback[])), { maxLength: 12 }), (befalls) => {
      const run = charging();
      for (const [index, setback] of befalls.entries()) {
        setbacks[setback](run);
        const refusals = befalls.slice(0, index + 1).filter((each) => definite.has(each)).length;
        assert.equal(run.latestRequest(path).idempotencyKey, `o1/${path}/${1 + refusals}`, `after ${setback}`);
        assert.equal(run.latestRequest(path).attempt, index + 2);
      }
      run.reply(path, ok());
      assert.equal(run.latestRequest('order/ship').idempotencyKey, 'o1/order/ship/1');
    }),
  );
});

test('F-44: every attempt has a new request id', () => {
  const run = charging();
  for (const setback of Object.values(setbacks)) setback(run);
  assert.equal(new Set(run.requests.map(({ requestId }) => requestId)).size, Object.keys(setbacks).length + 1);
});

test('F-42: a reply with a request id that this order has not issued changes nothing', () => {
  const run = charging();
  const { state } = run;
  const right = run.latestRequest(path).requestId;
  const wrong = [
    '',
    'o1',
    'o1/',
    right.slice(0, -1),
    `${right}0`,
    right.replace('o1/', 'o2/'),
    right.replace(path, 'order'),
    right.replace(path, 'order/nope'),
    right.replace(path, 'order/ship'),
  ];
  const hostile = ['constructor', '__proto__', 'toString', 'order/constructor', 'order/charge/../charge', 'order[0]/charge'].map((each) =>
    right.replace(path, each),
  );
  for (const requestId of [...wrong, ...hostile]) {
    run.happen({ type: 'replied', requestId, sentAt: run.now, reply: ok() });
    run.happen({ type: 'heartbeat', requestId, completeBy: run.now + 60_000 });
    assert.deepEqual(run.state, state, JSON.stringify(requestId));
  }
});

test('F-42: a reply for a path that is not a step, or has not begun, changes nothing', () => {
  const run = startRun(
    workflow(
      parallel('order', delay('wrong', { $cel: 'order.nope' }), delay('pause', 60), step('charge', { input: { $cel: 'order.nope' } })),
    ),
  );
  run.happen({ type: 'started', stepMs });
  const { state } = run;
  for (const path of ['order', 'order/wrong', 'order/pause', 'order/charge']) {
    const requestId = requestIdOf('o1', path, { generation: 1, epoch: 1, attempt: 1 });
    run.happen({ type: 'replied', requestId, sentAt: run.now, reply: ok() });
    run.happen({ type: 'heartbeat', requestId, completeBy: run.now + 60_000 });
    assert.deepEqual(run.state, state, path);
  }
});

test("F-33: a step has its own time limit or the system's, but never more than the order has left", () => {
  play(
    outline(`
    workflow completeWithin 100s
      parallel
        plain by agent
        short by agent within 7s
        long by agent within 3000s
  `),
    `
    start
    -> agent order/plain key order/plain/1 attempt 1
    -> agent order/short key order/short/1 attempt 1 by +7s
    -> agent order/long key order/long/1 attempt 1 by +100s

    after 99s

    expire
    -> agent order/plain key order/plain/1 attempt 2 by +1s
    -> agent order/short key order/short/1 attempt 2 by +1s

    after 1s

    # The first that is to be asked after the time of the order holds it; the others wait with it.
    expire
    == blocked order/plain Engine/DeadlineExceeded
  `,
  );
});

test('F-33: a heartbeat cannot extend a step beyond the time limit of the order', () => {
  play(
    outline(`
    workflow completeWithin 60s
      press by press within 20s longest 600s
  `),
    `
    start
    -> press order key order/1 attempt 1 by +20s

    after 15s

    heartbeat order 600s

    after 44s

    expire

    after 1s

    expire
    == blocked order Engine/DeadlineExceeded
  `,
  );
});

test('F-52: when one step expires, its siblings continue undisturbed', () => {
  play(
    outline(`
    workflow
      parallel
        slow by agent within 10s
        other by agent within 60s
  `),
    `
    start
    -> agent order/slow key order/slow/1 attempt 1 by +10s
    -> agent order/other key order/other/1 attempt 1 by +60s

    after 10s

    expire
    -> agent order/slow key order/slow/1 attempt 2 by +10s

    ok order/other

    ok order/slow
    == closed
  `,
  );
});

test('S23: an output of exactly the maximum size is kept; with one byte more, the step has a fault and an unknown outcome', () => {
  const overhead = JSON.stringify('').length;
  const largest = 'x'.repeat(limits.outputBytesMax - overhead);
  const kept = charging();
  kept.reply(path, ok(largest));
  assert.equal(kept.state.phase, 'running');

  const tooLarge = charging();
  tooLarge.reply(path, ok(`${largest}x`));
  assert.equal(tooLarge.state.blocked?.fault.type, 'Engine/OutputTooLarge');
  assert.equal(tooLarge.state.blocked?.fault.outcomeUnknown, true);

  const inBytes = charging();
  inBytes.reply(path, ok('é'.repeat(limits.outputBytesMax / 2)));
  assert.equal(inBytes.state.blocked?.fault.type, 'Engine/OutputTooLarge');
});

test('an output is kept in the state only if a later expression reads it', () => {
  const reads = (expression: string) =>
    workflow(sequence('order', step('charge'), step('ship', { input: { paid: { $cel: expression } } })));
  for (const expression of [
    'steps.charge.id',
    'steps["charge"].id',
    'has(steps.charge.id)',
    'orElse(steps.?charge.?id, "")',
    'steps.charge["id"]',
  ]) {
    const run = started(startRun(reads(expression)));
    run.reply(path, ok({ id: 'c1' }));
    assert.deepEqual(run.state.outputs, { [path]: { id: 'c1' } }, expression);
    assert.notDeepEqual(run.latestRequest('order/ship').input, {}, expression);
  }
  const run = started(startRun(reads('orderId')));
  run.reply(path, ok({ id: 'c1' }));
  assert.deepEqual(run.state.outputs, {});
});

test('F-105: an output is dropped as soon as no expression can read it any more, and not before', () => {
  const run = started(
    startRun(
      outline(`
    workflow
      sequence
        quote by agent
        retry 1 every 0s even permanent
          sequence body
            hotel by agent with {"$cel": "steps.quote"}
            flight by agent with {"$cel": "steps.hotel"}
        parallel both
          left by agent with {"$cel": "steps.quote"}
          right by agent with {"$cel": "steps.flight"}
        for each parts of [1, 2] at most 1
          sequence part
            price by agent
            book by agent with {"$cel": "steps.price"}
        last by agent
  `),
    ),
  );
  const kept = (name: string, reply = ok(name)): readonly string[] => {
    run.reply(name, reply);
    return Object.keys(run.state.outputs).map((each) => each.slice(each.lastIndexOf('/') + 1));
  };
  assert.deepEqual(kept('order/quote'), ['quote']);
  assert.deepEqual(kept('order/retry/body/hotel'), ['quote', 'hotel']);
  assert.deepEqual(kept('order/retry/body/flight', fault('Full')), ['quote', 'hotel'], 'the next run reads it again');
  assert.deepEqual(kept('order/retry/body/flight'), ['quote', 'flight'], 'its only reader is done');
  assert.deepEqual(kept('order/both/left'), ['quote', 'flight'], 'branches continue in parallel');
  assert.deepEqual(kept('order/both/right'), []);
  assert.deepEqual(kept('order/parts[0]/part/price'), ['price']);
  assert.deepEqual(kept('order/parts[0]/part/book'), []);
  assert.deepEqual(kept('order/parts[1]/part/price'), ['price']);
  assert.deepEqual(kept('order/parts[1]/part/book'), []);
});

test('F-51: an order that is moved to Error from outside is blocked with the given fault', () => {
  const given = { type: 'InvariantViolated', class: 'basic-failure', permanent: true, message: 'It would be nonsense.' } as const;
  const run = charging();
  run.happen({ type: 'exhausted', fault: given });
  assert.deepEqual(run.state.blocked, { path, fault: { ...given, source: path }, at: run.now });
});

test('F-32: the journal records each request of a step, its temporary failures and its result', () => {
  const run = charging();
  run.reply(path, fault('Busy', { permanent: false }));
  setbacks.expiry(run);
  run.reply(path, ok({ id: 'c1' }));
  const said = run.turns.flatMap(({ facts }) => facts).flatMap((fact) => ('path' in fact && fact.path === path ? [fact.type] : []));
  assert.deepEqual(said, ['StepRequested', 'AttemptFailed', 'StepRequested', 'ActivityClosed']);
  const closed = run.turns.flatMap(({ facts }) => facts).find((fact) => fact.type === 'ActivityClosed');
  assert.deepEqual(closed?.output, { id: 'c1' });
});
