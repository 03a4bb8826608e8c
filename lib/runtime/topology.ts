import type { AgentDefinition } from '#authoring/agent';
import type { App } from '#authoring/workflow';
import { hasCalls } from '#core/checks/calls';
import { queueFigures, runs, steps } from '#ports/limits';
import { queueNames } from '#ports/messages';
import type { Redrive } from '#ports/queues';
import { channelOf, policyOf } from '#roles/channels/policy';

/** A queue that feeds a function, as SQS event source mappings do. */
export interface QueueSource {
  readonly queue: string;
  readonly batchSize: number;
  /** Batches at work at the same time on one machine. */
  readonly concurrency: number;
  /** On one machine, what is not acknowledged by then is delivered once more; what is deployed says `hiddenMs`. */
  readonly visibilityMs: number;
  /** Deliveries without success before the message goes to the dead letters. */
  readonly maxReceiveCount: number;
}

/** What a schedule tells the supervisor. */
export interface SupervisorTask {
  readonly task: 'pass' | 'sweep';
  /** One run goes on looking for so long, as often as the supervisor's period says; else it looks once. */
  readonly repeatForMs?: number;
}

/** Something that happens again and again; the period of the passes is the system's configuration. */
export interface Schedule {
  readonly input: SupervisorTask;
  readonly everyMs: number | 'supervisor period';
}

/** One function of the system: a file in `functions/`, and what makes it run. */
export interface FunctionSpec {
  readonly name: string;
  /** The file's name without its ending. */
  readonly file: string;
  /** Handed to the function as its environment. */
  readonly environment: { readonly [name: string]: string };
  readonly sources: readonly QueueSource[];
  readonly schedules: readonly Schedule[];
  readonly trigger: 'http' | 'queue' | 'schedule';
  /** The longest that one run of it takes. */
  readonly timeoutMs: number;
  /** In which turn it is stopped: what brings new work first, the scheduler last. */
  readonly stopsIn: 1 | 2;
}

/** How the functions are cut. */
export interface Cut {
  /** A function for each agent, or one that serves them all (F-36). What comes of an order is the same. */
  readonly agents?: 'each' | 'together';
}

export interface TopologyOptions extends Cut {
  /** The system's time for a step whose operation names none. */
  readonly stepMs?: number | undefined;
}

/** Functions that begin orders and go on with them: only they compare the app's workflows with what is recorded. */
export const advancesOrders: ReadonlySet<string> = new Set(['api', 'submissions', 'children', 'scheduler']);

const schedulerVisibilityMs = 30_000;
const agentVisibilityMs = 60_000;
const hourMs = 3_600_000;

type MakeSource = (queue: string, visibilityMs: number, concurrency: number) => QueueSource;

/** Failures of its own end a message long before its queue gives it up. */
const sourcesFor =
  ({ channels }: Cast): MakeSource =>
  (queue, visibilityMs, concurrency) => {
    const { batchSize } = policyOf(channelOf(queue), channels);
    return { queue, batchSize, concurrency, visibilityMs, maxReceiveCount: queueFigures.deliveriesMax };
  };

const plain = { environment: {}, sources: [], schedules: [] } as const;

/** All functions of the system and the queues between them: what the local host runs, and what is deployed. */
export function topologyOf(app: Cast, { agents: cut = 'each', stepMs = steps.stepMs }: TopologyOptions = {}): readonly FunctionSpec[] {
  const { agents } = app;
  const source = sourcesFor(app);
  const inbound = source(queueNames.submissions, schedulerVisibilityMs, 2);
  const calls = hasCalls(app.workflows) ? [source(queueNames.calls, schedulerVisibilityMs, 4)] : [];
  const toScheduler = [queueNames.wakeUps, ...replyQueuesOf(app)].map((queue) => source(queue, schedulerVisibilityMs, 4));
  const ofAgents =
    cut === 'each'
      ? agents.map((agent) => agentFunction(`agent-${agent.name}`, [agent], source, stepMs))
      : agents.length > 0
        ? [agentFunction('agents', agents, source, stepMs)]
        : [];
  const consumed = [inbound, ...calls, ...ofAgents.flatMap(({ sources }) => sources), ...toScheduler].map(({ queue }) => queue);
  const dead = consumed.map((queue) => source(queueNames.deadLetters(queue), schedulerVisibilityMs, 1));
  return [
    { ...plain, name: 'api', file: 'api', trigger: 'http', timeoutMs: runs.answerMs, stopsIn: 1 },
    { ...plain, name: 'submissions', file: 'submissions', sources: [inbound], trigger: 'queue', timeoutMs: runs.queueMs, stopsIn: 1 },
    ...(calls.length > 0
      ? [{ ...plain, name: 'children', file: 'children', sources: calls, trigger: 'queue', timeoutMs: runs.queueMs, stopsIn: 1 } as const]
      : []),
    ...ofAgents,
    { ...plain, name: 'scheduler', file: 'scheduler', sources: toScheduler, trigger: 'queue', timeoutMs: runs.queueMs, stopsIn: 2 },
    supervisorFunction('supervisor', { input: { task: 'pass' }, everyMs: 'supervisor period' }, runs.passMs),
    supervisorFunction('sweeper', { input: { task: 'sweep' }, everyMs: hourMs }, runs.sweepMs),
    { ...plain, name: 'dead-letter', file: 'dead-letter', sources: dead, trigger: 'queue', timeoutMs: runs.queueMs, stopsIn: 2 },
  ];
}

/** Where whoever is asked answers. */
export const replyQueuesOf = (app: Cast): readonly string[] => [
  ...app.agents.map(({ name }) => queueNames.replies(name)),
  ...(hasCalls(app.workflows) ? [queueNames.callReplies] : []),
];

/** What the functions and queues follow from. */
export type Cast = Pick<App, 'agents'> & Partial<Pick<App, 'workflows' | 'channels'>>;

const agentFunction = (name: string, agents: readonly AgentDefinition[], source: MakeSource, stepMs: number): FunctionSpec => ({
  ...plain,
  name,
  file: 'agent',
  environment: { REDRESS_AGENTS: agents.map((agent) => agent.name).join(',') },
  sources: agents.map((agent) => source(queueNames.requests(agent.name), agentVisibilityMs, 20)),
  trigger: 'queue',
  timeoutMs: Math.max(steps.stepMs + runs.answeringMs, ...agents.map((agent) => longestMs(agent, stepMs + runs.answeringMs))),
  stopsIn: 1,
});

/** What the longest operation of an agent may take; `otherwiseMs` of one that names no time of its own. */
const longestMs = ({ operations }: AgentDefinition, otherwiseMs: number): number =>
  Math.max(
    0,
    ...Object.values(operations).map(({ completeWithinSeconds, longestSeconds = 0 }) =>
      Math.max(completeWithinSeconds === undefined ? otherwiseMs : completeWithinSeconds * 1000, longestSeconds * 1000),
    ),
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

/** Where each queue's messages go that were delivered too often; a dead-letter queue's own stay where they are. */
export const redriveIn = (functions: readonly FunctionSpec[]): ((queue: string) => Redrive | undefined) => {
  const counts = new Map(functions.flatMap(({ sources }) => sources.map((source) => [source.queue, source.maxReceiveCount])));
  return (queue) => {
    const count = queue.endsWith('-dead') ? undefined : counts.get(queue);
    return count === undefined ? undefined : { maxReceiveCount: count, deadLetterQueue: queueNames.deadLetters(queue) };
  };
};
