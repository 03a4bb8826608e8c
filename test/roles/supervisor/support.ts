import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import {
  type Activity,
  type App,
  type Call,
  defineAgent,
  defineApp,
  defineWorkflow,
  operation,
  type StepActivity,
  type WorkflowDefinition,
} from 'redress';
import { startSystem, type TestSystem, type TestSystemOptions } from 'redress/testing';
import * as z from 'zod';
import { queueNames, Request } from '#ports/messages';
import type { StateHead, StateRecord } from '#ports/records';
import { createTelemetry, type Telemetry } from '#ports/telemetry';
import { decodeInstance, type JournalEntry } from '#roles/scheduler/instance';
import { type StepReport, stepsOf, wholeJournal } from '#roles/scheduler/step-report';
import type { Incoming } from '#roles/scheduler/types';
import { createSupervisor, type Supervisor, type SupervisorOptions } from '#roles/supervisor/supervisor';

type Build = (step: (name: string) => StepActivity<never, object>) => Activity<never>;
type Nothing = Record<string, never>;
type Serve = (step: string, call: Call) => Nothing | Promise<Nothing>;
type Options = Partial<
  Pick<WorkflowDefinition, 'recover' | 'maxFailures' | 'onExhausted' | 'longWaitSeconds' | 'completeWithinSeconds'>
> & {
  readonly serve?: Serve;
};

/** An app with one workflow. Its steps are served by the agent `worker`, which runs `serve`. */
export function appOf(build: Build, { serve = () => ({}), ...options }: Options = {}): App {
  const Nothing = z.object({});
  const worker = defineAgent('worker', {
    work: operation({ input: Nothing, output: Nothing, run: (_, call) => serve(nameOf(call.path), call) }),
  });
  const workflow = defineWorkflow('work', { version: 1, order: Nothing, ...options }, () => build((name) => worker.work({}).named(name)));
  return defineApp({ workflows: [workflow], agents: [worker] });
}

export const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

/** An operation that never answers: it stops at its deadline. */
export const silence = ({ signal }: Pick<Call, 'signal'>): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));

/** The step timeout in these tests: ten seconds. */
export const stepMs = 10_000;

export async function start(t: TestContext, app: App, options: TestSystemOptions = {}): Promise<TestSystem> {
  const system = await startSystem(app, options);
  t.after(() => system.stop());
  return system;
}

/** Starts a system without running functions: the test does their work itself. */
export const startStill = (t: TestContext, app: App, options: TestSystemOptions = {}): Promise<TestSystem> =>
  start(t, app, {
    ...options,
    without: ['submissions', 'agent-worker', 'scheduler', 'supervisor', 'sweeper', 'dead-letter', 'bulk', 'notifier'],
  });

export async function submitted(system: TestSystem, options: Parameters<TestSystem['submit']>[1] = {}): Promise<string> {
  const answer = await system.submit({}, options);
  assert.equal(answer.outcome, 'accepted');
  return answer.outcome === 'accepted' ? answer.order.orderId : '';
}

export const submittedMany = (system: TestSystem, count: number): Promise<readonly string[]> =>
  Promise.all(Array.from({ length: count }, () => submitted(system)));

/** Changes a record to the state that a test needs. */
export async function alter(system: TestSystem, orderId: string, change: Partial<StateHead>): Promise<void> {
  const { blob: _, ...head } = await system.state(orderId);
  const { outcome } = await system.store.patch({ ...head, ...change, rev: head.rev + 1 }, head);
  assert.equal(outcome, 'written');
}

/** A separate supervisor of the test, on the ports of the system or on replacements. */
export function supervisorOf(system: TestSystem, options: Partial<SupervisorOptions> = {}): Supervisor & { readonly telemetry: Telemetry } {
  const { store, queues, publisher, clock } = system;
  const telemetry = createTelemetry({ level: 'off' });
  return { telemetry, ...createSupervisor({ store, queues, publisher, clock, telemetry, ...options }) };
}

/** Does what the scheduler does after a wake-up for this order. */
export const wake = (system: TestSystem, orderId: string): Promise<void> =>
  accept(system, orderId, { id: `wake-up@${system.clock.now()}`, type: 'wake-up' });

/** A successful reply, sent at `sentAt`. */
export const replyTo = (request: Request | undefined, sentAt: number): Incoming => ({
  id: request?.requestId ?? '',
  type: 'reply',
  requestId: request?.requestId ?? '',
  agent: 'worker',
  sentAt,
  reply: { status: 'succeeded', output: {} },
});

export const accept = ({ host }: TestSystem, orderId: string, incoming: Incoming): Promise<void> =>
  host.system.scheduler.accept(orderId, [incoming], []);

/** Receives all wake-ups and returns their order ids, oldest first. */
export async function takeWakeUps({ queues }: TestSystem): Promise<readonly string[]> {
  const received = await queues.receive(queueNames.wakeUps, { max: 10_000, visibilityMs: 1000, waitMs: 0 });
  await queues.acknowledge(
    queueNames.wakeUps,
    received.map(({ receipt }) => receipt),
  );
  return received.map(({ body }) => (JSON.parse(body) as { orderId: string }).orderId);
}

/** The requests on the agent’s queue so far: `one#2` is the second attempt of step one. */
export const requestedSteps = (system: TestSystem): readonly string[] =>
  requests(system).map(({ path, attempt }) => `${nameOf(path)}#${attempt}`);

export const requests = (system: TestSystem): readonly Request[] =>
  system.messages(queueNames.requests('worker')).map((body) => Request.parse(body));

export async function journalOf(system: TestSystem, orderId: string): Promise<readonly JournalEntry[]> {
  return wholeJournal(await system.store.pages(orderId), decodeInstance(await system.state(orderId)).tail);
}

export async function stepOf(system: TestSystem, orderId: string, name: string): Promise<StepReport> {
  const { workflow, ...state } = await system.state(orderId);
  const program = system.host.system.definitions.program(workflow.name, workflow.version);
  const steps = program ? stepsOf(program, await journalOf(system, orderId), decodeInstance(state as StateRecord).state) : [];
  const step = steps.find((each) => each.name === name);
  if (!step) throw new Error(`The order has no step ${name}.`);
  return step;
}

export const alertsOf = ({ publisher }: TestSystem, orderId: string): readonly string[] =>
  publisher
    .published(0, 1000)
    .filter(({ detail }) => detail['orderId'] === orderId)
    .map(({ detailType }) => detailType);

/** Returns the given attributes of many records. */
export const pick = async <K extends keyof StateRecord>(
  system: TestSystem,
  orderIds: readonly string[],
  key: K,
): Promise<readonly StateRecord[K][]> => (await Promise.all(orderIds.map((orderId) => system.state(orderId)))).map((state) => state[key]);
