import { describedBy } from '../authoring/agent.ts';
import { expression } from '../authoring/expression.ts';
import type { FaultType } from '../authoring/fault.ts';
import type { QuestionActivity, SignalActivity } from '../authoring/people.ts';
import type { StepActivity } from '../authoring/step.ts';
import type { Workflow } from '../authoring/workflow.ts';
import { workflowsAgent } from '../core/child-order.ts';
import type { StepReply } from '../core/event.ts';
import { engineFault, engineFaults, isTransient } from '../core/fault.ts';
import type { Json } from '../core/json.ts';

/** What an asking is for: to do something, to take it back, or to find out whether it was done. */
export type Purpose = 'do' | 'undo' | 'settle';

/** One asking of a rehearsal, as a `when` sees it. */
export interface Asking {
  /** `payment.charge`, `workflows.ship-one@1`, `signal visa`, `question approve`. */
  readonly operation: string;
  /** Of the step: `order/charge`, or `order/charge/undo`; inside a child: `order/ship-one > order/charge`. */
  readonly path: string;
  readonly purpose: Purpose;
}

/** What is to be answered, and to which askings. */
export interface When {
  /** Only the first asking, and nothing of the others. */
  once(): When;
  /** Only this asking, counted from 1. */
  nth(number: number): When;
  /** Only the askings of the activity at this path, where several ask for the same. */
  at(path: string): When;
}

/** What is to happen to askings: for `rehearse` itself. */
export interface Rule {
  readonly concerns: (asking: Asking) => boolean;
  /** Askings that it concerns, counted from 1. */
  readonly first: number;
  readonly last: number;
  readonly answer: StepReply | 'silence';
  /** Of a signal, or of a person's answer: how long after it was waited for. */
  readonly afterMs?: number;
}

/** The last request that a rule names by its number: until then the next answer may be another one. */
export const lastNamed = (rules: readonly Rule[]): number =>
  Math.max(0, ...rules.map(({ first, last }) => (Number.isFinite(last) ? last : first - 1)));

export interface Whens<F extends string, O> {
  /** The service says no, with a fault that the operation declares, and data about it. */
  faults(fault: FaultType<F>, message?: string, data?: Json): When;
  /** It fails in a way that the operation does not declare, as with `PermanentFailure(name)`. */
  fails(name: string, message?: string): When;
  answers(output: O): When;
  /** "Not now": a failure that may pass. */
  failsForNow(times?: number): When;
  /** No answer comes. */
  isSilent(times?: number): When;
  /** An answer comes that nobody can use: whether it was done is found out where that matters. */
  leavesUnknown(): When;
}

/** Answers for the whole of a workflow that is called: then nothing of it is played. */
export interface WorkflowWhens<F extends string, R> {
  /** It completes. */
  answers(value: R): When;
  /** It goes back to its caller with one of the faults that it declares for that; nothing of it is left. */
  faults(fault: FaultType<F>, message?: string): When;
  /** It ends otherwise than completed; nothing of it is left. */
  isNotCompleted(): When;
}

export interface SignalWhens<O> {
  /** It comes so long after the order began to wait for it. */
  comes(payload: O, after?: { readonly afterSeconds?: number }): When;
  isMissing(): When;
}

export interface QuestionWhens<O> {
  /** A person answers so long after the order was held for it. */
  answers(answer: O, after?: { readonly afterSeconds?: number }): When;
  isNotAnswered(): When;
}

const rules = new WeakMap<When, Rule>();

export const ruleOf = (when: When): Rule => {
  const rule = rules.get(when);
  if (!rule) throw new TypeError('A when is wanted here, such as when(payment.charge).faults(CardDeclined).');
  return rule;
};

