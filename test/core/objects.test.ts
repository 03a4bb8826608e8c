import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as z from 'zod';
import { agentDefinitionOf, defineAgent, operation, secret } from '#authoring/agent';
import { defineWorkflow } from '#authoring/workflow';
import { steeringText } from '#core/definition/steering';

const Input = z.object({ sku: z.string(), buyer: z.object({ card: secret(z.string()) }) });
const stock = (objects: { readonly reads?: readonly string[]; readonly writes?: readonly string[] }) =>
  defineAgent('stock', {
    reserve: operation({ input: Input, output: z.object({ lot: z.string() }), ...objects, run: () => ({ lot: 'a' }) }),
  });
const workflow = (objects: Parameters<typeof stock>[0]) =>
  defineWorkflow('claim', { version: 1, order: Input }, ({ order }) => stock(objects).reserve(order).noUndo());

test('F-151: a step keeps the objects that its operation reads and writes; they are not a steering part of its workflow', () => {
  const objects = { reads: ['lot/{lot}'], writes: ['stock/{sku}'] };
  assert.equal(agentDefinitionOf(stock(objects)).name, 'stock');
  assert.match(JSON.stringify(workflow(objects).root), /"reads":\["lot\/\{lot\}"\],"writes":\["stock\/\{sku\}"\]/);
  assert.equal(steeringText(workflow(objects)), steeringText(workflow({})));
});

test('F-151: an object that names a secret or an unknown field, a malformed object, and more than 16 objects are refused with the remedy', () => {
  assert.throws(() => stock({ writes: ['card/{buyer.card}'] }), /stock\.reserve writes names "buyer\.card", which is secret/);
  assert.throws(() => stock({ writes: ['card/{buyer}'] }), /"buyer", which is secret/);
  assert.throws(() => stock({ reads: ['stock/{sko}'] }), /"sko", which is no field of the input or the output/);
  assert.throws(() => stock({ reads: ['stock'] }), /Invalid object "stock" in stock\.reserve reads/);
  const many = Array.from({ length: 9 }, (_, index) => `stock/${index}`);
  assert.throws(() => stock({ reads: many, writes: many }), /names 18 objects; the maximum of reads and writes together is 16/);
});
