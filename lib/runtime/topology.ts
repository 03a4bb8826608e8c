import type { AgentDefinition } from '#authoring/agent';
import type { ConsumerDefinition } from '#authoring/consumer';
import type { App } from '#authoring/workflow';
import { hasCalls } from '#core/checks/calls';
import { queueFigures, runs, steps } from '#ports/limits';
import { isDeadLetterQueue, queueNames } from '#ports/messages';
import type { Redrive } from '#ports/queues';
import type { DetailType } from '#ports/records';
import { channelOf, policyOf } from '#roles/channels/policy';
import type { WatchedChannel } from '#roles/overview/keeper';

/** A queue that feeds a function, like an SQS event source mapping. */
export interface QueueSource {
  readonly queue: string;
  readonly batchSize: number;
  /** The limit of work on one machine: at most `concurrency * batchSize` messages at a time, in any number of batches. */
  readonly concurrency: number;
  /** The visibility timeout on one machine. On AWS, `hiddenMs` gives it. */
  readonly visibilityMs: number;
  /** The number of deliveries without success after which the queue itself moves a message to its dead-letter queue. */
  readonly maxReceiveCount: number;
}

/** The input of the supervisor's schedules. */
export interface SupervisorTask {
  readonly task: 'pass' | 'sweep';
  /** The time for which one run repeats its passes, one every supervisor period. Absent: one pass. */
  readonly repeatForMs?: number;
}

/** The input of the function of bulk runs. */
export interface BulkTask {
  readonly task: 'bulk';
}

/** The input of the notifier's schedule. */
export interface NotifierTask {
  readonly task: 'notify';
  /** The time for which the run repeats its work, as in `SupervisorTask`. */
  readonly repeatForMs?: number;
}

/** A schedule of a function. `supervisor period`: the interval that the configuration sets for the passes of the supervisor. */
export interface Schedule {
  readonly input: SupervisorTask | BulkTask | NotifierTask;
  readonly everyMs: number | 'supervisor period';
}

/** One function of the system: a file in `functions/` with its triggers. */
export interface FunctionSpec {
  readonly name: string;
  /** The file name without its extension. */
  readonly file: string;
  /** Environment variables of the function. */
  readonly environment: { readonly [name: string]: string };
  readonly sources: readonly QueueSource[];
  readonly schedules: readonly Schedule[];
  /** An announcement that starts the function on AWS, between the starts by its schedule. */
  readonly startedBy?: DetailType;
  readonly trigger: 'http' | 'queue' | 'schedule';
  /** The longest time of one run. */
  readonly timeoutMs: number;
  /** The stage of the shutdown in which the host stops it: 1 for the sources of new work, 2 for the scheduler and the dead letters. */
  readonly stopsIn: 1 | 2;
}

/** One function for each agent, or one for all agents together (F-36). The outcome of an order is the same. */
export type AgentGrouping = 'each' | 'together';

export interface TopologyOptions {
  readonly agents?: AgentGrouping;
  /** The default time limit of a step, for operations without one. */
  readonly stepMs?: number | undefined;
}

const advancing: ReadonlySet<string> = new Set(['api', 'submissions', 'children', 'scheduler', 'bulk', 'consumer']);

/** Whether a function starts or advances orders. Only such functions compare the app's workflows with the recorded definitions. */
export const advancesOrders = (role: string): boolean => advancing.has(role.startsWith(consumerPrefix) ? 'consumer' : role);

/** Whether a function runs the app's own code, which calls remote services: operations of agents, and handlers of consumers. */
export const runsAppCode = ({ file }: Pick<FunctionSpec, 'file'>): boolean => file === 'agent' || file === 'consumer';

const consumerPrefix = 'consumer-';

const schedulerVisibilityMs = 30_000;
const agentVisibilityMs = 60_000;
const hourMs = 3_600_000;

type MakeSource = (queue: string, visibilityMs: number, concurrency: number) => QueueSource;

/** Creates queue sources. The redrive count is high: the failure policy dead-letters a message long before its queue would. */
const sourcesFor =
  ({ channels }: AppParts): MakeSource =>
  (queue, visibilityMs, concurrency) => {
    const { batchSize } = policyOf(channelOf(queue), channels);
    return { queue, batchSize, concurrency, visibilityMs, maxReceiveCount: queueFigures.deliveriesMax };
  };

const plain = { environment: {}, sources: [], schedules: [] } as const;

/** Returns all functions of the system and the queues between them, for the local host and the deployment. */
export function topologyOf(
  app: AppParts,
  { agents: grouping = 'each', stepMs = steps.stepMs }: TopologyOptions = {},
): readonly FunctionSpec[] {
  const { agents, consumers = [] } = app;
  const source = sourcesFor(app);
  const inbound = source(queueNames.submissions, schedulerVisibilityMs, 2);
  const calls = hasCalls(app.workflows) ? [source(queueNames.calls, schedulerVisibilityMs, 4)] : [];
  const toScheduler = [queueNames.wakeUps, ...replyQueuesOf(app)].map((queue) => source(queue, schedulerVisibilityMs, 4));
  const ofAgents =
    grouping === 'each'
      ? agents.map((agent) => agentFunction(`agent-${agent.name}`, [agent], source, stepMs))
      : agents.length > 0
        ? [agentFunction('agents', agents, source, stepMs)]
        : [];
  const ofConsumers = consumers.map((each) => consumerFunction(each, source));
  const consumed = [inbound, ...calls, ...[...ofAgents, ...ofConsumers].flatMap(({ sources }) => sources), ...toScheduler].map(
    ({ queue }) => queue,
  );
  const dead = consumed.map((queue) => source(queueNames.deadLetters(queue), schedulerVisibilityMs, 1));
  return [
    { ...plain, name: 'api', file: 'api', trigger: 'http', timeoutMs: runs.answerMs, stopsIn: 1 },
    { ...plain, name: 'submissions', file: 'submissions', sources: [inbound], trigger: 'queue', timeoutMs: runs.queueMs, stopsIn: 1 },
    ...(calls.length > 0
      ? [{ ...plain, name: 'children', file: 'children', sources: calls, trigger: 'queue', timeoutMs: runs.queueMs, stopsIn: 1 } as const]
      : []),
    ...ofAgents,
    ...ofConsumers,
    { ...plain, name: 'scheduler', file: 'scheduler', sources: toScheduler, trigger: 'queue', timeoutMs: runs.queueMs, stopsIn: 2 },
    supervisorFunction('supervisor', { input: { task: 'pass' }, everyMs: 'supervisor period' }, runs.passMs),
    supervisorFunction('sweeper', { input: { task: 'sweep' }, everyMs: hourMs }, runs.sweepMs),
    bulkFunction,
    notifierFunction,
    { ...plain, name: 'dead-letter', file: 'dead-letter', sources: dead, trigger: 'queue', timeoutMs: runs.queueMs, stopsIn: 2 },
  ];
}

