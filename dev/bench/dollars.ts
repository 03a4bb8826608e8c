import { totalOf } from '#adapters/aws/meter';
import type { AwsEndpoints } from '#adapters/aws/open';
import { type Invoked, openInvoked } from '../../test/adapters/aws/invocations.ts';
import { dollarsMax } from './budget.ts';
import { assumed, billedMs, billOf, secondsPerMonth, sum, tracesOf, type Usage, withSendsGathered } from './cost.ts';
import { type Deployment, deploymentOf } from './deployment.ts';
import { fixedCosts, keepingCosts, keyRequests } from './fixed-costs.ts';
import { mustHaveEnded, nextKey, type Print, play, playWithLostAgent, storedBytes, warmUp } from './played.ts';
import { priceOf, prices, pricesAsOf, pricesRegion } from './prices.ts';
import shop, { order } from './shop.ts';

/** Orders before the measurement. Without them, the figures would include Node's first compilations. */
const warmOrders = 300;
const batch = 10;
const rounds = 20;

export interface SupervisorReads {
  readonly unitsPerIdlePass: number;
  /** Read units that a scan takes for each order. An order that has not ended takes one more, which is not part of this. */
  readonly unitsPerOrderSwept: number;
}

interface Measured {
  readonly oneByOne: Usage;
  readonly inTens: Usage;
  readonly bytesEach: number;
  readonly metrics: number;
}

/** Prints the cost of a million orders, the fixed cost of a deployment, and the price of the same orders on Step Functions. */
export async function printCosts(endpoints: AwsEndpoints, reads: SupervisorReads, print: Print): Promise<void> {
  const measured = await measure(endpoints);
  const deployment = deploymentOf(pricesRegion);
  const known = Object.entries(prices).flatMap(([name, { source }]) => (source === 'unverified' ? name : []));
  print({ prices: pricesRegion, asOf: pricesAsOf, fromGeneralKnowledge: known });
  print({ assumed, deployed: { memoryMiB: Object.fromEntries(deployment.memoryMiB), isTraced: deployment.isTraced } });
  printRuns(measured, deployment, print);
  printBills(measured, deployment, print);
  printTraces(measured, print);
  await printLogs(endpoints, print);
  const idle = { readUnitsPerPass: reads.unitsPerIdlePass, metrics: measured.metrics };
  print({
    dollarsPerMonth: 'before the first order',
    ...toTheCent(fixedCosts(deployment, idle)),
    without: 'Cognito: it depends on who signs in',
  });
  const { bytesEach } = measured;
  print({ dollarsPerMonth: 'for a million orders kept', bytesEach, ...toTheCent(keepingCosts(bytesEach, reads.unitsPerOrderSwept)) });
  printStepFunctions(print);
}

async function measure(endpoints: AwsEndpoints): Promise<Measured> {
  const invoked = await openInvoked({ app: shop, endpoints });
  const metrics = await metricsSeen(invoked);
  await warmUp(invoked, warmOrders);
  const oneByOne = await usageOf(invoked, 1);
  const inTens = await usageOf(invoked, batch);
  const { orderId } = await play(invoked, 'fulfil');
  const bytesEach = await storedBytes(invoked, orderId);
  invoked.close();
  return { oneByOne, inTens, bytesEach, metrics };
}

/** Counts metric names by role, because each is billed by the month. */
async function metricsSeen(invoked: Invoked): Promise<number> {
  await invoked.submit(nextKey(), { workflow: 'fulfil', order });
  await playWithLostAgent(invoked)();
  await invoked.settle();
  await invoked.run('sweep');
  return new Set(invoked.runs().flatMap(({ role, metrics }) => metrics.map((metric) => `${role} ${metric}`))).size;
}

async function usageOf(invoked: Invoked, batchMax: number): Promise<Usage> {
  invoked.reset();
  const orderIds: string[] = [];
  for (let round = 0; round < rounds; round++) {
    for (let index = 0; index < batchMax; index++) orderIds.push(await invoked.submit(nextKey(), { workflow: 'fulfil', order }));
    await invoked.settle(batchMax);
  }
  const entries = invoked.meter.entries();
  const runs = invoked.runs();
  for (const orderId of orderIds) await mustHaveEnded(invoked, orderId, 'completed');
  const requestsOf = (service: string, operation?: string): number =>
    totalOf(entries.filter((entry) => entry.service === service && (operation === undefined || entry.operation === operation))).requests;
  const { readUnits, writeUnits } = totalOf(entries);
  return {
    orders: orderIds.length,
    readUnits,
    writeUnits,
    queueRequests: requestsOf('SQS'),
    sends: requestsOf('SQS', 'SendMessageBatch'),
    events: requestsOf('EventBridge'),
    runs,
  };
}

