import { definitionPath, isUndoPath, undonePath } from '#core/data/ids';
import { rootPath } from '#core/definition/definition';
import { isAt } from '#core/engine/undo-pages';
import type { Handling } from '#core/exceptions/exception';
import type { StateRecord } from '#ports/records';
import type { JournalEntry, StoredEntry } from '#roles/scheduler/instance';
import type { History, Tracked } from '#testing/world/history';
import { type Law, on, type Setting } from './law.ts';
import { type Use, type Uses, usesIn, wrongUses } from './object-uses.ts';
import { beginsRecovery, scopeOf } from './recoveries.ts';
import { isMessageDead, keepDeadUndone } from './undone-messages.ts';

type Found = Extract<StoredEntry, { type: 'InconsistencyFound' }>;

/** A step that a recovery has undone. */
export interface Undo {
  readonly orderId: string;
  readonly path: string;
  readonly at: number;
  readonly seq: number;
}

/** The last look for readers may miss a step that closes, or is recorded, later than this after the undo or the next write. */
const lastLookMs = 3_600_000;

/**
 * Each order that may have read an undone write notes the undo once. If it has not undone its own step, it has one exception, which names
 * its cause. No other order notes it (S46). The law finds the readers in the histories of all orders, without the records of objects.
 */
export function undoneWrites({ toleranceMs, now }: Pick<Setting, 'toleranceMs' | 'now'>): Law {
  /** Orders that a recovery undoes as a whole. */
  const whole = new Set<string>();
  /** The time at which the record of each use was written, if that happened after the write of its order. */
  const noted = new Map<string, number>();
  return {
    name: 'undone writes',
    after: on(['written', 'object noted', 'dead-lettered'], (observation, history) => {
      if (observation.type === 'dead-lettered') return keepDeadUndone(observation.message, history);
      if (observation.type === 'object noted') {
        const { object, use } = observation;
        noted.set(keyOf({ ...use, object }), now());
        return undefined;
      }
      const order = history.orders.get(observation.after.orderId);
      if (!order) return undefined;
      if (order.newFacts.some((fact) => recoversWhole(fact, order))) whole.add(order.orderId);
      const recovers = whole.has(order.orderId) || (order.before?.state.recovering ?? order.instance.state.recovering) !== undefined;
      if (recovers) undosOf(history).push(...undosIn(order));
      return observation.before && wrongWhenTold(observation.before, observation.after, order);
    }),
    atEnd: (history) => {
      const uses = usesIn(history);
      return history.sound.flatMap((order) => wrongInOrder(order, { history, undos: undosOf(history), ...uses, noted, toleranceMs }));
    },
  };
}

/** Whether a line begins the recovery of a whole order. */
function recoversWhole(fact: JournalEntry, { instance }: Tracked): boolean {
  if (fact.type === 'InstructionGiven') return fact.kind === 'recover' && instance.state.ending !== undefined;
  if (fact.type !== 'RuleActed' || fact.action.kind !== 'recover') return false;
  return fact.action.path === undefined || fact.action.path === rootPath;
}

const known = new WeakMap<History, Undo[]>();

/** Returns the steps that recoveries have undone, as far as the history has come. */
export function undosOf(history: History): Undo[] {
  const found = known.get(history) ?? [];
  known.set(history, found);
  return found;
}

/** Returns the steps that the last write has undone. An undo that a person has marked as done leaves two lines. */
const undosIn = ({ orderId, newFacts }: Tracked): readonly Undo[] => [
  ...new Map(newFacts.flatMap((fact) => undoIn(orderId, fact).map((undo) => [undo.path, undo]))).values(),
];

function undoIn(orderId: string, fact: JournalEntry): readonly Undo[] {
  const { at, seq } = fact;
  if (fact.type === 'MarkedCompensated') return [{ orderId, path: fact.path, at, seq }];
  if (fact.type !== 'ActivityClosed' || fact.result !== 'Compensated' || !isUndoPath(fact.path)) return [];
  return [{ orderId, path: undonePath(fact.path), at, seq }];
}

