import type { AnyOperation, Call } from '#authoring/agent';
import { type FaultType, PermanentFailure, TransientFailure } from '#authoring/fault';
import type { App } from '#authoring/workflow';
import { engineFaults, shortType } from '#core/data/fault';
import { undonePath } from '#core/data/ids';
import type { Json } from '#core/data/json';
import { isRemote } from '#core/definition/definition';
import { nodeAt } from '#core/definition/program';
import type { Answers } from '#testing/rehearse/answers';
import { sampleOf } from '#testing/rehearse/sample';
import type { Purpose, Rule } from '#testing/rehearse/stubs';
import { stepOf } from '#testing/world/effects';
import type { History } from '#testing/world/history';
import type { Observation } from '#testing/world/observation';
import { labelOf } from './labels.ts';

/** The answer of a service to one request. */
type Answer =
  | { readonly type: 'done'; readonly output: unknown }
  /** A transient failure, with the declared fault for it, if any. */
  | { readonly type: 'not now'; readonly fault?: string }
  | { readonly type: 'refused'; readonly fault: string; readonly message: string }
  | { readonly type: 'silent' | 'unusable' };

/** The world around the stand-ins. */
export interface Surroundings {
  readonly answers: Answers;
  /** Names of the agents whose own operations run. */
  readonly real: ReadonlySet<string>;
  readonly history: History;
  record(observation: Observation): void;
  broken(what: string): void;
  /** Stops the test with an error. */
  fail(error: unknown): void;
}

/** The connection of one process to the services. */
export interface Line {
  /** Reaches the service. The process can crash there. */
  reach<T>(site: string, about: string, apply: () => T | Promise<T>): Promise<T>;
  /** Makes a call of an operation, and observes its start and its end at the agent. */
  observe<T>(operation: string, call: Call<string>, work: () => Promise<T>): Promise<T>;
}

/**
 * Stands in for the user's operations. A stand-in honors idempotency keys: a repeated key gets the same answer and has one effect. A
 * stand-in of an `atMostOnce` operation does not.
 */
export class Services {
  /** The number of effects and undos. */
  done = 0;
  private readonly around: Surroundings;
  private readonly byRequest = new Map<string, Answer>();
  private readonly byKey = new Map<string, Answer>();
  private readonly realAnswers = new Map<string, string>();
  /** Ids of the requests that only confirm an outcome. */
  private readonly confirming = new Set<string>();
  /** Inputs by key, because a lookup receives the key alone. */
  private readonly inputs = new Map<string, Json>();
  /** Idempotency keys of the undos that were noted. */
  private readonly byUndo = new Set<string>();

  constructor(around: Surroundings) {
    this.around = around;
  }

  /** Notes a request that only confirms an outcome. */
  hears(body: string): void {
    if (body.includes('"confirming":true')) this.confirming.add((JSON.parse(body) as { requestId: string }).requestId);
  }

  /** Returns the app of one process, with its operations answered here. */
  stoodInFor({ agents, ...app }: App, line: Line): App {
    const stood = agents.map(({ name, operations }) => ({
      name,
      operations: Object.fromEntries(
        Object.entries(operations).map(([key, operation]) => [key, this.standInFor(`${name}.${key}`, operation, line)]),
      ),
    }));
    return { ...app, agents: stood };
  }

  private standInFor(name: string, operation: AnyOperation, { reach, observe }: Line): AnyOperation {
    const serve = (site: string, call: Call<string>, apply: () => Promise<Answer | undefined>) =>
      observe(site, call, () => this.resultOf(call, reach(site, call.path, apply), operation));
    return {
      ...operation,
      run: (input: unknown, call: Call<string>) => serve(name, call, () => this.run(name, operation, input, call)),
      ...(operation.lookup && {
        lookup: (key: string, call: Call<string>) => serve(`${name} lookup`, call, () => this.lookUp(name, operation, key, call)),
      }),
      ...(operation.cancel && {
        cancel: (call: Call<string>) => reach(`${name} cancel`, call.path, () => this.cancel(name, operation, call)),
      }),
    };
  }

