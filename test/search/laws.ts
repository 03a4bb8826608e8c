import { announcedAs, type ProcessState, type StateRecord } from '#ports/records';
import type { OrderFact } from '#roles/scheduler/instance';

/** The history that a search keeps beside the state itself: as little as the laws need. */
export interface Seen {
  /** Paths of steps that succeeded and are not undone, oldest first. */
  readonly done: readonly string[];
  /** Paths that were undone. */
  readonly undone: readonly string[];
  /** Ids of entries of the outbox whose sending was acknowledged. */
  readonly told: readonly string[];
  /** Messages that the client received, by number. */
  readonly heard: readonly string[];
}

export const nothingSeen: Seen = { done: [], undone: [], told: [], heard: [] };

export interface Written {
  readonly before: StateRecord | undefined;
  readonly after: StateRecord;
  /** The facts that this write added to the journal. */
  readonly facts: readonly OrderFact[];
  readonly at: number;
}

/** Returns the violation of a write, in words; undefined if there is none. */
export function wrongWith(written: Written, seen: Seen): string | undefined {
  const { before } = written;
  return (
    (before && (fence(before, written) ?? processState(before, written) ?? expiry(before, written) ?? alert(before, written))) ??
    outbox(written, seen) ??
    journal(written, seen)
  );
}

/** S1, S2: a rev for each write, an epoch for each claim and each reset. */
function fence(before: StateRecord, { after, facts }: Written): string | undefined {
  if (after.rev !== before.rev + 1) return `rev ${before.rev} is followed by ${after.rev}`;
  if (after.epoch < before.epoch) return `the epoch falls from ${before.epoch} to ${after.epoch}`;
  if (facts.some(({ type }) => type === 'OrderClaimed') && after.epoch === before.epoch) return 'it is claimed without a new epoch';
  if (before.processState === 'Processing' && after.processState === 'Pending' && after.epoch === before.epoch)
    return 'it is reset without a new epoch';
  return undefined;
}

const next: { readonly [state in ProcessState]: readonly ProcessState[] } = {
  Pending: ['Pending', 'Processing', 'Error', 'Processed'],
  Processing: ['Processing', 'Pending', 'Processed', 'Error'],
  Error: ['Error', 'Processing', 'Processed'],
  Processed: ['Processed'],
};

/** S4: only transitions of the table, and one outcome. */
function processState(before: StateRecord, { after }: Written): string | undefined {
  if (!next[before.processState].includes(after.processState)) return `it goes from ${before.processState} to ${after.processState}`;
  return before.outcome !== null && before.outcome !== after.outcome ? 'it has a second outcome' : undefined;
}

/** S15, S16: a timeout counts once, and not before its time; above the threshold it leads to Error. */
function expiry(before: StateRecord, { after, at }: Written): string | undefined {
  if (after.failureCount > before.failureCount + 1) return `${after.failureCount - before.failureCount} failures are counted at once`;
  if (after.failureCount <= before.failureCount) return undefined;
  if (before.nextDueAt === null || before.nextDueAt > at) return 'an expiry counts before its time';
  if (before.nextDueFor?.kind !== 'step' && before.nextDueFor?.kind !== 'claim')
    return `an expiry counts where nothing was late: ${before.nextDueFor?.kind}`;
  return after.failureCount > after.maxFailures && after.processState !== 'Error'
    ? 'it is above its threshold, and not in Error'
    : undefined;
}

/** S17: the write that moves an order to Error contains the alert. */
function alert(before: StateRecord, { after }: Written): string | undefined {
  if (before.processState === 'Error' || after.processState !== 'Error') return undefined;
  return after.outbox.some(({ id }) => id === `${announcedAs(after)}#${before.errorGen + 1}`)
    ? undefined
    : 'it goes into Error without a new alert';
}

/** S26: an entry leaves the outbox when its sending was acknowledged, and not before. */
function outbox({ before, after }: Written, { told }: Seen): string | undefined {
  const left = (before?.outbox ?? []).find(({ id }) => !after.outbox.some((entry) => entry.id === id) && !told.includes(id));
  return left && `${left.id} leaves the outbox and was never sent`;
}

/** S5, S6, S11, S12: a step succeeds once, is not requested again, and is undone once, newest first. */
function journal({ before, facts }: Written, seen: Seen): string | undefined {
  let now = seen;
  for (const fact of facts) {
    if (before?.processState === 'Processed') return `it is finished, and then its journal says ${fact.type}`;
    if (fact.type === 'StepRequested' && !fact.path.endsWith('/undo') && [...now.done, ...now.undone].includes(fact.path))
      return `${fact.path} is done, and asked for again`;
    if (fact.type === 'ActivityClosed') {
      const path = undoneBy(fact.path);
      if (fact.result === 'Succeeded' && isStep(fact.path) && [...now.done, ...now.undone].includes(fact.path))
        return `${fact.path} succeeds twice`;
      if (fact.result === 'Compensated' && path !== undefined && now.undone.includes(path)) return `${path} is undone twice`;
      if (fact.result === 'Compensated' && path !== undefined && now.done.includes(path) && now.done.at(-1) !== path)
        return `${path} is undone before ${now.done.at(-1)}, which was done later`;
    }
    now = withFact(now, fact);
  }
  return undefined;
}

