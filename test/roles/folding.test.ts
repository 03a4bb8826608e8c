import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { State } from '#core/data/state';
import { mostLate } from '#core/engine/lateness';
import type { ProcessState } from '#ports/records';
import { folded } from '#roles/repair/fold';
import { timesOf } from '#roles/scheduler/deadlines';
import { addFacts, applyEvent, newDraft } from '#roles/scheduler/draft';
import { type Instance, newInstance, newRecord, type StoredEntry } from '#roles/scheduler/instance';
import { journalVersion, shownLine } from '#roles/scheduler/recorded-events';
import type { Loaded } from '#roles/scheduler/types';
import { events, goWell, type Happens, suffer, type World, worldOf } from '../support/chaos.ts';
import { type Run, startRun, stepMs } from '../support/run.ts';
import { definitionOf, roots, type Shape } from '../support/shapes.ts';

/** `REBUILD_ORDERS=5000` tries so many random orders. */
const { REBUILD_ORDERS: orders = '60' } = process.env;
const settings = { hostId: 'h', announceProcessed: false, clockToleranceMs: 0, isValidOutput: () => true, isValidInput: () => true };

/** Returns the order of a run, with the journal that the scheduler writes for its events. */
function storedFrom({ program, orderId, turns }: Run): Loaded {
  const { name, version } = program.definition;
  const order = { orderId, client: 'c', submittedAt: 0, workflow: { name, version }, body: {}, hash: '', answer: '' };
  const record = newRecord(order, program.definition, { stepMs, maxFailures: 3, hash: '' });
  let loaded: Loaded = { program, order, record, instance: newInstance };
  const submitted = [{ type: 'OrderSubmitted', workflow: `${name}@${version}`, v: journalVersion }] as const;
  loaded = { ...loaded, instance: addFacts(newDraft(loaded, 0, settings), submitted).instance };
  for (const { at, event } of turns) {
    const isClaimed = loaded.record.epoch === event.epoch;
    const claimed = isClaimed ? loaded : { ...loaded, record: { ...loaded.record, epoch: event.epoch } };
    const draft = addFacts(newDraft(claimed, at, settings), isClaimed ? [] : [{ type: 'OrderClaimed', epoch: event.epoch }]);
    const { at: _, epoch: __, ...content } = event;
    loaded = { ...claimed, instance: applyEvent(draft, content).instance };
  }
  return { ...loaded, record: { ...loaded.record, ...attributesOf(loaded) } };
}

const states: { readonly [phase in State['phase']]: ProcessState } = {
  initialized: 'Pending',
  running: 'Processing',
  suspended: 'Processing',
  blocked: 'Error',
  closed: 'Processed',
};

const attributesOf = ({ program, instance: { state } }: Loaded) => ({
  ...timesOf(program, state),
  failureCount: mostLate(program, state),
  processState: states[state.phase],
});

function rebuilt(stored: Loaded, lines: readonly StoredEntry[] = stored.instance.tail): Instance {
  const result = folded(stored, lines);
  assert.ok(result.ok, result.ok ? '' : result.reason);
  return result.instance;
}

const throughJson = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;
const begun = (shape: Shape, undoPage: number | undefined): World => {
  const world = worldOf(startRun(definitionOf(shape), { undoPage }));
  world.run.happen({ type: 'started', stepMs });
  return world;
};

/** Lets an order suffer; after the given part of its events its state is lost and rebuilt, if `isLost`. Returns everything that happened. */
function lived(shape: Shape, happen: readonly Happens[], { part, undoPage }: Lost, isLost: boolean): World {
  const world = begun(shape, undoPage);
  const { run } = world;
  const at = Math.floor(part * happen.length);
  suffer(world, happen.slice(0, at));
  if (isLost) run.state = rebuilt(storedFrom(run)).state;
  suffer(world, happen.slice(at));
  goWell(world);
  return world;
}

interface Lost {
  readonly part: number;
  readonly undoPage: number | undefined;
}

const lost: fc.Arbitrary<Lost> = fc.record({
  part: fc.double({ min: 0, max: 1, noNaN: true }),
  undoPage: fc.option(fc.constant(200), { nil: undefined }),
});

describe('F-160: an instance that is rebuilt from the journal', () => {
  test('an order of any shape whose state is lost at any moment has the same requests and the same end as without the loss', () => {
    fc.assert(
      fc.property(roots, events, lost, (shape, happen, when) => {
        const [one, other] = [lived(shape, happen, when, false), lived(shape, happen, when, true)];
        assert.deepEqual(throughJson(other.run.turns), throughJson(one.run.turns));
        assert.deepEqual(throughJson(other.run.requests), throughJson(one.run.requests));
        assert.equal(other.run.state.outcome, one.run.state.outcome);
      }),
      { numRuns: Number(orders) },
    );
  });

  test('a journal of an older release rebuilds the same state, or is refused with the line that says too little', () => {
    const counts = { rebuilt: 0, refused: 0 };
    fc.assert(
      fc.property(roots, events, (shape, happen) => {
        const world = begun(shape, undefined);
        suffer(world, happen);
        const stored = storedFrom(world.run);
        const result = folded(stored, ofEarlierProgram(stored.instance.tail));
        counts[result.ok ? 'rebuilt' : 'refused'] += 1;
        if (result.ok) assert.deepEqual(result.instance.state, throughJson(stored.instance.state));
        else assert.match(result.reason, /^(Line \d+ of the journal|The journal leads )/);
      }),
      { numRuns: Number(orders) },
    );
    assert.ok(counts.rebuilt > 5 && counts.refused > 5, JSON.stringify(counts));
  });
});

/** Returns the lines as the program wrote them that did not keep events. */
const ofEarlierProgram = (lines: readonly StoredEntry[]): readonly StoredEntry[] =>
  lines
    .filter(({ type }) => type !== 'StateChanged')
    .map((line, index) => {
      const { v: _, ...shown } = shownLine(line) as unknown as { readonly v?: number };
      return { ...shown, seq: index + 1 } as unknown as StoredEntry;
    });
