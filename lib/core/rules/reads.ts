import type { ASTNode } from '@marcbachmann/cel-js';
import { pathOf } from '#core/checks/expression-types';
import { childNodes } from '#core/definition/expression-guard';

/** A read of one of the names of a rule, with its fields: `order.address.city`. */
export interface FreeRead {
  readonly name: string;
  /** The read as it is written, without spaces. */
  readonly path: string;
  /** The position in the expression, in characters from 0. */
  readonly position: number;
  /** Whether the field is read by `.?`. */
  readonly isOptional: boolean;
}

const comprehensions = new Set(['map', 'filter', 'all', 'exists', 'exists_one']);

/** Returns the reads of an expression. The variable of a comprehension is not a read, even if its name is that of a readable value. */
export const freeReads = (ast: ASTNode): readonly FreeRead[] => [...readsIn(ast, new Set())];

function* readsIn(node: ASTNode, bound: ReadonlySet<string>): Generator<FreeRead> {
  const chain = chainOf(node);
  if (chain) {
    if (!bound.has(chain.name)) yield { ...chain, path: pathOf(node) };
    for (const key of chain.keys) yield* readsIn(key, bound);
    return;
  }
  if (node.op === 'rcall' && comprehensions.has(node.args[0])) {
    const [, receiver, [entry, ...bodies]] = node.args;
    yield* readsIn(receiver, bound);
    const inside = entry?.op === 'id' ? new Set([...bound, entry.args]) : bound;
    for (const body of bodies) yield* readsIn(body, inside);
    return;
  }
  for (const child of childNodes(node)) yield* readsIn(child, bound);
}

interface Chain {
  readonly name: string;
  readonly position: number;
  readonly isOptional: boolean;
  /** The computed keys on the way. */
  readonly keys: readonly ASTNode[];
}

function chainOf(node: ASTNode): Chain | undefined {
  if (node.op === 'id') return { name: node.args, position: node.range.start, isOptional: false, keys: [] };
  if (node.op !== '.' && node.op !== '.?' && node.op !== '[]' && node.op !== '[?]') return undefined;
  const [of, key] = node.args;
  const before = chainOf(of);
  if (!before) return undefined;
  const keys = typeof key === 'string' || key.op === 'value' ? before.keys : [...before.keys, key];
  return { ...before, keys, isOptional: before.isOptional || node.op === '.?' || node.op === '[?]' };
}
