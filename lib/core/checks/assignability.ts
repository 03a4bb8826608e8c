import { isObject } from '#core/data/json';
import { type Expression, parseExpression } from '#core/definition/expression';
import { isCel } from '#core/definition/program';
import { noneOf } from './expression-operators.ts';
import { type Readable, typeOfExpression } from './expression-types.ts';
import type { Say } from './fields.ts';
import { didYouMean } from './suggest.ts';
import { pointedAt } from './tree.ts';
import {
  alternatives,
  asJson,
  described,
  type FieldType,
  isNever,
  keyOf,
  type ObjectType,
  type Type,
  typeOfLiteral,
  unionOf,
  unknown,
} from './types.ts';

/** The use of a template: its readable values, and the receiver of its value. */
export interface TemplateUse {
  readonly readable: Readable;
  /** The receiver of the value: `payment.charge`. */
  readonly receiver: string;
  /** A name for the expected value in messages: `a condition`. */
  readonly what?: string | undefined;
  /** The parser of the language (default: that of workflows). */
  readonly parse?: (text: string) => ParsedTree;
  readonly say: (message: string, severity?: 'error' | 'warning', where?: Where) => void;
}

/** The part of a parsed expression that the check of types needs. */
type ParsedTree = { readonly ok: true; readonly expression: Pick<Expression, 'ast'> } | { readonly ok: false };

/** The place of a problem inside a template, and its message without that place: rules report them as separate fields. */
export interface Where {
  /** JSON pointer from the template. */
  readonly pointer: string;
  readonly detail: string;
  /** The position inside an expression, in characters from 0. */
  readonly position?: number;
}

/** Returns the type of a template's value. Reports a problem, with a JSON pointer, if the expected type cannot accept it. */
export function typeOfTemplate(template: unknown, wanted: Type, use: TemplateUse, pointer = ''): Type {
  if (isCel(template)) return typeOfCel(template.$cel, wanted, use, pointer);
  if (Array.isArray(template)) return typeOfList(template, wanted, use, pointer);
  if (isObject(template)) return typeOfObject(template, wanted, use, pointer);
  const type = typeOfLiteral(template);
  const reason = misfit(type, wanted, { what: use.what, given: JSON.stringify(template) });
  if (reason !== undefined) report(use, pointer, reason);
  return type;
}

const report = ({ say }: TemplateUse, pointer: string, detail: string): void =>
  say(`${at(pointer)}${detail}`, 'error', { pointer, detail });
