import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { fault, ok, type Run, startRun, stepMs } from '../support/run.ts';
import { outline } from '../support/workflows.ts';

const started = (definition: string, order = {}): Run => {
  const run = startRun(outline(definition), { order });
  run.happen({ type: 'started', stepMs });
  return run;
};
/** Steps with an output in the state after each of these steps has answered. */
const kept = (run: Run, ...paths: string[]): readonly string[] =>
  paths.map((path) => {
    run.reply(path, ok({ id: path }));
    return Object.keys(run.state.outputs)
      .map((each) => each.replace('order/', ''))
      .join(' ');
  });
const reads = (...names: string[]): string =>
  `with {"of": {"$cel": "${names.map((name) => `string(orElse(steps.?${name}.?id, ''))`).join(' + ')}"}}`;

describe('an output stays in the state as long as an expression may still read it', () => {
  test('in a sequence, an output stays until its last reader has run, and without a reader it is not kept at all', () => {
    const run = started(`
      workflow
        sequence
          a by agent
          b by agent ${reads('a')}
          c by agent ${reads('a', 'b')}
          d by agent
          e by agent ${reads('d')}
          f by agent
    `);
    assert.deepEqual(kept(run, 'order/a', 'order/b', 'order/c', 'order/d', 'order/e'), ['a', 'a b', '', 'd', '']);
    assert.deepEqual(run.requests.find(({ path }) => path === 'order/c')?.input, { of: 'order/aorder/b' });
  });

  test('an output stays until all branches that read it are closed', () => {
    const run = started(`
      workflow
        sequence
          a by agent
          parallel both
            b by agent ${reads('a')}
            sequence rest
              c by agent
              d by agent ${reads('a')}
          e by agent
    `);
    assert.deepEqual(kept(run, 'order/a', 'order/both/b', 'order/both/rest/c', 'order/both/rest/d'), ['a', 'a', 'a', '']);
  });

  test('an output stays if both the step and its reader are deeply nested', () => {
    const run = started(`
      workflow
        sequence
          sequence one
            sequence two
              a by agent
              b by agent
          sequence three
            sequence four
              c by agent ${reads('a')}
              d by agent
            e by agent
          f by agent
    `);
    assert.deepEqual(kept(run, 'order/one/two/a', 'order/one/two/b', 'order/three/four/c', 'order/three/four/d', 'order/three/e'), [
      'one/two/a',
      'one/two/a',
      'one/two/a',
      'one/two/a',
      '',
    ]);
  });

  test('an output stays until the choice takes a branch that does not read it', () => {
    const run = started(`
      workflow
        sequence
          a by agent
          choice either
            when {"$cel": "false"}
              b by agent ${reads('a')}
            otherwise
              c by agent
          d by agent
          e by agent
    `);
    assert.deepEqual(kept(run, 'order/a', 'order/either/c', 'order/d'), ['a', '', '']);
  });

  test('in a loop, an output stays until its turn ends, or until the end condition that reads it is evaluated', () => {
    const run = started(`
      workflow
        sequence
          for each items of [1, 2] until {"$cel": "orElse(steps.?a.?id, '') == 'never'"}
            sequence turn
              a by agent
              b by agent
          c by agent
    `);
    const [one, two] = ['order/items[0]/turn', 'order/items[1]/turn'];
    assert.deepEqual(kept(run, `${one}/a`, `${two}/a`, `${one}/b`, `${two}/b`), [
      'items[0]/turn/a',
      'items[0]/turn/a items[1]/turn/a',
      'items[1]/turn/a',
      '',
    ]);
  });

  test('in a turn, an output stays until its last reader of the turn has run, even if a step before the loop wrote it', () => {
    const run = started(`
      workflow
        sequence
          a by agent
          for each items of [1, 2] at most 1
            sequence turn
              b by agent ${reads('a')}
              c by agent ${reads('b')}
              d by agent
          e by agent
          f by agent
    `);
    const [one, two] = ['order/items[0]/turn', 'order/items[1]/turn'];
    assert.deepEqual(kept(run, 'order/a', `${one}/b`, `${one}/c`, `${one}/d`, `${two}/b`, `${two}/c`, `${two}/d`, 'order/e'), [
      'a',
      'a items[0]/turn/b',
      'a',
      'a',
      'a items[1]/turn/b',
      'a',
      '',
      '',
    ]);
  });

  test('an output stays as long as a handler may read it', () => {
    const run = started(`
      workflow
        sequence
          a by agent
          sequence inner
            b by agent
            c by agent
            on Refused
              d by agent ${reads('a')}
          e by agent
          f by agent
    `);
    assert.deepEqual(kept(run, 'order/a', 'order/inner/b'), ['a', 'a']);
    run.reply('order/inner/c', fault('Refused'));
    assert.deepEqual(run.latestRequest('order/inner/d').input, { of: 'order/a' });
    assert.deepEqual(kept(run, 'order/inner/d', 'order/e'), ['', '']);
  });

  test('an output does not stay for an undo, because the input of the undo is computed when the step succeeds', () => {
    const run = started(`
      workflow
        sequence
          a by agent
            undo un-a by agent ${reads('a')}
          b by agent
            undo un-b by agent ${reads('a')}
          c by agent
          d by agent
    `);
    assert.deepEqual(kept(run, 'order/a', 'order/b', 'order/c'), ['a', '', '']);
    assert.deepEqual(
      run.state.undo?.map(({ input }) => input),
      [{ of: 'order/a' }, { of: 'order/a' }],
    );
  });

  test('in a retry, an output stays until its run ends, and is absent in the next run', () => {
    const run = started(`
      workflow
        sequence
          retry 1 every 5s undo first
            sequence run
              a by agent
                undo un-a by agent
              b by agent
              c by agent ${reads('a')}
          d by agent
          e by agent
    `);
    assert.deepEqual(kept(run, 'order/retry/run/a'), ['retry/run/a']);
    run.reply('order/retry/run/b', fault('Busy', { permanent: false }));
    assert.deepEqual(kept(run, 'order/retry/run/a/undo'), ['retry/run/a']);
    run.now += 5000;
    run.happen({ type: 'woken' });
    assert.deepEqual(run.state.outputs, {});
    assert.deepEqual(kept(run, 'order/retry/run/a', 'order/retry/run/b', 'order/retry/run/c', 'order/d'), [
      'retry/run/a',
      'retry/run/a',
      '',
      '',
    ]);
  });
});
