import { isQuestion } from '#core/data/fault';
import type { JsonObject } from '#core/data/json';
import { nodeAt } from '#core/definition/program';
import { queueNames } from '#ports/messages';
import { callKey } from '#roles/operator/idempotency';
import type { Decision } from '#roles/operator/instruction';
import { orderIdOf, type Submission } from '#roles/submission/submission';
import type { Answers } from '#testing/rehearse/answers';
import { instructOnce, SubmissionRefusedError, submitOnce, untilAnswered } from '#testing/world/clients';
import type { History, Tracked } from '#testing/world/history';
import type { Observation } from '#testing/world/observation';
import type { Timeline } from '#testing/world/timeline';
import type { Host } from './host.ts';
import { labelOf } from './labels.ts';
import { asOrigin } from './origin.ts';
import { clientName, responseQueue, type Scenario, submissionKey } from './scenario.ts';

/** A client waits this long for an answer, and repeats its call after a pause of `againMs`. */
const patienceMs = 5000;
const againMs = 500;
/** The clients begin after this time, when the first process has started. */
const beginsAfterMs = 100;
/** An instruction is repeated after at most this many answers `not-found`, because the submission of its order may still be queued. */
const triesMax = 10;

/** The world around the clients. */
export interface Surroundings {
  readonly timeline: Timeline;
  readonly scenario: Scenario;
  readonly answers: Answers;
  readonly history: History;
  record(observation: Observation): void;
  /** The running process, if any. */
  host(): Host | undefined;
  /** Sends a message to a queue, as an external system does. */
  post(queue: string, body: string): Promise<void>;
  narrate(line: string): void;
  /** Stops the test with an error. */
  fail(error: unknown): void;
}

/** The clients and operators: they submit, send signals, answer questions and cancel. Each repeats its call until it has an answer. */
export class Clients {
  readonly orderId = orderIdOf(clientName, submissionKey);
  /** Number of calls without an answer, and of calls that are not made yet. */
  waiting = 0;
  private readonly around: Surroundings;
  private readonly asked = new Set<string>();
  private readonly submission: Submission & { readonly workflow: string };
  private instructions = 0;

  constructor(around: Surroundings) {
    this.around = around;
    const { app, order } = around.scenario;
    const workflow = app.workflows[0]?.name ?? '';
    this.submission = { client: clientName, idempotencyKey: submissionKey, workflow, order, responseChannel: responseQueue };
  }

  begin(): void {
    const { scenario, record, post } = this.around;
    const { submittedBy, cancelAfterMs, poison = [] } = scenario;
    for (const { queue, body } of poison)
      this.later(beginsAfterMs, `an invalid message arrives: ${body}`, () => {
        record({ type: 'poisoned', body });
        return post(queue, body);
      });
    this.later(beginsAfterMs, `the client ${submittedBy === 'message' ? 'posts' : 'submits'} the order`, () =>
      submittedBy === 'message' ? this.post() : this.submit(),
    );
    if (cancelAfterMs === undefined) return;
    this.later(beginsAfterMs + cancelAfterMs, 'the client cancels', () =>
      this.instruct(this.orderId, (reason) => ({ kind: 'cancel', by: clientName, reason })),
    );
  }

  private post(): Promise<void> {
    const { record, post } = this.around;
    const message = { queue: queueNames.submissions, body: JSON.stringify({ v: 1, type: 'submission', ...this.submission }) };
    record({ type: 'sent', ...message, delayMs: 0 });
    return post(message.queue, message.body);
  }

  private submit(): void {
    this.persist('submit', async ({ system }) => {
      const submitted = await submitOnce(system, this.submission).catch((error: unknown) => {
        if (error instanceof SubmissionRefusedError) this.around.fail(refusalOf(this.submission.workflow, error));
        throw error;
      });
      this.around.record(submitted);
      return submitted.outcome === 'accepted';
    });
  }

  /** Sends the signals and answers that an order waits for, if stubs have them. */
  look({ orderId, program, state, instance }: Tracked): void {
    if (!program) return;
    const { activities, blocked } = instance.state;
    const label = labelOf(orderId, this.around.history);
    for (const [path, { status, local }] of Object.entries(activities)) {
      const node = nodeAt(program, path);
      if (node.activity !== 'waitFor' || status !== 'Executing' || local === undefined) continue;
      const { signal, payload } = node;
      this.answer(`signal ${signal}`, `${label}${path}`, payload, `${orderId} ${path}`, (value) =>
        this.instruct(orderId, () => ({ kind: 'signal', name: signal, payload: value })),
      );
    }
    if (state.processState !== 'Error' || !blocked || !isQuestion(blocked.fault)) return;
    const node = nodeAt(program, blocked.path);
    const schema = node.activity === 'askOperator' ? node.answer : undefined;
    this.answer(`question ${node.name}`, `${label}${blocked.path}`, schema, `${orderId} ${blocked.path} ${state.errorGen}`, (answer) =>
      this.instruct(orderId, (reason) => ({ kind: 'resubmit', by: 'operator', reason, answer })),
    );
  }

  private answer(operation: string, path: string, schema: JsonObject | undefined, once: string, give: (value: never) => void): void {
    if (this.asked.has(once)) return;
    this.asked.add(once);
    const coming = this.around.answers.fromOutside({ operation, path, purpose: 'do' }, schema);
    if (coming) this.later(coming.afterMs, `the ${operation} comes`, () => give(coming.value as never));
  }

  private later(ms: number, what: string, act: () => void | Promise<void>): void {
    this.waiting += 1;
    this.around.timeline.after(ms, what, () => {
      this.waiting -= 1;
      this.around.narrate(what);
      return act();
    });
  }

  private instruct(orderId: string, decide: (reason: string) => Decision): void {
    const { record, history } = this.around;
    const reason = `instruction-${++this.instructions}`;
    const decision = decide(reason);
    const heard = (answer: 'pending' | 'accepted' | 'refused') => {
      if (decision.kind === 'signal') record({ type: 'signal', orderId, key: reason, answer });
    };
    let tries = 0;
    heard('pending');
    this.persist('instruct', async ({ system }) => {
      const how = { id: `${reason}/${++tries}`, key: callKey('crash-test', reason, null) };
      const rev = () => history.orders.get(orderId)?.state.rev;
      const now = () => this.around.timeline.now;
      const { answer, observation } = await instructOnce(system, { orderId, decision, reason, how, rev, now });
      record(observation);
      if (answer.outcome === 'not-found' && tries <= triesMax) return false;
      heard(answer.outcome === 'done' || answer.outcome === 'replayed' ? 'accepted' : 'refused');
      return true;
    });
  }

  private persist(what: string, call: (host: Host) => Promise<boolean>): void {
    const { timeline, host } = this.around;
    this.waiting += 1;
    untilAnswered({
      timeline,
      what,
      patienceMs,
      host,
      call: (alive) => asOrigin({ name: what, open: 0 }, () => call(alive)),
      pauseMs: () => againMs,
      onAnswer: () => void (this.waiting -= 1),
    });
  }
}

const refusalOf = (workflow: string, { problems }: SubmissionRefusedError): TypeError =>
  new TypeError(
    [
      `The workflow ${workflow} refuses the order of this crash test:`,
      ...problems.map(({ pointer, detail }) => `- ${pointer}  ${detail}`),
      'Pass a valid body as `order`. Without one, the body is generated from the schema of the workflow.',
    ].join('\n'),
  );
