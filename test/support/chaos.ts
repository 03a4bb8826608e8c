import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { RequestCommand } from '#core/data/command';
import type { StepState } from '#core/data/step-state';
import { isRemote } from '#core/definition/definition';
import { nodeAt, parentOf } from '#core/definition/program';
import { isInside } from './laws.ts';
import { type Run, stepMs } from './run.ts';
import { looksUp, type Mood, moods, Service } from './service.ts';
import { faultTypes, signals } from './shapes.ts';

/** An order among agents: the events that may happen to it, and how it reaches its end. */
export interface World {
  readonly run: Run;
  readonly service: Service;
  /** Steps that a person has marked as compensated. */
  readonly marked: Set<string>;
  /** Number of signals so far: each has its number as its payload. */
  signals: number;
}

export const worldOf = (run: Run): World => ({ run, service: new Service(), marked: new Set(), signals: 0 });

export type Happens = readonly [what: number, size: number];
type Misfortune = (world: World, size: number) => void;

const choose = <T>(from: readonly T[], size: number): T | undefined => from[size % Math.max(1, from.length)];

const openRequests = ({ run }: World): readonly RequestCommand[] =>
  Object.entries(run.state.activities).flatMap(([path, { local: own }]) => {
    const isRequested = isRemote(nodeAt(run.program, path)) && (own as StepState | undefined)?.phase === 'requested';
    const ask = isRequested ? run.requests.findLast((each) => each.path === path) : undefined;
    return ask ? [ask] : [];
  });

function answer({ run, service }: World, ask: RequestCommand | undefined, mood: Mood, size = 0): void {
  const reply = ask && service.answer(ask, mood, faultTypes[size % faultTypes.length]);
  if (ask && reply) run.reply(ask.path, reply, { ask });
}

function signal(world: World, name: string): void {
  world.signals += 1;
  world.run.happen({ type: 'signaled', name, payload: world.signals });
}

/** Marks an undo, or a step of unknown outcome, as a person would. */
export function mark({ run, marked }: World, at: string | undefined): void {
  if (at === undefined) return;
  const path = at.endsWith('/undo') ? at.slice(0, -'/undo'.length) : at;
  const { facts } = run.happen({ type: 'markedCompensated', path });
  if (facts.some((fact) => fact.type === 'MarkedCompensated')) marked.add(path);
}

const answers = moods.map(
  (mood): Misfortune =>
    (world, size) =>
      answer(world, choose(openRequests(world), size), mood, size),
);

const misfortunes: readonly Misfortune[] = [
  ...answers,
  ...answers,
  // Most requests succeed, and most orders continue.
  ...Array.from({ length: 8 }, (): Misfortune => (world, size) => answer(world, choose(openRequests(world), size), 'does')),
  // An agent handles a request of any age, and its reply is late. An agent with a lookup respects its time limit.
  (world, size) => {
    const ask = choose(world.run.requests, size);
    if (ask && !(looksUp(ask) && world.run.now >= ask.completeBy)) answer(world, ask, 'does');
  },
  (world, size) => signal(world, signals[size % 2] ?? ''),
  (world, size) => mark(world, choose(Object.keys(world.run.state.activities), size)),
  ({ run }, size) => {
    run.now += size * 500;
    run.happen({ type: 'woken' });
  },
  ({ run }, size) => {
    run.now += size * 500;
    run.happen({ type: 'woken' });
  },
  ({ run }) => run.happen({ type: 'expired' }),
  ({ run }, size) => {
    const path = choose(Object.keys(run.state.activities), size);
    if (path) run.happen({ type: 'overdue', path });
  },
  ({ run }, size) => {
    run.now += stepMs;
    for (const path of Object.keys(run.state.activities)) if (size % 3 > 0) run.happen({ type: 'overdue', path });
  },
  ({ run }) => {
    run.epoch += 1;
    run.happen({ type: 'reclaimed' });
  },
  ({ run }, size) => {
    const path = choose(Object.keys(run.state.activities), size);
    if (size % 3 === 0) run.happen({ type: 'exhausted', ...(path ? { path } : {}) });
  },
  ({ run }, size) => run.happen({ type: 'resubmitted', answer: size }),
  ({ run }, size) => {
    if (size % 10 === 0) run.happen({ type: 'canceled', outcome: 'canceled' });
  },
  ({ run }, size) => {
    if (size % 10 === 0) run.happen({ type: 'canceled', outcome: 'compensated' });
  },
  // The caller compensates the order, or tries to.
  ({ run }) => run.happen({ type: 'compensatedByCaller' }),
  ({ run }, size) => {
    if (size % 60 === 0) run.happen({ type: 'terminated' });
  },
  ({ run }, size) => {
    const ask = choose(run.requests, size);
    if (ask) run.happen({ type: 'heartbeat', requestId: ask.requestId, completeBy: run.now + size * 1000 });
  },
];