const keyOf = ({ orderId, path, object, at }: Pick<Use, 'orderId' | 'path' | 'object' | 'at'>): string =>
  [orderId, path, object, at].join(' ');

interface Known extends Uses {
  readonly history: History;
  readonly undos: readonly Undo[];
  readonly noted: ReadonlyMap<string, number>;
  readonly toleranceMs: number;
}

function wrongInOrder(order: Tracked, known: Known): readonly string[] {
  const { orderId, journal } = order;
  const lines = journal.filter((fact) => fact.type === 'InconsistencyFound');
  const missing = known.undos.flatMap((undo) => {
    // The history of a damaged order proves nothing.
    const writer = known.history.orders.get(undo.orderId);
    if (!writer || writer.damagedAt !== undefined) return [];
    const told = lines.filter((line) => isAbout(line, undo));
    const { must, may } = readsOf(orderId, undo, known);
    const name = `order ${orderId} and the undo of ${undo.path} of ${undo.orderId} at ${undo.at}`;
    if (isNotedTwice(told, may)) return [`${name}: it has noted the undo ${told.length} times`];
    if (told.length === 0 && must.length > 0 && !isMessageDead(orderId, undo, known.history))
      return [`${name}: it has read ${must[0]?.object} before, and has not noted the undo`];
    return told.length > 0 && may.length === 0 ? [`${name}: it has noted the undo, but has read nothing that is undone`] : [];
  });
  const unknown = lines
    .filter((line) => known.history.orders.get(line.cause.orderId)?.damagedAt === undefined)
    .filter((line) => !known.undos.some((undo) => isAbout(line, undo)))
    .map((line) => `order ${orderId} has noted the undo ${line.id}, which no recovery has done`);
  const all = lines.filter((line) => !line.undone && (line.maskedBy === undefined || isStillTrue(line, order, known)));
  // Several lines about one undo have one exception together.
  const standing = [...new Map(all.map((line) => [line.id, line])).values()];
  return [
    ...missing,
    ...unknown,
    ...wrongUses(order),
    ...lines.flatMap((line) => [...wrongMask(line, order, known), ...wrongUndone(line, order, known)]),
    ...wrongExceptions(order, standing, known.history),
  ];
}

const isRaised = ({ undone, maskedBy }: Found): boolean => !undone && maskedBy === undefined;

/** Whether an order has more lines about one undo than reads of the write, or any line after an exception. */
const isNotedTwice = (told: readonly Found[], may: readonly Use[]): boolean =>
  told.length > 1 && (told.slice(0, -1).some(isRaised) || told.length > may.length);

const isAbout = ({ id, cause }: Found, { orderId, path, at }: Undo): boolean =>
  cause.orderId === orderId && cause.path === path && id.endsWith(`/${at}`);

/** Returns the reads of an undone write by one order: those that oblige it to note the undo (`must`), and those that allow it (`may`). */
function readsOf(reader: string, undo: Undo, known: Known): { readonly must: readonly Use[]; readonly may: readonly Use[] } {
  const { reads, writes, noted, toleranceMs } = known;
  const writer = known.history.orders.get(undo.orderId);
  if (!writer || writer.orderId === reader) return { must: [], may: [] };
  const undone = writes.filter((write) => write.orderId === undo.orderId && isUndoneBy(write, undo, writer.journal));
  const [must, may]: [Use[], Use[]] = [[], []];
  for (const read of reads) {
    if (read.orderId !== reader) continue;
    for (const write of undone) {
      if (write.object !== read.object || read.at < write.requestedAt || read.requestedAt > undo.at) continue;
      const later = writes.filter(
        (other) => other.object === read.object && other.orderId !== write.orderId && other.requestedAt > write.at,
      );
      const between = later.filter((other) => other.at < read.requestedAt);
      // The record of a write that came after the undo may not have been there at the first look.
      const isSure = (other: Use): boolean => (noted.get(keyOf(other)) ?? 0) < undo.at - toleranceMs;
      const readUntil = Math.min(undo.at, ...later.map(({ at }) => at));
      const isInTime = Math.max(read.at - readUntil, (noted.get(keyOf(read)) ?? 0) - undo.at) < lastLookMs - toleranceMs;
      if (between.length === 0 && isInTime) must.push(read);
      if (!between.some(isSure)) may.push(read);
    }
  }
  return { must, may };
}

