import type { App } from 'redress';
import type { Program } from '#core/definition/program';
import type { StateRecord } from '#ports/records';
import { decodeInstance, type JournalEntry, type OrderFact } from '#roles/scheduler/instance';
import { lawsFor } from '#testing/laws/index';
import type { Law, Setting } from '#testing/laws/law';
import { ordinary } from '#testing/laws/ordinary';
import { History, type Tracked } from '#testing/world/history';
import type { Observation } from '#testing/world/observation';

/** A fact of the journal that the laws need later. A step or its undo has closed, or the order has ended. */
type Closed =
  | Pick<Extract<OrderFact, { type: 'ActivityClosed' }>, 'type' | 'path' | 'result' | 'attemptId'>
  | Extract<OrderFact, { type: 'OrderProcessed' }>;

/** The history that a search keeps beside the state itself: as little as the laws need. */
export interface Seen {
  /** The steps and undos that have closed, and the end of the order, oldest first. */
  readonly closed: readonly Closed[];
  /** Ids of entries of the outbox whose sending was acknowledged. */
  readonly sent: readonly string[];
  /** Status messages that the client received, by number. */
  readonly statuses: readonly string[];
}

export const nothingSeen: Seen = { closed: [], sent: [], statuses: [] };

export interface Written {
  readonly before: StateRecord | undefined;
  readonly after: StateRecord;
  /** The facts that this write added to the journal. */
  readonly facts: readonly OrderFact[];
  readonly at: number;
}

/** The effects of the service, by idempotency key. */
export interface Effects {
  readonly [key: string]: { readonly operation: string; readonly is: 'standing' | 'undone' | 'refused' | 'undo' };
}

/** A state as the laws see it. */
export interface View {
  readonly record: StateRecord | undefined;
  readonly seen: Seen;
  readonly effects: Effects;
}

/** Laws that need more than a search keeps: it has one journal entry for each step, and neither write times nor messages in flight. */
const needMore: ReadonlySet<string> = new Set(['journal', 'records', 'announcements', 'acknowledgements', 'requests']);

/** Judges single events by the laws of `lib/testing/laws`. */
export class Judgement {
  private readonly program: Program | undefined;
  private readonly setting: Omit<Setting, 'now'>;

  constructor(setting: Omit<Setting, 'now'>, program: Program | undefined) {
    this.setting = setting;
    this.program = program;
  }

  /** Returns the violation of a write, in words; undefined if there is none. */
  ofWrite({ before, after, facts, at }: Written, seen: Seen): string | undefined {
    const laws = this.laws(at);
    const history = this.historyOf({ record: before, seen, effects: {} });
    if (before) this.prepare(laws, history, before);
    const order = this.tracked(after, seen, facts);
    history.orders.set(after.orderId, { ...order, before: before && decodeInstance(before), writes: before ? 2 : 1 });
    return violation(laws, { type: 'written', before, after }, history) ?? atEnd(named(laws, ['undo order', 'finished orders']), history);
  }

  /** Returns the violation of an effect at the service. */
  ofEffect(effect: Extract<Observation, { type: 'effect' }>, view: View): string | undefined {
    return violation(this.laws(0), effect, this.historyOf(view));
  }

  /** Returns the violation of a message to the client. */
  ofSending(observation: Extract<Observation, { type: 'sent' | 'published' }>, view: View): string | undefined {
    return violation(this.laws(0), observation, this.historyOf(view));
  }

  /** S8: returns the violation of a reply to a request. */
  ofReply(request: Message, reply: Message): string | undefined {
    const laws = named(this.laws(0), ['reply deadlines']);
    const history = this.historyOf({ record: undefined, seen: nothingSeen, effects: {} });
    violation(laws, { type: 'sent', ...request, delayMs: 0 }, history);
    return violation(laws, { type: 'sent', ...reply, delayMs: 0 }, history);
  }

  /** Returns the violations in a state without further events. */
  ofEnd(view: View): readonly string[] {
    const { record } = view;
    if (!record) return [];
    return this.laws(0).flatMap(({ name, atEnd: wrongAtEnd }) =>
      needMore.has(name) ? [] : (wrongAtEnd?.(this.historyOf(view)) ?? []).map((wrong) => `${name}: ${wrong}`),
    );
  }

  private laws(now: number): readonly Law[] {
    return lawsFor({ ...this.setting, now: () => now }).filter(({ name }) => !needMore.has(name));
  }

  /** Lets the laws see what they must remember: the closed steps, and the entries that were sent. */
  private prepare(laws: readonly Law[], history: History, before: StateRecord): void {
    const { responseQueue } = this.setting;
    violation(named(laws, ['completed steps']), { type: 'written', before: undefined, after: before }, history);
    for (const entry of before.outbox)
      if (entry.kind === 'status' && history.announced.has(entry.id))
        violation(laws, { type: 'sent', queue: responseQueue, body: JSON.stringify(entry.message), delayMs: 0 }, history);
  }

