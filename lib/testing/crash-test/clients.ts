import { isQuestion } from '#core/data/fault';
import type { JsonObject } from '#core/data/json';
import { nodeAt } from '#core/definition/program';
import { queueNames } from '#ports/messages';
import type { Decision } from '#roles/operator/instruction';
import { orderIdOf } from '#roles/submission/submission';
import type { Answers } from '#testing/rehearse/answers';
import type { Tracked } from './history.ts';
import type { Host } from './host.ts';
import { caller } from './instrumented-ports.ts';
import { clientName, responseQueue, type Scenario, submissionKey } from './scenario.ts';
import type { Timeline } from './timeline.ts';

const patienceMs = 5000;
const againMs = 500;
/** The first process has started by then. */
const beginsAfterMs = 100;

/** The world around the clients. */
export interface Surroundings {
  readonly timeline: Timeline;
  readonly scenario: Scenario;
  readonly answers: Answers;
  /** The running process, if any. */
  host(): Host | undefined;
  /** Sends a message to a queue, as an external system does. */
  post(queue: string, body: string): Promise<void>;
  tell(line: string): void;
}

/** The clients and operators: they submit, send signals, answer questions and cancel. Each repeats its call until it has an answer. */
export class Outside {
  readonly orderId = orderIdOf(clientName, submissionKey);
  /** Calls without an answer, or not made yet. */
  waiting = 0;
  /** Signals sent to each order. A repeated signal counts once. */
  readonly signals = new Map<string, number>();
  private readonly around: Surroundings;
  private readonly asked = new Set<string>();
  private readonly submission: JsonObject;

  constructor(around: Surroundings) {
    this.around = around;
    const { app, order } = around.scenario;
    const workflow = app.workflows[0]?.name ?? '';
    this.submission = { client: clientName, idempotencyKey: submissionKey, workflow, order, responseChannel: responseQueue };
  }

  begin(): void {
    const { scenario, post } = this.around;
    const { submittedBy, cancelAfterMs, poison = [] } = scenario;
    for (const { queue, body } of poison) this.later(beginsAfterMs, `an invalid message arrives: ${body}`, () => post(queue, body));
    this.later(beginsAfterMs, `the client ${submittedBy === 'message' ? 'posts' : 'submits'} the order`, () => {
      if (submittedBy === 'message') return post(queueNames.submissions, JSON.stringify({ v: 1, type: 'submission', ...this.submission }));
      this.persist('submit', async ({ system }) => (await system.submit(this.submission as never)).outcome === 'accepted');
    });
    if (cancelAfterMs === undefined) return;
    const cancel: Decision = { kind: 'cancel', by: clientName, reason: 'canceled by the client' };
    this.later(beginsAfterMs + cancelAfterMs, 'the client cancels', () => this.instruct(this.orderId, cancel, 'cancel'));
  }

  /** Sends the signals and answers that an order waits for, if stubs have them. */
  look({ orderId, label, program, state, instance }: Tracked): void {
    const { activities, blocked: held } = instance.state;
    for (const [path, { status, local }] of Object.entries(activities)) {
      const node = nodeAt(program, path);
      if (node.activity !== 'waitFor' || status !== 'Executing' || local === undefined) continue;
      const { signal, payload } = node;
      this.answer(`signal ${signal}`, `${label}${path}`, payload, `${orderId} ${path}`, (value, key) => {
        this.signals.set(orderId, (this.signals.get(orderId) ?? 0) + 1);
        this.instruct(orderId, { kind: 'signal', name: signal, payload: value }, key);
      });
    }
    if (state.processState !== 'Error' || !held || !isQuestion(held.fault)) return;
    const node = nodeAt(program, held.path);
    const schema = node.activity === 'askOperator' ? node.answer : undefined;
    this.answer(`question ${node.name}`, `${label}${held.path}`, schema, `${orderId} ${held.path} ${state.errorGen}`, (answer, key) =>
      this.instruct(orderId, { kind: 'resubmit', by: 'operator', reason: 'question answered', answer }, key),
    );
  }

  private answer(
    operation: string,
    path: string,
    schema: JsonObject | undefined,
    key: string,
    give: (value: never, key: string) => void,
  ): void {
    if (this.asked.has(key)) return;
    this.asked.add(key);
    const coming = this.around.answers.fromOutside({ operation, path, purpose: 'do' }, schema);
    if (coming) this.later(coming.afterMs, `the ${operation} comes`, () => give(coming.value as never, key));
  }

  private later(ms: number, what: string, act: () => void | Promise<void>): void {
    this.waiting += 1;
    this.around.timeline.after(ms, () => {
      this.waiting -= 1;
      this.around.tell(what);
      return act();
    });
  }

  private instruct(orderId: string, decision: Decision, key: string): void {
    let tries = 0;
    this.persist('instruct', async ({ system }) => {
      const { outcome } = await system.scheduler.instruct(orderId, decision, { id: `${key}/${++tries}`, key: `key-${key}` });
      // The submission may be queued and not stored yet.
      return outcome !== 'not-found' || tries > 10;
    });
  }

  /** A call without an answer has an unknown outcome, so it is repeated. */
  private persist(what: string, call: (host: Host) => Promise<boolean>): void {
    const { timeline, host } = this.around;
    this.waiting += 1;
    let answered = false;
    const attempt = (): void => {
      let over = false;
      const again = (): void => {
        if (over || answered) return;
        over = true;
        timeline.after(againMs, attempt);
      };
      const answer = (definite: boolean): void => {
        if (over || answered) return;
        if (!definite) return again();
        answered = true;
        this.waiting -= 1;
      };
      const alive = host();
      if (!alive) return again();
      caller.run(what, () => call(alive)).then(answer, again);
      timeline.after(patienceMs, again);
    };
    attempt();
  }
}
