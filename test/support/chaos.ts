import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { StepState } from '../../lib/core/activities/step.ts';
import type { AskCommand } from '../../lib/core/command.ts';
import { nodeAt } from '../../lib/core/program.ts';
import { type Run, stepMs } from './run.ts';
import { type Mood, moods, type Service } from './service.ts';
import { faultTypes } from './shapes.ts';

/** An order among agents: what may befall it, and how it comes to its end. */
export interface World {
  readonly run: Run;
  readonly service: Service;
}

export type Happens = readonly [what: number, size: number];
type Misfortune = (world: World, size: number) => void;

const choose = <T>(from: readonly T[], size: number): T | undefined => from[size % Math.max(1, from.length)];

const liveAsks = ({ run }: World): readonly AskCommand[] =>
  Object.entries(run.state.activities).flatMap(([path, { own }]) => {
    const isAsked = nodeAt(run.program, path).activity === 'step' && (own as StepState | undefined)?.phase === 'asked';
    const ask = isAsked ? run.asks.findLast((each) => each.path === path) : undefined;
    return ask ? [ask] : [];
  });

function answer({ run, service }: World, ask: AskCommand | undefined, mood: Mood, size = 0): void {
  const reply = ask && service.answer(ask, mood, faultTypes[size % faultTypes.length]);
  if (ask && reply) run.reply(ask.path, reply, { ask });
}

const answers = moods.map(
  (mood): Misfortune =>
    (world, size) =>
      answer(world, choose(liveAsks(world), size), mood, size),
);

const misfortunes: readonly Misfortune[] = [
  ...answers,
  ...answers,
  // Most askings go well, and most orders go on.
  ...Array.from({ length: 8 }, (): Misfortune => (world, size) => answer(world, choose(liveAsks(world), size), 'does')),
  // An agent takes up an asking of any age, and its answer comes late.
  (world, size) => answer(world, choose(world.run.asks, size), 'does'),
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
  ({ run }) => run.happen({ type: 'resubmitted' }),
  ({ run }, size) => {
    if (size % 10 === 0) run.happen({ type: 'cancelled', outcome: 'cancelled' });
  },
  ({ run }, size) => {
    if (size % 10 === 0) run.happen({ type: 'cancelled', outcome: 'compensated' });
  },
  ({ run }, size) => {
    if (size % 60 === 0) run.happen({ type: 'terminated' });
  },
  ({ run }, size) => {
    const ask = choose(run.asks, size);
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

/** From now on every request is answered, time passes, and a person resubmits what is held, or at last gives it up. */
export function goWell(world: World): void {
  const { run } = world;
  let heldTurns = 0;
  for (let turn = 0; run.state.phase !== 'closed'; turn++) {
    assert.ok(turn < 400, `the order comes to no end: ${JSON.stringify(run.state)}`);
    if (run.state.held) heldTurns += 1;
    if (run.state.held && heldTurns > 12 && !run.state.ending) run.happen({ type: 'cancelled', outcome: 'cancelled' });
    else if (run.state.held) run.happen({ type: 'resubmitted' });
    for (const ask of liveAsks(world)) answer(world, ask, 'does');
    run.now += 45_000;
    run.happen({ type: 'woken' });
    run.happen({ type: 'expired' });
    if (turn % 50 === 49) run.now += 3_600_000;
  }
}

/** S11: what was done is what was undone, key by key, where an order was ended as a whole; and nothing else was undone at all. */
export function checkEffects({ run, service }: World): void {
  const { state, program } = run;
  const keys = [...service.applied.keys()];
  const undoOf = (key: string): string => key.replace(/\/(\d+)$/, '/undo/$1');
  const isUndo = (key: string): boolean => /\/undo\/\d+$/.test(key);
  const known = new Set(keys);
  for (const key of keys) {
    const { path = '', input } = service.applied.get(key) ?? {};
    const node = nodeAt(program, path);
    if (isUndo(key)) {
      const did = key.replace(/\/undo\/(\d+)$/, '/$1');
      assert.ok(known.has(did), `${key} was undone, though ${did} was never done`);
      assert.deepEqual(input, { of: did }, 'an undo is asked with what its step answered');
    } else if (state.ending && state.outcome !== 'terminated' && node.activity === 'step' && node.undo) {
      assert.ok(known.has(undoOf(key)), `${key} was done, and the order ended ${state.outcome}, but it was not undone`);
    }
  }
}
