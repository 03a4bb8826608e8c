import type { Json } from '#core/data/json';
import type { RuledUndo } from '#core/data/state';
import { isFit, type RuleSet, rulesAbout } from './rule-set.ts';

/** An order, as the objects of rules name it. */
interface Order {
  readonly orderId: string;
  readonly workflow: { readonly name: string; readonly version: number };
}

type Undos = { readonly [step: string]: RuledUndo };

/** The undos, and the rules that do not fit this version of the workflow. */
export interface UndosOfRules {
  readonly undos: Undos;
  readonly stale: readonly { readonly ruleId: string; readonly version: number }[];
}

const none: UndosOfRules = { undos: {}, stale: [] };

/**
 * Returns the undos that the rules in force give to the steps of an order (F-104). Of several rules for a step, the one with
 * the highest priority counts, because an undo has one operation.
 */
export function undosOfRules(set: RuleSet, { orderId, workflow }: Order): UndosOfRules {
  const rules = rulesAbout(set, 'step-state', workflow.name);
  if (rules.length === 0) return none;
  const undos: { [step: string]: RuledUndo } = {};
  const stale: { ruleId: string; version: number }[] = [];
  for (const each of rules) {
    const { id, version, mode, object = {}, action, condition } = each.rule;
    const { step } = object;
    if (action.kind !== 'compensate-with' || mode !== 'enforce' || step === undefined || Object.hasOwn(undos, step)) continue;
    if (object.orderId !== undefined && object.orderId !== orderId) continue;
    if (!isFit(set, each, workflow)) {
      stale.push({ ruleId: id, version });
      continue;
    }
    const { agent, operation, input } = action;
    undos[step] = {
      rule: { id, version },
      ...(condition === undefined ? {} : { condition }),
      agent,
      operation,
      input: input as Json,
    };
  }
  return { undos, stale };
}
