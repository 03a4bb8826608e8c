import * as fc from 'fast-check';
import { bodyDefects } from './body-defects.ts';
import { fitsText, type Schema } from './document.ts';
import { type Draft, type Draw, oneOf, type Surroundings, text } from './draft.ts';

/**
 * Adds one defect to a request and returns the codes with which the system may refuse it. Undefined if the request has no
 * place for the defect.
 */
export type Defect = (draft: Draft, draw: Draw, around: Surroundings) => readonly string[] | undefined;

const isOpen = ({ operation }: Draft): boolean => operation.roles.length === 0;
/** Calls that need no token ignore the query. */
const ofQuery = (draft: Draft): readonly string[] | undefined => (isOpen(draft) ? undefined : ['bad-parameter']);

const callers: { readonly [kind: string]: Defect } = {
  'no token': (draft) => {
    if (isOpen(draft)) return undefined;
    delete draft.headers['authorization'];
    return ['unauthenticated'];
  },
  'a bad token': (draft, draw, { tokens }) => {
    if (isOpen(draft)) return undefined;
    const [head = '', payload = '', signature = ''] = (tokens['client'] ?? '').split('.');
    const junk = draw(fc.base64String({ minLength: 1, maxLength: 400 }));
    const none = Buffer.from('{"alg":"none"}').toString('base64url');
    draft.headers['authorization'] = oneOf(draw, [
      `Bearer ${junk}`,
      `Bearer ${head}.${payload}.${junk}`,
      `Bearer ${none}.${payload}.`,
      `Bearer ${head}.${Buffer.from(junk).toString('base64url')}.${signature}`,
      `Basic ${junk}`,
      `Bearer  ${head}.${payload}.${signature}.${signature}`,
      head,
    ]);
    return ['unauthenticated'];
  },
  'another role': (draft, draw, { tokens }) => {
    if (isOpen(draft)) return undefined;
    const known = new Set(draft.operation.roles.includes('operator') ? [...draft.operation.roles, 'admin'] : draft.operation.roles);
    const others = Object.keys(tokens).filter((role) => !known.has(role));
    draft.headers['authorization'] = `Bearer ${tokens[oneOf(draw, others)]}`;
    return ['forbidden'];
  },
};

const routes: { readonly [kind: string]: Defect } = {
  'an unknown route': (draft, draw) => {
    const segment = encodeURIComponent(draw(text)).replaceAll('%2F', '-');
    draft.path = oneOf(draw, [`/nothing-${segment}`, `/${draft.path}`, `${draft.path === '/' ? '//' : draft.path}/`, `/x/..${draft.path}`]);
    return ['not-found'];
  },
  'an unknown method': (draft, draw) => {
    if (isOfGroup(draft)) return undefined;
    draft.method = oneOf(draw, ['PATCH', 'OPTIONS', 'PROPFIND', 'TRACE', 'M-SEARCH']);
    return ['method-not-allowed'];
  },
  'an id that is not there': (draft, draw, { own, foreign, deadLetter, client }) => {
    const { path, roles } = draft.operation;
    const strange = encodeURIComponent(draw(text.filter((each) => !each.includes('/'))));
    const absent = oneOf(draw, [strange, `ord_${'a'.repeat(52)}`, ...(roles[0] === 'client' ? [foreign] : [])]);
    if (path.startsWith('/orders/{id}')) draft.path = draft.path.replace(own.orderId, absent);
    else if (path.startsWith('/channels/{name}') && path.includes('{id}'))
      draft.path = draft.path.replace(encodeURIComponent(deadLetter), absent);
    else if (path.startsWith('/clients/{id}')) {
      draft.path = `/clients/${client.id}${oneOf(draw, ['%20', '%C3%A9', '%00', '%23', '%25', '+', ':'])}`;
      return ['bad-parameter'];
    } else return undefined;
    // A segment that is empty, or `.` or `..`, is another route.
    return ['not-found', 'method-not-allowed'];
  },
  'a channel that is not there': (draft, draw, { channel }) => {
    if (!draft.operation.path.startsWith('/channels/{name}')) return undefined;
    draft.path = draft.path.replace(`/${channel}`, `/no-${encodeURIComponent(draw(text)).replaceAll('%2F', '-')}`);
    return ['not-found'];
  },
};

const queries: { readonly [kind: string]: Defect } = {
  'an unknown parameter': (draft, draw) => {
    draft.query.push([encodeURIComponent(`x${draw(text)}`), encodeURIComponent(draw(text))]);
    return ofQuery(draft);
  },
  'a parameter twice': (draft) => {
    const name = draft.operation.parameters.find((each) => each.in === 'query')?.name ?? 'limit';
    draft.query.push([name, '1'], [name, '1']);
    return ofQuery(draft);
  },
  'a query that is not percent-encoded UTF-8': (draft, draw) => {
    draft.query.push(['limit', oneOf(draw, ['%', '%zz', '%c3%28', '%ff', '%ed%a0%80', '1%'])]);
    return ofQuery(draft);
  },
  'a bad value of a parameter': (draft, draw) => {
    const parameters = draft.operation.parameters.filter((each) => each.in === 'query' && badTextOf(each.schema) !== undefined);
    if (parameters.length === 0) return undefined;
    const { name, schema } = oneOf(draw, parameters);
    draft.query.push([name, encodeURIComponent(draw(badTextOf(schema) ?? text))]);
    return ofQuery(draft);
  },
  'a cursor of another list, or a changed one': (draft, draw, { cursors }) => {
    if (!draft.operation.parameters.some(({ name }) => name === 'cursor')) return undefined;
    const others = Object.entries(cursors).flatMap(([path, cursor]) => (path === draft.operation.path ? [] : [cursor]));
    const [given = ''] = Object.values(cursors);
    const changed = [`${given.slice(0, 5)}A${given.slice(6)}`, `${given}x`, given.split('.')[0] ?? '', `.${given.split('.')[1]}`];
    draft.query.push(['cursor', encodeURIComponent(oneOf(draw, [...others, ...changed, draw(fc.base64String({ minLength: 1 }))]))]);
    return ofQuery(draft);
  },
};

