import type { App } from './authoring/workflow.ts';
import type { Redrive } from './channel.ts';
import { queues } from './messages.ts';

/** A queue that feeds a function, as SQS event source mappings do. */
export interface QueueSource {
  readonly queue: string;
  readonly batchSize: number;
  /** Batches at work at the same time. */
  readonly concurrency: number;
  /** What is not acknowledged by then is delivered once more. */
  readonly visibilityMs: number;
  /** Deliveries without success before the message goes to the dead letters. */
  readonly maxReceiveCount: number;
}

/** One function of the system: a file in `functions/`, and what makes it run. */
export interface FunctionSpec {
  readonly name: string;
  /** The file's name without its ending. */
  readonly file: string;
  /** Handed to the function as its environment. */
  readonly environment: { readonly [name: string]: string };
  readonly sources: readonly QueueSource[];
  readonly trigger: 'http' | 'queue' | 'schedule';
  /** In which turn it is stopped: what brings new work first, the scheduler last. */
  readonly stopsIn: 1 | 2;
}

const schedulerVisibilityMs = 30_000;
const agentVisibilityMs = 60_000;
const maxReceiveCount = 5;

/** All functions of the system and the queues between them: what the local host runs, and what is deployed. */
export function topologyOf({ agents }: App): readonly FunctionSpec[] {
  const source = (queue: string, visibilityMs: number, concurrency: number, batchSize = 10): QueueSource => ({
    queue,
    batchSize,
    concurrency,
    visibilityMs,
    maxReceiveCount,
  });
  const consumed = [queues.wakeUps, queues.submissions, ...agents.flatMap(({ name }) => [queues.requests(name), queues.replies(name)])];
  return [
    { name: 'api', file: 'api', environment: {}, sources: [], trigger: 'http', stopsIn: 1 },
    {
      name: 'submissions',
      file: 'submissions',
      environment: {},
      sources: [source(queues.submissions, schedulerVisibilityMs, 2)],
      trigger: 'queue',
      stopsIn: 1,
    },
    ...agents.map(
      ({ name }): FunctionSpec => ({
        name: `agent-${name}`,
        file: 'agent',
        environment: { REDRESS_AGENT: name },
        sources: [source(queues.requests(name), agentVisibilityMs, 20)],
        trigger: 'queue',
        stopsIn: 1,
      }),
    ),
    {
      name: 'scheduler',
      file: 'scheduler',
      environment: {},
      sources: [queues.wakeUps, ...agents.map(({ name }) => queues.replies(name))].map((queue) => source(queue, schedulerVisibilityMs, 4)),
      trigger: 'queue',
      stopsIn: 2,
    },
    { name: 'supervisor', file: 'supervisor', environment: {}, sources: [], trigger: 'schedule', stopsIn: 1 },
    {
      name: 'dead-letter',
      file: 'dead-letter',
      environment: {},
      sources: consumed.map((queue) => source(queues.deadLetters(queue), schedulerVisibilityMs, 1)),
      trigger: 'queue',
      stopsIn: 2,
    },
  ];
}

/** Where each queue's messages go that were delivered too often; a dead-letter queue's own stay where they are. */
export const redriveIn = (functions: readonly FunctionSpec[]): ((queue: string) => Redrive | undefined) => {
  const counts = new Map(functions.flatMap(({ sources }) => sources.map((source) => [source.queue, source.maxReceiveCount])));
  return (queue) => {
    const count = queue.endsWith('-dead') ? undefined : counts.get(queue);
    return count === undefined ? undefined : { maxReceiveCount: count, deadLetterQueue: queues.deadLetters(queue) };
  };
};
