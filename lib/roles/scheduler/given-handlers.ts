import { isKindOf } from '#core/data/fault';
import type { Blocked } from '#core/data/state';
import { countAction, keyOf, timesActed } from '#core/rules/memory';
import { ruleLimits } from '#core/rules/rule';
import type { DecidedAction, Decision } from '#core/rules/situation';
import type { Draft } from './draft.ts';
import { handlerRefusal } from './handlers.ts';

/** The name that the history has in place of a rule's id. No rule can have it. */
const givenBy = 'amend:handle';

interface Given {
  readonly decision: Decision & { readonly action: Extract<DecidedAction, { kind: 'handle' }> };
  /** The order, with the handler counted. */
  readonly draft: Draft;
}

/**
 * Returns the decision to have an exception handled by the workflow that a person has given to this order (F-167). This workflow comes
 * before all rules, and handles exceptions of one fingerprint at most as often as a rule acts by default.
 */
export function givenHandler(draft: Draft, { fault }: Blocked, fingerprint: string): Given | undefined {
  const { instance } = draft;
  const handler = instance.state.amended?.handle?.find((each) => isKindOf(fault.type, each.fault));
  const { memory = {} } = instance.rules ?? {};
  const key = keyOf(givenBy, fingerprint);
  if (!handler || handlerRefusal(draft) !== undefined || timesActed(memory, key) >= ruleLimits.timesPerOrderDefault) return undefined;
  const { workflow, version } = handler;
  const action = { kind: 'handle', workflow, ...(version === undefined ? {} : { version }), control: 'ready' } as const;
  return {
    decision: { ruleId: givenBy, version: 1, mode: 'enforce', action },
    draft: { ...draft, instance: { ...instance, rules: { ...instance.rules, memory: countAction(memory, key) } }, changed: true },
  };
}