const headers: { readonly [kind: string]: Defect } = {
  'a bad value of a header': (draft, draw) => {
    const named = draft.operation.parameters.filter((each) => each.in === 'header' && each.schema.pattern !== undefined);
    if (named.length === 0) return undefined;
    const { name, schema } = oneOf(draw, named);
    const latin = draw(fc.string({ unit: fc.integer({ min: 0xa1, max: 0xff }).map((code) => String.fromCharCode(code)), maxLength: 300 }));
    const bad = [latin, 'k'.repeat(256), `${latin}k`, '""', "'", '*', 'W/"1"', '1'].filter((each) => !fitsText(each, schema));
    draft.headers[name] = oneOf(draw, bad);
    return ['bad-parameter'];
  },
  'a missing header': (draft) => {
    const required = draft.operation.parameters.find((each) => each.in === 'header' && each.required);
    const name = required?.name ?? ('if-match' in draft.headers ? 'if-match' : undefined);
    if (name === undefined) return undefined;
    if ((isOfNoRule(draft) || isOfGroup(draft)) && !required) return undefined;
    delete draft.headers[name];
    return [required ? 'bad-parameter' : 'precondition-required'];
  },
  'an outdated If-Match': (draft, draw) => {
    if (!('if-match' in draft.headers) || isOfNoRule(draft)) return undefined;
    draft.headers['if-match'] = `"${draw(fc.integer({ min: 1_000, max: 999_999_999 }))}"`;
    return ['stale'];
  },
  'a type that the answer does not have': (draft, draw) => {
    draft.headers['accept'] = oneOf(draw, ['image/png', 'text/csv, image/*;q=0.9', 'application/xml', '*/*;q=0', 'application/jsonp']);
    return ['not-acceptable'];
  },
  'a body of another type': (draft, draw) => {
    if (!draft.operation.body) return undefined;
    if (draw(fc.boolean())) draft.headers['content-encoding'] = oneOf(draw, ['gzip', 'br', 'deflate', 'identity', 'zstd', 'x']);
    else
      draft.headers['content-type'] = oneOf(draw, [
        'text/plain',
        'application/x-www-form-urlencoded',
        'multipart/form-data; boundary=x',
        'application/json; charset=latin1',
        'application/json; charset=utf-7',
        'application/problem+json',
        'application/xml',
        draw(fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 40 })).replaceAll(/[^\x21-\x7e]/g, '') || 'x',
      ]);
    return ['unsupported-media-type'];
  },
};

/** All defects, by kind. */
export const defects: { readonly [kind: string]: Defect } = { ...callers, ...routes, ...queries, ...headers, ...bodyDefects };

/** Whether the call is about a rule or a solution. None is stored, so the answer is 404 before the system reads `If-Match`. */
const isOfNoRule = ({ operation }: Draft): boolean => /^\/(rules|solutions)\/\{id\}/.test(operation.path);

/** Whether the call is about a group. Its first write needs no `If-Match`, and a group of exceptions accepts PATCH. */
const isOfGroup = ({ operation }: Draft): boolean => /^\/(groups|exceptions\/groups)\//.test(operation.path);

/** The largest number that `fc.integer` draws. */
const largestInteger = 0x7fff_ffff;

/** Texts that do not fit the schema of a parameter; undefined if every text fits. */
function badTextOf(schema: Schema): fc.Arbitrary<string> | undefined {
  const { type, maxLength } = schema;
  if (schema.enum) return text.filter((each) => !schema.enum?.includes(each));
  if (type === 'integer') {
    const { maximum = 100 } = schema;
    const above: fc.Arbitrary<number | string> = maximum < largestInteger ? fc.integer({ min: maximum + 1 }) : fc.constant(`${maximum}0`);
    const numbers = fc.oneof(above, fc.integer({ max: -1 }), fc.double({ min: 0.01, max: 0.99 })).map(String);
    return fc.oneof(
      numbers,
      text.filter((each) => !/^\d{1,3}$/.test(each)),
      fc.constantFrom('1e1', '0x10', '1.0', '+1', '١', '1n', ' 1'),
    );
  }
  const long =
    maxLength === undefined ? undefined : fc.integer({ min: maxLength + 1, max: 2 * maxLength }).map((length) => 'x'.repeat(length));
  if (schema.pattern !== undefined) return text.filter((each) => !fitsText(each, schema));
  return long;
}
