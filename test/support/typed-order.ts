import { check } from '#core/checks/check';
import type { JsonObject } from '#core/data/json';
import type { Catalog } from '#core/definition/catalog';
import type { WorkflowDefinition } from '#core/definition/definition';

/** An object with exactly these fields; all are required except the named ones. */
export const closed = (properties: JsonObject, ...optional: string[]): JsonObject => ({
  type: 'object',
  properties,
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
  additionalProperties: false,
});

/** The schema of an order, with every feature of schemas. */
export const order = {
  ...closed(
    {
      total: { type: 'number' },
      name: { type: 'string' },
      note: { type: 'string' },
      kind: { enum: ['gift', 'purchase'] },
      items: { type: 'array', items: closed({ sku: { type: 'string' }, quantity: { type: 'integer' } }) },
      address: { $ref: '#/$defs/Address' },
      billing: { anyOf: [{ $ref: '#/$defs/Address' }, { type: 'null' }] },
      prices: { type: 'object', additionalProperties: { type: 'number' } },
      meta: { type: 'object' },
      tree: { $ref: '#/$defs/Tree' },
      code: { type: ['string', 'number'] },
      pair: { type: 'array', prefixItems: [{ type: 'number' }], items: { type: 'string' } },
      loose: { type: 'object', properties: { colour: { type: 'string' } }, required: ['colour'] },
      both: { allOf: [closed({ a: { type: 'number' } })] },
    },
    'note',
  ),
  $defs: {
    Address: closed({ city: { type: 'string' } }),
    Tree: closed({ label: { type: 'string' }, parts: { type: 'array', items: { $ref: '#/$defs/Tree' } } }),
  },
};

const operations: { readonly [name: string]: { readonly input?: JsonObject; readonly output?: JsonObject } } = {
  'payment.charge': {
    input: closed(
      {
        card: { type: 'string' },
        amount: closed({ minorUnits: { type: 'integer' }, currency: { enum: ['EUR', 'USD'] } }),
        tags: { type: 'array', items: { type: 'string' } },
        to: closed({ city: { type: 'string' }, zip: { type: 'string' } }),
      },
      'tags',
      'to',
    ),
    output: closed({ chargeId: { type: 'string' } }),
  },
  'shop.look': {},
  'shop.pay': {
    input: {
      oneOf: [closed({ by: { const: 'card' }, card: { type: 'string' } }), closed({ by: { const: 'cash' }, till: { type: 'number' } })],
    },
  },
};
export const catalog: Catalog = { schemasOf: (agent, operation) => operations[`${agent}.${operation}`] };

/** All problems of a definition: `error order/charge /amount: …`. */
export const said = (definition: WorkflowDefinition, known?: Catalog): readonly string[] =>
  check(definition, known).map(({ severity, path, message }) => `${severity} ${path} ${message}`);
