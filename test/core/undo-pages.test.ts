import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Step } from '#core/activities/step';
import { initialState, type State, type UndoEntry, type UndoPage } from '#core/data/state';
import type { Activity } from '#core/definition/definition';
import { programOf } from '#core/definition/program';
import { pageIn, pageOut } from '#core/engine/undo-pages';
import { fault, ok, startRun, stepMs } from '../support/run.ts';
import { listOf, parallel, sequence, step, workflow } from '../support/workflows.ts';

const undoable = (name: string): Activity => step(name, { undo: step('undo', { operation: 'undo' }) as Step });
const entry = (path: string, more: Partial<UndoEntry> = {}): UndoEntry => ({ path: `order/${path}`, generation: 1, input: {}, ...more });
const paths = ({ undo = [] }: State) => undo.map(({ path }) => path.slice('order/'.length));
const all = { keptMax: 0, pageMax: 10_000 };

describe('paging out undo entries', () => {
  const part = sequence('part', undoable('c'));
  const again: Activity = { activity: 'retry', name: 'again', do: undoable('d'), retries: 1, intervalSeconds: 0 };
  const whole: Activity = { ...sequence('whole', undoable('e')), undo: step('undo') as Step };
  const program = programOf(workflow(sequence('order', undoable('a'), undoable('b'), part, again, whole)));
  const entries = ['a', 'b', 'part/c', 'again/d', 'whole/e'].map((path) => entry(path));
  const state = (alive: readonly string[], undo = entries): State => ({
    ...initialState,
    undo,
    activities: Object.fromEntries(alive.map((path) => [`order/${path}`, { status: 'Executing' }])),
  });
  const pagedOut = (before: State, after = before, sizes = all) => pageOut(program, before, after, 7, sizes);
  const put = (...args: Parameters<typeof pagedOut>) =>
    pagedOut(...args)?.page.entries.map(({ path }) => path.slice('order/'.length)) ?? [];

  test('the oldest entries move into a page that names the next older page', () => {
    assert.deepEqual(pagedOut({ ...state([]), pagedUndo: { top: 3, entries: 2 } }), {
      page: { entries, below: 3 },
      state: { ...state([], []), pagedUndo: { top: 7, entries: 7 } },
    });
  });

  test('no entries move while the list is short; otherwise as many as a page holds, or one entry that is larger than a page', () => {
    assert.deepEqual(put(state([]), state([]), { keptMax: 10_000, pageMax: 10_000 }), []);
    assert.deepEqual(put(state([]), undefined, { keptMax: 0, pageMax: 100 }), ['a', 'b']);
    assert.deepEqual(put(state([]), undefined, { keptMax: 0, pageMax: 1 }), ['a']);
  });

  for (const [what, alive, goes] of [
    ['is being undone', ['b/undo'], ['a']],
    ['is being confirmed', ['part/c'], ['a', 'b']],
    ['may run again', ['again'], ['a', 'b', 'part/c']],
    ['may be undone as a whole', ['whole'], ['a', 'b', 'part/c', 'again/d']],
  ] as const) {
    test(`an entry that ${what} does not move, nor does any newer entry`, () => assert.deepEqual(put(state(alive)), goes));
  }

  test('an entry that was paged in does not move', () => {
    assert.deepEqual(put(state([], [entry('a', { from: 3 }), entry('b')])), []);
  });

  test('no entry moves if the same write changed an older entry', () => {
    const before = state([]);
    assert.deepEqual(put(before, { ...before, undo: entries.slice(1) }), []);
    const popped = { ...before, pagedUndo: { top: 3, entries: 0 } };
    assert.deepEqual(put(popped, before), [], 'an empty page below it is no longer listed');
    assert.deepEqual(put(before, { ...before, activities: { 'order/a/undo': { status: 'Executing' } } }), []);
    assert.deepEqual(put(before, { ...before, undo: [...entries, entry('f')] }), ['a', 'b', 'part/c', 'again/d', 'whole/e']);
  });
});

