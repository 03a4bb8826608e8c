import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import type { StepState } from '#core/data/step-state';
import type { Activity } from '#core/definition/definition';
import { nodeAt } from '#core/definition/program';
import { fault, ok, type Run, rejected, startRun, stepMs } from '../support/run.ts';
import { delay, listOf, parallel, sequence, step, workflow } from '../support/workflows.ts';

/** Random trees of sequences, parallels, delays and steps. Siblings are named by their position. */
type Shape = { kind: 'step'; within?: number } | { kind: 'delay'; seconds: number } | { kind: 'sequence' | 'parallel'; children: Shape[] };

const childrenOf = (shape: fc.Arbitrary<Shape>, minLength: number) =>
  fc.record({ kind: fc.constantFrom('sequence', 'parallel'), children: fc.array(shape, { minLength, maxLength: 4, size: 'max' }) });

const { root: shape } = fc.letrec<{ shape: Shape; composite: Shape; root: Shape }>((tie) => ({
  shape: fc.oneof(
    { maxDepth: 4 },
    {
      weight: 3,
      arbitrary: fc.record({ kind: fc.constant('step' as const), within: fc.integer({ min: 1, max: 90 }) }, { requiredKeys: ['kind'] }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('delay' as const), seconds: fc.integer({ min: 0, max: 90 }) }) },
    { weight: 4, arbitrary: tie('composite') },
  ),
  composite: childrenOf(tie('shape'), 0),
  root: childrenOf(tie('shape'), 2),
}));

const activityOf = (shape: Shape, name: string): Activity => {
  if (shape.kind === 'step') return step(name, shape.within === undefined ? {} : { completeWithinSeconds: shape.within });
  if (shape.kind === 'delay') return delay(name, shape.seconds);
  const children = shape.children.map((child, index) => activityOf(child, `${child.kind}-${index}`));
  return shape.kind === 'sequence' ? sequence(name, ...children) : parallel(name, ...children);
};

const phaseOf = (run: Run, path: string): string | undefined => (run.state.activities[path]?.local as StepState | undefined)?.phase;
const liveSteps = (run: Run): string[] => Object.keys(run.state.activities).filter((path) => nodeAt(run.program, path).activity === 'step');

/** Events that may happen to an order and its steps: every law in `run.ts` must survive each of them. */
const misfortunes: readonly ((run: Run, choose: <T>(from: readonly T[]) => T | undefined, size: number) => void)[] = [
  (run, choose) => answer(run, choose(run.requests)?.path, ok()),
  (run, choose) => answer(run, choose(liveSteps(run)), ok()),
  (run, choose) => answer(run, choose(liveSteps(run)), fault('Busy', { permanent: false })),
  (run, choose) => answer(run, choose(liveSteps(run)), fault('Refused')),
  (run, choose) => answer(run, choose(liveSteps(run)), fault('InvalidReply', { unknown: true })),
  (run, choose) => answer(run, choose(liveSteps(run)), rejected),
  // A message of any age is redelivered.
  (run, choose) => {
    const ask = choose(run.requests);
    if (ask) run.reply(ask.path, ok(), { ask });
  },
  (run, _, size) => {
    run.now += size * 1000;
    run.happen({ type: 'woken' });
  },
  (run) => run.happen({ type: 'woken' }),
  (run) => run.happen({ type: 'expired' }),
  (run) => {
    run.epoch += 1;
    run.happen({ type: 'reclaimed' });
  },
  (run, choose) => {
    const path = choose(liveSteps(run));
    run.happen({ type: 'exhausted', ...(path ? { path } : {}) });
  },
  (run) => run.happen({ type: 'resubmitted' }),
  (run) => run.happen({ type: 'resubmitted' }),
  (run) => run.happen({ type: 'started', stepMs }),
];

function answer(run: Run, path: string | undefined, reply: Parameters<Run['reply']>[1]): void {
  if (path !== undefined && run.requests.some((ask) => ask.path === path)) run.reply(path, reply);
}

const chaos = fc.array(fc.tuple(fc.nat(misfortunes.length - 1), fc.nat(120)), { maxLength: 60, size: 'max' });

function suffer(run: Run, events: readonly (readonly [number, number])[]): void {
  for (const [which, size] of events) misfortunes[which]?.(run, (from) => from[size % Math.max(1, from.length)], size);
}

/** From now on all agents answer, time passes, and a person resubmits blocked orders: the order must reach its end. */
function goWell(run: Run): void {
  for (let turn = 0; run.state.phase !== 'closed'; turn++) {
    assert.ok(turn < 500, `the order does not end: ${JSON.stringify(run.state)}`);
    if (run.state.blocked) run.happen({ type: 'resubmitted' });
    for (const path of liveSteps(run)) if (phaseOf(run, path) === 'requested') run.reply(path, ok());
    run.now += 90_000;
    run.happen({ type: 'woken' });
    run.happen({ type: 'expired' });
  }
}