const mean = (numbers: readonly number[]): number => sum(numbers) / numbers.length;

/** Prints by role how many runs an order takes, their processor time on this machine, and their price on Lambda. */
function printRuns({ oneByOne, inTens }: Measured, deployment: Deployment, print: Print): void {
  for (const usage of [oneByOne, inTens]) {
    const { runs, orders } = usage;
    for (const [role, its] of Map.groupBy(runs, (run) => run.role))
      print({
        runsOf: role,
        messages: usage === oneByOne ? 1 : batch,
        runsPerOrder: its.length / orders,
        cpuMsHere: rounded(mean(its.map(({ cpuMs }) => cpuMs))),
        billedMs: rounded(mean(its.map((run) => billedMs(deployment, run)))),
        logBytes: rounded(mean(its.map(({ logBytes }) => logBytes))),
      });
  }
}

function printBills({ oneByOne, inTens }: Measured, deployment: Deployment, print: Print): void {
  const agents = shop.agents.length;
  const kms = keyRequests(agents, deployment.dataKeyReuseSeconds);
  const bill = (what: string, usage: Usage, budget: number): void => {
    const lines = billOf(usage, deployment, kms);
    const { orders, writeUnits, readUnits, queueRequests, runs } = usage;
    const used = { writeUnits, readUnits, queueRequests, runs: runs.length };
    const perOrder = Object.fromEntries(Object.entries(used).map(([name, total]) => [name, rounded(total / orders)]));
    print({ dollarsPerMillion: what, ...toTheCent(lines), budget, met: lines.total <= budget, perOrder });
  };
  bill('one message at a time', oneByOne, dollarsMax.oneByOne);
  bill('ten messages per receive, per run and per delete, as the system does it', inTens, dollarsMax.batched);
  bill(
    'ten messages per send as well, by arithmetic: no run gathers what it sends yet',
    withSendsGathered(inTens, batch),
    dollarsMax.batched,
  );
  for (const reuse of [300, deployment.dataKeyReuseSeconds, 86_400])
    print({
      dollarsPerMonth: 'KMS while no queue is idle',
      dataKeyReuseSeconds: reuse,
      ...toTheCent({ kms: priceOf('kmsRequest', keyRequests(agents, reuse)) }),
    });
}

function printTraces({ oneByOne, inTens }: Measured, print: Print): void {
  for (const ordersPerSecond of [assumed.ordersPerMonth / secondsPerMonth, 10, 100]) {
    const dollars = (usage: Usage): number => priceOf('trace', tracesOf(usage, ordersPerSecond));
    print({
      dollarsPerMillion: 'X-Ray, which is in none of the bills above',
      ordersPerSecond: rounded(ordersPerSecond),
      ...toTheCent({ oneByOne: dollars(oneByOne), inTens: dollars(inTens) }),
    });
  }
}

/** Prints the cost of logs that contain every journal line. */
async function printLogs(endpoints: AwsEndpoints, print: Print): Promise<void> {
  const invoked = await openInvoked({ app: shop, endpoints, environment: { LOG_LEVEL: 'info' } });
  await warmUp(invoked);
  await play(invoked, 'fulfil');
  const bytesEach = sum(invoked.runs().map(({ logBytes }) => logBytes));
  invoked.close();
  print({ dollarsPerMillion: 'LOG_LEVEL=info', bytesEach, ...toTheCent({ logs: priceOf('logs', (bytesEach * 1_000_000) / 1e9) }) });
}

/**
 * Prints the price of three states: at least three transitions, with start and end five. Unlike the bills of Redress, this price leaves out
 * the runs of the agents.
 */
function printStepFunctions(print: Print): void {
  const transitions = { least: 3, most: 5 };
  const dollars = (count: number): number => priceOf('stepFunctions', count * 1_000_000);
  const lines = { least: dollars(transitions.least), most: dollars(transitions.most) };
  print({ dollarsPerMillion: 'Step Functions Standard, the same three steps, transitions alone', transitions, ...toTheCent(lines) });
}

const rounded = (number: number): number => Math.round(number * 100) / 100;

const toTheCent = (lines: { readonly [line: string]: number }): object =>
  Object.fromEntries(Object.entries(lines).map(([line, dollars]) => [line, rounded(dollars)]));
