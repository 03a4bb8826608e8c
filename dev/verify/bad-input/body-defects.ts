import * as fc from 'fast-check';
import type { Defect } from './defects.ts';
import { fitsText, jsonTypeOf, type Place, placesOf, type Schema, typesOf } from './document.ts';
import { type Draft, type Draw, marker, oneOf, text, withValueAt } from './draft.ts';

type Data = { readonly [name: string]: unknown };

/** Whether the call has a body, and no earlier defect has replaced its data by bytes. */
const hasData = ({ operation, bytes }: Draft): boolean => operation.body !== undefined && bytes === undefined;
const schemaOf = ({ operation }: Draft): Schema => operation.body ?? {};
const written = ({ body }: Draft): string => JSON.stringify(body);

/** Writes the body as bytes, with raw text at one of its places. */
function writeAt(draft: Draft, draw: Draw, raw: Buffer | string): void {
  const places = placesOf(schemaOf(draft), draft.body);
  const { path } = oneOf(draw, places);
  const [before = '', after = ''] = JSON.stringify(withValueAt(draft.body, path, marker)).split(JSON.stringify(marker));
  draft.bytes = Buffer.concat([Buffer.from(before), Buffer.from(raw), Buffer.from(after)]);
}

const malformed: { readonly [kind: string]: Defect } = {
  'bytes that are not JSON': (draft, draw) => {
    if (!hasData(draft)) return undefined;
    const bytes = Buffer.from(draw(fc.uint8Array({ maxLength: 400 })));
    draft.bytes = isJson(bytes) ? Buffer.concat([Buffer.from('{'), bytes]) : bytes;
    return ['malformed-json'];
  },
  'JSON that is cut off': (draft, draw) => {
    if (!hasData(draft)) return undefined;
    const whole = written(draft);
    draft.bytes = Buffer.from(whole.slice(0, draw(fc.nat({ max: whole.length - 1 }))));
    return ['malformed-json'];
  },
  'almost JSON': (draft, draw) => {
    if (!hasData(draft)) return undefined;
    const whole = written(draft);
    draft.bytes = Buffer.from(
      oneOf(draw, [
        `\ufeff${whole}`,
        `${whole}${whole}`,
        `${whole},`,
        `/**/${whole}`,
        `[${whole},]`,
        whole.replaceAll('"', "'").concat(';'),
        `${whole}\0`,
      ]),
    );
    return ['malformed-json'];
  },
  'another encoding': (draft, draw) => {
    if (!hasData(draft)) return undefined;
    const whole = Buffer.from(JSON.stringify([draft.body]), oneOf(draw, ['utf16le', 'ucs2'] as const));
    draft.bytes = draw(fc.boolean()) ? whole : Buffer.from(whole).swap16();
    return ['malformed-json'];
  },
  'text that is not UTF-8': (draft, draw) => {
    if (!hasData(draft)) return undefined;
    const bad = oneOf(draw, [[0xc3, 0x28], [0xc0, 0xaf], [0xff], [0xed, 0xa0, 0x80], [0xf8, 0x88, 0x80, 0x80, 0x80], [0x80], [0xe2, 0x82]]);
    writeAt(draft, draw, Buffer.concat([Buffer.from('"'), Buffer.from(bad), Buffer.from('"')]));
    return ['malformed-json'];
  },
  'a field twice': (draft, draw) => {
    if (!hasData(draft)) return undefined;
    writeAt(draft, draw, oneOf(draw, ['{"a":1,"a":1}', '{"a":1,"\\u0061":2}', '[{"":{},"b":[":"],"":0}]', '{"a":{"c":1,"c":{}}}']));
    return ['malformed-json'];
  },
};

