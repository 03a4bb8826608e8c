import { breakerPartitionOf, intentPartitionOf, partitionOf, partitions } from '#adapters/aws/dynamodb/keys';
import { collections } from '#ports/documents';

/** Actions on the table, as IAM names them without `dynamodb:`, and the limits of these actions. */
export interface TableRights {
  readonly actions: readonly string[];
  /** Partitions, or their common start with `*`. Undefined only for a scan, which IAM cannot limit by partition. */
  readonly partitions?: readonly string[];
  /** The only attributes that the function may read or write, so that it never reads the content of an order. Default: all. */
  readonly attributes?: readonly string[];
}

export const every = '*';
export const [orders, intents] = [partitionOf(every), intentPartitionOf(every)];
export const audit = collections.audit(every);
export const exceptionGroups = collections.exceptionGroups(every);
export const solutionFigures = collections.solutionFigures(every);
export const finished = collections.finished(every);
export const agenda = collections.agenda(every);
export const fingerprints = collections.fingerprints(every);
export const [breakers, channels, definitions] = [breakerPartitionOf(every), collections.channel(every), collections.workflow(every)];

/** The sweeper reads the rules: it wakes each order whose deadlines were planned before a rule about a time, such as an age, changed. */
export const readsRules: readonly TableRights[] = [
  { actions: ['GetItem'], partitions: [collections.rules] },
  { actions: ['Query'], partitions: [collections.ruleSet(every)] },
];

/** A function that writes orders asks the rules and counts what they do. It sets the mode of a rule that keeps failing to `dry-run`. */
export const asksRules: readonly TableRights[] = [
  { actions: ['GetItem', 'PutItem'], partitions: [collections.rules] },
  { actions: ['PutItem', 'Query'], partitions: [collections.ruleSet(every)] },
  { actions: ['GetItem', 'PutItem'], partitions: [collections.ruleCounts, collections.ruleOutcomes, collections.staleRules] },
  { actions: ['PutItem', 'Query'], partitions: [collections.rule(every)] },
];

/** A function that applies messages to orders stores what their steps have read and written, under the name of each object. */
export const objects = collections.object(every);

/**
 * A function that applies messages to orders stores those that arrive while a person holds the lock of the order, and sends them when the
 * lock ends.
 */
export const keepsMessages: TableRights = { actions: ['DeleteItem', 'PutItem', 'Query'], partitions: [collections.inbox(every)] };

/** A call of the API that is repeated is recognized by its idempotency key. An order keeps its newest keys, a document each older one. */
export const repeatsCalls: TableRights = { actions: ['GetItem', 'PutItem'], partitions: [collections.calls(every)] };

export const readsClients: TableRights = { actions: ['GetItem'], partitions: [partitions.clients] };

/**
 * Permissions of the API beyond those of the scheduler: clients, lists, channels, dead letters, rules, and answers to calls that are
 * repeated.
 */
export const ofApi: readonly TableRights[] = [
  { actions: ['GetItem', 'PutItem', 'Query'], partitions: [partitions.clients, collections.peopleGroups, collections.exceptionNotes] },
  { actions: ['Query'], partitions: [partitions.calendar, exceptionGroups, collections.solutions, solutionFigures] },
  {
    actions: ['GetItem', 'PutItem'],
    partitions: [breakers, channels, collections.channels, collections.calls(every), collections.waits],
  },
  { actions: ['DeleteItem', 'GetItem', 'PutItem', 'Query'], partitions: [collections.deadLetters(every)] },
  keepsMessages,
  { actions: ['BatchGetItem', 'Query'], partitions: [audit, collections.bulk(every)] },
  { actions: ['GetItem'], partitions: [collections.bulk(every)] },
  { actions: ['GetItem'], partitions: [collections.auditDigests, collections.overview, collections.rules, collections.solutions] },
  { actions: ['Query'], partitions: [collections.ruleSet(every), collections.rule(every), collections.ruleCounts] },
  { actions: ['GetItem', 'PutItem'], partitions: [collections.ruleCounts] },
  { actions: ['PutItem'], partitions: [collections.ruleSet(every)] },
  { actions: ['Query'], partitions: [objects] },
  // A change and its entry in the audit are one transaction. IAM requires one statement that allows all keys of a transaction.
  {
    actions: ['PutItem'],
    partitions: [
      orders,
      channels,
      partitions.clients,
      collections.deadLetters(every),
      collections.rules,
      collections.rule(every),
      collections.solutions,
      collections.erased,
      collections.bulk(every),
      collections.peopleGroups,
      collections.exceptionNotes,
      audit,
    ],
  },
];

const notices = collections.notices(every);

/**
 * Permissions of the notifier: it reads tasks, which are items of their orders' partitions, sends reminders, and records what it has sent.
 */
export const ofNotifier: readonly TableRights[] = [
  { actions: ['GetItem'], partitions: [orders, notices, collections.allowances, collections.deliveries] },
  { actions: ['GetItem'], partitions: [collections.peopleGroups, collections.exceptionNotes] },
  { actions: ['Query'], partitions: [agenda, exceptionGroups] },
  // A message and the counter of its limit are one transaction. IAM requires one statement that allows all keys of a transaction.
  { actions: ['PutItem'], partitions: [orders, agenda, notices, collections.allowances, collections.deliveries] },
  { actions: ['DeleteItem'], partitions: [agenda, notices, collections.deliveries] },
];

const bulkRuns = collections.bulk(every);

/** Permissions of the bulk function beyond those of the scheduler: it finds orders, and writes the outcome of each. */
export const ofBulk: readonly TableRights[] = [
  { actions: ['BatchGetItem', 'GetItem', 'Query'], partitions: [bulkRuns] },
  { actions: ['GetItem'], partitions: [breakers] },
  { actions: ['Query'], partitions: [partitions.calendar] },
  keepsMessages,
  ...asksRules,
  // The outcome of an order is part of the transaction of its write. IAM requires one statement that allows all keys of a transaction.
  { actions: ['PutItem'], partitions: [orders, bulkRuns] },
];
