import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import fc from 'fast-check';
import { drawingOf } from '#core/views/diagram';
import { layOut } from '#diagrams/layout';
import { svgOf } from '#diagrams/svg';
import { widthOf, wrapped } from '#diagrams/text';
import { fulfilOrder } from '../../examples/orders/workflow.ts';
import { everything } from '../support/everything-drawn.ts';
import { definitionOf, roots } from '../support/shapes.ts';
import { delay, sequence, step, workflow } from '../support/workflows.ts';

const drawn = (definition: typeof fulfilOrder) => svgOf(drawingOf(definition));

test('the drawing in the documents is up to date', () => {
  const committed = readFileSync(new URL('../../docs/guides/fulfil-order.svg', import.meta.url), 'utf8');
  const remedy = 'npx redress workflow graph examples/orders/workflow.ts --svg > docs/guides/fulfil-order.svg';
  assert.ok(committed === drawn(fulfilOrder), `docs/guides/fulfil-order.svg is not up to date: ${remedy}`);
});

test('a drawing has a text alternative, follows the light and dark mode of its reader, and loads no external resources', () => {
  const svg = drawn(fulfilOrder);
  assert.match(svg, /^<svg [^>]*role="img" aria-label="The workflow fulfil-order@1"/);
  assert.match(
    svg,
    /<title>The workflow fulfil-order@1<\/title>\n<desc>Steps of the workflow and of its fault handlers: reserve, charge, ship, confirm, apologise\.<\/desc>/,
  );
  assert.match(svg, /@media \(prefers-color-scheme:dark\)/);
  assert.doesNotMatch(svg, /href|url\(|@import|<script|<image|<foreignObject/);
});

test('a step, its undo, a fault and its handler look different', () => {
  const svg = drawn(fulfilOrder);
  for (const [kind, text] of [
    ['step', 'charge: payment.charge'],
    ['undo', 'payment.refund'],
    ['label fault', 'Refused'],
    ['compensate', 'undo what was done'],
    ['frame retry', 'again 3 times at most, every 20 s, not after CardDeclined'],
  ])
    assert.ok(svg.includes(`<g class="${kind}"><title>${text}</title>`), `${kind}: ${text}`);
  assert.equal(svg.match(/<g class="edge undo">/g)?.length, 3);
  assert.equal(svg.match(/<g class="edge fault">/g)?.length, 1);
});

test('all text of a workflow is escaped, so that no XML reader takes it for markup', () => {
  const name = 'a<b>&"\'\u0000\ud800';
  const svg = drawn(workflow(sequence('order', { ...step('charge'), name }, delay('rest', { $cel: '"</svg><script>"' })), { name }));
  assert.ok(svg.includes('a&lt;b&gt;&amp;&quot;&#39;\ufffd\ufffd'));
  assert.equal(svg.match(/<\/svg>/g)?.length, 1);
  assert.ok(!svg.includes('<script'));
});

test('for any workflow, no parts overlap, none is outside, and the bytes are the same each time', () => {
  const check = (definition: typeof fulfilOrder) => {
    const { boxes, frames, width, height } = layOut(drawingOf(definition));
    for (const { left, top, width: w, height: h } of [...boxes, ...frames])
      assert.ok(left >= 0 && top >= 0 && left + w <= width && top + h <= height);
    for (const [index, one] of boxes.entries())
      for (const other of boxes.slice(index + 1))
        assert.ok(
          one.left + one.width <= other.left ||
            other.left + other.width <= one.left ||
            one.top + one.height <= other.top ||
            other.top + other.height <= one.top,
          `${one.node.title} and ${other.node.title}`,
        );
  };
  check(everything);
  assert.equal(drawn(everything), drawn(structuredClone(everything)));
  fc.assert(
    fc.property(roots, (shape) => check(definitionOf(shape))),
    { numRuns: 10 },
  );
});

test('text breaks at words and at parts of paths, a long word breaks anywhere, and omitted text is marked', () => {
  const type = { size: 13, face: 'sans' } as const;
  const lines = (text: string, widthMax: number) => wrapped(text, type, { widthMax, linesMax: 3 });
  assert.deepEqual(lines('wait until the parcel is there', 120), ['wait until the', 'parcel is there']);
  assert.deepEqual(lines('steps.reserve.reservationId', 120), ['steps.reserve.', 'reservationId']);
  for (const text of ['x'.repeat(100), '手'.repeat(100), 'one two three four five six seven eight nine ten']) {
    const shown = lines(text, 90);
    assert.ok(shown.length === 3 && shown.every((line) => widthOf(line, type) <= 90) && shown[2]?.endsWith('…'), shown.join('|'));
  }
});
