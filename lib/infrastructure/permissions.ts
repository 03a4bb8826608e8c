import { headProjection } from '#adapters/aws/dynamodb/items';
import { partitions } from '#adapters/aws/dynamodb/keys';
import { indexes } from '#adapters/aws/dynamodb/table';
import { hasCalls } from '#core/checks/calls';
import { hasObjects } from '#core/recovery/object-names';
import { collections } from '#ports/documents';
import { agentOfRequests, consumerOf, isDeadLetterQueue, queueNames } from '#ports/messages';
import { channelOf } from '#roles/channels/policy';
import { agentsWithSecrets } from '#roles/secrets/readers';
import { type AppParts, type FunctionSpec, replyQueuesOf, topologyOf } from '#runtime/topology';
import {
  agenda,
  asksRules,
  audit,
  breakers,
  channels,
  definitions,
  every,
  exceptionGroups,
  fingerprints,
  finished,
  intents,
  keepsMessages,
  objects,
  ofApi,
  ofBulk,
  ofNotifier,
  orders,
  readsClients,
  readsRules,
  repeatsCalls,
  solutionFigures,
  type TableRights,
} from './document-rights.ts';

/** The complete permissions of one function's role, in the terms of the system. */
export interface Permissions {
  /** Its rights to orders, and to the records that it reads or writes with them, by partition. */
  readonly table: readonly TableRights[];
  /** Whether it records the intents of at-most-once requests in the table, in their partitions only. */
  readonly recordsIntents: boolean;
  /** Agents and consumers whose circuit breakers it writes, each in its own partition only. */
  readonly breakers: readonly string[];
  /** Its further rights to the table, by partition: to documents such as channels, dead letters and rules. */
  readonly documents: readonly TableRights[];
  /** Queues whose channel it closes after repeated failures; it records this in the table and announces it. */
  readonly closesChannelOf: readonly string[];
  /** Whether it enables and disables event source mappings, so that they agree with the channels' records, and alerts people. */
  readonly switchesConsumers: boolean;
  /** Indexes that it may query. */
  readonly indexes: readonly string[];
  /** Queues that it sends to. */
  readonly sendsTo: readonly string[];
  /** Queues whose messages' visibility timeout it may change. */
  readonly holds: readonly string[];
  /** Queues whose depth it may read. */
  readonly looksInto: readonly string[];
  /** Whether it sends to the response queues that clients have registered. */
  readonly answersClients: boolean;
  /** Whether it announces on the bus. */
  readonly announces: boolean;
  /** Whether it sends messages to people, over SNS too. */
  readonly notifies: boolean;
  /** Whether it writes to the log of the audit. */
  readonly writesAuditLog: boolean;
  /** Whether it uses the day keys: `make` encrypts and decrypts secrets, `read` only decrypts them with keys that exist. */
  readonly dayKeys: 'make' | 'read' | 'none';
  /** Whether it signs list cursors. */
  readonly readsCursorSecret: boolean;
}

const none: Permissions = {
  table: [],
  recordsIntents: false,
  breakers: [],
  closesChannelOf: [],
  switchesConsumers: false,
  documents: [],
  indexes: [],
  sendsTo: [],
  holds: [],
  looksInto: [],
  answersClients: false,
  announces: false,
  notifies: false,
  writesAuditLog: false,
  dayKeys: 'none',
  readsCursorSecret: false,
};

const orderIndexes = [indexes.inError.name, indexes.byClient.name, indexes.byDay.name, indexes.byReference.name];
const listIndexes = [indexes.listA.name, indexes.listB.name];

/**
 * The attributes of a state's head, its sort key, and the id of the last update. The blob of the state and the order's body are not among
 * them.
 */
const headAttributes = [...headProjection, 'sk', 'patchId'];