export const events: fc.Arbitrary<readonly Happens[]> = fc.array(fc.tuple(fc.nat(misfortunes.length - 1), fc.nat(240)), {
  maxLength: 70,
  size: 'max',
});

export function suffer(world: World, happen: readonly Happens[]): void {
  for (const [what, size] of happen) misfortunes[what]?.(world, size);
}

/**
 * From now on every request is answered, time passes, and a person resubmits a blocked order, or finally cancels it.
 */
export function goWell(world: World): void {
  const { run } = world;
  let blockedTurns = 0;
  for (let turn = 0; run.state.phase !== 'closed'; turn++) {
    assert.ok(turn < 400, `the order does not end: ${JSON.stringify(run.state)}`);
    if (run.state.blocked) blockedTurns += 1;
    if (run.state.blocked && blockedTurns > 20 && !run.state.ending) run.happen({ type: 'canceled', outcome: 'canceled' });
    else if (run.state.blocked) run.happen({ type: 'resubmitted', answer: turn });
    for (const ask of openRequests(world)) answer(world, ask, 'does');
    for (const [path, { local: own }] of Object.entries(run.state.activities)) {
      const node = nodeAt(run.program, path);
      if (node.activity === 'waitFor' && run.state.activities[path]) signal(world, node.signal);
      if ((own as StepState | undefined)?.phase === 'impossible') mark(world, path);
    }
    run.now += 45_000;
    run.happen({ type: 'woken' });
    run.happen({ type: 'expired' });
    if (turn % 50 === 49) run.now += 3_600_000;
  }
}

/** S11: if an order ended as a whole, exactly its effects were undone, key by key. No other effect was ever undone. */
export function checkEffects({ run, service, marked }: World): void {
  const { program } = run;
  const keys = [...service.applied.keys()];
  const known = new Set(keys);
  for (const key of keys) {
    const { path = '', input } = service.applied.get(key) ?? {};
    const node = nodeAt(program, path);
    const isWhole = path.endsWith('/undo') && !isRemote(nodeAt(program, path.slice(0, -'/undo'.length)));
    if (path.endsWith('/undo') && !isWhole) {
      const did = key.replace(/\/undo\/(\d+)$/, '/$1');
      assert.ok(known.has(did), `${key} was undone, although ${did} was never done`);
      assert.equal((input as { of?: string }).of, did, 'the input of an undo is the output of its step');
    } else if (run.wasEnded && node.undo && !isSeenTo(marked, path)) {
      assert.ok(isUndone(run, known, key, path), `${key} was done, and the order ended ${run.state.outcome}, but it was not undone`);
    }
  }
}

/** Whether a person has marked the step or a composite around it. */
export const isSeenTo = (marked: ReadonlySet<string>, path: string): boolean =>
  [...marked].some((each) => path === each || isInside(path, each));

/** Whether its own undo ran, or the undo of a composite around it. */
export function isUndone({ program, orderId }: Run, known: ReadonlySet<string>, key: string, path: string): boolean {
  if (known.has(key.replace(/\/(\d+)$/, '/undo/$1'))) return true;
  for (let around = parentOf(path); around !== undefined; around = parentOf(around))
    if (nodeAt(program, around).undo && [...known].some((each) => each.startsWith(`${orderId}/${around}/undo/`))) return true;
  return false;
}
