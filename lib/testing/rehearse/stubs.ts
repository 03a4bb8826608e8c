import { describedBy } from '#authoring/agent';
import { type Expr, expression } from '#authoring/expression';
import type { FaultType } from '#authoring/fault';
import type { QuestionActivity, SignalActivity } from '#authoring/signals-and-questions';
import type { StepActivity } from '#authoring/step';
import type { Workflow } from '#authoring/workflow';
import { workflowsAgent } from '#core/data/child-order';
import type { StepReply } from '#core/data/event';
import { engineFault, engineFaults, isTransient } from '#core/data/fault';
import type { Json } from '#core/data/json';
import { workflowRef } from '#core/definition/workflow-ref';
import type { Instruction, Signal } from '#roles/operator/instruction';

/** The purpose of a request: to do something, to undo it, or to confirm its outcome. */
export type Purpose = 'do' | 'undo' | 'confirm';

/** One request of a rehearsal, as stubs match it. */
export interface RequestedStep {
  /** `payment.charge`, `workflows.ship-one@1`, `signal visa`, `question approve`. */
  readonly operation: string;
  /** Path of the step: `order/charge`, or `order/charge/undo`; in a called order: `order/ship-one > order/charge`. */
  readonly path: string;
  readonly purpose: Purpose;
  readonly input?: Json;
}

type Without<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;
/** An instruction of an operator, such as `{ kind: 'suspend' }`. `by` and `reason` have defaults. */
export type TestInstruction = Without<Instruction, 'by' | 'reason'> & { readonly by?: string; readonly reason?: string };

/** Some fields of an input, and of the objects in it. */
export type PartOf<I> =
  I extends Expr<unknown>
    ? never
    : I extends readonly (infer U)[]
      ? readonly PartOf<U>[]
      : I extends object
        ? { readonly [K in keyof I]?: PartOf<I[K]> }
        : I;

/** An answer, and the requests that get it. */
export interface Stub {
  /** Answers only the first request. */
  once(): Stub;
  /** Answers only this request, counted from 1. */
  nth(number: number): Stub;
  /** Answers only requests of the activity at this path. */
  at(path: string): Stub;
}

/** A stub of something that is requested with an input, and takes time. */
export interface RequestStub<I = unknown> extends Stub {
  once(): RequestStub<I>;
  nth(number: number): RequestStub<I>;
  at(path: string): RequestStub<I>;
  /** Answers only requests whose input has these fields with these values. */
  forInput(part: PartOf<I>): RequestStub<I>;
  /** Sets the delay of the answer. Time limits that end earlier fire first. */
  takes(seconds: number): RequestStub<I>;
}

/** A stub as `rehearse` reads it. */
export interface Rule {
  readonly concerns: (requested: RequestedStep) => boolean;
  /** First and last matching request that it answers, counted from 1. */
  readonly first: number;
  readonly last: number;
  readonly answer: StepReply | 'silence' | 'made up';
  /** Delay between the request and the answer. */
  readonly takesMs?: number;
  /** Delay of a signal or a person's answer after the order began to wait. */
  readonly afterMs?: number;
  /** A decision or an early signal, in place of an answer. */
  readonly decision?: TestDecision;
  /**
   * The time of the decision: milliseconds after the order began. Without it, the decision arrives with the request of the activity at
   * `place`; without that, when the order cannot continue alone.
   */
  readonly atMs?: number;
  readonly place?: string;
}

export type TestDecision = TestInstruction | Signal;

/** Returns the highest number by which a rule names a request. Up to that request, each answer may be another one. */
export const lastNamed = (rules: readonly Rule[]): number =>
  Math.max(0, ...rules.map(({ first, last }) => (Number.isFinite(last) ? last : first - 1)));

export interface OperationStubs<F extends string, O, I = unknown> {
  /** Answers with a fault that the operation declares, and its data. */
  faults(fault: FaultType<F>, message?: string, data?: Json): RequestStub<I>;
  /** Fails with an undeclared fault, like `PermanentFailure(name)`. */
  fails(name: string, message?: string): RequestStub<I>;
  answers(output: O): RequestStub<I>;
  /** Answers with a sample value, this many seconds after the request. */
  takes(seconds: number): RequestStub<I>;
  /** Fails with a transient failure, this many times; without a number, each time. */
  failsForNow(times?: number): RequestStub<I>;
  /** Does not answer, this many times; without a number, it never answers. */
  isSilent(times?: number): RequestStub<I>;
  /** Answers with an unusable reply. The engine confirms the outcome before it undoes the step. */
  leavesUnknown(): RequestStub<I>;
}

