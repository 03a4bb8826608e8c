import type { ASTNode } from '@marcbachmann/cel-js';
import { isObject } from '#core/data/json';
import { childNodes } from './expression-guard.ts';

/** A limit of expressions that an evaluation exceeds. */
export class TooLarge extends Error {}

/**
 * The most steps of one evaluation. Building a value takes a step for each character or entry, comparing it a step for each part,
 * and `like` a step for each character and state of its pattern. They are counted, not timed, so that a replay fails at the same place.
 */
export const stepsMax = 5_000_000;

/** The most characters of a result as JSON. A list may hold one value many times, so its text can be far longer than its memory. */
export const resultCharactersMax = 1_000_000;

/** The steps left of the evaluation that runs. An evaluation is synchronous, so there is one at a time. */
let left = 0;

/** Runs an evaluation with a budget of its own. Throws TooLarge also if the expression has swallowed that: `a || b` does. */
export function withinBudget<T>(evaluate: () => T): T {
  left = stepsMax;
  const value = evaluate();
  spend(0);
  return value;
}

/** Takes steps from the budget of the evaluation that runs. */
export function spend(steps: number): void {
  left -= steps;
  if (left < 0)
    throw new TooLarge(`it takes more than ${stepsMax} steps; compare, match or join fewer or shorter values, or use a compute function`);
}

const comparisons: ReadonlySet<string> = new Set(['==', '!=', 'in']);
const builders: ReadonlySet<string> = new Set(['+', 'call', 'rcall']);

/** Makes each node whose cost grows with the data spend steps. */
export function meter(node: ASTNode, isCompared = false): void {
  const builds = builders.has(node.op);
  if (builds || isCompared)
    spendAfter(node, (value) => {
      if (builds) spend(1 + lengthOf(value));
      if (isCompared) spendParts(value);
    });
  for (const child of childNodes(node)) meter(child, comparisons.has(node.op));
}

type Evaluate = (...given: unknown[]) => unknown;

/** Calls `charge` with each value of a node. The library has no hook for this, but calls `evaluate` of the node. */
function spendAfter(node: ASTNode, charge: (value: unknown) => void): void {
  const first = (node as unknown as { evaluate: Evaluate }).evaluate;
  let current = first;
  const metered: Evaluate = (...given) => {
    // The first call assigns another function to `evaluate` and calls it through there.
    if (current === first) return first.apply(node, given);
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
