import type { ASTNode } from '@marcbachmann/cel-js';
import { isObject } from '#core/data/json';
import { childNodes } from './expression-guard.ts';

/** A limit of expressions that an evaluation exceeds. */
export class TooLarge extends Error {}

/**
 * The most steps of one evaluation (not steps of a workflow). Building a value takes a step for each character or entry, comparing it a
 * step for each part. Reading a text takes a step for each character, and `like` a step for each character and state of its pattern. The
 * steps are counted, not timed, so that a replay fails at the same place.
 */
export const stepsMax = 5_000_000;

/** The most characters of a result as JSON. A list may hold one value many times, so its text can be far longer than its memory. */
export const resultCharactersMax = 1_000_000;

/** The number of steps that the running evaluation may still take. An evaluation is synchronous, so there is one at a time. */
let left = 0;

/** Runs an evaluation with a budget of its own. Throws TooLarge even if the expression has swallowed that error, as `a || b` does. */
export function withinBudget<T>(evaluate: () => T): T {
  left = stepsMax;
  const value = evaluate();
  spend(0);
  return value;
}

/** Takes steps from the budget of the evaluation that runs. Throws TooLarge once the budget is used up. */
export function spend(steps: number): void {
  if (left >= 0) left -= steps;
  if (left < 0)
    throw new TooLarge(`it takes more than ${stepsMax} steps; compare, match or join fewer or shorter values, or use a compute function`);
}

/** The steps that the latest evaluation has taken: a figure for tests. */
export const stepsTaken = (): number => stepsMax - left;

const comparisons: ReadonlySet<string> = new Set(['==', '!=', 'in']);
const builders: ReadonlySet<string> = new Set(['+', 'call', 'rcall']);
/** Functions that read the whole of their text, with their steps for each character. */
const scans: { readonly [name: string]: number } = {
  bytes: 2,
  contains: 1,
  double: 1,
  indexOf: 1,
  json: 4,
  lastIndexOf: 1,
  size: 4,
  split: 1,
  trim: 1,
};
/**
 * Functions of a time in a time zone: `getHours("Europe/Berlin")`. They cost `timeZoneSteps`, because the library formats the time and
 * parses it again.
 */
const inTimeZone = /^get[A-Z]/;
const timeZoneSteps = 2_000;
/** A search costs (length of the searched text) × (length of the sought text) ÷ `searchedCharacters` steps. */
const searchedCharacters = 8;

type Charge = (value: unknown) => void;

/**
 * Changes an expression: each node whose cost grows with the data now spends steps. `charge`: what the enclosing node spends for the value
 * of this node.
 */
export function meter(node: ASTNode, charge?: Charge): void {
  const builds = builders.has(node.op);
  if (builds || charge)
    spendAfter(node, (value) => {
      if (builds) spend(1 + lengthOf(value));
      charge?.(value);
    });
  const charges = chargesOf(node);
  for (const child of childNodes(node)) meter(child, charges(child));
}

/** Returns what a node spends for the values of its parts. */
function chargesOf(node: ASTNode): (child: ASTNode) => Charge | undefined {
  if (comparisons.has(node.op)) return () => spendParts;
  if (node.op !== 'call' && node.op !== 'rcall') return () => undefined;
  const [name] = node.args;
  const [text, ...others] = childNodes(node);
  if (inTimeZone.test(name) && others.length > 0) return (child) => (child === text ? () => spend(timeZoneSteps) : undefined);
  const perCharacter = Object.hasOwn(scans, name) ? scans[name] : undefined;
  if (perCharacter === undefined) return () => undefined;
  let length = 0;
  const read: Charge = (value) => {
    length = typeof value === 'string' || value instanceof Uint8Array ? value.length : 0;
    spend(perCharacter * length);
  };
  // In the worst case, the search of V8 compares the sought text at each position.
  const searchFor: Charge = (value) => spend(length * Math.floor(lengthOf(value) / searchedCharacters));
  return (child) => (child === text ? read : searchFor);
}

type Evaluate = (...given: unknown[]) => unknown;

/** Calls `charge` with each value of a node. The library has no hook for this, so the function replaces `evaluate` of the node. */
function spendAfter(node: ASTNode, charge: Charge): void {
  const first = (node as unknown as { evaluate: Evaluate }).evaluate;
  let current = first;
  const metered: Evaluate = (...given) => {
    // The library's own function, at its first call, assigns another function to `evaluate` and calls that one through the node.
    if (current === first) return first.apply(node, given);
    // `exists` and `all` swallow errors and go on with the next entry: after the end of the budget, that entry builds nothing more.
    spend(0);
    const value = current.apply(node, given);
    charge(value);
    return value;
  };
  Object.defineProperty(node, 'evaluate', {
    get: () => metered,
    set: (assigned: Evaluate) => {
      current = assigned;
    },
  });
}

const lengthOf = (value: unknown): number => (typeof value === 'string' || Array.isArray(value) ? value.length : 0);

/** Spends a step for each part of a value, and stops at the end of the budget. */
function spendParts(value: unknown): void {
  spend(1);
  if (Array.isArray(value)) for (const entry of value) spendParts(entry);
  else if (isObject(value)) for (const entry of Object.values(value)) spendParts(entry);
}
