import type { Template } from './definition.ts';

const known = new WeakMap<object, boolean>();

/** Variables are set anew, and what need not be there, `steps.?find`, may come: all other data stay as they are. */
const changing = /\bvars\b|\bsteps\s*(?:\.\s*\?|\[\s*\?)/;

/** Whether filling a template later may yield something else: then what it yielded is kept. */
export function mayChange(template: Template): boolean {
  if (typeof template !== 'object' || template === null) return false;
  const changes = known.get(template) ?? changing.test(JSON.stringify(template));
  known.set(template, changes);
  return changes;
}
