import { didYouMean } from './suggest.ts';
import { alternatives, described, isNever, listed, never, type ObjectType, type Type, unionOf, unknown } from './types.ts';

/** Reports a problem in an expression; `position` in characters from 0. */
export type Say = (message: string, position: number, severity?: 'error' | 'warning') => void;

export interface FieldRead {
  readonly of: Type;
  /** Returns the holder of the field as written: `order.address`. */
  readonly holder: () => string;
  readonly name: string;
  /** The position of the field's name. */
  readonly position: number;
  /** Whether this expression, or another one that is checked with it, tests for the field (`has()`, `.?`). */
  readonly isTested: () => boolean;
}

/** Returns the type of a field. Reports an error if the field is certainly missing, and a warning if it may be. */
export function typeOfField({ of, holder, name, position, isTested }: FieldRead, say: Say): Type {
  if (isNever(of)) return never;
  const all = alternatives(of);
  if (all.some(({ kind }) => kind === 'unknown' || kind === 'cel' || kind === 'optional')) return unknown;
  const objects = all.filter((each) => each.kind === 'object');
  if (objects.length === 0) {
    const hint = all.some(({ kind }) => kind === 'list') ? listHint(holder(), name) : '';
    say(`${holder()} is ${described(of)} and has no field "${name}".${hint}`, position);
    return unknown;
  }
  const found = objects.flatMap((object) => fieldIn(object, name) ?? []);
  if (found.length === 0) return notFound(objects, { holder, name, position }, say);
  if (found.every(({ required }) => !required) && !isTested())
    say(
      `"${name}" may be missing, and then the expression fails. Give a default: ` +
        `in CEL orElse(${holder()}${path('?', name)}, …), in TypeScript orElse(${holder()}${path('', name)}, …).`,
      position,
      'warning',
    );
  return unionOf(found.map(({ type }) => type));
}

/** Says how to read an entry or the length of a list, which JavaScript reads like fields. */
function listHint(list: string, name: string): string {
  if (/^\d+$/.test(name)) return ` Read an entry as ${list}[${name}], in TypeScript cel\`\${${list}}[${name}]\`.`;
  return name === 'length' || name === 'size' ? ` Its length is size(${list}), in TypeScript cel\`size(\${${list}})\`.` : '';
}

const path = (mark: '?' | '', name: string): string =>
  /^[A-Za-z_]\w*$/.test(name) ? `.${mark}${name}` : `[${mark}${JSON.stringify(name)}]`;

/** Returns a field of an object type. An object whose `others` are a type may have any field, so its fields give no warning. */
function fieldIn({ fields, others }: ObjectType, name: string): { readonly type: Type; readonly required: boolean } | undefined {
  const field = fields.get(name);
  if (field) return field;
  return typeof others === 'object' ? { type: others, required: true } : undefined;
}

function notFound(
  objects: readonly ObjectType[],
  { holder, name, position }: Pick<FieldRead, 'holder' | 'name' | 'position'>,
  say: Say,
): Type {
  const names = objects.flatMap(({ fields }) => [...fields.keys()]);
  const suggestion = didYouMean(name, names);
  if (objects.some(({ others }) => others === 'unsaid'))
    say(`The schema of ${holder()} does not mention a field "${name}".${suggestion}`, position, 'warning');
  else say(`${holder()} has no field "${name}".${suggestion || fieldsOf(names)}`, position);
  return unknown;
}

const fieldsOf = (names: readonly string[]): string => (names.length === 0 ? '' : ` It has ${listed([...new Set(names)])}.`);
