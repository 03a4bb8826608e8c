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
import type { Instruction, Signal } from '#roles/operator/instruction';

/** What an asking is for: to do something, to take it back, or to find out whether it was done. */
export type Purpose = 'do' | 'undo' | 'confirm';

/** One asking of a rehearsal, as a `when` sees it. */
export interface RequestedStep {
  /** `payment.charge`, `workflows.ship-one@1`, `signal visa`, `question approve`. */
  readonly operation: string;
  /** Of the step: `order/charge`, or `order/charge/undo`; inside a child: `order/ship-one > order/charge`. */
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

/** What is to be answered, and to which askings. */
export interface Stub {
  /** Only the first asking, and nothing of the others. */
  once(): Stub;
  /** Only this asking, counted from 1. */
  nth(number: number): Stub;
  /** Only the askings of the activity at this path, where several ask for the same. */
  at(path: string): Stub;
}

/** The same of something that is requested with an input, and takes its time. */
export interface RequestStub<I = unknown> extends Stub {
  once(): RequestStub<I>;
  nth(number: number): RequestStub<I>;
  at(path: string): RequestStub<I>;
  /** Only the requests whose input has these fields with these values. */
  forInput(part: PartOf<I>): RequestStub<I>;
  /** The answer comes this long after the request. Time limits that pass before it fire. */
  takes(seconds: number): RequestStub<I>;
}

/** What is to happen to askings: for `rehearse` itself. */
export interface Rule {
  readonly concerns: (asking: RequestedStep) => boolean;
  /** Askings that it concerns, counted from 1. */
  readonly first: number;
  readonly last: number;
  readonly answer: StepReply | 'silence' | 'made up';
  /** How long after the request the answer comes. */
  readonly takesMs?: number;
  /** Of a signal, or of a person's answer: how long after it was waited for. */
  readonly afterMs?: number;
  /** In place of an answer: a decision or signal from outside. */
  readonly decision?: TestDecision;
  /** When the decision comes: milliseconds after the order began, or when the activity at this path is requested. */
  readonly atMs?: number;
  readonly place?: string;
}

export type TestDecision = TestInstruction | Signal;

/** The last request that a rule names by its number: until then the next answer may be another one. */
export const lastNamed = (rules: readonly Rule[]): number =>
  Math.max(0, ...rules.map(({ first, last }) => (Number.isFinite(last) ? last : first - 1)));

export interface OperationStubs<F extends string, O, I = unknown> {
  /** The service says no, with a fault that the operation declares, and data about it. */
  faults(fault: FaultType<F>, message?: string, data?: Json): RequestStub<I>;
  /** It fails in a way that the operation does not declare, as with `PermanentFailure(name)`. */
  fails(name: string, message?: string): RequestStub<I>;
  answers(output: O): RequestStub<I>;
  /** Answers with a sample value, this many seconds after the request. */
  takes(seconds: number): RequestStub<I>;
  /** "Not now": a failure that may pass. */
  failsForNow(times?: number): RequestStub<I>;
  /** No answer comes. */
  isSilent(times?: number): RequestStub<I>;
  /** An answer comes that nobody can use: whether it was done is found out where that matters. */
  leavesUnknown(): RequestStub<I>;
}

/** Answers for the whole of a workflow that is called: then nothing of it is played. */
export interface WorkflowStubs<F extends string, R, I = unknown> {
  /** It completes. */
  answers(value: R): RequestStub<I>;
  /** It goes back to its caller with one of the faults that it declares for that; nothing of it is left. */
  faults(fault: FaultType<F>, message?: string): RequestStub<I>;
  /** It ends otherwise than completed; nothing of it is left. */
  isNotCompleted(): RequestStub<I>;
}

export interface SignalStubs<O> {
  /** It comes so long after the order began to wait for it; or at so many seconds of the order, which keeps it until it waits. */
  comes(payload: O, given?: { readonly afterSeconds?: number } | { readonly atSeconds: number }): Stub;
  isMissing(): Stub;
}

export interface QuestionStubs<O> {
  /** A person answers so long after the order was blocked for it. */
  answers(answer: O, after?: { readonly afterSeconds?: number }): Stub;
  isNotAnswered(): Stub;
}

const rules = new WeakMap<Stub, Rule>();

export const ruleOf = (given: Stub): Rule => {
  const rule = rules.get(given);
  if (!rule) throw new TypeError('A when is wanted here, such as given(payment.charge).faults(CardDeclined).');
  return rule;
};

/** What an operation answers in a rehearsal: `given(payment.charge).faults(CardDeclined)`. */
export function given<F extends string, O, I>(operation: (input: I) => StepActivity<F, O>): OperationStubs<F, O, I>;
/** When a signal comes, and what with: `given(visa).comes({ granted: true })`, where `visa` is a `waitFor(…)`, or returns one. */
export function given<O>(signal: SignalActivity<O>): SignalStubs<O>;
export function given<O>(signal: (...given: never) => SignalActivity<O>): SignalStubs<O>;
/** What a person answers: `given(approval).answers({ approved: true })`, where `approval` is an `askOperator(…)`, or returns one. */
export function given<O>(question: QuestionActivity<O>): QuestionStubs<O>;
export function given<O>(question: (...given: never) => QuestionActivity<O>): QuestionStubs<O>;
/** What a workflow answers to whoever calls it, instead of being played: `given(shipOne).faults(AddressInvalid)`. */
export function given<I, R, C extends string>(workflow: Workflow<I, R, C>): WorkflowStubs<C, R, I>;
export function given(about: object): object {
  const operation = describedBy(about);
  if (operation) return operationStubs(operation.name);
  const what = typeof about === 'function' ? made(about as (...given: unknown[]) => object) : about;
  if ('signal' in what) return signalStubs(`${what.signal}`);
  if ('question' in what) return questionStubs(`question ${what.question}`);
  if ('exprVersion' in what) return workflowStubs(calledAs(what as Workflow));
  throw new TypeError('An operation such as payment.charge is wanted here, a waitFor(…), an askOperator(…), or a workflow.');
}

const mostParameters = 8;

/** Whatever it is given in a workflow are paths, so any path will do. */
const made = (of: (...given: unknown[]) => object): object => of(...Array.from({ length: mostParameters }, () => expression('order')));

const calledAs = ({ name, version }: Pick<Workflow, 'name' | 'version'>): string => `${workflowsAgent}.${name}@${version}`;

type Reply = Rule['answer'];

const replying =
  (operation: string) =>
  (answer: Reply, more: Partial<Rule> = {}): RequestStub =>
    stubOf({ concerns: (asking) => asking.operation === operation, first: 1, last: Infinity, answer, ...more });

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
    leavesUnknown: () => reply(unusable, { concerns: (asking) => asking.operation === name && asking.purpose === 'do' }),
  };
}

function workflowStubs(name: string): WorkflowStubs<string, unknown> {
  const reply = replying(name);
  return {
    answers: (value) => reply(succeededWith(value)),
    faults: (fault, message) => reply(declared(fault, message)),
    isNotCompleted: () => reply(notCompleted('It is not completed, in a rehearsal.')),
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
 * What a person does to the order that is rehearsed: `instruct({ kind: 'cancel' }, { atSeconds: 5 })`, so long after the order
 * began; or with `.at('order/charge')`, when that is requested, before its answer. Without either it comes when the order goes
 * no further by itself: held, waiting for a signal, or with an undo that goes on failing; one such instruction each time.
 */
export const instruct = (instruction: TestInstruction, { atSeconds }: { readonly atSeconds?: number } = {}): Stub =>
  decided(instruction, atSeconds === undefined ? {} : { atMs: atSeconds * 1000 });

const decided = (decision: TestDecision, more: Partial<Rule>): Stub =>
  stubOf({ concerns: () => true, first: 1, last: 1, answer: 'silence', decision, ...more });

export const stubOf = (rule: Rule): RequestStub => {
  const only =
    (isMeant: Rule['concerns']): Rule['concerns'] =>
    (asking) =>
      rule.concerns(asking) && isMeant(asking);
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
