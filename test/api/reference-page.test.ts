import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { routes } from '#api/routes';
import { BulkBody } from '#api/schemas/dead-letters';
import { InstructionBody } from '#api/schemas/instructions';
import { ClientOrder, FullOrder } from '#api/schemas/orders';
import { ruleFields } from '#authoring/rule-schema';

const pageNamed = (name: string): string => readFileSync(new URL(`../../docs/${name}.md`, import.meta.url), 'utf8');

/** Returns the names that a page does not have in code quotes. */
function missing(names: Iterable<string>, page: string): readonly string[] {
  const known = new Set([...pageNamed(page).matchAll(/`([A-Za-z-]+)/g)].map(([, name = '']) => name));
  return [...new Set(names)].filter((name) => !known.has(name));
}

const kindsIn = (union: { readonly options: readonly { readonly shape: { readonly kind: { readonly value: string } } }[] }) =>
  union.options.map(({ shape }) => shape.kind.value);

/** A row for each call. */
const table = [
  '| call | roles | what it does |',
  '|---|---|---|',
  ...routes.map(({ method, path, roles, summary }) => `| \`${method} ${path}\` | ${[roles].flat().join(', ')} | ${summary} |`),
].join('\n');

describe('the reference', () => {
  test('has a row for each call of the API', () => {
    assert.ok(pageNamed('reference/api').includes(table), `docs/reference/api.md: put this under "Calls":\n${table}`);
  });

  test('names each field of an order and of its steps', () => {
    const [forOperators] = FullOrder.options;
    const { shape } = forOperators;
    const fields = [shape, ClientOrder.shape, shape.steps.element.shape].flatMap((each) => Object.keys(each));
    assert.deepEqual(missing(fields, 'reference/orders'), []);
  });

  test('names each kind of instruction, each action of a rule and each filter of dead letters', () => {
    assert.deepEqual(missing(kindsIn(InstructionBody), 'operations/blocked-orders'), []);
    assert.deepEqual(missing(kindsIn(ruleFields.action), 'reference/rules'), []);
    assert.deepEqual(missing(Object.keys(BulkBody.shape.filter.shape), 'operations/dead-letters'), []);
  });
});
