import { fits, type Json, utf8Bytes } from '#core/data/json';
import type { Template } from '#core/definition/definition';
import { raisedFault } from './faults.ts';
import { fillRule, type RuleScope } from './language.ts';
import type { RuleAction } from './rule.ts';
import type { DecidedAction } from './situation.ts';

/** The most UTF-8 bytes of an action with its values, because the journal keeps it. */
export const actionBytesMax = 64 * 1024;

/** An action with its values, or why it has none. */
export type Filled = { readonly ok: true; readonly action: DecidedAction } | { readonly ok: false; readonly reason: string };

/** Replaces the expressions of an action by their values. `round`: the number of this action in a chain of rules that cause each other. */
export function fillAction(action: RuleAction, scope: RuleScope, round: number): Filled {
  switch (action.kind) {
    case 'retry':
      return { ok: true, action: { kind: 'retry', afterSeconds: action.afterSeconds ?? 0 } };
    case 'skip':
      return filled(action.output, scope, (output) => ({ kind: 'skip', output }));
    case 'replace-input':
      return filled(action.input, scope, (input) => ({ ...action, input }));
    case 'compensate-with':
      return filled(action.input, scope, (input) => ({ ...action, input }));
    case 'signal':
      return filled(action.payload, scope, (payload) => ({ ...action, payload, round }));
    case 'raise':
      return words(action.message, scope, (message) => ({
        kind: 'raise',
        fault: raisedFault(action.type, message),
        toPerson: false,
        round,
      }));
    case 'announce':
      return words(action.text, scope, (text) => ({ kind: 'announce', text }));
    case 'task': {
      const { text: template, ...task } = action;
      return template === undefined ? { ok: true, action: task } : words(template, scope, (text) => ({ ...task, text }));
    }
    default:
      return { ok: true, action };
  }
}

function filled(template: Template, scope: RuleScope, of: (value: Json) => DecidedAction): Filled {
  const { ok, ...result } = fillRule(template, scope);
  if (!ok || !('value' in result)) return { ok: false, reason: 'fault' in result ? result.fault.message : '' };
  if (fits(result.value, actionBytesMax)) return { ok: true, action: of(result.value) };
  return { ok: false, reason: `its value has ${utf8Bytes(result.value)} bytes as JSON; the maximum is ${actionBytesMax}` };
}

const words = (template: Template, scope: RuleScope, of: (words: string) => DecidedAction): Filled => {
  const found = fillRule(template, scope);
  if (!found.ok) return { ok: false, reason: found.fault.message };
  if (typeof found.value !== 'string') return { ok: false, reason: `expected a text, got ${JSON.stringify(found.value).slice(0, 100)}` };
  return filled(found.value, scope, () => of(found.value as string));
};
