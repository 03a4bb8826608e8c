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
/** The process has come up by then. */
const beginsAfterMs = 100;

/** What those outside need of the world. */
export interface Surroundings {
  readonly timeline: Timeline;
  readonly scenario: Scenario;
  readonly answers: Answers;
  /** The process that is alive, if any. */
  host(): Host | undefined;
  /** Puts a message on a queue, as somebody outside does. */
  post(queue: string, body: string): Promise<void>;
  tell(line: string): void;
}

/** Those who use the system: they submit, send signals, answer questions and cancel; each tries again until he is answered. */
export class Outside {
  readonly orderId = orderIdOf(clientName, submissionKey);
  /** Calls that are not answered, or not made yet. */
  waiting = 0;
  /** How many signals were sent to each order; one that is sent again is the same. */
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
    for (const { queue, body } of poison) this.later(beginsAfterMs, `a message comes that means nothing: ${body}`, () => post(queue, body));
    this.later(beginsAfterMs, `the client ${submittedBy === 'message' ? 'posts' : 'submits'} the order`, () => {
      if (submittedBy === 'message') return post(queueNames.submissions, JSON.stringify({ v: 1, type: 'submission', ...this.submission }));
      this.persist('submit', async ({ system }) => (await system.submit(this.submission as never)).outcome === 'accepted');
    });
    if (cancelAfterMs === undefined) return;
    const cancel: Decision = { kind: 'cancel', by: clientName, reason: 'not wanted' };
    this.later(beginsAfterMs + cancelAfterMs, 'the client cancels', () => this.instruct(this.orderId, cancel, 'cancel'));
  }

  /** Whoever sends signals and answers questions does so as soon as an order waits for that, if a `when` says so. */
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
      this.instruct(orderId, { kind: 'resubmit', by: 'operator', reason: 'answered', answer }, key),
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
      // Posted, perhaps, and not stored yet.
      return outcome !== 'not-found' || tries > 10;
    });
  }

  /** Nobody knows what became of a try that had no answer. */
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