/** Whether an undo is the first one of a write: a step may write again after its undo. */
const isUndoneBy = ({ path, seq }: Use, undo: Undo, journal: readonly StoredEntry[]): boolean => {
  const covers = (each: Pick<Undo, 'path'>): boolean => isAt(path, each.path);
  if (!covers(undo) || seq > undo.seq) return false;
  return !journal.some((fact) => fact.seq > seq && fact.at !== undo.at && fact.seq < undo.seq && undoIn('', fact).some(covers));
};

/** A recovery masks an undo only if each step that has read the write is in the affected scope. */
function wrongMask(line: Found, { orderId, program }: Tracked, known: Known): readonly string[] {
  const { maskedBy, seq } = line;
  const undo = known.undos.find((each) => isAbout(line, each));
  if (maskedBy === undefined || !program || !undo) return [];
  const beside = readsOf(orderId, undo, known).must.find(
    (read) => read.seq < seq && !scopeOf(program, maskedBy).has(definitionPath(read.path)),
  );
  return beside ? [`order ${orderId}: the undo ${line.id} is masked by ${maskedBy}, and ${beside.path} has read it`] : [];
}

/** An order that has noted an undo without an exception has undone each step that has read the write. An order with one has not. */
function wrongUndone(line: Found, { orderId, journal }: Tracked, known: Known): readonly string[] {
  const undo = known.undos.find((each) => isAbout(line, each));
  if (!undo || line.maskedBy !== undefined) return [];
  const { must, may } = readsOf(orderId, undo, known);
  const isUndone = ({ path, seq }: Pick<Use, 'path' | 'seq'>, until: number): boolean =>
    journal.some((fact) => fact.seq > seq && fact.seq < until && undoIn(orderId, fact).some((each) => isAt(path, each.path)));
  if (!line.undone)
    return may.every((read) => isUndone(read, line.seq))
      ? [`order ${orderId} has an exception about ${line.id}, and has undone each step that has read it`]
      : [];
  const named = journal.filter(
    (fact) => fact.type === 'ObjectsUsed' && line.undone?.some(({ path, at }) => path === fact.path && at === fact.at),
  );
  const isNotedAgain = journal.some((fact) => fact.type === 'InconsistencyFound' && fact.id === line.id && !fact.undone);
  const wrong = [
    ...named.flatMap((use) => (use.type === 'ObjectsUsed' && !isUndone(use, line.seq) ? [use.path] : [])),
    ...(isNotedAgain ? [] : must.filter((read) => !isUndone(read, Number.POSITIVE_INFINITY)).map(({ path }) => path)),
  ];
  return wrong.length === 0 ? [] : [`order ${orderId} says that it has undone the readers of ${line.id}, but ${wrong[0]} is not undone`];
}

/** Whether an order has ended, and one of its steps that have read a masked undone write is done for good and has not run again (F-149). */
function isStillTrue(line: Found, { orderId, journal, instance }: Tracked, known: Known): boolean {
  const { seq } = line;
  const undo = known.undos.find((each) => isAbout(line, each));
  if (!undo || instance.state.phase !== 'closed') return false;
  return readsOf(orderId, undo, known).must.some((read) => {
    const later = journal.filter((fact) => fact.seq > read.seq && 'path' in fact);
    const isUndone = later.some((fact) => undoIn(orderId, fact).some(({ path }) => isAt(read.path, path)));
    return !isUndone && !later.some((fact) => fact.type === 'ObjectsUsed' && fact.seq > seq && fact.path === read.path);
  });
}