  private async run(name: string, operation: AnyOperation, input: unknown, call: Call<string>): Promise<Answer> {
    const answer = this.isReal(name)
      ? await this.runReal(name, operation, input, call)
      : this.standIn(name, operation, input as Json, call);
    if (answer.type === 'done' || answer.type === 'unusable') this.note(name, operation, call);
    return answer;
  }

  private isReal(name: string): boolean {
    return this.around.real.has(name.slice(0, name.indexOf('.')));
  }

  private async runReal(name: string, operation: AnyOperation, input: unknown, call: Call<string>): Promise<Answer> {
    const output: unknown = await operation.run(input as never, call as never);
    const text = JSON.stringify(output) ?? 'undefined';
    const before = this.realAnswers.get(call.idempotencyKey);
    if (before !== undefined && before !== text)
      this.around.broken(`${name} got the same idempotency key twice, and answered ${before} and then ${text}`);
    this.realAnswers.set(call.idempotencyKey, text);
    const failed = isFailed(output) ? output.failed.name : undefined;
    return failed === undefined
      ? { type: 'done', output }
      : { type: 'refused', fault: failed, message: (output as { message: string }).message };
  }

  private standIn(name: string, operation: AnyOperation, input: Json, call: Call<string>): Answer {
    try {
      return this.decide(name, operation, input, call);
    } catch (error) {
      this.around.fail(error);
      return { type: 'silent' };
    }
  }

  /** Chooses the answer: an earlier one for the same key or request, then the first matching stub, then a made-up value. */
  private decide(name: string, operation: AnyOperation, input: Json, call: Call<string>): Answer {
    const { requestId, idempotencyKey, path, orderId } = call;
    this.inputs.set(idempotencyKey, input);
    const isUndo = path.endsWith('/undo');
    const isConfirming = this.confirming.has(requestId);
    const known = operation.atMostOnce ? undefined : this.byKey.get(idempotencyKey);
    if (known?.type === 'unusable' && isConfirming) return { type: 'done', output: sample(name, operation) };
    if (known) return known;
    // A stub answers each request once, and the agent may try a request several times.
    const earlier = this.byRequest.get(requestId);
    if (earlier && (earlier.type === 'not now' || !operation.atMostOnce)) return earlier;
    const purpose: Purpose = isConfirming ? 'confirm' : isUndo ? 'undo' : 'do';
    const rule = this.around.answers.ruleFor({ operation: name, path: `${labelOf(orderId, this.around.history)}${path}`, purpose, input });
    const answer: Answer = rule ? answerOf(rule) : { type: 'done', output: sample(name, operation) };
    this.byRequest.set(requestId, answer);
    if (answer.type !== 'not now' && answer.type !== 'silent') this.byKey.set(idempotencyKey, answer);
    return answer;
  }

  private async lookUp(name: string, operation: AnyOperation, key: string, call: Call<string>): Promise<Answer | undefined> {
    if (this.isReal(name)) {
      const output: unknown = await operation.lookup?.(key, call as never);
      return output === undefined ? undefined : { type: 'done', output };
    }
    const path = `${labelOf(call.orderId, this.around.history)}${call.path}`;
    const input = this.inputs.get(key);
    const rule = this.around.answers.ruleFor({ operation: name, path, purpose: 'confirm', ...(input === undefined ? {} : { input }) });
    const answer = rule && answerOf(rule);
    if (answer?.type === 'silent' || answer?.type === 'not now') return answer;
    const known = this.byKey.get(key);
    const isDone = known?.type === 'done' || known?.type === 'unusable';
    if (!isDone || this.around.history.effects.get(key)?.undone) return undefined;
    return known.type === 'done' ? known : { type: 'done', output: sample(name, operation) };
  }

  private cancel(name: string, operation: AnyOperation, call: Call<string>): unknown {
    return this.isReal(name) ? operation.cancel?.(call as never) : undefined;
  }

