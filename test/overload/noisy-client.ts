import { type App, defineAgent, defineApp, defineWorkflow, operation, sequence, TransientFailure } from 'redress';
import * as z from 'zod';
import type { StateHead } from '#ports/records';
import { Deployment } from './deployment.ts';
import { FairQueues } from './fair-queues.ts';
import { Queues } from './queues.ts';

const quietClients = 10;
/** Orders a second of each quiet client, and the factor of the noisy one. */
const quietRate = 0.4;
const skew = 100;
/** Orders a second of the client with bad content. */
const badRate = 3;
/** A slow request takes nearly the whole time limit of a step. */
const slowMs = 9_000;
/** The longest wait for orders of quiet clients after their last submission. */
const patienceMs = 600_000;

export interface NoisyWorld {
  readonly seed: number;
  /** Whether there is a noisy client, and whether the queues are fair. */
  readonly isNoisy: boolean;
  readonly isFair: boolean;
  /** Content of one more client: the service always fails on it, or takes nine seconds for it. Default: there is no such client. */
  readonly content?: 'bad' | 'slow';
  /** Requests that the service takes at the same time. Default: 20. */
  readonly places?: number;
  readonly loadMs: number;
}

/** The orders of quiet clients and of the noisy one in one world. */
export interface NoisyResult {
  /** Orders of the quiet clients, and how many of them were completed. */
  readonly quiet: number;
  readonly quietCompleted: number;
  /** Milliseconds from submission to the end, for orders of quiet clients. */
  readonly p50: number;
  readonly p99: number;
  readonly noisy: number;
  /** Completed orders of the noisy client when the last quiet order had ended. */
  readonly noisyCompleted: number;
}

interface Order {
  readonly client: string;
  readonly submittedAt: number;
  endedAt?: number;
}

/**
 * Ten quiet clients beside one that sends a hundred times as much as each of them, twice the service's capacity, or beside one whose
 * content the service cannot process.
 */
export async function noisyClient({ seed, isNoisy, isFair, content, places, loadMs }: NoisyWorld): Promise<NoisyResult> {
  const orders = new Map<string, Order>();
  const early = new Map<string, number>();
  const written = ({ orderId, outcome }: StateHead): void => {
    if (outcome === 'completed') early.set(orderId, deployment.now);
    const order = orders.get(orderId);
    if (order && outcome === 'completed') order.endedAt ??= deployment.now;
  };
  const deployment = new Deployment({
    seed,
    app: appOn,
    hosts: 2,
    supervisorPeriodMs: 5000,
    ...(places === undefined ? {} : { agentConcurrency: places }),
    variables: { STEP_COMPLETE_WITHIN_SECONDS: '600' },
    queues: (timeline, chance, database) => (isFair ? new FairQueues(timeline, chance, database) : new Queues(timeline, chance)),
    onWritten: written,
  });
  const submit = (client: string, idempotencyKey: string): void => {
    const submittedAt = deployment.now;
    void deployment.anyHost.submit({ client, idempotencyKey, order: { content: client === content ? content : 'good' } }).then((answer) => {
      if (answer.outcome !== 'accepted') return;
      const endedAt = early.get(answer.order.orderId);
      orders.set(answer.order.orderId, { client, submittedAt, ...(endedAt === undefined ? {} : { endedAt }) });
    });
  };
  const arrive = (client: string, rate: number, number = 1): void => {
    const gap = -Math.log(1 - deployment.chance.next()) * (1000 / rate);
    deployment.timeline.after(Math.ceil(gap), `${client} submits`, () => {
      if (deployment.now >= loadMs) return;
      submit(client, `order-${number}`);
      arrive(client, rate, number + 1);
    });
  };
  for (let client = 1; client <= quietClients; client++) arrive(`quiet-${client}`, quietRate);
  if (isNoisy) arrive('noisy', skew * quietRate);
  if (content) arrive(content, badRate);
  await deployment.runUntil(loadMs + 1000);
  const ofQuiet = [...orders.values()].filter(({ client }) => client.startsWith('quiet-'));
  await deployment.runUntil(loadMs + patienceMs, () => ofQuiet.every(({ endedAt }) => endedAt !== undefined));
  const ofNoisy = [...orders.values()].filter(({ client }) => client === 'noisy');
  await deployment.close();
  const times = ofQuiet.flatMap(({ submittedAt, endedAt }) => (endedAt === undefined ? [] : [endedAt - submittedAt]));
  return {
    quiet: ofQuiet.length,
    quietCompleted: times.length,
    p50: quantile(times, 0.5),
    p99: quantile(times, 0.99),
    noisy: ofNoisy.length,
    noisyCompleted: ofNoisy.filter(({ endedAt }) => endedAt !== undefined).length,
  };
}

const quantile = (values: readonly number[], part: number): number => {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? 0;
};

/** Twenty requests in parallel, of one second each on average: twenty orders a second. */
function appOn({ chance, sleep }: Deployment): App {
  const Nothing = z.object({});
  const Job = z.object({ content: z.enum(['good', 'bad', 'slow']) });
  const lasting = (from: number, to: number) =>
    operation({
      input: Job,
      output: Nothing,
      run: async ({ content }, { signal }) => {
        await sleep(content === 'slow' ? slowMs : chance.between(from, to), signal);
        if (content === 'bad') throw new TransientFailure('HTTP 500');
        return {};
      },
    });
  const press = defineAgent('press', { print: lasting(500, 1500) });
  const mail = defineAgent('mail', { tell: lasting(20, 200) });
  const job = defineWorkflow('job', { version: 1, order: Job }, ({ order: { content } }) =>
    sequence(press.print({ content }).noUndo(), mail.tell({ content }).noUndo()),
  );
  return defineApp({ workflows: [job], agents: [press, mail], channels: { press: { batchSize: 1 } } });
}