/** JSON texts beyond a limit, or with forbidden characters or names. */
const beyond = fc.oneof(
  fc.tuple(fc.integer({ min: 40, max: 5_000 }), fc.boolean()).map(([levels, isList]) => nested(levels, isList)),
  fc.integer({ min: 1_001, max: 3_000 }).map((count) => `{${Array.from({ length: count }, (_, index) => `"f${index}":1`).join()}}`),
  fc.integer({ min: 501, max: 4_000 }).map((count) => `[${Array(count).fill('0').join()}]`),
  fc.integer({ min: 1_025, max: 9_000 }).map((length) => JSON.stringify('x'.repeat(length))),
  fc.constantFrom('1e400', '-1e999', `1${'0'.repeat(400)}`),
  fc.constantFrom('\\u0000', '\\u0007', '\\ud800', '\\udc00x', '\uffff', '\ufffd', '\\u001b[31m').map((each) => `"${each}"`),
  fc.constantFrom('__proto__', 'constructor', 'prototype', '__pr\\u006fto__').map((name) => `{"${name}":{"isAdmin":true}}`),
);
const nested = (levels: number, isList: boolean): string =>
  isList ? '['.repeat(levels) + ']'.repeat(levels) : `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;

const costly: { readonly [kind: string]: Defect } = {
  'a value beyond a limit': (draft, draw) => {
    if (!hasData(draft)) return undefined;
    writeAt(draft, draw, draw(beyond));
    return ['invalid'];
  },
  'a body that is too large': (draft, draw) => {
    if (!hasData(draft) || draw(fc.nat({ max: 9 })) > 0) return undefined;
    const line = JSON.stringify('x'.repeat(1_000));
    const tooMany = draw(fc.integer({ min: 265, max: 310 }));
    writeAt(draft, draw, `[${Array(tooMany).fill(line).join()}]`);
    return ['too-large'];
  },
};

const offSchema: { readonly [kind: string]: Defect } = {
  'a field is missing': (draft, draw) => {
    if (!hasData(draft)) return undefined;
    const places = placesOf(schemaOf(draft), draft.body).filter(
      ({ path, schema }) => (schema.required?.length ?? 0) > 0 && isThere(draft.body, path),
    );
    if (places.length === 0) return undefined;
    const { path, schema } = oneOf(draw, places);
    const { [oneOf(draw, schema.required ?? [])]: _, ...rest } = valueAt(draft.body, path) as Data;
    draft.body = withValueAt(draft.body, path, rest);
    return ['invalid'];
  },
  'an unknown field': (draft, draw) => {
    if (!hasData(draft)) return undefined;
    const places = placesOf(schemaOf(draft), draft.body).filter(
      ({ path, schema }) => schema.additionalProperties === false && isThere(draft.body, path),
    );
    if (places.length === 0) return undefined;
    const { path, schema } = oneOf(draw, places);
    const names = ['processState', 'epoch', 'lockedBy', 'client', 'toString', draw(text.filter((name) => name.length < 100))];
    const name = oneOf(
      draw,
      names.filter((each) => !Object.hasOwn(schema.properties ?? {}, each)),
    );
    draft.body = withValueAt(draft.body, path, { ...(valueAt(draft.body, path) as Data), [name]: draw(fc.jsonValue({ maxDepth: 2 })) });
    return ['invalid'];
  },
  'a value that does not fit': (draft, draw) => {
    if (!hasData(draft)) return undefined;
    const places = placesOf(schemaOf(draft), draft.body).filter(({ schema }) => typesOf(schema) !== undefined);
    if (places.length === 0) return undefined;
    const { path, schema }: Place = oneOf(draw, places);
    draft.body = withValueAt(draft.body, path, draw(badValueOf(schema)));
    return ['invalid'];
  },
  'some JSON': (draft, draw) => {
    if (!hasData(draft) || typesOf(schemaOf(draft)) === undefined) return undefined;
    const value = draw(fc.jsonValue({ maxDepth: 4 }));
    draft.body = jsonTypeOf(value) === 'object' && (schemaOf(draft).required?.length ?? 0) === 0 ? [value] : value;
    return ['invalid'];
  },
};

/** Requests that are well-formed, and that the state of the system refuses. */
const refused: { readonly [kind: string]: Defect } = {
  'a used key': (draft, _, { usedKey }) => {
    if (!hasData(draft) || draft.operation.path !== '/orders') return undefined;
    draft.headers['idempotency-key'] = usedKey;
    return ['idempotency-key-reused'];
  },
  'a workflow or a channel that is not there': (draft, draw) => {
    if (!hasData(draft) || draft.operation.path !== '/orders') return undefined;
    const [name, value] = oneOf(draw, [
      ['workflow', 'no-such-workflow'],
      ['responseChannel', 'redress-response-other'],
      ['responseChannel', 'http://169.254.169.254/latest/meta-data'],
      ['responseChannel', '../acme'],
    ] as const);
    draft.body = { ...(draft.body as Data), [name]: value };
    return ['invalid'];
  },
  'an instruction that is infeasible': (draft, draw) => {
    if (!hasData(draft) || draft.operation.path !== '/orders/{id}/instructions') return undefined;
    draft.body = { ...(draft.body as Data), kind: oneOf(draw, ['resume', 'mark-compensated']) };
    return ['infeasible'];
  },
};

export const bodyDefects: { readonly [kind: string]: Defect } = { ...malformed, ...costly, ...offSchema, ...refused };

function badValueOf(schema: Schema): fc.Arbitrary<unknown> {
  const types = typesOf(schema) ?? new Set();
  const isOther = (value: unknown): boolean => !types.has(jsonTypeOf(value)) && !(types.has('number') && jsonTypeOf(value) === 'integer');
  const other = fc.jsonValue({ maxDepth: 2 }).filter(isOther);
  const { minimum = -Infinity, maximum = Infinity, minItems = 0, maxItems, maxLength } = schema;
  const numbers = [
    fc
      .double({ noNaN: true, noDefaultInfinity: true })
      .filter((each) => each < minimum || each > maximum || (types.has('integer') && !Number.isInteger(each))),
  ];
  const texts = [text, ...(maxLength === undefined ? [] : [fc.constant('x'.repeat(maxLength + 1))])];
  const isBad = (each: string): boolean => (schema.enum ? !schema.enum.includes(each) : !fitsText(each, schema));
  const hasBadText = types.has('string') && (schema.enum ?? schema.pattern ?? maxLength ?? schema.minLength) !== undefined;
  return fc.oneof(
    other,
    ...(types.has('integer') || types.has('number') ? numbers : []),
    ...(hasBadText ? [fc.oneof(...texts, fc.constantFrom('', ' ')).filter(isBad)] : []),
    ...(minItems > 0 ? [fc.constant([])] : []),
    ...(maxItems !== undefined ? [fc.constant(Array(maxItems + 1).fill('x'))] : []),
  );
}

const valueAt = (data: unknown, path: readonly (string | number)[]): unknown =>
  path.reduce((value, name) => (value as { readonly [name: string]: unknown } | undefined)?.[name], data);
const isThere = (data: unknown, path: readonly (string | number)[]): boolean => jsonTypeOf(valueAt(data, path)) === 'object';

function isJson(bytes: Buffer): boolean {
  try {
    JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
    return true;
  } catch {
    return false;
  }
}