/** The reply queues of all agents, and of called orders. */
export const replyQueuesOf = (app: AppParts): readonly string[] => [
  ...app.agents.map(({ name }) => queueNames.replies(name)),
  ...(hasCalls(app.workflows) ? [queueNames.callReplies] : []),
];

/** Returns the channels that the overview shows, by name: queue pairs of agents, queues of consumers, and the engine's own queues. */
export function watchedChannelsOf(app: AppParts): readonly WatchedChannel[] {
  const queues = topologyOf(app).flatMap(({ sources }) => sources.map(({ queue }) => queue));
  const byChannel = Map.groupBy(new Set(queues.filter((queue) => !isDeadLetterQueue(queue))), channelOf);
  const agents = new Set(app.agents.map(({ name }) => name));
  return [...byChannel]
    .map(([name, own]) => ({ name, queues: own, isAgent: agents.has(name) }))
    .toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

/** The parts of an app that determine its functions and queues. */
export type AppParts = Pick<App, 'agents'> & Partial<Pick<App, 'workflows' | 'channels' | 'consumers'>>;

const agentFunction = (name: string, agents: readonly AgentDefinition[], source: MakeSource, stepMs: number): FunctionSpec => ({
  ...plain,
  name,
  file: 'agent',
  environment: { REDRESS_AGENTS: agents.map((agent) => agent.name).join(',') },
  sources: agents.map((agent) => source(queueNames.requests(agent.name), agentVisibilityMs, 20)),
  trigger: 'queue',
  timeoutMs: Math.max(steps.stepMs + runs.answeringMs, ...agents.map((agent) => longestMs(agent, stepMs))),
  stopsIn: 1,
});

const consumerFunction = ({ name, completeWithinSeconds = 0 }: ConsumerDefinition, source: MakeSource): FunctionSpec => ({
  ...plain,
  name: `${consumerPrefix}${name}`,
  file: 'consumer',
  environment: { REDRESS_CONSUMER: name },
  sources: [source(queueNames.messages(name), agentVisibilityMs, 20)],
  trigger: 'queue',
  timeoutMs: Math.max(runs.queueMs, completeWithinSeconds * 1000 + runs.answeringMs),
  stopsIn: 1,
});

/**
 * Returns the time limit of an agent's longest operation, with the time to reply; `stepMs` counts for an operation without a limit. If only
 * the reply exceeds the limit of Lambda, an operation with a limit of its own still runs, and has less time to reply.
 */
const longestMs = ({ operations }: AgentDefinition, stepMs: number): number =>
  Math.max(
    0,
    ...Object.values(operations).map(({ completeWithinSeconds, longestSeconds = 0 }) => {
      const ownMs = 1000 * Math.max(completeWithinSeconds ?? 0, longestSeconds);
      const ownWithReplyMs = Math.min(ownMs + runs.answeringMs, Math.max(ownMs, runs.maxMs));
      return Math.max(ownWithReplyMs, completeWithinSeconds === undefined ? stepMs + runs.answeringMs : 0);
    }),
  );

const supervisorFunction = (name: string, schedule: Schedule, timeoutMs: number): FunctionSpec => ({
  ...plain,
  name,
  file: 'supervisor',
  schedules: [schedule],
  trigger: 'schedule',
  timeoutMs,
  stopsIn: 1,
});

const bulkFunction: FunctionSpec = {
  ...plain,
  name: 'bulk',
  file: 'bulk',
  schedules: [{ input: { task: 'bulk' }, everyMs: 'supervisor period' }],
  startedBy: 'Bulk Run Waiting',
  trigger: 'schedule',
  timeoutMs: runs.bulkMs,
  stopsIn: 1,
};

const notifierFunction: FunctionSpec = {
  ...plain,
  name: 'notifier',
  file: 'notifier',
  schedules: [{ input: { task: 'notify' }, everyMs: 'supervisor period' }],
  trigger: 'schedule',
  timeoutMs: runs.notifyMs,
  stopsIn: 1,
};

/** Returns the redrive policy of each queue. Dead-letter queues have none. */
export const redriveIn = (functions: readonly FunctionSpec[]): ((queue: string) => Redrive | undefined) => {
  const counts = new Map(functions.flatMap(({ sources }) => sources.map((source) => [source.queue, source.maxReceiveCount])));
  return (queue) => {
    const count = isDeadLetterQueue(queue) ? undefined : counts.get(queue);
    return count === undefined ? undefined : { maxReceiveCount: count, deadLetterQueue: queueNames.deadLetters(queue) };
  };
};
