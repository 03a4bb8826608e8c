import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import test from 'node:test';
import type { Activity } from '#core/definition/definition';
import { mermaidOf } from '#core/views/mermaid';
import { everything } from '../support/everything-drawn.ts';
import { parallel, sequence, step, workflow } from '../support/workflows.ts';

const written = (activity: string, name: string, fields: object): Activity => ({ activity, name, ...fields }) as unknown as Activity;
const choice = (name: string, one: Activity, otherwise?: Activity): Activity =>
  written('choice', name, { branches: [{ when: { $cel: `order.${name}` }, do: one }], ...(otherwise ? { otherwise } : {}) });
const nothing = (name: string): Activity => sequence(name);
const end = written('terminate', 'stop-here', {});

/** Rarely drawn parts: waits and questions, calls, composites with an undo, and empty parts of everything. */
const seldom = sequence(
  'order',
  nothing('nothing'),
  choice('empty', nothing('none')),
  choice('both-empty', nothing('none'), nothing('none')),
  choice('ends', end, step('goes-on')),
  choice('into-two', parallel('two', step('one'), step('other')), nothing('none')),
  choice('and-on', step('last')),
  written('waitFor', 'signal', { signal: 'paid' }),
  written('waitFor', 'in-time', { signal: 'paid', withinSeconds: 86_400 }),
  written('waitFor', 'computed', { signal: 'paid', withinSeconds: { $cel: 'order.seconds' } }),
  written('delay', 'computed-too', { seconds: { $cel: 'order.seconds' } }),
  written('askOperator', 'ask-whom', { question: 'Well?' }),
  written('compute', 'quote', { function: 'quote@1', input: null }),
  written('assign', 'set', { variable: 'list', value: [1, { $cel: 'order.a' }] }),
  written('compensate', 'back', { scope: 'order' }),
  written('call', 'child', { agent: 'workflows', operation: 'ship-one@1', input: {}, undo: step('undo', { agent: 'workflows' }) }),
  written('sequence', 'whole', { children: [step('part')], undo: step('undo', { agent: 'shop', operation: 'take-back' }) }),
  written('retry', 'at-once', { retries: 1, intervalSeconds: 0, do: nothing('none') }),
  written('retry', 'not-after', { retries: 2, intervalSeconds: 90, except: ['Refused/Late', 'Odd'], do: step('tried') }),
  written('retry', 'only-after', { retries: 1, intervalSeconds: 5, only: ['Refused/Late', 'Odd'], undoFirst: true, do: step('tried-too') }),
  written('forEach', 'each', { list: [1, 2], collect: { $cel: 'each.each.index' }, do: choice('some', step('a')) }),
  written('while', 'loop', { condition: true, do: parallel('two', step('b'), step('c')) }),
  written('scope', 'handled', {
    do: step('d'),
    faultHandlers: [
      { fault: 'Refused/Late', do: nothing('none') },
      { fault: 'Refused', do: written('raise', 'again', { fault: 'Odd/Again', message: 'no' }) },
      { fault: 'Engine', do: parallel('two', step('e'), step('f')) },
    ],
  }),
  end,
);

/**
 * `drawn.txt`: both as Mermaid flowcharts. Paste one into a Markdown file on GitHub to view it. `UPDATE_TRANSCRIPTS=1`
 * rewrites it.
 */
const file = new URL('drawn.txt', import.meta.url);
const charts = () => [mermaidOf(everything), mermaidOf(workflow(seldom)), mermaidOf(workflow(nothing('order')))];

test('every kind of activity is drawn', () => {
  if (process.env['UPDATE_TRANSCRIPTS']) writeFileSync(file, charts().join('\n'));
  const agreed = readFileSync(file, 'utf8').split('\n\n');
  for (const [index, chart] of charts().entries()) assert.equal(chart.trimEnd(), agreed[index]?.trimEnd());
});
