import type { JsonObject } from '#core/data/json';
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

export const eventNames: { readonly [kind in NonNullable<Rule['event']>['kind']]: string } = {
  exception: 'an exception is open',
  'step-late': 'a step is late',
  'order-age': 'the order reaches an age',
  signal: 'a signal arrives',
  'step-state': 'a step changes its status',
  'order-state': 'the order changes its state',
  data: 'the condition becomes true',
};

type ActionKind = Rule['action']['kind'];

/** The name of each action, and the fields with which a person begins. The compiler reports an action that is missing. */
export const actions: { readonly [kind in ActionKind]: { readonly name: string; readonly fields: JsonObject } } = {
  retry: { name: 'request the step again', fields: { afterSeconds: 30 } },
  compensate: { name: 'undo the order', fields: {} },
  recover: { name: 'recover: undo it, and tell its readers', fields: {} },
  suspend: { name: 'suspend the order', fields: {} },
  skip: { name: 'skip the step', fields: { output: {} } },
  'replace-input': { name: 'request with another input', fields: { path: '', input: {} } },
  handle: { name: 'start another workflow', fields: { workflow: '', control: 'ready' } },
  'compensate-with': { name: 'undo with another operation', fields: { agent: '', operation: '', input: {} } },
  raise: { name: 'raise a fault', fields: { type: '', message: '' } },
  signal: { name: 'send a signal', fields: { name: '', payload: {} } },
  announce: { name: 'announce it', fields: { text: '' } },
  task: { name: 'open a task', fields: { group: '', dueSeconds: 1800 } },
};

export const actionNames: { readonly [kind: string]: string } = Object.fromEntries(
  Object.entries(actions).map(([kind, { name }]) => [kind, name]),
);