const at = (pointer: string): string => pointer && `${pointer}: `;
const inside = (pointer: string, key: string): string => `${pointer}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;

function typeOfCel(text: string, wanted: Type, { readable, what, say, parse = parseExpression }: TemplateUse, pointer: string): Type {
  const parsed = parse(text);
  if (!parsed.ok) return unknown;
  let isWrong = false;
  const sayHere: Say = (message, position, severity = 'error') => {
    isWrong ||= severity === 'error';
    say(`${at(pointer)}${message}\n${pointedAt(text, position)}`, severity, { pointer, detail: message, position });
  };
  const type = typeOfExpression(parsed.expression.ast, readable, sayHere);
  if (isWrong) return unknown;
  if (type.kind === 'optional') {
    sayHere('The value may be missing (.?). Give a default: orElse(…, …).', 0);
    return unknown;
  }
  const json = asJson(type);
  const reason = misfit(json, wanted, { what });
  if (reason !== undefined) sayHere(reason, 0);
  return json;
}

function typeOfList(template: readonly unknown[], wanted: Type, use: TemplateUse, pointer: string): Type {
  const { item, reason } = itemWanted(wanted, use.what);
  if (reason !== undefined) report(use, pointer, reason);
  const types = template.map((entry, index) => typeOfTemplate(entry, item, { ...use, what: undefined }, `${pointer}/${index}`));
  return { kind: 'list', item: types.length === 0 ? unknown : unionOf(types) };
}

function itemWanted(wanted: Type, what: string | undefined): { readonly item: Type; readonly reason?: string | undefined } {
  if (wanted.kind === 'unknown') return { item: unknown };
  const lists = alternatives(wanted).filter((each) => each.kind === 'list');
  if (lists.length === 0) return { item: unknown, reason: misfit({ kind: 'list', item: unknown }, wanted, { what }) };
  return { item: unionOf(lists.map(({ item }) => item)) };
}

function typeOfObject(template: { readonly [key: string]: unknown }, wanted: Type, use: TemplateUse, pointer: string): Type {
  const objects = alternatives(wanted).filter((each) => each.kind === 'object');
  if (objects.length === 0 && wanted.kind !== 'unknown')
    report(use, pointer, String(misfit({ kind: 'object', fields: new Map(), others: unknown }, wanted, { what: use.what })));
  const [meant, ...others] = objects.length > 1 ? objects.filter((object) => isMeant(template, object)) : objects;
  const only = others.length === 0 ? meant : undefined;

  const fields = new Map<string, FieldType>();
  for (const [key, value] of Object.entries(template)) {
    const here = inside(pointer, key);
    const field = only ? typeOfInput(only, key) : typeInAny(objects, key);
    if (!field) report(use, here, `${use.receiver} has no such input field.${didYouMean(key, only ? [...only.fields.keys()] : [])}`);
    fields.set(key, { type: typeOfTemplate(value, field ?? unknown, { ...use, what: undefined }, here), required: true });
  }
  for (const [name, { required, type }] of only?.fields ?? [])
    if (required && !Object.hasOwn(template, name))
      report(use, inside(pointer, name), `missing; ${use.receiver} expects ${described(type)}.`);
  return {
    kind: 'object',
    fields,
    others: 'none',
    get shape() {
      return `{${[...fields].map(([name, { type }]) => `${JSON.stringify(name)}: ${keyOf(type)}`).join()}}`;
    },
  };
}

/** Returns the type of a field; undefined if the schema lacks it. Such a field is probably misspelled, and the agent would ignore it. */
const typeOfInput = ({ fields, others }: ObjectType, name: string): Type | undefined =>
  fields.get(name)?.type ?? (typeof others === 'object' ? others : undefined);

/** Returns the type of a field that all of these object forms have; unknown if one of them lacks it. */
const typeInAny = (objects: readonly ObjectType[], name: string): Type => {
  const types = objects.flatMap(({ fields }) => fields.get(name)?.type ?? []);
  return types.length > 0 && types.length === objects.length ? unionOf(types) : unknown;
};

/** Whether a template may be meant for this one of several object forms: none of its constant texts contradicts the form. */
const isMeant = (template: { readonly [key: string]: unknown }, { fields }: ObjectType): boolean =>
  Object.entries(template).every(([key, value]) => {
    const field = fields.get(key);
    return !field || typeof value !== 'string' || misfit(typeOfLiteral(value), field.type) === undefined;
  });

interface Words {
  /** The name of the expected value: `a condition`. Default: its type in words. */
  readonly what?: string | undefined;
  /** The text of the given value, if known. */
  readonly given?: string | undefined;
}

/** Levels up to which two types are compared. Below them, any value counts as fitting. */
const depthMax = 6;

/** Returns why a value of this type certainly does not fit the wanted type; undefined if it may fit. */
export function misfit(type: Type, wanted: Type, words: Words = {}, depth = 0): string | undefined {
  if (depth > depthMax || wanted.kind === 'unknown' || isNever(type) || isNever(wanted)) return undefined;
  const reasons: (string | undefined)[] = [];
  for (const one of alternatives(type))
    for (const other of alternatives(wanted)) {
      const reason = one.kind === 'unknown' || one.kind === 'cel' ? undefined : misfitOfBoth(one, other, words, depth);
      if (reason === undefined) return undefined;
      reasons.push(reason);
    }
  const [only, ...others] = reasons;
  return only !== undefined && others.length === 0 ? only : notWanted(type, wanted, words);
}

function misfitOfBoth(one: Type, wanted: Type, words: Words, depth: number): string | undefined {
  if (one.kind === 'string' && wanted.kind === 'string') {
    const { among } = wanted;
    return one.among && among && !one.among.some((name) => among.includes(name)) ? noneOf(one.among, among) : undefined;
  }
  if (one.kind === 'list' && wanted.kind === 'list') {
    const reason = misfit(one.item, wanted.item, {}, depth + 1);
    return reason && `In its entries: ${reason}`;
  }
  if (one.kind === 'object' && wanted.kind === 'object') return misfitOfObjects(one, wanted, depth);
  return one.kind === wanted.kind ? undefined : notWanted(one, wanted, words);
}

function misfitOfObjects(one: ObjectType, wanted: ObjectType, depth: number): string | undefined {
  for (const [name, field] of wanted.fields) {
    const found = one.fields.get(name);
    if (!found && field.required && one.others === 'none') return `It has no field "${name}", which is required here.`;
    const reason = found?.required && field.required ? misfit(found.type, field.type, {}, depth + 1) : undefined;
    if (reason !== undefined) return `In its field "${name}": ${reason}`;
  }
  return undefined;
}

const notWanted = (type: Type, wanted: Type, { what, given }: Words): string =>
  `Expected ${what ?? described(wanted)}, got ${given ?? described(type)}.`;
