import type * as z from 'zod';
import { type ListFilters, unservedIn } from '#ports/list-filters';
import { badParameter, type ProblemError, type Refusal, refuse } from './problem.ts';

/** Reads the query by the schema of the route; refuses unknown, repeated and undecodable parameters. */
export function readQuery(schema: z.ZodObject | undefined, url: string): { readonly value: unknown } | Refusal {
  const mark = url.indexOf('?');
  const text = mark < 0 ? '' : url.slice(mark + 1);
  if (!isDecodable(text)) return badParameter('', 'malformed-query', 'The query is not percent-encoded UTF-8.');

  const given = new URLSearchParams(text);
  const names = new Set(given.keys());
  if (names.size < given.size) return badParameter('', 'repeated-parameter', 'A parameter may occur only once.');
  if (!schema)
    return given.size === 0 ? { value: {} } : refuse('bad-parameter', { errors: [...names].map((name) => unknownParameter(name, [])) });
  return parse(schema, Object.fromEntries(given));
}

/** Reads the headers that the schema of the route names; ignores all others. */
export function readHeaders(schema: z.ZodObject | undefined, headers: Headers): { readonly value: unknown } | Refusal {
  if (!schema) return { value: {} };
  return parse(
    schema,
    Object.fromEntries(Object.keys(schema.shape).flatMap((name) => (headers.has(name) ? [[name, headers.get(name)]] : []))),
  );
}

function parse(schema: z.ZodObject, given: unknown): { readonly value: unknown } | Refusal {
  const { data, error } = schema.safeParse(given);
  if (!error) return { value: data };
  const known = Object.keys(schema.shape);
  const errors = error.issues.flatMap((issue): ProblemError[] => {
    if (issue.code === 'unrecognized_keys') return issue.keys.map((name) => unknownParameter(name, known));
    const name = String(issue.path[0]);
    return [{ pointer: `/${name}`, code: issue.code.replaceAll('_', '-'), detail: `${name}: ${issue.message}` }];
  });
  return refuse('bad-parameter', { errors });
}

/** Names the parameter only if the name is harmless: a response never echoes arbitrary input. */
const unknownParameter = (name: string, known: readonly string[]): ProblemError => ({
  pointer: /^[\w.-]{1,64}$/.test(name) ? `/${name}` : '',
  code: 'unknown-parameter',
  detail: known.length > 0 ? `Unknown parameter; expected one of ${known.join(', ')}.` : 'This call takes no parameters.',
});

/** Refuses filters that the list cannot serve, and says which other filter they need. */
export function refuseUnserved(list: ListFilters, query: { readonly [filter: string]: unknown }): Refusal | undefined {
  const errors = unservedIn(list, query).map(({ filter, needs }) => ({
    pointer: `/${filter}`,
    code: 'unserved-filter',
    detail: `${filter}: expected together with ${needs}. docs/reference/lists.md shows which filters a list serves.`,
  }));
  return errors.length === 0 ? undefined : refuse('bad-parameter', { errors });
}

const isDecodable = (text: string): boolean => {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
};