/** What an operation answers in a rehearsal: `when(payment.charge).faults(CardDeclined)`. */
export function when<F extends string, O>(operation: (input: never) => StepActivity<F, O>): Whens<F, O>;
/** When a signal comes, and what with: `when(visa).comes({ granted: true })`, where `visa` is a `waitFor(…)`, or returns one. */
export function when<O>(signal: SignalActivity<O>): SignalWhens<O>;
export function when<O>(signal: (...given: never) => SignalActivity<O>): SignalWhens<O>;
/** What a person answers: `when(approval).answers({ approved: true })`, where `approval` is an `askOperator(…)`, or returns one. */
export function when<O>(question: QuestionActivity<O>): QuestionWhens<O>;
export function when<O>(question: (...given: never) => QuestionActivity<O>): QuestionWhens<O>;
/** What a workflow answers to whoever calls it, instead of being played: `when(shipOne).faults(AddressInvalid)`. */
export function when<I, R, C extends string>(workflow: Workflow<I, R, C>): WorkflowWhens<C, R>;
export function when(about: object): object {
  const operation = describedBy(about);
  if (operation) return operationWhens(operation.name);
  const what = typeof about === 'function' ? made(about as (...given: unknown[]) => object) : about;
  if ('signal' in what) return signalWhens(`signal ${what.signal}`);
  if ('question' in what) return questionWhens(`question ${what.question}`);
  if ('exprVersion' in what) return workflowWhens(calledAs(what as Workflow));
  throw new TypeError('An operation such as payment.charge is wanted here, a waitFor(…), an askOperator(…), or a workflow.');
}

const mostParameters = 8;

/** Whatever it is given in a workflow are paths, so any path will do. */
const made = (of: (...given: unknown[]) => object): object => of(...Array.from({ length: mostParameters }, () => expression('order')));

const calledAs = ({ name, version }: Pick<Workflow, 'name' | 'version'>): string => `${workflowsAgent}.${name}@${version}`;

type Reply = Rule['answer'];

const replying =
  (operation: string) =>
  (answer: Reply, more: Partial<Rule> = {}): When =>
    whenever({ concerns: (asking) => asking.operation === operation, first: 1, last: Infinity, answer, ...more });

function operationWhens(name: string): Whens<string, unknown> {
  const reply = replying(name);
  return {
    faults: (fault, message, data) => reply(declared(fault, message, data)),
    fails: (fault, message = `${fault}, in a rehearsal`) =>
      reply({ status: 'failed', fault: { type: fault, class: 'unexpected', permanent: true, message } }),
    answers: (output) => reply(succeededWith(output)),
    failsForNow: (times = Infinity) => reply(notNow, { last: times }),
    isSilent: (times = Infinity) => reply('silence', { last: times }),
    leavesUnknown: () => reply(unusable, { concerns: (asking) => asking.operation === name && asking.purpose === 'do' }),
  };
}

function workflowWhens(name: string): WorkflowWhens<string, unknown> {
  const reply = replying(name);
  return {
    answers: (value) => reply(succeededWith(value)),
    faults: (fault, message) => reply(declared(fault, message)),
    isNotCompleted: () => reply(notCompleted('It is not completed, in a rehearsal.')),
  };
}

const after = ({ afterSeconds = 0 }: { readonly afterSeconds?: number }) => ({ afterMs: afterSeconds * 1000 });

function signalWhens(name: string): SignalWhens<unknown> {
  const reply = replying(name);
  return {
    comes: (payload, options = {}) => reply(succeededWith(payload), after(options)),
    isMissing: () => reply('silence'),
  };
}

function questionWhens(name: string): QuestionWhens<unknown> {
  const reply = replying(name);
  return {
    answers: (answer, options = {}) => reply(succeededWith(answer), after(options)),
    isNotAnswered: () => reply('silence'),
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

const succeededWith = (output: unknown): StepReply => ({
  status: 'succeeded',
  output: JSON.parse(JSON.stringify(output ?? null)) as Json,
});

/** A fault that an operation declares, as it reaches the core. */
export const declared = ({ path, name }: FaultType, message = `${name}, in a rehearsal`, data?: Json): StepReply => ({
  status: 'failed',
  fault: { type: path, class: 'expected', permanent: !isTransient(path), message, ...(data === undefined ? {} : { data }) },
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

export const notCompleted = (message: string): StepReply => ({
  status: 'failed',
  fault: engineFault(engineFaults.childNotCompleted, message),
});
