import { engineFault, type Fault } from '#core/data/fault';

/** Faults that rules raise about themselves. */
export const ruleFaults = {
  /** A condition or a value of the rule cannot be evaluated. */
  failed: 'Engine/RuleFailed',
  /** The rule has acted as often on the order as it may, or rules cause each other. */
  stopped: 'Engine/RuleStopped',
  /** A rule asks for a task, although nothing has failed. */
  asked: 'Engine/RuleAsked',
  /** A rule has another order handle an event that is not an exception: a late step, the age of the order, a signal. */
  handed: 'Engine/EventHandled',
} as const;

/** Returns the fault of a rule whose condition or value cannot be evaluated (F-141). */
export const ruleFailed = (ruleId: string, reason: string): Fault => engineFault(ruleFaults.failed, `The rule ${ruleId} failed: ${reason}`);

export const ruleStopped = (ruleId: string, reason: string): Fault =>
  engineFault(ruleFaults.stopped, `The rule ${ruleId} acts no more on this order: ${reason}`);

/** Returns the fault of the exception that an event becomes when a rule has another order handle it. A signal is not a failure. */
export const handedFault = (ruleId: string, kind: string, type: string | undefined, source: string | undefined): Fault =>
  engineFault(
    ruleFaults.handed,
    `The rule ${ruleId} has another order handle this event: ${type === undefined ? kind : `${kind} ${type}`}.`,
    {
      class: kind === 'signal' ? 'expected' : 'basic-failure',
      ...(source === undefined ? {} : { source }),
    },
  );

/** Returns the fault that the action `raise` of a rule gives an order. The rule declares it. */
export const raisedFault = (type: string, message: string): Fault => ({ type, class: 'expected', permanent: true, message });
