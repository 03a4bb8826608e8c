import * as z from 'zod';
import type { Definitions } from '#ports/definitions';
import { type ProblemCode, problems } from './problem.ts';
import type { Route } from './route.ts';
import { Problem } from './schemas/problem.ts';

type Schema = { readonly [key: string]: unknown };

/** Returns the OpenAPI document, generated from the same rows and schemas that serve the calls. */
export const openApi = (routes: readonly Route[], definitions: Definitions): Schema => ({
  openapi: '3.1.1',
  info: {
    title: 'Redress',
    version: '1',
    description:
      'Takes orders and brings each to a defined end: completed or undone, or blocks it until a person decides. Every error is application/problem+json; its `code` names the problem.',
  },
  security: [{ token: [] }],
  paths: Object.fromEntries(
    [...Map.groupBy(routes, ({ path }) => path)].map(([path, rows]) => [
      path,
      Object.fromEntries(rows.map((row) => [row.method.toLowerCase(), operation(row, definitions)])),
    ]),
  ),
  components: {
    securitySchemes: {
      token: {
        type: 'http',
        scheme: 'bearer',
        bearerFormat: 'JWT',
        description:
          'ES256 or RS256, with iss, aud, exp, sub, roles (client, viewer, operator, admin), groups and, for the role client, client: the id of the client. An admin may do what an operator may. A viewer reads what an operator reads, and changes nothing.',
      },
    },
    schemas: { Problem: schemaOf(Problem, 'output') },
  },
});

const operation = (row: Route, definitions: Definitions): Schema => ({
  operationId: `${row.method.toLowerCase()}${row.path.replace(/[^a-z]+(\w?)/gi, (_, letter: string) => letter.toUpperCase())}`,
  summary: row.summary,
  ...(row.roles === 'anyone' ? { security: [] } : { description: `For: ${row.roles.join(', ')}.` }),
  parameters: [
    ...[...row.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({ name, in: 'path', required: true, schema: { type: 'string' } })),
    ...parameters(row.query, 'query'),
    ...parameters(row.headers, 'header'),
  ],
  ...(row.body
    ? { requestBody: { required: true, content: { 'application/json': { schema: withOrders(schemaOf(row.body, 'input'), definitions) } } } }
    : {}),
  responses: { ...answersOf(row), ...refusalsOf(row) },
});

function parameters(schema: z.ZodObject | undefined, place: 'query' | 'header'): readonly Schema[] {
  if (!schema) return [];
  const required = schemaOf(schema, 'input')['required'] as readonly string[] | undefined;
  return Object.entries(schema.shape).map(([name, each]) => ({
    name,
    in: place,
    required: required?.includes(name) ?? false,
    schema: schemaOf(each as z.ZodType, 'output'),
  }));
}

const answersOf = ({ answers, produces = 'application/json' }: Route): Schema =>
  Object.fromEntries(
    Object.entries(answers).map(([status, { description, schema }]) => [
      status,
      { description, ...(schema ? { content: { [produces]: { schema: schemaOf(schema, 'output') } } } : {}) },
    ]),
  );

function refusalsOf(row: Route): Schema {
  const byStatus = Map.groupBy(refusalCodes(row), (code) => problems[code].status);
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [
      status,
      {
        description: codes.map((code) => `\`${code}\`: ${problems[code].detail}`).join(' '),
        content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
      },
    ]),
  );
}

/** Lists every refusal that a call can meet: those of its row, and those that follow from its roles, body and parameters. */
export const refusalCodes = ({ roles, body, query, headers, refusals }: Route): readonly ProblemCode[] => [
  ...new Set<ProblemCode>([
    ...(roles === 'anyone' ? [] : (['bad-parameter', 'unauthenticated', 'forbidden', 'unavailable'] as const)),
    ...(body ? (['malformed-json', 'unsupported-media-type', 'too-large', 'invalid'] as const) : []),
    ...(query || headers ? (['bad-parameter'] as const) : []),
    'not-acceptable',
    'internal',
    ...refusals,
  ]),
];

/** Adds the order schemas of the deployed workflows to `order`. */
function withOrders(schema: Schema, definitions: Definitions): Schema {
  const properties = schema['properties'] as Schema | undefined;
  if (!properties?.['order']) return schema;
  const orders = definitions.names().flatMap((name) => {
    const program = definitions.newest(name);
    return program ? [{ ...program.definition.order, title: `order of ${name}@${program.definition.version}` }] : [];
  });
  // A reference inside such a schema would point into this document instead.
  return JSON.stringify(orders).includes('"$ref"') ? schema : { ...schema, properties: { ...properties, order: { anyOf: orders } } };
}

const schemaOf = (schema: z.ZodType, io: 'input' | 'output'): Schema => {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io }) as Schema;
  return rest;
};
