import { describedBy } from '../authoring/agent.ts';
import type { FaultType } from '../authoring/fault.ts';
import type { StepActivity } from '../authoring/step.ts';
import type { StepReply } from '../core/event.ts';
import { engineFault, engineFaults } from '../core/fault.ts';
import type { Json } from '../core/json.ts';

/** What an asking is for: to do something, to take it back, or to find out whether it was done. */
export type Purpose = 'do' | 'undo' | 'settle';

/** One asking of a rehearsal, as a `when` sees it. */
export interface Asking {
  /** `payment.charge`. */
  readonly operation: string;
  /** Of the step: `order/charge`, or `order/charge/undo`. */
  readonly path: string;
  readonly purpose: Purpose;
}

/** What an operation is to answer, and which of its askings. */
export interface When {
  /** Only the first asking, and nothing of the others. */
  once(): When;
  /** Only this asking, counted from 1. */
  nth(number: number): When;
  /** Only the askings of the step at this path, where several steps ask for the same operation. */
  at(path: string): When;
}

/** What is to happen to askings: for `rehearse` itself. */
export interface Rule {
  readonly concerns: (asking: Asking) => boolean;
  /** Askings that it concerns, counted from 1. */
  readonly first: number;
  readonly last: number;
  readonly answer: StepReply | 'silence';
}

export interface Whens<F extends string, O> {
  /** The service says no, with a fault that the operation declares. */
  faults(fault: FaultType<F>, message?: string): When;
  answers(output: O): When;
  /** "Not now": a failure that may pass. */
  failsForNow(times?: number): When;
  /** No answer comes. */
  isSilent(times?: number): When;
  /** An answer comes that nobody can use: whether it was done is found out where that matters. */
  leavesUnknown(): When;
}

const rules = new WeakMap<When, Rule>();

export const ruleOf = (when: When): Rule => {
  const rule = rules.get(when);
  if (!rule) throw new TypeError('A when is wanted here, such as when(payment.charge).faults(CardDeclined).');
  return rule;
};

/** What an operation answers in a rehearsal: `when(payment.charge).faults(CardDeclined)`. */
export function when<F extends string, O>(operation: (input: never) => StepActivity<F, O>): Whens<F, O> {
  const about = describedBy(operation);
  if (!about) throw new TypeError('An operation of an agent is wanted here, such as payment.charge.');
  const concerns = (asking: Asking) => asking.operation === about.name;
  const answer = (reply: Rule['answer'], times = Infinity) => whenever({ concerns, first: 1, last: times, answer: reply });
  return {
    faults: (fault, message) => answer(declared(fault, message)),
    answers: (output) => answer({ status: 'succeeded', output: JSON.parse(JSON.stringify(output ?? null)) as Json }),
    failsForNow: (times) => answer(notNow, times),
    isSilent: (times) => answer('silence', times),
    leavesUnknown: () =>
      whenever({ concerns: (asking) => concerns(asking) && asking.purpose === 'do', first: 1, last: Infinity, answer: unusable }),
  };
}

export const whenever = (rule: Rule): When => {
  const made: When = {
    once: () => whenever({ ...rule, first: 1, last: 1 }),
    nth: (number) => whenever({ ...rule, first: number, last: number }),
    at: (path) => whenever({ ...rule, concerns: (asking) => rule.concerns(asking) && asking.path === path }),
  };
  rules.set(made, rule);
  return made;
};

/** A fault that an operation declares, as it reaches the core. */
export const declared = ({ path, name }: FaultType, message = `${name}, in a rehearsal`): StepReply => ({
  status: 'failed',
  fault: { type: path, class: 'expected', permanent: true, message },
});

const notNow: StepReply = {
  status: 'failed',
  fault: engineFault(engineFaults.serviceUnavailable, 'Not now, in a rehearsal.', { class: 'application-failure', permanent: false }),
};

export const unusable: StepReply = {
  status: 'failed',
  fault: engineFault(engineFaults.invalidReply, 'The answer is of no use, in a rehearsal.', {
    class: 'application-failure',
    outcomeUnknown: true,
  }),
};
