import type { ASTNode } from '@marcbachmann/cel-js';
import { isObject } from '#core/data/json';

/** A value that an expression reads, and its position in the text (characters from 0). */
export interface Read {
  readonly name: string;
  readonly position: number;
  /** Read only by `.?`: the expression handles a missing value. */
  readonly optional: boolean;
}

const comprehensions = new Set(['map', 'filter', 'all', 'exists', 'exists_one']);

/** Values that must be read by name, so that `check` knows which ones have to exist. */
export const roots = ['steps', 'vars', 'each'] as const;
export type Root = (typeof roots)[number];

/** The names under which the expressions of a language read these values: `outputs` instead of `steps` in a rule. */
export type RootNames = ReadonlyMap<string, Root>;

/** The values that an expression reads, and the lists of its comprehensions. */
export interface Findings {
  readonly names: RootNames;
  readonly reads: { readonly [root in Root]: Map<string, Read> };
  fault: number | undefined;
  readonly lists: ASTNode[];
}

/**
 * Refuses parts of an expression that the library would run: those that could keep a scheduler busy, unsigned numbers, reserved names, and
 * reads of all steps at once. Collects in `found` what the expression reads.
 */
export function inspect(node: ASTNode, found: Findings, inComprehension: boolean): { message: string; position: number } | undefined {
  const refuse = (message: string) => ({ message, position: node.range.start });
  let inside = inComprehension;

  if (node.op === 'rcall') {
    const [name, receiver] = node.args;
    if (name === 'matches') return refuse('matches() can take exponential time on a hostile text; use like(text, pattern)');
    if (name === 'bind') return refuse('cel.bind() is not part of this language; write the value where it is needed');
    if (comprehensions.has(name)) {
      if (inComprehension)
        return refuse(`${name}() is inside another map(), filter(), all(), exists() or exists_one(): only one level is allowed`);
      const [entry] = node.args[2];
      if (entry && isReserved(entry.args, found.names))
        return refuse(`"${entry.args}" is a reserved name; choose another name for the entry`);
      found.lists.push(receiver);
      inside = true;
      const refusal = inspect(receiver, found, inComprehension);
      if (refusal) return refusal;
      return first(node.args[2], (argument) => inspect(argument, found, true));
    }
  }
  if (node.op === 'call' && node.args[0] === 'matches')
    return refuse('matches() can take exponential time on a hostile text; use like(text, pattern)');
  // JSON has one kind of number. CEL compares unsigned numbers inconsistently: `1.0 in [1u]` is false.
  if (node.op === 'value' && isObject(node.args) && !(node.args instanceof Uint8Array))
    return refuse(`${node.args.valueOf()}u is an unsigned number, which JSON does not have; write ${node.args.valueOf()}`);
  if (node.op === 'call' && node.args[0] === 'uint') return refuse('uint() yields an unsigned number, which JSON does not have; use int()');
  if (node.op === 'id' && found.names.has(node.args))
    return refuse(`${node.args} cannot be read as a whole; use ${node.args}.name or ${node.args}["name"]`);
  if (node.op === 'id' && node.args === 'fault') found.fault ??= node.range.start;
  const read = readIn(node, found.names);
  if (read) {
    note(found.reads[read.root], read);
    return undefined;
  }
  return first(childNodes(node), (child) => inspect(child, found, inside));
}

const isReserved = (name: unknown, names: RootNames): boolean => names.has(String(name)) || name === 'fault';

function note(reads: Map<string, Read>, { name, position, optional }: Read): void {
  const known = reads.get(name);
  reads.set(name, known ? { ...known, optional: known.optional && optional } : { name, position, optional });
}

/** Returns the read of `steps.name` or `steps["name"]`: the step, variable or loop of that name must be known before evaluation. */
function readIn(node: ASTNode, names: RootNames): (Read & { readonly root: Root }) | undefined {
  if (node.op !== '.' && node.op !== '.?' && node.op !== '[]' && node.op !== '[?]') return undefined;
  const [of, key] = node.args;
  const root = of.op === 'id' ? names.get(of.args) : undefined;
  if (!root) return undefined;
  const name = typeof key === 'string' ? key : key.op === 'value' ? key.args : undefined;
  const optional = node.op === '.?' || node.op === '[?]';
  return typeof name === 'string' ? { root, name, position: node.range.start, optional } : undefined;
}

/** Returns the parts of an expression, in order. */
export const childNodes = (node: ASTNode): readonly ASTNode[] => {
  const nodes: ASTNode[] = [];
  const collect = (value: unknown): void => {
    if (Array.isArray(value)) value.forEach(collect);
    else if (isObject(value) && 'op' in value) nodes.push(value as unknown as ASTNode);
  };
  collect(node.args);
  return nodes;
};

function first<T, R>(items: readonly T[], find: (item: T) => R | undefined): R | undefined {
  for (const item of items) {
    const found = find(item);
    if (found !== undefined) return found;
  }
  return undefined;
}