/** Permissions of each function that applies something to orders: load and write orders, send requests, notify the client and the bus. */
const scheduling = (app: AppParts): Permissions => ({
  ...none,
  table: [
    { actions: ['BatchGetItem', 'GetItem', 'PutItem', 'Query', 'UpdateItem'], partitions: [orders] },
    // The transaction that writes an exception adds to the tally of its group. The one that writes a task adds to the tally of its
    // solution.
    { actions: ['UpdateItem'], partitions: [exceptionGroups, solutionFigures] },
    { actions: ['GetItem', 'PutItem'], partitions: [fingerprints] },
    // A new task is put on the agenda of the notifier before the task itself is written.
    { actions: ['GetItem', 'PutItem'], partitions: [agenda] },
    // Intents get their expiry with the other records of their order. Only agents create them.
    { actions: ['Query', 'UpdateItem'], partitions: [intents] },
    { actions: ['GetItem', 'PutItem'], partitions: [definitions] },
    { actions: ['UpdateItem'], partitions: [finished] },
    ...(hasObjects(app.workflows) ? [{ actions: ['PutItem'], partitions: [objects] }] : []),
  ],
  sendsTo: [
    queueNames.wakeUps,
    // At the end of an order that is restarted, the scheduler submits the new order.
    queueNames.submissions,
    ...app.agents.map(({ name }) => queueNames.requests(name)),
    ...(hasCalls(app.workflows) ? [queueNames.calls] : []),
  ],
  answersClients: true,
  announces: true,
});

/** Permissions of a function that creates orders: it also records their day, for lists. */
const creating = (given: Permissions): Permissions => ({
  ...given,
  table: [...given.table, { actions: ['PutItem'], partitions: [partitions.calendar] }],
});

/**
 * Permissions of the supervisor: it updates heads, wakes the scheduler and reads queue depths. It sends no requests and announces nothing
 * about orders (F-54).
 */
const supervising = (app: AppParts): Permissions => ({
  ...none,
  table: [
    { actions: ['GetItem', 'UpdateItem'], partitions: [orders], attributes: headAttributes },
    { actions: ['GetItem'], partitions: [breakers, channels] },
  ],
  documents: [{ actions: ['Query'], partitions: [collections.channels] }],
  sendsTo: [queueNames.wakeUps],
  looksInto: replyQueuesOf(app),
});

/** Permissions by the file of the function. */
const permissions: { readonly [file: string]: (spec: FunctionSpec, app: AppParts) => Permissions } = {
  api: (_, app) => ({
    // The API resubmits dead letters to any queue.
    ...creating(
      withQueues(scheduling(app), [
        ...callReplies(app),
        ...app.agents.map(({ name }) => queueNames.replies(name)),
        ...(app.consumers ?? []).map(({ name }) => queueNames.messages(name)),
      ]),
    ),
    documents: ofApi,
    looksInto: consumedBy(app),
    indexes: [...orderIndexes, ...listIndexes, indexes.listC.name],
    readsCursorSecret: true,
    writesAuditLog: true,
    dayKeys: 'make',
  }),
  children: (spec, app) => ({
    ...withDocuments(withFailurePolicy(spec, creating(withQueues(scheduling(app), callReplies(app)))), [keepsMessages, ...asksRules]),
    answersClients: false,
  }),
  submissions: (spec, app) => {
    const given = withDocuments(withFailurePolicy(spec, creating(scheduling(app))), asksRules);
    // A recovery looks for the orders that have read what it undoes.
    const readsObjects = hasObjects(app.workflows) ? [{ actions: ['Query'], partitions: [objects] }] : [];
    return { ...given, table: [...given.table, readsClients, ...readsObjects], dayKeys: 'make' };
  },
  bulk: (_, app) => ({
    ...withQueues(scheduling(app), callReplies(app)),
    documents: ofBulk,
    indexes: [indexes.inError.name, indexes.byDay.name, ...listIndexes],
    looksInto: [queueNames.wakeUps, ...replyQueuesOf(app)],
    dayKeys: 'read',
  }),
  // The notifier wakes an order whose question nobody takes, and reports that to the order.
  notifier: () => ({ ...none, documents: ofNotifier, sendsTo: [queueNames.wakeUps], announces: true, notifies: true }),
  // The scheduler also requeues a message whose order is leased by another host, or whose write has lost too many races.
  scheduler: (spec, app) => withDocuments(withFailurePolicy(spec, scheduling(app)), [keepsMessages, ...asksRules]),
  // An agent also requeues a request while its circuit breaker is open.
  agent: (spec, app) => {
    const { agents } = app;
    const secret = agentsWithSecrets(app);
    const names = new Set(spec.sources.flatMap(({ queue }) => agentOfRequests(queue) ?? []));
    return {
      ...withFailurePolicy(spec, { ...none, sendsTo: [...names].map((name) => queueNames.replies(name)) }),
      breakers: [...names],
      dayKeys: [...names].some((name) => secret.has(name)) ? 'read' : 'none',
      recordsIntents: agents.some(
        ({ name, operations }) => names.has(name) && Object.values(operations).some(({ atMostOnce }) => atMostOnce),
      ),
    };
  },
  // The handlers of a consumer submit, signal and cancel orders.
  consumer: (spec, app) => ({
    ...withDocuments(withFailurePolicy(spec, creating(scheduling(app))), [keepsMessages, ...asksRules, repeatsCalls]),
    answersClients: false,
    breakers: sourcesOf(spec).flatMap((queue) => consumerOf(queue) ?? []),
    dayKeys: 'make',
  }),
  supervisor: ({ schedules }, app) => {
    const given = supervising(app);
    return schedules.some(({ input }) => input.task === 'sweep')
      ? {
          ...given,
          writesAuditLog: true,
          table: [...given.table, { actions: ['Scan'], attributes: ['pk', 'sk', 'nextDueAt', 'processState'] }],
          documents: [
            ...given.documents,
            ...readsRules,
            { actions: ['GetItem', 'PutItem'], partitions: [collections.sweep, collections.overview] },
            { actions: ['Query'], partitions: [audit] },
            { actions: ['PutItem'], partitions: [collections.auditDigests, collections.auditDigestParts(every)] },
          ],
        }
      : {
          ...given,
          indexes: [indexes.worklist.name, indexes.inError.name, ...listIndexes],
          switchesConsumers: true,
          documents: [
            ...given.documents,
            // One pattern instead of each channel: with forty agents, the names would not fit into a policy.
            { actions: ['PutItem'], partitions: [channels] },
            { actions: ['GetItem', 'PutItem'], partitions: [collections.overview] },
            { actions: ['Query'], partitions: [exceptionGroups, finished] },
          ],
          looksInto: consumedBy(app),
        };
  },
  'dead-letter': (spec, app) => ({
    ...none,
    table: [{ actions: ['GetItem'], partitions: [orders], attributes: headAttributes }, readsClients],
    documents: [
      { actions: ['GetItem', 'PutItem', 'DeleteItem'], partitions: channelsOf(spec).map(collections.tracks) },
      { actions: ['PutItem'], partitions: channelsOf(spec).map(collections.deadLetters) },
    ],
    sendsTo: [...app.agents.map(({ name }) => queueNames.replies(name)), ...callReplies(app)],
    answersClients: true,
    announces: true,
    dayKeys: 'make',
  }),
};