/** Each undo that is not masked has its own exception, which names the step that was undone, and what led to the recovery. */
function wrongExceptions({ orderId }: Tracked, lines: readonly Found[], history: History): readonly string[] {
  const raised = raisedIn(history, orderId);
  const standing = Map.groupBy(lines, ({ cause }) => `${cause.path} of ${cause.orderId}`);
  const names = new Set([...standing.keys(), ...raised.map(({ about }) => about)]);
  const counts = [...names].flatMap((name) => {
    const count = raised.filter(({ about }) => about === name).length;
    const expected = standing.get(name)?.length ?? 0;
    return count === expected
      ? []
      : [`order ${orderId} has ${count} exceptions about the undo of ${name}, and has noted ${expected} undos that are not masked`];
  });
  const causes = raised.flatMap(({ about, causedBy }) => {
    const known = lines.filter(({ cause }) => `${cause.path} of ${cause.orderId}` === about).map((line) => causeOf(line, history));
    return known.some((cause) => cause === undefined || cause === causedBy)
      ? []
      : [`order ${orderId}: its exception about the undo of ${about} has the cause ${causedBy}`];
  });
  return [...counts, ...causes];
}

/**
 * Returns the exception that the person or the rule of a recovery has handled in its first write, or else the order; undefined for a
 * damaged order, whose history proves nothing.
 */
function causeOf(line: Found, history: History): string | undefined {
  const { orderId } = line.cause;
  const { journal = [], damagedAt } = history.orders.get(orderId) ?? {};
  const undo = undosOf(history).find((each) => isAbout(line, each));
  if (damagedAt !== undefined || !undo) return undefined;
  const begun = journal.findLast((fact) => fact.seq < undo.seq && beginsRecovery(fact));
  const handled = journal.find((fact) => fact.type === 'ExceptionHandled' && fact.at === begun?.at && isBy(fact.handling, begun));
  return handled?.type === 'ExceptionHandled' ? handled.exceptionId : orderId;
}

/** Another rule may have handled another exception in the write that begins the recovery. */
const isBy = ({ by, id }: Handling, begun: StoredEntry): boolean =>
  begun.type === 'RuleActed' ? by === 'rule' && id === begun.ruleId : by === 'person';

interface Raised {
  /** The path and the order of the undone step. */
  readonly about: string;
  readonly causedBy: string | undefined;
}

/** Returns the announced exceptions of an order about undone writes. */
function raisedIn(history: History, orderId: string): readonly Raised[] {
  return [...history.announced].flatMap(([id, [text = '']]) => {
    // The alert about an order in Error names the fault, too.
    if (!id.endsWith('/exception') || !text.includes('"type":"Inconsistent"')) return [];
    const detail = JSON.parse(text) as Raising;
    const { cause } = detail.data ?? {};
    return detail.orderId === orderId && cause ? [{ about: `${cause.path} of ${cause.orderId}`, causedBy: detail.causedBy }] : [];
  });
}

/** The announcement of an exception. */
interface Raising {
  readonly orderId: string;
  readonly causedBy?: string;
  readonly data?: { readonly cause?: { readonly orderId: string; readonly path: string } };
}

/** A finished order stays as it is and has an open task, and an order at work goes into Error, unless a rule acts at once (S47). */
function wrongWhenTold(before: StateRecord, after: StateRecord, { newFacts, damagedAt }: Tracked): string | undefined {
  if (damagedAt !== undefined) return undefined;
  if (!newFacts.some((fact) => fact.type === 'InconsistencyFound' && fact.maskedBy === undefined && !fact.undone)) return undefined;
  const isHandled = newFacts.some(({ type }) => type === 'ExceptionHandled');
  const open = (state: StateRecord): number => state.open?.length ?? 0;
  const { orderId } = after;
  if (before.processState === 'Processed') {
    if (after.processState !== 'Processed' || after.outcome !== before.outcome || after.suspended)
      return `the finished order ${orderId} has read an undone write, and is ${after.processState} ${after.outcome} now`;
    return isHandled || open(after) > open(before)
      ? undefined
      : `the finished order ${orderId} has read an undone write, and nobody gets a task`;
  }
  if (isHandled || after.processState === 'Error' || after.suspended || after.processState === 'Processed') return undefined;
  return open(after) > open(before) ? undefined : `order ${orderId} goes on with an undone write, and nobody hears of it`;
}
