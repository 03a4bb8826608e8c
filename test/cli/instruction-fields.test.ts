import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InstructionBody } from '#api/schemas/instructions';
import { instructionFields } from '#cli/instruction-fields';
import { redress } from './support.ts';

const common: ReadonlySet<string> = new Set(['kind', 'reason', 'dryRun']);

test('the help of task resolve and of bulk preview names the fields of each kind of instruction, as the API takes them', async () => {
  for (const { shape } of InstructionBody.options) {
    const fields = Object.entries(shape).filter(([name]) => !common.has(name));
    const names = fields.map(([name, schema]) => `${name}${isOptional(schema) ? '?' : ''}`);
    for (const kind of shape.kind.values) assert.deepEqual([...instructionFields[kind]].sort(), names.sort(), kind);
  }
  for (const command of [
    ['task', 'resolve'],
    ['bulk', 'preview'],
  ])
    assert.match((await redress([...command, '--help'])).out, /^ {2}restart +order\?, version\?, undoFirst, keepEffects\?$/m);
});

/** A field with `exactOptional` may be left out, but not be undefined. */
const isOptional = (schema: object): boolean => (schema as { readonly _zod: { readonly optin?: string } })._zod.optin === 'optional';
