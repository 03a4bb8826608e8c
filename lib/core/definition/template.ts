import type { Template } from './definition.ts';

const known = new WeakMap<object, boolean>();

/**
 * Matches reads of values that may change: variables are set again, and an optional output (`steps.?find`) may arrive.
 * All other data are constant.
 */
const changing = /\bvars\b|\bsteps\s*(?:\.\s*\?|\[\s*\?)/;

/** Whether a later evaluation of a template may give another value. Its first value is then stored. */
export function mayChange(template: Template): boolean {
  if (typeof template !== 'object' || template === null) return false;
  const changes = known.get(template) ?? changing.test(JSON.stringify(template));
  known.set(template, changes);
  return changes;
}
