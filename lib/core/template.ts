import type { Template } from './definition.ts';

const known = new WeakMap<object, boolean>();

/** Whether filling a template later may yield something else: variables may change meanwhile, all other data do not. */
export function readsVariables(template: Template): boolean {
  if (typeof template !== 'object' || template === null) return false;
  const reads = known.get(template) ?? /\bvars\b/.test(JSON.stringify(template));
  known.set(template, reads);
  return reads;
}
