import type { ASTNode } from '@marcbachmann/cel-js';
import type { Say } from './fields.ts';
import { yielded } from './overloads.ts';
import { didYouMean } from './suggest.ts';
import { alternatives, capital, described, isNever, listed, type Type, unionOf, unknown } from './types.ts';

export type Node<Op extends ASTNode['op']> = Extract<ASTNode, { op: Op }>;

/** Returns the type of `!a` or `-a`. */
export function typeOfUnary(node: Node<'!_' | '-_'>, type: Type, say: Say): Type {
  const [operator = ''] = node.op;
  const result = yielded((operand) => `${operator}${operand}`, [type]);
  if (!result) say(`"${operator}" cannot take ${described(type)}.`, node.range.start);
  return result ?? unknown;
}

/** Returns the type of a calculation or a comparison of two values. */
export function typeOfBinary(node: Node<'+' | '-' | '*' | '/' | '%' | '<' | '<=' | '>' | '>='>, left: Type, right: Type, say: Say): Type {
  const { op } = node;
  if (op === '+' && left.kind === 'list' && right.kind === 'list') return { kind: 'list', item: unionOf([left.item, right.item]) };
  const result = yielded((one, other) => `${one} ${op} ${other}`, [left, right]);
  if (result) return result;
  const kinds = [left.kind, right.kind];
  const remedy = op === '+' && kinds.includes('string') && kinds.includes('number') ? ' Put string(…) around the number.' : '';
  say(`"${op}" cannot take ${described(left)} and ${described(right)}.${remedy}`, node.range.start);
  return unknown;
}

/** Reports `sum`, `min` or `max` of a list that contains no numbers. */
export function checkNumbers(name: string, list: Type, { range }: ASTNode, say: Say): void {
  if (list.kind !== 'list' || isNever(list.item)) return;
  if (alternatives(list.item).some(({ kind }) => kind === 'number' || kind === 'unknown')) return;
  say(`${name}() takes a list of numbers; here each entry is ${described(list.item)}.`, range.start);
}

/** Reports two values that can never be equal. Any value may be compared with null. */
export function compare(left: ASTNode, one: Type, right: ASTNode, other: Type, say: Say): void {
  const [mine, theirs] = [one, other].map((type) => alternatives(type).filter(({ kind }) => kind !== 'null')) as [Type[], Type[]];
  if ([...mine, ...theirs].some(({ kind }) => kind === 'unknown' || kind === 'optional' || kind === 'cel')) return;
  if (mine.length === 0 || theirs.length === 0) return;
  if (!mine.some(({ kind }) => theirs.some((each) => each.kind === kind)))
    return say(`${capital(described(one))} and ${described(other)} are never equal.`, left.range.start);
  if (mine.length === 1 && theirs.length === 1) compareNames(left, mine[0], right, theirs[0], say);
}

function compareNames(left: ASTNode, one: Type | undefined, right: ASTNode, other: Type | undefined, say: Say): void {
  if (one?.kind !== 'string' || other?.kind !== 'string' || !one.among || !other.among) return;
  const { among } = other;
  if (one.among.some((name) => among.includes(name))) return;
  const [literal, names, place] = right.op === 'value' ? [among, one.among, right] : [one.among, among, left];
  say(noneOf(literal, names), place.range.start);
}
/** Returns `"shiped" is none of "shipped", "refused". Did you mean "shipped"?` */
export const noneOf = (wrong: readonly string[], names: readonly string[]): string =>
  `${listed(wrong)} ${wrong.length === 1 ? 'is' : 'are'} none of ${listed(names)}.${didYouMean(wrong[0] ?? '', names)}`;