describe('paging in undo entries', () => {
  const pages = new Map<number, UndoPage>([
    [2, { entries: [entry('x/a'), entry('y/b'), entry('x/c')] }],
    [5, { entries: [entry('y/d'), entry('z')], below: 2 }],
  ]);
  const state: State = { ...initialState, undo: [entry('x/e')], pagedUndo: { top: 5, entries: 5 } };
  const take = (from: State, scope: string, floor = 0, handed = pages) => {
    const found = pageIn(from, { scope }, floor, handed);
    return 'needs' in found ? assert.fail(`needs ${found.needs}`) : found.state;
  };

  test('the entries of the scope leave the newest page that has any; other entries stay in the pages, and none is loaded twice', () => {
    const once = take(state, 'order/x');
    assert.deepEqual([paths(once), once.pagedUndo?.entries], [['x/a', 'x/c', 'x/e'], 3]);
    assert.deepEqual(pageIn(once, { scope: 'order/x' }, 0, new Map()), { state: once, hasEntries: false }, 'no page is read again');
    const other = pageIn(once, { scope: 'order' }, 0, pages);
    assert.ok('hasEntries' in other);
    assert.deepEqual(paths(take(other.state, 'order')), ['x/a', 'y/b', 'x/c', 'y/d', 'z', 'x/e']);
  });

  test('when two scopes are undone at the same time, the entries paged in for both are in the order in which their steps completed', () => {
    const both = take(take(take(state, 'order/y'), 'order/x'), 'order/y');
    assert.deepEqual(paths(both), ['x/a', 'y/b', 'x/c', 'y/d', 'x/e']);
    assert.deepEqual(
      both.undo?.map(({ from }) => from),
      [2, 2, 2, 5, undefined],
    );
  });

  test('a page that becomes empty is removed from the list of pages', () => {
    const newest = take(state, 'order');
    assert.deepEqual(newest.pagedUndo, { top: 2, entries: 3 });
    assert.equal(take(newest, 'order').pagedUndo, undefined);
  });

  test('no page from before the scope began is read, and a page that is missing is requested', () => {
    assert.deepEqual(pageIn(state, { scope: 'order/q' }, 5, new Map()), { state, hasEntries: false });
    assert.deepEqual(pageIn(state, { scope: 'order/q' }, 2, new Map()), { needs: 5 });
  });
});

test('F-101: a scope remembers the newest page that existed when it began', () => {
  const inner: Activity = {
    ...sequence('inner', undoable('b'), step('fails')),
    faultHandlers: [{ fault: 'Refused', do: { activity: 'compensate', name: 'compensate' } }],
  };
  const run = startRun(workflow(sequence('order', ...listOf(5, (index) => undoable(`a${index}`)), inner, step('z'))), { undoPage: 1 });
  run.happen({ type: 'started', stepMs });
  for (let index = 0; index < 5; index++) run.reply(`order/a${index}`, ok());
  // The page that the same event caused holds a4.
  assert.deepEqual([run.state.activities['order/inner']?.above, run.state.pagedUndo?.top], [5, 6]);
  run.reply('order/inner/b', ok());
  run.reply('order/inner/fails', fault('Refused'));
  run.reply('order/inner/b/undo', ok());
  assert.deepEqual(Object.keys(run.state.activities), ['order', 'order/z']);
});

test('F-100: the undo of a wider scope begins with the newest entry there, even while an older one is being undone', () => {
  const compensating = (scope?: string) => [
    { fault: 'Refused', do: { activity: 'compensate', name: 'compensate', ...(scope ? { scope } : {}) } as Activity },
  ];
  const left = { ...sequence('left', undoable('a'), step('fails')), faultHandlers: compensating() };
  const right = { ...sequence('right', undoable('b'), step('fails')), faultHandlers: compensating('order') };
  const run = startRun(workflow(sequence('order', parallel('both', left, right))), { undoPage: 1 });
  run.happen({ type: 'started', stepMs });
  for (const path of ['left/a', 'right/b']) run.reply(`order/both/${path}`, ok());
  run.happen({ type: 'woken' });
  assert.equal(run.state.pagedUndo?.entries, 2);
  for (const path of ['left/fails', 'right/fails']) run.reply(`order/both/${path}`, fault('Refused'));
  assert.deepEqual(
    run.requests.slice(-2).map(({ path }) => path),
    ['order/both/left/a/undo', 'order/both/right/b/undo'],
  );
});

test('F-101: a called order that completed undoes its paged entries when its caller compensates it', () => {
  const run = startRun(workflow(sequence('order', ...listOf(4, (index) => undoable(`a${index}`)))), { undoPage: 1 });
  run.happen({ type: 'started', stepMs, called: true });
  for (let index = 0; index < 4; index++) run.reply(`order/a${index}`, ok());
  assert.deepEqual([run.state.outcome, run.state.pagedUndo?.entries], ['completed', 3]);
  run.happen({ type: 'compensatedByCaller' });
  for (const index of [3, 2, 1, 0]) run.reply(`order/a${index}/undo`, ok());
  assert.deepEqual([run.state.outcome, run.state.pagedUndo], ['compensated', undefined]);
});