/** Returns the history after a write. */
export const afterWrite = (seen: Seen, { facts }: Written): Seen => facts.reduce(withFact, seen);

function withFact(seen: Seen, fact: OrderFact): Seen {
  // A canceled step was done after all.
  if (fact.type === 'LateResult') return { ...seen, done: [...seen.done, fact.path] };
  if (fact.type !== 'ActivityClosed') return seen;
  if (fact.result === 'Succeeded' && isStep(fact.path)) return { ...seen, done: [...seen.done, fact.path] };
  const path = undoneBy(fact.path);
  if (fact.result !== 'Compensated' || path === undefined) return seen;
  return { ...seen, done: seen.done.filter((each) => each !== path), undone: [...seen.undone, path].toSorted() };
}

const isStep = (path: string): boolean => /\/(reserve|charge)$/.test(path);
const undoneBy = (path: string): string | undefined => (path.endsWith('/undo') ? path.slice(0, -'/undo'.length) : undefined);

/** S18, S26: messages to the outside agree with the state and with each other. */
export function afterTelling(seen: Seen, id: string, record: StateRecord, status?: { seq: number; status: string }): Seen | string {
  if (status && status.seq > record.statusSeq) return `${id} is sent, and no write has promised it`;
  if (!status && Number(id.split('#')[1]?.split('/')[0]) > record.errorGen) return `${id} is announced, and no write has promised it`;
  const told = seen.told.includes(id) ? seen.told : [...seen.told, id].toSorted();
  if (!status) return { ...seen, told };
  const known = seen.heard[status.seq - 1];
  if (known !== undefined && known !== status.status) return `number ${status.seq} says ${known}, and then ${status.status}`;
  const heard = [...seen.heard];
  heard[status.seq - 1] = status.status;
  return { ...seen, told, heard };
}

/** The effects of the service, by idempotency key. */
export interface Effects {
  readonly [key: string]: { readonly operation: string; readonly is: 'standing' | 'undone' | 'refused' | 'undo' };
}

/** S7: an effect is done once, and undone once. */
export function served(effects: Effects, operation: string, key: string, undoes: string | undefined, refused: boolean): Effects | string {
  if (undoes === undefined) {
    const other = Object.entries(effects).find(([, known]) => known.operation === operation && known.is === 'standing');
    if (other && !refused) return `${operation} is done twice, under ${other[0]} and ${key}`;
    return sorted({ ...effects, [key]: { operation, is: refused ? 'refused' : 'standing' } });
  }
  const before = effects[undoes];
  if (before?.is !== 'standing') return `${operation} takes back ${undoes}, which is ${before?.is ?? 'not done'}`;
  return sorted({ ...effects, [undoes]: { ...before, is: 'undone' }, [key]: { operation, is: 'undo' } });
}

const sorted = (effects: Effects): Effects =>
  Object.fromEntries(Object.entries(effects).toSorted(([one], [other]) => (one < other ? -1 : 1)));

/** Returns the violations in a state without further events. */
export function wrongAtEnd(record: StateRecord | undefined, { told, heard, done }: Seen, effects: Effects): readonly string[] {
  if (!record) return [];
  const { processState, outcome, outbox: left, errorGen, statusSeq } = record;
  const standing = Object.values(effects).flatMap(({ operation, is }) => (is === 'standing' ? [operation] : []));
  const wanted = outcome === 'completed' ? 2 : 0;
  const alerts = Array.from({ length: errorGen }, (_, index) => `${announcedAs(record)}#${index + 1}`);
  const last = { Processed: outcome === 'completed' ? 'completed' : 'failed', Error: 'delayed', Pending: '', Processing: '' }[processState];
  return [
    ...(processState === 'Processed' || processState === 'Error' ? [] : [`it stays ${processState}, and nothing happens any more`]),
    ...left.map(({ id }) => `${id} stays in the outbox`),
    ...alerts.filter((id) => !told.includes(id)).map((id) => `the alert ${id} was never sent`),
    ...(processState === 'Processed' && standing.length !== wanted
      ? [`it is ${outcome}, and ${standing.join(' and ') || 'nothing'} stands`]
      : []),
    ...(processState === 'Processed' && done.length !== wanted
      ? [`it is ${outcome}, and its journal says that ${done.join(' and ')} is done`]
      : []),
    ...(heard.length === statusSeq && heard[0] === 'received' ? [] : [`its client heard ${heard.join(', ')} of ${statusSeq}`]),
    ...(processState === 'Processed' && heard.at(-1) !== last ? [`its client heard ${heard.at(-1)} last`] : []),
  ];
}
