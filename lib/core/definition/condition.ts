import { engineFault, engineFaults, type Fault } from '#core/data/fault';
import type { Context } from '#core/engine/behavior';
import type { Template } from './definition.ts';

export type Condition = { readonly ok: true; readonly holds: boolean } | { readonly ok: false; readonly fault: Fault };

/** Evaluates a condition. Any value except true and false is a fault, because it indicates a mistake in the workflow. */
export function conditionOf(template: Template, { evaluate }: Context): Condition {
  const evaluated = evaluate(template);
  if (!evaluated.ok) return evaluated;
  if (typeof evaluated.value === 'boolean') return { ok: true, holds: evaluated.value };
  const message = `A condition must be true or false, not ${JSON.stringify(evaluated.value).slice(0, 100)}.`;
  return { ok: false, fault: engineFault(engineFaults.expressionFailed, message) };
}
