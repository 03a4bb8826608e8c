import type { Rule } from '../../api/types.ts';
import type { IconName } from '../../parts/icons.ts';

export const modes: {
  readonly [mode in Rule['mode']]: {
    readonly tone: 'ok' | 'work' | 'off';
    readonly icon: IconName;
    readonly name: string;
    readonly means: string;
  };
} = {
  off: { tone: 'off', icon: 'off', name: 'Off', means: 'The rule is not asked.' },
  'dry-run': { tone: 'work', icon: 'eye', name: 'Dry run', means: 'The history says what the rule would have done. Nothing is done.' },
  enforce: { tone: 'ok', icon: 'done', name: 'Enforce', means: 'The rule acts.' },
};

/** `AddressInvalid → task`. */
export function summaryOf({ event, all, any, action }: Pick<Rule, 'event' | 'all' | 'any' | 'action'>): string {
  const events = event ? [event] : (all ?? any ?? []);
  return `${events.map(({ kind, type }) => type ?? kind).join(all ? ' and ' : ' or ')} → ${action.kind}`;
}

/** `39 of 41 passed`: what became of the orders on which the rule acted. */
export function figuresText({ origin, hits, acted, passed, failedAgain }: Rule): string {
  const known = passed + failedAgain;
  if (known > 0) return `${passed} of ${known} passed`;
  if (acted > 0) return `acted ${acted === 1 ? 'once' : `${acted} times`}`;
  if (hits > 0) return `${hits} ${hits === 1 ? 'hit' : 'hits'}`;
  return origin === 'app' ? 'from the app' : '0 hits';
}

export const eventNames: { readonly [kind: string]: string } = {
  exception: 'an exception is open',
  'step-late': 'a step is late',
  'order-age': 'the order reaches an age',
  signal: 'a signal arrives',
  'step-state': 'a step changes its status',
  'order-state': 'the order changes its state',
  data: 'the condition becomes true',
};

export const actionNames: { readonly [kind: string]: string } = {
  retry: 'request the step again',
  compensate: 'undo the order',
  suspend: 'suspend the order',
  skip: 'skip the step',
  'replace-input': 'request with another input',
  handle: 'start another workflow',
  'compensate-with': 'undo with another operation',
  raise: 'raise a fault',
  signal: 'send a signal',
  announce: 'announce it',
  task: 'open a task',
};