const withDocuments = (given: Permissions, more: Permissions['documents']): Permissions => ({
  ...given,
  documents: [...given.documents, ...more],
});

/**
 * Adds the permissions of the failure policy: count failures, dead-letter a message that fails too often, close a channel whose
 * messages all fail, and requeue a message that only a newer version can process.
 */
function withFailurePolicy(spec: FunctionSpec, given: Permissions): Permissions {
  const from = sourcesOf(spec);
  const tracks = { actions: ['GetItem', 'PutItem', 'DeleteItem'], partitions: channelsOf(spec).map(collections.tracks) };
  const channels = { actions: ['GetItem', 'PutItem'], partitions: [collections.channels, ...channelsOf(spec).map(collections.channel)] };
  const documents = [...given.documents, tracks, channels];
  return { ...withQueues(given, [...from, ...from.map(queueNames.deadLetters)]), documents, holds: from, closesChannelOf: from };
}

/** Returns the queues whose channel can be closed: all consumed queues except dead-letter queues. */
const consumedBy = (app: AppParts): readonly string[] =>
  topologyOf(app)
    .flatMap(sourcesOf)
    .filter((queue) => !isDeadLetterQueue(queue));

const channelsOf = (spec: FunctionSpec): readonly string[] => [...new Set(sourcesOf(spec).map(channelOf))];

const sourcesOf = ({ sources }: FunctionSpec): readonly string[] => sources.map(({ queue }) => queue);

/** Returns the reply queue of called orders, if a workflow of the app calls another one. */
const callReplies = (app: AppParts): readonly string[] => (hasCalls(app.workflows) ? [queueNames.callReplies] : []);

const withQueues = (given: Permissions, more: readonly string[]): Permissions => ({
  ...given,
  sendsTo: [...new Set([...given.sendsTo, ...more])],
});

/** Whether a role may announce on the bus that a channel was closed. */
export const announcesClosing = ({ closesChannelOf, switchesConsumers }: Permissions): boolean =>
  closesChannelOf.length > 0 || switchesConsumers;

export function permissionsOf(spec: FunctionSpec, app: AppParts): Permissions {
  const of = permissions[spec.file];
  if (!of) throw new Error(`The table in lib/infrastructure/permissions.ts has no entry for ${spec.file}.`);
  return of(spec, app);
}