  private historyOf({ record, seen, effects }: View): History {
    const { responseQueue } = this.setting;
    const history = new History({ definitions: { program: () => this.program }, responseQueue });
    if (record) history.orders.set(record.orderId, this.tracked(record, { ...seen, closed: [] }, seen.closed));
    for (const id of seen.sent) history.announced.set(id, new Set([id]));
    for (const [key, { operation, is }] of Object.entries(effects))
      if (is === 'standing' || is === 'undone') history.addEffect(key, { operation, times: 1, undone: is === 'undone' });
    return history;
  }

  private tracked(state: StateRecord, { closed, statuses }: Seen, facts: readonly OrderFact[]): Tracked {
    const journal = [...closed, ...facts].map((fact, index) => ({ at: 0, ...fact, seq: index + 1 }) as JournalEntry);
    return {
      orderId: state.orderId,
      order: undefined,
      caller: undefined,
      callerPath: undefined,
      state,
      program: this.program,
      instance: decodeInstance(state),
      before: undefined,
      newFacts: journal.slice(closed.length),
      journal,
      accepted: true,
      damagedAt: undefined,
      writes: 1,
      signals: new Set(),
      unansweredSignals: new Set(),
      statuses: statuses.map((status, index) => ({ seq: index + 1, status })),
    };
  }
}

interface Message {
  readonly queue: string;
  readonly body: string;
}

/** Returns the laws with these names. */
function named(laws: readonly Law[], names: readonly string[]): readonly Law[] {
  const found = laws.filter(({ name }) => names.includes(name));
  if (found.length !== names.length)
    throw new Error(`Expected the laws ${names.join(', ')}, got ${found.map(({ name }) => name).join(', ')}.`);
  return found;
}

function violation(laws: readonly Law[], observation: Observation, history: History): string | undefined {
  let first: string | undefined;
  for (const { name, after } of laws) {
    if (!after || !(after.kinds?.includes(observation.type) ?? true)) continue;
    const wrong = after.wrongWith(observation, history);
    if (wrong !== undefined) first ??= `${name}: ${wrong}`;
  }
  return first;
}

function atEnd(laws: readonly Law[], history: History): string | undefined {
  for (const law of laws) {
    const [wrong] = law.atEnd?.(history) ?? [];
    if (wrong !== undefined) return `${law.name}: ${wrong}`;
  }
  return undefined;
}

/** Returns the history after a write. */
export const afterWrite = (seen: Seen, { facts }: Written): Seen => ({ ...seen, closed: [...seen.closed, ...facts.flatMap(closedBy)] });

function closedBy(fact: OrderFact): readonly Closed[] {
  if (fact.type === 'OrderProcessed') return [fact];
  if (fact.type !== 'ActivityClosed' || fact.attemptId === undefined || !isKept(fact.result)) return [];
  const { type, path, result, attemptId } = fact;
  // The generation names the effect; the attempt does not matter.
  return [{ type, path, result, attemptId: `${Number.parseInt(attemptId, 10)}#` }];
}

const isKept = (result: string): boolean => result === 'Succeeded' || result === 'Compensated';

/** Returns the history after a message to the client or to people. */
export function afterSending(seen: Seen, id: string, status?: { readonly seq: number; readonly status: string }): Seen {
  const sent = seen.sent.includes(id) ? seen.sent : [...seen.sent, id].toSorted();
  if (!status) return { ...seen, sent };
  const statuses = [...seen.statuses];
  statuses[status.seq - 1] = status.status;
  return { ...seen, sent, statuses };
}

/** Returns the effects after one more. */
export function afterEffect(
  effects: Effects,
  { operation, key, undoes }: Extract<Observation, { type: 'effect' }>,
  refused: boolean,
): Effects {
  const known = undoes === undefined ? undefined : effects[undoes];
  if (undoes === undefined) return sorted({ ...effects, [key]: { operation, is: refused ? 'refused' : 'standing' } });
  return sorted({ ...effects, ...(known && { [undoes]: { ...known, is: 'undone' } }), [key]: { operation, is: 'undo' } });
}

const sorted = (effects: Effects): Effects =>
  Object.fromEntries(Object.entries(effects).toSorted(([one], [other]) => (one < other ? -1 : 1)));

/** The setting of a search: one order of one client, whose service keeps its keys. */
export const settingOf = (
  { agents }: Pick<App, 'agents'>,
  { client, responseQueue }: Pick<Setting, 'client' | 'responseQueue'>,
): Omit<Setting, 'now'> => ({
  ...ordinary(agents),
  client,
  responseQueue,
  undeclaredFaults: new Set(),
  mayWait: false,
  toleranceMs: 0,
  maxFailures: 1,
  claimsOnSubmit: false,
  writesAndSendsAtomically: false,
  announcesProcessed: false,
  closedForMs: () => undefined,
  quietSince: () => undefined,
});