/** The answers of a called workflow, which then does not run. */
export interface WorkflowStubs<F extends string, R, I = unknown> {
  /** Completes with this answer. */
  answers(value: R): RequestStub<I>;
  /** Fails with a `toCaller` fault, after everything in the called order is undone. */
  faults(fault: FaultType<F>, message?: string): RequestStub<I>;
  /** Ends without completing, after everything in the called order is undone. */
  isNotCompleted(): RequestStub<I>;
}

export interface SignalStubs<O> {
  /** Sends the signal `afterSeconds` after the order began to wait, or `atSeconds` after the order began. An early signal is kept. */
  comes(payload: O, given?: { readonly afterSeconds?: number } | { readonly atSeconds: number }): Stub;
  isMissing(): Stub;
}

export interface QuestionStubs<O> {
  /** Answers the question this long after it blocked the order. */
  answers(answer: O, after?: { readonly afterSeconds?: number }): Stub;
  isNotAnswered(): Stub;
}

const rules = new WeakMap<Stub, Rule>();

export const ruleOf = (given: Stub): Rule => {
  const rule = rules.get(given);
  if (!rule) throw new TypeError('Expected a stub, such as given(payment.charge).faults(CardDeclined).');
  return rule;
};

/** Stubs an operation: `given(payment.charge).faults(CardDeclined)`. */
export function given<F extends string, O, I>(operation: (input: I) => StepActivity<F, O>): OperationStubs<F, O, I>;
/** Stubs a signal: `given(visa).comes({ granted: true })`, where `visa` is a `waitFor(…)` or a function that returns one. */
export function given<O>(signal: SignalActivity<O>): SignalStubs<O>;
export function given<O>(signal: (...given: never) => SignalActivity<O>): SignalStubs<O>;
/**
 * Stubs a person's answer: `given(approval).answers({ approved: true })`, where `approval` is an `askOperator(…)` or a function that
 * returns one.
 */
export function given<O>(question: QuestionActivity<O>): QuestionStubs<O>;
export function given<O>(question: (...given: never) => QuestionActivity<O>): QuestionStubs<O>;
/** Stubs a called workflow, which then does not run: `given(shipOne).faults(AddressInvalid)`. */
export function given<I, R, C extends string>(workflow: Workflow<I, R, C>): WorkflowStubs<C, R, I>;
export function given(about: object): object {
  const operation = describedBy(about);
  if (operation) return operationStubs(operation.name);
  const what = typeof about === 'function' ? made(about as (...given: unknown[]) => object) : about;
  if ('signal' in what) return signalStubs(`${what.signal}`);
  if ('question' in what) return questionStubs(`question ${what.question}`);
  if ('exprVersion' in what) return workflowStubs(calledAs(what as Workflow));
  throw new TypeError('Expected an operation such as payment.charge, a waitFor(…), an askOperator(…) or a workflow.');
}

/** The most parameters of a function that a stub can name. */
const mostParameters = 8;

/** Calls a function that returns a wait or a question. It receives only expressions, so any expression serves. */
const made = (of: (...given: unknown[]) => object): object => of(...Array.from({ length: mostParameters }, () => expression('order')));

const calledAs = (workflow: Pick<Workflow, 'name' | 'version'>): string => `${workflowsAgent}.${workflowRef(workflow)}`;

type Reply = Rule['answer'];

const replying =
  (operation: string) =>
  (answer: Reply, more: Partial<Rule> = {}): RequestStub =>
    stubOf({ concerns: (requested) => requested.operation === operation, first: 1, last: Infinity, answer, ...more });

function operationStubs(name: string): OperationStubs<string, unknown> {
  const reply = replying(name);
  return {
    faults: (fault, message, data) => reply(declared(fault, message, data)),
    fails: (fault, message = `${fault}, in a rehearsal`) =>
      reply({ status: 'failed', fault: { type: fault, class: 'unexpected', permanent: true, message } }),
    answers: (output) => reply(succeededWith(output)),
    takes: (seconds) => reply('made up', { takesMs: seconds * 1000 }),
    failsForNow: (times = Infinity) => reply(notNow, { last: times }),
    isSilent: (times = Infinity) => reply('silence', { last: times }),
    leavesUnknown: () => reply(unusable, { concerns: (requested) => requested.operation === name && requested.purpose === 'do' }),
  };
}

