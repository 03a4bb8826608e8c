import type { Json } from '#core/data/json';
import type { RuledUndo } from '#core/data/state';
import { isFit, type RuleSet, rulesAbout } from './rule-set.ts';

/** An order, as the objects of rules name it. */
interface Order {
  readonly orderId: string;
  readonly workflow: { readonly name: string; readonly version: number };
}

type Undos = { readonly [step: string]: RuledUndo };

const none: Undos = {};

/**
 * Returns the undos that the rules in force give to the steps of an order (F-104). A step gets the one of its rule with the highest
 * priority: its undo has one operation.
 */
export function undosOfRules(set: RuleSet, { orderId, workflow }: Order): Undos {
  const rules = rulesAbout(set, 'step-state', workflow.name);
  if (rules.length === 0) return none;
  const undos: { [step: string]: RuledUndo } = {};
  for (const each of rules) {
    const { id, version, mode, object = {}, action, condition } = each.rule;
    const { step } = object;
    if (action.kind !== 'compensate-with' || mode !== 'enforce' || step === undefined || Object.hasOwn(undos, step)) continue;
    if ((object.orderId !== undefined && object.orderId !== orderId) || !isFit(set, each, workflow)) continue;
    const { agent, operation, input } = action;
    undos[step] = {
      rule: { id, version },
      ...(condition === undefined ? {} : { condition }),
      agent,
      operation,
      input: input as Json,
    };
  }
  return undos;
}
