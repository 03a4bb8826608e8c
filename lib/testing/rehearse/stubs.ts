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
export type Purpose = 'do' | 'undo' | 'settle';

/** One asking of a rehearsal, as a `when` sees it. */
export interface Asking {
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
export interface When {
  /** Only the first asking, and nothing of the others. */
  once(): When;
  /** Only this asking, counted from 1. */
  nth(number: number): When;
  /** Only the askings of the activity at this path, where several ask for the same. */
  at(path: string): When;
}

/** The same of something that is requested with an input, and takes its time. */
export interface RequestWhen<I = unknown> extends When {
  once(): RequestWhen<I>;
  nth(number: number): RequestWhen<I>;
  at(path: string): RequestWhen<I>;
  /** Only the requests whose input has these fields with these values. */
  forInput(part: PartOf<I>): RequestWhen<I>;
  /** The answer comes this long after the request. Time limits that pass before it fire. */
  takes(seconds: number): RequestWhen<I>;
}

/** What is to happen to askings: for `rehearse` itself. */
export interface Rule {
  readonly concerns: (asking: Asking) => boolean;
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

export interface Whens<F extends string, O, I = unknown> {
  /** The service says no, with a fault that the operation declares, and data about it. */
  faults(fault: FaultType<F>, message?: string, data?: Json): RequestWhen<I>;
  /** It fails in a way that the operation does not declare, as with `PermanentFailure(name)`. */
  fails(name: string, message?: string): RequestWhen<I>;
  answers(output: O): RequestWhen<I>;
  /** Answers with a sample value, this many seconds after the request. */
  takes(seconds: number): RequestWhen<I>;
  /** "Not now": a failure that may pass. */
  failsForNow(times?: number): RequestWhen<I>;
  /** No answer comes. */
  isSilent(times?: number): RequestWhen<I>;
  /** An answer comes that nobody can use: whether it was done is found out where that matters. */
  leavesUnknown(): RequestWhen<I>;
}

/** Answers for the whole of a workflow that is called: then nothing of it is played. */
export interface WorkflowWhens<F extends string, R, I = unknown> {
  /** It completes. */
  answers(value: R): RequestWhen<I>;
  /** It goes back to its caller with one of the faults that it declares for that; nothing of it is left. */
  faults(fault: FaultType<F>, message?: string): RequestWhen<I>;
  /** It ends otherwise than completed; nothing of it is left. */
  isNotCompleted(): RequestWhen<I>;
}

export interface SignalWhens<O> {
  /** It comes so long after the order began to wait for it; or at so many seconds of the order, which keeps it until it waits. */
  comes(payload: O, when?: { readonly afterSeconds?: number } | { readonly atSeconds: number }): When;
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
export function when<F extends string, O, I>(operation: (input: I) => StepActivity<F, O>): Whens<F, O, I>;
/** When a signal comes, and what with: `when(visa).comes({ granted: true })`, where `visa` is a `waitFor(…)`, or returns one. */
export function when<O>(signal: SignalActivity<O>): SignalWhens<O>;
export function when<O>(signal: (...given: never) => SignalActivity<O>): SignalWhens<O>;
/** What a person answers: `when(approval).answers({ approved: true })`, where `approval` is an `askOperator(…)`, or returns one. */
export function when<O>(question: QuestionActivity<O>): QuestionWhens<O>;
export function when<O>(question: (...given: never) => QuestionActivity<O>): QuestionWhens<O>;
/** What a workflow answers to whoever calls it, instead of being played: `when(shipOne).faults(AddressInvalid)`. */
export function when<I, R, C extends string>(workflow: Workflow<I, R, C>): WorkflowWhens<C, R, I>;
export function when(about: object): object {
  const operation = describedBy(about);
  if (operation) return operationWhens(operation.name);
  const what = typeof about === 'function' ? made(about as (...given: unknown[]) => object) : about;
  if ('signal' in what) return signalWhens(`${what.signal}`);
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
  (answer: Reply, more: Partial<Rule> = {}): RequestWhen =>
    whenever({ concerns: (asking) => asking.operation === operation, first: 1, last: Infinity, answer, ...more });

function operationWhens(name: string): Whens<string, unknown> {
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

function workflowWhens(name: string): WorkflowWhens<string, unknown> {
  const reply = replying(name);
  return {
    answers: (value) => reply(succeededWith(value)),
    faults: (fault, message) => reply(declared(fault, message)),
    isNotCompleted: () => reply(notCompleted('It is not completed, in a rehearsal.')),
  };
}

const after = ({ afterSeconds = 0 }: { readonly afterSeconds?: number }) => ({ afterMs: afterSeconds * 1000 });

function signalWhens(signal: string): SignalWhens<unknown> {
  const reply = replying(`signal ${signal}`);
  return {
    comes: (payload, options = {}) =>
      'atSeconds' in options
        ? decided({ kind: 'signal', name: signal, payload: jsonOf(payload) }, { atMs: options.atSeconds * 1000 })
        : reply(succeededWith(payload), after(options)),
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

/**
 * What a person does to the order that is rehearsed: `instruct({ kind: 'cancel' }, { atSeconds: 5 })`, so long after the order
 * began; or with `.at('order/charge')`, when that is requested, before its answer. Without either it comes when the order goes
 * no further by itself: held, waiting for a signal, or with an undo that goes on failing; one such instruction each time.
 */
export const instruct = (instruction: TestInstruction, { atSeconds }: { readonly atSeconds?: number } = {}): When =>
  decided(instruction, atSeconds === undefined ? {} : { atMs: atSeconds * 1000 });

const decided = (decision: TestDecision, more: Partial<Rule>): When =>
  whenever({ concerns: () => true, first: 1, last: 1, answer: 'silence', decision, ...more });

export const whenever = (rule: Rule): RequestWhen => {
  const only =
    (isMeant: Rule['concerns']): Rule['concerns'] =>
    (asking) =>
      rule.concerns(asking) && isMeant(asking);
  const made: RequestWhen = {
    once: () => whenever({ ...rule, first: 1, last: 1 }),
    nth: (number) => whenever({ ...rule, first: number, last: number }),
    at: (place) => whenever({ ...rule, place, concerns: only(({ path }) => path === place) }),
    forInput: (part) => whenever({ ...rule, concerns: only(({ input }) => has(input, jsonOf(part))) }),
    takes: (seconds) => whenever({ ...rule, takesMs: seconds * 1000 }),
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
