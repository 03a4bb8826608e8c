import { indexes } from '#adapters/aws/dynamodb/table';
import { hasCalls } from '#core/checks/calls';
import { collections } from '#ports/documents';
import { agentOfRequests, queueNames } from '#ports/messages';
import { channelOf } from '#roles/channels/policy';
import { type Cast, type FunctionSpec, replyQueuesOf, topologyOf } from '#runtime/topology';

/** What one function's role may do, in the words of the system; nothing else is allowed. */
export interface Permissions {
  /** Actions on the table, as IAM names them without `dynamodb:`. */
  readonly table: readonly string[];
  /** Whether it notes in the table what may be asked for only once, in the partitions that are for that and in no other. */
  readonly notesAskings: boolean;
  /** Agents of which it says in the table that their services are away, each in a partition of its own and in no other. */
  readonly breakers: readonly string[];
  /** What it does to documents in the table, and in which collections of them: these partitions, and no other. */
  readonly documents: readonly DocumentRights[];
  /** Queues that it shuts when handling what comes on them fails again and again: it says so in the table, and announces it. */
  readonly closes: readonly string[];
  /** Whether it sees to what follows from all those records: the mappings are so, whoever changed them, and people are told. */
  readonly keepsChannels: boolean;
  /** Indexes that it may query. */
  readonly indexes: readonly string[];
  /** Queues that it sends to. */
  readonly sendsTo: readonly string[];
  /** Queues of which it says how long a message stays hidden. */
  readonly holds: readonly string[];
  /** Queues of which it is told how much lies in them. */
  readonly looksInto: readonly string[];
  /** Whether it also sends to the response queues that clients have registered. */
  readonly answersClients: boolean;
  /** Whether it announces on the bus. */
  readonly announces: boolean;
  /** Whether it signs list cursors. */
  readonly readsCursorSecret: boolean;
}

/** Actions as IAM names them without `dynamodb:`. */
export interface DocumentRights {
  readonly actions: readonly string[];
  readonly partitions: readonly string[];
}

const none: Permissions = {
  table: [],
  notesAskings: false,
  breakers: [],
  closes: [],
  keepsChannels: false,
  documents: [],
  indexes: [],
  sendsTo: [],
  holds: [],
  looksInto: [],
  answersClients: false,
  announces: false,
  readsCursorSecret: false,
};

const orderIndexes = [indexes.inError.name, indexes.byClient.name, indexes.byDay.name, indexes.byReference.name];

/** What the scheduler does with an order, wherever it runs: load it, write it, ask agents, tell the client and the bus. */
const scheduling = (app: Cast): Permissions => ({
  ...none,
  table: ['BatchGetItem', 'GetItem', 'PutItem', 'Query', 'UpdateItem'],
  sendsTo: [
    queueNames.wakeUps,
    ...app.agents.map(({ name }) => queueNames.requests(name)),
    ...(hasCalls(app.workflows) ? [queueNames.calls] : []),
  ],
  answersClients: true,
  announces: true,
});

/** It reads and writes the attributes on top, wakes the scheduler, and sees how much lies unread: it asks no agent, and tells nobody of orders (F-54). */
const supervising = (app: Cast): Permissions => ({
  ...none,
  table: ['GetItem', 'UpdateItem'],
  documents: [{ actions: ['Query'], partitions: [collections.channels] }],
  sendsTo: [queueNames.wakeUps],
  looksInto: replyQueuesOf(app),
});