/** First and last turn of an activity in the history. */
function spansOf(run: Run): ReadonlyMap<string, { start: number; end: number }> {
  const spans = new Map<string, { start: number; end: number }>();
  let place = 0;
  for (const { facts } of run.turns) {
    for (const fact of facts) {
      place += 1;
      if ((fact.type === 'ActivityStarted' || fact.type === 'StepRequested') && !spans.has(fact.path))
        spans.set(fact.path, { start: place, end: Infinity });
      if (fact.type === 'ActivityClosed') spans.set(fact.path, { start: spans.get(fact.path)?.start ?? Number.NaN, end: place });
    }
  }
  return spans;
}

function assertInOrder(run: Run): void {
  const spans = spansOf(run);
  const spanOf = (path: string) => spans.get(path) ?? assert.fail(`${path} is not in the history`);
  for (const [path, node] of run.program.nodes) {
    if (node.activity !== 'sequence') continue;
    let before = spanOf(path).start;
    for (const { name } of node.children) {
      const { start, end } = spanOf(`${path}/${name}`);
      assert.ok(start > before, `${path}/${name} starts after its elder sibling is closed`);
      before = end;
    }
    assert.ok(spanOf(path).end > before, `${path} is closed after its last child`);
  }
}

const started = (shape: Shape): Run => {
  const run = startRun(workflow(activityOf(shape, 'order')));
  run.happen({ type: 'started', stepMs });
  return run;
};

test('F-31, F-86: the history of an order follows its definition, whatever its events, and the order reaches its end', () => {
  fc.assert(
    fc.property(shape, chaos, (shape, events) => {
      const run = started(shape);
      suffer(run, events);
      goWell(run);
      assertInOrder(run);
    }),
    { numRuns: 1000 },
  );
});

test('F-31, F-46: steps are requested in the order of the definition, and all branches of a parallel in one turn', () => {
  fc.assert(
    fc.property(shape, (shape) => {
      const run = started(shape);
      goWell(run);
      const turnOf = (path: string) => run.turns.findIndex(({ facts }) => facts.some((fact) => 'path' in fact && fact.path === path));
      for (const [path, node] of run.program.nodes) {
        if (node.activity !== 'parallel') continue;
        for (const { name } of node.children) assert.equal(turnOf(`${path}/${name}`), turnOf(path), `${path}/${name} waits for no sibling`);
      }
      const firstRequested = [...new Set(run.requests.map(({ path }) => path))];
      const defined = [...run.program.nodes.keys()].filter((path) => nodeAt(run.program, path).activity === 'step');
      const hasParallel = [...run.program.nodes.values()].some(({ activity }) => activity === 'parallel');
      if (hasParallel) assert.deepEqual(firstRequested.toSorted(), defined.toSorted());
      else assert.deepEqual(firstRequested, defined);
    }),
    { numRuns: 1000 },
  );
});

test('F-46: independent steps overlap: all are requested before any of them is answered', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 200 }), (width) => {
      const run = startRun(workflow(parallel('order', ...Array.from({ length: width }, (_, index) => step(`step-${index}`)))));
      const { commands } = run.happen({ type: 'started', stepMs });
      assert.equal(commands.length, width);
    }),
    { numRuns: 20 },
  );
});

test('F-89: a wait ends once, and never before its time, even if the order is woken many times before', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 90 }), { minLength: 1, maxLength: 5 }),
      fc.array(fc.integer({ min: 0, max: 40_000 })),
      (waits, naps) => {
        const run = startRun(workflow(sequence('order', ...waits.map((seconds, index) => delay(`delay-${index}`, seconds)))));
        run.happen({ type: 'started', stepMs });
        for (const nap of naps) {
          run.now += nap;
          run.happen({ type: 'woken' });
        }
        goWell(run);
        for (const [index, seconds] of waits.entries()) {
          const [start, ...more] = run.turns.filter(({ facts }) =>
            facts.some((fact) => fact.type === 'ActivityStarted' && fact.path === `order/delay-${index}`),
          );
          const [end, ...again] = run.turns.filter(({ facts }) =>
            facts.some((fact) => fact.type === 'ActivityClosed' && fact.path === `order/delay-${index}`),
          );
          assert.ok(start && end && end.at - start.at >= seconds * 1000);
          assert.deepEqual([...more, ...again], []);
        }
      },
    ),
  );
});

test('F-31: an order of ten thousand local steps ends without deep recursion', () => {
  const run = startRun(workflow(sequence('order', ...listOf(9990, (index) => delay(`d${index}`, 0)), step('last'))));
  run.happen({ type: 'started', stepMs });
  run.reply('order/last', ok());
  assert.equal(run.state.phase, 'closed');
});

test('F-28, F-89: a host that claims an order again finds the waits that are due', () => {
  const run = startRun(workflow(sequence('order', delay('pause', 60), step('ship'))));
  run.happen({ type: 'started', stepMs });
  for (const seconds of [59, 1]) {
    run.now += seconds * 1000;
    run.epoch += 1;
    run.happen({ type: 'reclaimed' });
    assert.equal(run.requests.length, seconds === 1 ? 1 : 0);
  }
});
