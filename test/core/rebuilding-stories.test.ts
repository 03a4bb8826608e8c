import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import test from 'node:test';
import type { Fact } from '#core/data/journal';
import type { Json } from '#core/data/json';
import { rebuiltState } from '#core/engine/rebuild';
import { playEach } from '../support/play.ts';
import { type Run, stepMs } from '../support/run.ts';
import { outline } from '../support/workflows.ts';

const folder = new URL('../scenarios/', import.meta.url);

const factsOf = ({ turns }: Run): readonly Fact[] =>
  turns.flatMap(({ at, facts }) => facts.map((fact) => ({ ...fact, at }))).map((fact, index) => ({ ...fact, seq: index + 1 }));

/**
 * Left out: an undo whose input cannot be evaluated has no comparable entry. The place of a composite among its
 * parts is lost with the state.
 */
const apart = new Set(['undo-that-cannot-be-requested.txt', 'whole-keeps-its-place.txt']);

for (const name of readdirSync(folder).filter((each) => each.endsWith('.txt') && !apart.has(each))) {
  const [, workflow = '', ...blocks] = readFileSync(new URL(name, folder), 'utf8').split('\n\n');
  const order = blocks[0]?.startsWith('order ') ? (JSON.parse(blocks.shift()?.slice('order '.length) ?? '') as Json) : {};

  test(`F-29: after each event of ${name}, the journal alone shows what is left to undo`, () => {
    playEach(outline(workflow), blocks.join('\n\n'), { order }, (run) => {
      const { state } = run;
      if (state.phase === 'closed' || state.phase === 'initialized') return;
      const late = new Set(factsOf(run).flatMap((fact) => (fact.type === 'LateResult' ? [fact.path] : [])));
      const subject = { orderId: run.orderId, order };
      const rebuilt = rebuiltState(run.program, subject, factsOf(run), { isWhole: true, resubmitted: false, stepMs, lastAt: run.now });
      const actual = new Map(state.undo?.map((entry) => [entry.path, entry]));
      const made = rebuilt.state.undo ?? [];
      assert.deepEqual(
        made.filter(({ path }) => actual.has(path)).map(({ path, generation }) => ({ path, generation })),
        [...actual.values()].map(({ path, generation }) => ({ path, generation })),
      );
      for (const { path, input, attempt, requestInput } of made) {
        const entry = actual.get(path);
        // The journal lacks outputs that came too late and those of a confirmation: such a step is requested again.
        const isLate =
          late.has(path) || state.activities[path] || state.activities[`${path}/undo`] || (entry === undefined && input === undefined);
        if (!isLate)
          assert.deepEqual(
            { path, input, attempt, requestInput },
            { path, input: entry?.input, attempt: entry?.attempt, requestInput: entry?.requestInput },
          );
      }
      assert.deepEqual(rebuilt.state.undone, state.undone);
      assert.deepEqual(rebuilt.problems, []);
    });
  });
}