/** By the file of the function. */
const permissions: { readonly [file: string]: (spec: FunctionSpec, app: Cast) => Permissions } = {
  api: (_, app) => ({
    // What was dead-lettered goes to its queue again, whichever that is.
    ...withQueues(scheduling(app), [...answers(app), ...app.agents.map(({ name }) => queueNames.replies(name))]),
    documents: [{ actions: ['DeleteItem'], partitions: channelsIn(app).map(collections.deadLetters) }],
    looksInto: consumedBy(app),
    indexes: orderIndexes,
    readsCursorSecret: true,
  }),
  children: (spec, app) => ({ ...judging(spec, withQueues(scheduling(app), answers(app))), answersClients: false }),
  submissions: (spec, app) => judging(spec, scheduling(app)),
  // It also puts back what meets a lease, or that lost too many races.
  scheduler: (spec, app) => judging(spec, scheduling(app)),
  // And an agent one whose service is away.
  agent: (spec, { agents }) => {
    const names = new Set(spec.sources.flatMap(({ queue }) => agentOfRequests(queue) ?? []));
    return {
      ...judging(spec, { ...none, sendsTo: [...names].map((name) => queueNames.replies(name)) }),
      breakers: [...names],
      notesAskings: agents.some(
        ({ name, operations }) => names.has(name) && Object.values(operations).some(({ atMostOnce }) => atMostOnce),
      ),
    };
  },
  supervisor: ({ schedules }, app) => {
    const given = supervising(app);
    return schedules.some(({ input }) => input.task === 'sweep')
      ? {
          ...given,
          table: [...given.table, 'Scan'],
          documents: [...given.documents, { actions: ['PutItem'], partitions: [collections.sweep] }],
        }
      : {
          ...given,
          indexes: [indexes.worklist.name],
          keepsChannels: true,
          documents: [...given.documents, { actions: ['PutItem'], partitions: closableIn(app).map(collections.channel) }],
        };
  },
  'dead-letter': (spec, app) => ({
    ...none,
    table: ['GetItem'],
    documents: [
      { actions: ['PutItem', 'DeleteItem'], partitions: channelsOf(spec).map(collections.tracks) },
      { actions: ['PutItem'], partitions: channelsOf(spec).map(collections.deadLetters) },
    ],
    sendsTo: [...app.agents.map(({ name }) => queueNames.replies(name)), ...answers(app)],
    answersClients: true,
    announces: true,
  }),
};

/**
 * What comes from a queue is judged: failures are counted, and what fails too often goes to the dead letters; where everything
 * fails, the channel is closed. A message that only a newer version can process is put back where it came from.
 */
function judging(spec: FunctionSpec, given: Permissions): Permissions {
  const from = sourcesOf(spec);
  const tracks = { actions: ['GetItem', 'PutItem', 'DeleteItem'], partitions: channelsOf(spec).map(collections.tracks) };
  const channels = { actions: ['GetItem', 'PutItem'], partitions: [collections.channels, ...channelsOf(spec).map(collections.channel)] };
  const documents = [...given.documents, tracks, channels];
  return { ...withQueues(given, [...from, ...from.map(queueNames.deadLetters)]), documents, holds: from, closes: from };
}

/** Queues that functions consume, except dead-letter queues: those are consumed whatever is wrong. */
const consumedBy = (app: Cast): readonly string[] =>
  topologyOf(app)
    .flatMap(sourcesOf)
    .filter((queue) => !queue.endsWith('-dead'));

const closableIn = (app: Cast): readonly string[] => [...new Set(consumedBy(app).map(channelOf))];

const channelsIn = (app: Cast): readonly string[] => [...new Set(topologyOf(app).flatMap(channelsOf))];

const channelsOf = (spec: FunctionSpec): readonly string[] => [...new Set(sourcesOf(spec).map(channelOf))];

const sourcesOf = ({ sources }: FunctionSpec): readonly string[] => sources.map(({ queue }) => queue);

/** Where an order that was called tells its end. */
const answers = (app: Cast): readonly string[] => (hasCalls(app.workflows) ? [queueNames.callReplies] : []);

const withQueues = (given: Permissions, more: readonly string[]): Permissions => ({
  ...given,
  sendsTo: [...new Set([...given.sendsTo, ...more])],
});

/** Whether it is a role's to say on the bus that a channel was closed, whatever else it may announce. */
export const tellsOfClosing = ({ closes, keepsChannels }: Permissions): boolean => closes.length > 0 || keepsChannels;

export function permissionsOf(spec: FunctionSpec, app: Cast): Permissions {
  const of = permissions[spec.file];
  if (!of) throw new Error(`lib/infrastructure/permissions.ts does not say what ${spec.file} may do.`);
  return of(spec, app);
}
