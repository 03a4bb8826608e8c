import assert from 'node:assert/strict';
import { noFigures } from '#core/solutions/rank';
import { type Solution, solutionLimits } from '#core/solutions/solution';
import { manualClock } from '#ports/clock';
import { collections, type Document, type Documents } from '#ports/documents';
import type { Tallies, TallyAdd } from '#ports/tallies';
import { figuresOf } from '#roles/solutions/figures';
import { createSolutions, newSolution, type SolutionDraft } from '#roles/solutions/solutions';
import { noon } from '../support/records.ts';
import { listOf } from '../support/workflows.ts';
import { contractTest } from './contract-test.ts';

interface Opened {
  readonly store: Documents & Tallies;
  readonly other: Documents & Tallies;
  close(): Promise<void>;
}

const draft = (id: string, more: Partial<SolutionDraft> = {}): SolutionDraft => ({
  id,
  name: `Größe ${id}`,
  fingerprints: ['f1'],
  instruction: { kind: 'resubmit' },
  parameters: [],
  ...more,
});
const skip: Partial<SolutionDraft> = { instruction: { kind: 'skip', output: {}, effect: 'none' } };
const solutionsIn = (store: Documents) => createSolutions({ store, clock: manualClock(noon) });

/** The promises of every store about solutions, through the role that keeps them. */
export function solutionsContract(name: string, open: () => Opened | Promise<Opened>): void {
  const it = contractTest(name, open);

  it('F-155: a solution is read as it was written, by every process, and listed by id', async ({ store, other }) => {
    const [here, there] = [solutionsIn(store), solutionsIn(other)];
    for (const id of ['b', 'a']) await here.put(draft(id), { by: 'olga', expected: undefined });
    const expected: Solution = { ...draft('a'), version: 1, instructionSince: 1, createdBy: 'olga' };
    assert.deepEqual(await there.solution('a'), expected);
    assert.deepEqual(
      (await there.list()).map(({ id }) => id),
      ['a', 'b'],
    );
  });

  it('F-156: one of two people who change a version succeeds, and the other person gets the present version', async ({ store, other }) => {
    const [here, there] = [solutionsIn(store), solutionsIn(other)];
    await here.put(draft('a'), { by: 'olga', expected: undefined });
    assert.equal((await there.put(draft('a'), { by: 'otto', expected: undefined })).outcome, 'stale');
    const both = await Promise.all([
      here.put(draft('a', { name: 'One' }), { by: 'olga', expected: 1 }),
      there.put(draft('a', { name: 'Other' }), { by: 'otto', expected: 1 }),
    ]);
    assert.deepEqual(both.map(({ outcome }) => outcome).toSorted(), ['stale', 'written']);
    const stale = both.find(({ outcome }) => outcome === 'stale');
    assert.partialDeepStrictEqual(stale, { current: { version: 2, createdBy: 'olga' } });
  });

  it('the versions of a solution continue after its deletion, and the entry of the audit is part of each write', async ({ store }) => {
    const solutions = solutionsIn(store);
    const beside = (before: unknown, after: unknown): readonly Document[] => [
      { collection: collections.audit('2026-01-01'), id: `${before === null}${after === null}`, rev: 1, content: {} },
    ];
    await solutions.put(draft('a'), { by: 'olga', expected: undefined, beside });
    assert.partialDeepStrictEqual(await solutions.remove('a', { by: 'olga', expected: 1, beside }), { outcome: 'written' });
    assert.deepEqual([await solutions.solution('a'), await solutions.list()], [undefined, []]);
    assert.equal(await solutions.remove('a', { by: 'olga', expected: 1 }), undefined);
    const again = await solutions.put(draft('a'), { by: 'otto', expected: undefined });
    assert.partialDeepStrictEqual(again, { solution: { version: 3, instructionSince: 3, createdBy: 'otto' }, isNew: true });
    const entries = await store.documents(collections.audit('2026-01-01'), undefined, 10);
    assert.deepEqual(
      entries.map(({ id }) => id),
      ['falsetrue', 'truefalse'],
    );
  });

  it('figures belong to the present instruction: a change of the name keeps them, and another instruction begins without figures', async ({
    store,
    other,
  }) => {
    const solutions = solutionsIn(store);
    const counted = async (version: number, sums: TallyAdd['sums'], at: number) => {
      const document = { collection: 'ORDER#o', id: String(at), rev: 1, content: {} };
      const add = { collection: collections.solutionFigures(at % 8), id: `a#${version}`, sums, about: {}, at, expiresAt: noon * 2 };
      await other.putCounted(document, 0, add);
    };
    await solutions.put(draft('a'), { by: 'olga', expected: undefined });
    await counted(1, { used: 2, passed: 1 }, noon);
    await solutions.put(draft('a', { name: 'Renamed' }), { by: 'olga', expected: 1 });
    await counted(2, { used: 1, 'failed-again': 1, 'failed-otherwise': 1, void: 1 }, noon + 1);
    const figures = async () => (await figuresOf(store))((await solutions.solution('a')) as Solution);
    assert.deepEqual(await figures(), { used: 3, passed: 1, failedAgain: 1, failedOtherwise: 1, lastUsedAt: noon + 1 });
    await solutions.put(draft('a', skip), { by: 'olga', expected: 2 });
    assert.deepEqual(await figures(), noFigures);
  });

  it(`there are at most ${solutionLimits.solutionsMax} solutions, and deleted ones do not count`, async ({ store }) => {
    const solutions = solutionsIn(store);
    const ids = listOf(solutionLimits.solutionsMax, (index) => `s-${String(index).padStart(3, '0')}`);
    await Promise.all(ids.map((id) => store.putDocument(newSolution(draft(id), 'olga').document, 0)));
    assert.deepEqual(await solutions.put(draft('t'), { by: 'olga', expected: undefined }), { outcome: 'too-many' });
    assert.equal((await solutions.put(draft('s-001', skip), { by: 'olga', expected: 1 })).outcome, 'written', 'a change adds none');
    await solutions.remove('s-000', { by: 'olga', expected: 1 });
    assert.equal((await solutions.put(draft('t'), { by: 'olga', expected: undefined })).outcome, 'written');
  });
}