function workflowStubs(name: string): WorkflowStubs<string, unknown> {
  const reply = replying(name);
  return {
    answers: (value) => reply(succeededWith(value)),
    faults: (fault, message) => reply(declared(fault, message)),
    isNotCompleted: () => reply(notCompleted('The called order did not complete, in a rehearsal.')),
  };
}

const after = ({ afterSeconds = 0 }: { readonly afterSeconds?: number }) => ({ afterMs: afterSeconds * 1000 });

function signalStubs(signal: string): SignalStubs<unknown> {
  const reply = replying(`signal ${signal}`);
  return {
    comes: (payload, options = {}) =>
      'atSeconds' in options
        ? decided({ kind: 'signal', name: signal, payload: jsonOf(payload) }, { atMs: options.atSeconds * 1000 })
        : reply(succeededWith(payload), after(options)),
    isMissing: () => reply('silence'),
  };
}

function questionStubs(name: string): QuestionStubs<unknown> {
  const reply = replying(name);
  return {
    answers: (answer, options = {}) => reply(succeededWith(answer), after(options)),
    isNotAnswered: () => reply('silence'),
  };
}

/**
 * Gives an instruction to the rehearsed order: `instruct({ kind: 'cancel' }, { atSeconds: 5 })` five seconds after it began; with
 * `.at('order/charge')` when that step is requested, before its answer. Otherwise each instruction comes when the order cannot continue
 * alone: blocked, waiting for a signal, or with an undo that fails repeatedly.
 */
export const instruct = (instruction: TestInstruction, { atSeconds }: { readonly atSeconds?: number } = {}): Stub =>
  decided(instruction, atSeconds === undefined ? {} : { atMs: atSeconds * 1000 });

const decided = (decision: TestDecision, more: Partial<Rule>): Stub =>
  stubOf({ concerns: () => true, first: 1, last: 1, answer: 'silence', decision, ...more });

export const stubOf = (rule: Rule): RequestStub => {
  const only =
    (isMeant: Rule['concerns']): Rule['concerns'] =>
    (requested) =>
      rule.concerns(requested) && isMeant(requested);
  const made: RequestStub = {
    once: () => stubOf({ ...rule, first: 1, last: 1 }),
    nth: (number) => stubOf({ ...rule, first: number, last: number }),
    at: (place) => stubOf({ ...rule, place, concerns: only(({ path }) => path === place) }),
    forInput: (part) => stubOf({ ...rule, concerns: only(({ input }) => has(input, jsonOf(part))) }),
    takes: (seconds) => stubOf({ ...rule, takesMs: seconds * 1000 }),
  };
  rules.set(made, rule);
  return made;
};

/** Whether a value contains all fields of a part. Lists are compared entry by entry. */
function has(value: Json | undefined, part: Json): boolean {
  if (typeof part !== 'object' || part === null) return value === part;
  if (typeof value !== 'object' || value === null || Array.isArray(value) !== Array.isArray(part)) return false;
  if (Array.isArray(value) && value.length !== Object.keys(part).length) return false;
  return Object.entries(part).every(([key, each]) => has((value as { readonly [key: string]: Json })[key], each));
}

const jsonOf = (value: unknown): Json => JSON.parse(JSON.stringify(value ?? null)) as Json;

const succeededWith = (output: unknown): StepReply => ({ status: 'succeeded', output: jsonOf(output) });

/** Returns a declared fault as it reaches the core. */
export const declared = ({ path, name }: FaultType, message = `${name}, in a rehearsal`, data?: Json): StepReply => ({
  status: 'failed',
  fault: { type: path, class: 'expected', permanent: !isTransient(path), message, ...(data === undefined ? {} : { data }) },
});

const notNow: StepReply = {
  status: 'failed',
  fault: engineFault(engineFaults.serviceUnavailable, 'The service is busy, in a rehearsal.', {
    class: 'application-failure',
    permanent: false,
  }),
};

export const unusable: StepReply = {
  status: 'failed',
  fault: engineFault(engineFaults.invalidReply, 'The reply is unusable, in a rehearsal.', {
    class: 'application-failure',
    outcomeUnknown: true,
  }),
};

export const notCompleted = (message: string): StepReply => ({
  status: 'failed',
  fault: engineFault(engineFaults.childNotCompleted, message),
});