  /** Returns the operation's result for an answer, or throws its error. */
  private async resultOf(call: Call<string>, answered: Promise<Answer | undefined>, operation: AnyOperation): Promise<unknown> {
    const answer = await answered;
    switch (answer?.type) {
      case undefined:
        return undefined;
      case 'done':
        return answer.output;
      case 'refused': {
        const declared = (operation.faults ?? []).find(({ name, path }) => name === answer.fault || path === answer.fault);
        if (declared) return call.failed(declared, answer.message);
        throw new PermanentFailure(shortType(answer.fault), answer.message);
      }
      case 'not now':
        throw new TransientFailure('The service is busy, in a crash test.', { nothingSent: true, ...transientIn(answer, call) });
      case 'silent':
        return new Promise((_, reject) => {
          const giveUp = () => reject(new TransientFailure('No answer came.'));
          if (call.signal.aborted) giveUp();
          else call.signal.addEventListener('abort', giveUp, { once: true });
        });
      case 'unusable':
        throw new PermanentFailure(shortType(engineFaults.invalidReply), 'The reply is unusable, in a crash test.', {
          outcomeUnknown: true,
        });
    }
  }

  private note(operation: string, { atMostOnce }: AnyOperation, { orderId, path, idempotencyKey: key }: Call<string>): void {
    this.done += 1;
    if (path.endsWith('/undo')) return this.noteUndo(operation, orderId, undonePath(path), key);
    if (atMostOnce || !this.around.history.effects.has(key)) this.around.record({ type: 'effect', operation, key });
  }

  /** Notes an undo once. The undo of a composite undoes every effect inside it that still exists. */
  private noteUndo(operation: string, orderId: string, path: string, key: string): void {
    if (this.byUndo.has(key)) return;
    this.byUndo.add(key);
    const { effects } = this.around.history;
    const done = this.isComposite(orderId, path)
      ? [...effects.keys()].filter((each) => isWithin(stepOf(each), orderId, path))
      : [key.replace(/\/undo\/(\d+)$/, '/$1')];
    const standing = this.isComposite(orderId, path) ? done.filter((each) => !effects.get(each)?.undone) : done;
    // An undo without an effect is recorded for the step itself, so that the law `effects` reports it.
    const undoes = done.length === 0 ? [`${orderId}/${path}`] : standing;
    for (const each of undoes) this.around.record({ type: 'effect', operation, key, undoes: each });
  }

  private isComposite(orderId: string, path: string): boolean {
    const { program } = this.around.history.orders.get(orderId) ?? {};
    return program !== undefined && !isRemote(nodeAt(program, path));
  }
}

const isWithin = (step: ReturnType<typeof stepOf>, orderId: string, around: string): boolean =>
  step.orderId === orderId && (step.path.startsWith(`${around}/`) || step.path.startsWith(`${around}[`));

function sample(name: string, { output }: AnyOperation): unknown {
  const { value, problem } = sampleOf(output, name);
  if (problem === undefined) return value;
  const [agent = '', operation = ''] = name.split('.');
  throw new TypeError(
    `Cannot make up an answer of ${name}: ${JSON.stringify(value)} violates its schema: ${problem}. Add a stub: given(${agent}.${operation}).answers({…}).`,
  );
}

function answerOf({ answer }: Rule): Answer {
  if (answer === 'silence' || answer === 'made up') return { type: 'silent' };
  if (answer.status === 'succeeded') return { type: 'done', output: answer.output };
  if (answer.status === 'rejected') return { type: 'refused', fault: engineFaults.requestRejected, message: answer.message };
  const { fault } = answer;
  if (fault.outcomeUnknown) return { type: 'unusable' };
  return fault.permanent ? { type: 'refused', fault: fault.type, message: fault.message } : { type: 'not now', fault: fault.type };
}

/** Returns the declared fault of a transient failure, if the operation has one. */
function transientIn({ fault }: { readonly fault?: string }, { faults }: Call<string>) {
  const declared = faults.find(({ path }) => path === fault);
  return declared ? { fault: declared as FaultType<`Transient/${string}`> } : {};
}

const isFailed = (value: unknown): value is { readonly failed: { readonly name: string } } =>
  typeof value === 'object' && value !== null && 'failed' in value && 'message' in value;
