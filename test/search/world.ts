import type { Outgoing } from '../../lib/channel.ts';
import { decodeInstance, encodeInstance, type Instance, newInstance, type OrderFact } from '../../lib/instance.ts';
import { queues } from '../../lib/messages.ts';
import type { OrderRecord, StateRecord } from '../../lib/record.ts';
import { afterTelling, afterWrite, type Effects, nothingSeen, type Seen, served, wrongAtEnd, wrongWith } from './laws.ts';
import { type Answer, type Invocation, type Message, me, Runs, type Wish, type Woken } from './runs.ts';
import type { Scenario } from './scenarios.ts';
import { joined, Memo, Table } from './table.ts';

/** A state of the world: a number for everything in it, at these places. */
export type State = Int32Array;
const at = {
  record: 0,
  now: 1,
  queue: 2,
  effects: 3,
  seen: 4,
  crashes: 5,
  lost: 6,
  hurries: 7,
  cancels: 8,
  submission: 9,
  cancellation: 10,
} as const;
const schedulerAt = [11, 12] as const;
const supervisorAt = [13, 15] as const;
const agentAt = [17, 18] as const;
export const width = 19;

export interface Successor {
  readonly state: State;
  /** Nothing goes wrong in it. */
  readonly free: boolean;
  /** What is wrong afterwards. */
  readonly wrong?: string | undefined;
  readonly told: () => string;
}

type Copies = readonly (readonly [message: number, copies: number])[];

const begun = Date.UTC(2026, 0, 1);
const responses = 'redress-response-client';
const wakeAgainMs = 30_000;
const writeIdsKept = 4;

const order = (workflow: string): OrderRecord => ({
  orderId: 'ord_1',
  client: 'client',
  workflow: { name: workflow, version: 1 },
  body: { item: 'tea' },
  hash: 'hash',
  responseChannel: responses,
  submittedAt: begun,
  answer: '{}',
});

export class World {
  readonly runs: Runs;
  private readonly scenario: Scenario;
  private readonly order: OrderRecord;
  private readonly records = new Table<StateRecord>();
  private readonly messages = new Table<Message>();
  private readonly queue = new Table<Copies>();
  private readonly effects = new Table<Effects>();
  private readonly seen = new Table<Seen>();
  private readonly woken = new Table<Woken>();
  private readonly stored = new Table<{ readonly id: number; readonly facts: readonly OrderFact[] }>();
  private readonly memo = {
    stored: new Memo<number>(),
    queue: new Memo<number>(),
    record: new Memo<number>(),
    answer: new Memo<number>(),
    invocation: new Memo<number>(),
    seen: new Memo<number | string>(),
    due: new Memo<boolean>(),
  };
  private incomplete = false;
  private changes = 0;

  constructor(scenario: Scenario) {
    this.scenario = scenario;
    this.order = order(scenario.workflow);
    this.runs = new Runs(this.order);
  }

  /** The client's order has come, and nothing is stored yet. */
  first(): State {
    const { crashes, lostAnswers, hurries, cancels } = this.scenario;
    const state = new Int32Array(width);
    state[at.queue] = this.queue.id([]);
    state[at.effects] = this.effects.id({});
    state[at.seen] = this.seen.id(nothingSeen);
    state[at.crashes] = crashes;
    state[at.lost] = lostAnswers;
    state[at.hurries] = hurries;
    state[at.cancels] = cancels ? 1 : 0;
    state[at.submission] = this.begin({ role: 'submission', order: this.order, at: begun });
    return state;
  }

  /** All that may happen next. Undefined where a role must be run first to know: `runs.look`, then ask again. */
  successors(state: State): readonly Successor[] | undefined {
    this.incomplete = false;
    const hasty = this.hasty(state);
    if (hasty !== undefined) {
      const only = [...this.step(state, hasty), ...this.crash(state, hasty)];
      return this.incomplete ? undefined : only;
    }
    const drained = this.drained(state);
    if (this.incomplete) return undefined;
    if (drained) return [drained];
    const free = [...this.steps(state), ...this.deliveries(state), ...this.passes(state), ...this.cancellation(state)];
    if (this.incomplete) return undefined;
    const rests = free.every((each) => equal(each.state, state));
    const all = [...free, ...this.faults(state), ...this.time(state, rests)];
    return this.incomplete ? undefined : all;
  }

  /** Where nothing more happens. */
  wrongAtEnd(state: State): readonly string[] {
    return wrongAtEnd(this.recordOf(state), this.seen.of(get(state, at.seen)), this.effects.of(get(state, at.effects)));
  }

  private recordOf(state: State): StateRecord | undefined {
    const id = get(state, at.record);
    return id === 0 ? undefined : this.records.of(id);
  }

  private now(state: State): number {
    return begun + get(state, at.now);
  }

  private begin(invocation: Invocation): number {
    return this.runs.begin(this.runs.invocations.id(invocation));
  }

  /**
   * Two may go first, for nobody sees whether they do. Who is about to send does so at once: whoever sends later sends what
   * arrives late, and that may happen to every message. And who writes on what others have changed has lost already.
   */
  private hasty(state: State): number | undefined {
    const rev = this.recordOf(state)?.rev ?? 0;
    return places.find((place) => {
      const wish = this.wishOf(state, place);
      return wish?.to === 'send' || wish?.to === 'publish' || (wish !== undefined && 'when' in wish && wish.when.rev < rev);
    });
  }

  /** Where an order is finished and nobody is about to write, what changes nothing may come in any order: it comes first. */
  private drained(state: State): Successor | undefined {
    const record = this.recordOf(state);
    const isAtRest = record?.processState === 'Processed' && record.nextDueAt === null;
    if (!isAtRest || places.some((place) => get(state, place) !== 0 && !agentAt.some((each) => each === place))) return undefined;
    return this.deliveries(state).find((each) => differsOnlyIn(at.queue, each.state, state));
  }

  /** Whoever is at work gets its answer. */
  private steps(state: State): Successor[] {
    return places.flatMap((place) => this.step(state, place));
  }

  private step(state: State, place: number): Successor[] {
    const point = get(state, place);
    if (point === 0) return [];
    const standing = this.runs.standing(point);
    if (standing === undefined) this.incomplete = true;
    return typeof standing === 'number' ? this.answered(state, place, this.runs.wishes.of(standing)) : [];
  }

  private deliveries(state: State): Successor[] {
    const copies = this.queue.of(get(state, at.queue));
    return copies.flatMap(([id]) => {
      const message = this.messages.of(id);
      const role = message.queue.endsWith('-requests') ? ('agent' as const) : ('scheduler' as const);
      const { schedulers, agents } = this.scenario;
      const slots = role === 'agent' ? agentAt.slice(0, agents) : schedulerAt.slice(0, schedulers);
      const place = slots.find((slot) => get(state, slot) === 0);
      if (place === undefined) return [];
      const taken = copy(state);
      taken[at.queue] = this.without(get(state, at.queue), id);
      taken[place] = this.started(
        { role, message, at: this.now(state) },
        joined(joined(id, 1, role === 'agent' ? 1 : 0), 26, get(state, at.now)),
      );
      const words = () => `${nameOf(place)} receives ${text(message)}`;
      return this.begun(taken, place, words);
    });
  }

  private started(invocation: Invocation, key: number): number {
    return this.memo.invocation.of(key, () => this.begin(invocation));
  }

  /** Reading is the first thing that it does, and nobody sees it: one step. */
  private begun(state: State, place: number, words: () => string): Successor[] {
    const standing = this.runs.standing(get(state, place));
    if (standing === undefined) {
      this.incomplete = true;
      return [];
    }
    const wish = typeof standing === 'number' ? this.runs.wishes.of(standing) : undefined;
    if (wish && wish.to !== 'load' && wish.to !== 'head') return [this.successor(state, words)];
    const more = wish ? this.answered(state, place, wish) : [this.successor(this.rested(state, place), words)];
    return more.map((each) => ({ ...each, told: words }));
  }

  private passes(state: State): Successor[] {
    const record = this.recordOf(state);
    if (!record || record.worklist !== 'due' || (record.worklistAt ?? 0) > this.now(state)) return [];
    return supervisorAt.slice(0, this.scenario.supervisors).flatMap((place) => {
      if (get(state, place) !== 0) return [];
      const passing = copy(state);
      const known = get(state, place + 1);
      const woken = known === 0 ? undefined : this.woken.of(known);
      passing[place] = this.started({ role: 'supervisor', woken, at: this.now(state) }, -joined(known + 1, 26, get(state, at.now)));
      return this.begun(passing, place, () => `${nameOf(place)} looks at the order`);
    });
  }

  private cancellation(state: State): Successor[] {
    if (get(state, at.cancels) === 0 || get(state, at.record) === 0) return [];
    const cancelling = copy(state);
    cancelling[at.cancels] = 0;
    cancelling[at.cancellation] = this.started({ role: 'cancellation', at: this.now(state) }, get(state, at.now));
    return this.begun(cancelling, at.cancellation, () => 'the client cancels');
  }

  private faults(state: State): Successor[] {
    const crashes = places.flatMap((place) => this.crash(state, place));
    const lost = places.flatMap((place): Successor[] => {
      const wish = this.wishOf(state, place);
      if (wish?.to !== 'update' || get(state, at.lost) === 0) return [];
      const meddled = copy(state);
      meddled[at.lost] = get(state, at.lost) - 1;
      return this.answered(meddled, place, wish, true).map((each) => ({ ...each, free: false }));
    });
    return [...crashes, ...lost];
  }

  private crash(state: State, place: number): Successor[] {
    if (get(state, place) === 0 || get(state, at.crashes) === 0) return [];
    const crashed = copy(state);
    crashed[at.crashes] = get(state, at.crashes) - 1;
    if (isSupervisor(place)) crashed[place + 1] = 0;
    crashed[place] = 0;
    const told = () => `${nameOf(place)} crashes before it can ${this.wishOf(state, place)?.to}`;
    return [{ ...this.successor(crashed, told), free: false }];
  }

  /** Time stands still until there is nothing else to do; or it hurries on, while others are still at work. */
  private time(state: State, rests: boolean): Successor[] {
    const record = this.recordOf(state);
    if (!record || record.nextDueAt === null || record.nextDueFor?.kind === 'reminder') return [];
    const due = record.nextDueAt - begun;
    const now = get(state, at.now);
    if (due <= now && !rests) return [];
    if (!rests && get(state, at.hurries) === 0) return [];
    const later = copy(state);
    if (!rests) later[at.hurries] = get(state, at.hurries) - 1;
    later[at.now] = due > now ? due : now + wakeAgainMs;
    for (const place of supervisorAt) {
      const known = get(state, place + 1);
      if (known !== 0 && begun + get(later, at.now) - this.woken.of(known).at >= wakeAgainMs) later[place + 1] = 0;
    }
    const told = () => `${(get(later, at.now) - now) / 1000} s go by`;
    return [{ ...this.successor(later, told), free: rests }];
  }

  /** What an answer does, in every way in which it can be given. */
  private answered(state: State, place: number, wish: Wish, lost = false): Successor[] {
    const after = copy(state);
    const told = () => `${nameOf(place)} ${words(wish)}${lost ? ', and does so again, as nobody answers' : ''}`;
    const goOn = (answer: Answer['said'], record = 0, wrong?: string): Successor[] => {
      const next = this.goOn(after, place, answer, record);
      return [{ ...this.successor(next, told), wrong }];
    };
    switch (wish.to) {
      case 'load':
      case 'head':
        return goOn(get(state, at.record) === 0 ? 'nothing' : 'found', get(state, at.record));
      case 'create':
      case 'update':
      case 'patch':
        return this.write(after, place, wish, lost, told);
      case 'send':
        return goOn('done', 0, this.send(after, place, wish.messages));
      case 'publish':
        return goOn(
          'done',
          0,
          this.tell(
            after,
            wish.announcements.map(({ id }) => ({ id })),
          ),
        );
      case 'serve':
        return this.serve(after, place, wish, told);
    }
  }

  private write(
    state: State,
    place: number,
    wish: Extract<Wish, { readonly to: 'create' | 'update' | 'patch' }>,
    lost: boolean,
    told: () => string,
  ): Successor[] {
    const current = this.recordOf(state);
    const holds = wish.to === 'create' ? !current : current?.rev === wish.when.rev && current.epoch === wish.when.epoch;
    const known = get(state, at.record);
    if (!holds) return [{ ...this.successor(this.goOn(state, place, 'refused', known), () => `${told()}: refused`) }];
    const stored = this.memo.stored.of(joined(joined(get(state, place), 24, known), 5, place), () => this.store(wish, current, place));
    const { id, facts } = this.stored.of(stored);
    const seen = get(state, at.seen);
    const law = this.memo.seen.of(joined(joined(stored, 12, seen), 26, get(state, at.now)), () => {
      const before = this.seen.of(seen);
      const written = { before: current, after: this.records.of(id), facts, at: this.now(state) };
      return wrongWith(written, before) ?? this.seen.id(afterWrite(before, written));
    });
    state[at.record] = id;
    if (typeof law === 'number') state[at.seen] = law;
    const next = this.goOn(state, place, lost ? 'refused' : 'written', lost ? id : 0);
    return [{ ...this.successor(next, told), wrong: typeof law === 'string' ? law : undefined }];
  }

  /** As the store keeps it. The laws read the journal as it is written; nobody reads it here afterwards, so it is left out. */
  private store(
    wish: Extract<Wish, { readonly to: 'create' | 'update' | 'patch' }>,
    current: StateRecord | undefined,
    place: number,
  ): number {
    // The fence holds, so whoever writes has seen these ids; some of their writers have ended since, and are forgotten.
    const writeIds = current?.writeIds ?? [];
    if (wish.to === 'patch') {
      const named = this.named({ ...wish.head, updatedAt: 0, blob: current?.blob ?? '' }, place, 'out');
      const lockedBy = isSupervisor(place) && current ? named.lockedBy && current.lockedBy : named.lockedBy;
      return this.stored.id({ id: this.records.id({ ...named, lockedBy, writeIds }), facts: [] }, `${++this.changes}`);
    }
    const { tail, ...instance } = decodeInstance(wish.record);
    const blob = encodeInstance({ ...instance, ...(newInstance satisfies Instance), state: instance.state, lastAsked: instance.lastAsked });
    const facts = tail.map(({ seq: _, ...fact }) => fact as OrderFact);
    const stored = this.named({ ...wish.record, updatedAt: 0, blob }, place, 'out');
    const id = this.records.id({ ...stored, writeIds: [...writeIds, ...stored.writeIds.slice(-1)].slice(-writeIdsKept) });
    return this.stored.id({ id, facts }, `${++this.changes}`);
  }

  /** Each scheduler sees itself as `me` and the other one as `other`: so both are the same but for their place. */
  private named(record: StateRecord, place: number, way: 'in' | 'out'): StateRecord {
    const pairs = namesFor(place).map(([inside, outside]) => (way === 'in' ? ([outside, inside] as const) : ([inside, outside] as const)));
    return renamed(record, (name) => pairs.find(([from]) => from === name)?.[1] ?? name);
  }

  private goOn(state: State, place: number, saying: Answer['said'], record: number): State {
    const said = sayings.indexOf(saying);
    const answer = this.memo.answer.of(
      joined(joined(joined(record, 3, said), 4, record === 0 ? 0 : viewOf(place)), 26, get(state, at.now)),
      () =>
        this.runs.answers.id({
          at: this.now(state),
          said: sayings[said] ?? 'done',
          ...(record === 0 ? {} : { record: this.viewed(record, place) }),
        }),
    );
    const point = this.runs.next(get(state, place), answer);
    const standing = this.runs.standing(point);
    if (standing === undefined) this.incomplete = true;
    state[place] = typeof standing === 'number' ? (this.runs.readsAnew(point) ?? point) : point;
    return typeof standing === 'number' ? state : this.rested(state, place, standing);
  }

  private viewed(id: number, place: number): StateRecord {
    const record = this.records.of(id);
    if (!isSupervisor(place)) return this.named(record, place, 'in');
    return { ...record, lockedBy: record.lockedBy && 'somebody', writeIds: [] };
  }

  /** It is through. What failed is delivered once more. */
  private rested(state: State, place: number, standing: 'done' | 'failed' | undefined = 'done'): State {
    const point = get(state, place);
    const invocation = this.runs.invocationOf(point);
    if (standing === 'failed' && 'message' in invocation)
      state[at.queue] = this.with(get(state, at.queue), this.messages.id(invocation.message), 1);
    if (invocation.role === 'supervisor') state[place + 1] = this.remembered(point) ?? get(state, place + 1);
    state[place] = 0;
    return state;
  }

  /** Only who wakes somebody without having written remembers it. */
  private remembered(point: number): number | undefined {
    const answers = this.runs.answersOf(point);
    const [found, sent] = answers;
    if (answers.length !== 2 || !found?.record || sent?.said !== 'done') return undefined;
    const { blob: _, ...head } = found.record;
    const { nextDueAt, nextDueFor } = head;
    return this.woken.id({ head, at: found.at }, `${nextDueFor?.kind}@${nextDueAt} ${found.at}`);
  }

  private send(state: State, place: number, messages: readonly Outgoing[]): string | undefined {
    for (const { queue, body } of messages) {
      if (queue === responses) {
        const status = JSON.parse(body) as { readonly seq: number; readonly status: string };
        const wrong = this.tell(state, [{ id: `${this.order.orderId}/status/${status.seq}`, status }]);
        if (wrong) return wrong;
      } else state[at.queue] = this.with(get(state, at.queue), this.messages.id({ queue, body }), this.scenario.copies);
      if (queue === queues.replies('shop') && this.isLate(get(state, place), body)) return 'an agent answers after its time';
    }
    return undefined;
  }

  /** S8: by the time that it was given in its request. */
  private isLate(point: number, body: string): boolean {
    const invocation = this.runs.invocationOf(point);
    const { completeBy = '' } = 'message' in invocation ? (JSON.parse(invocation.message.body) as { completeBy?: string }) : {};
    return (JSON.parse(body) as { sentAt: string }).sentAt > completeBy;
  }

  private tell(
    state: State,
    entries: readonly { readonly id: string; readonly status?: { readonly seq: number; readonly status: string } }[],
  ): string | undefined {
    const record = this.recordOf(state);
    for (const { id, status } of entries) {
      if (!record) return `${id} is told, and nothing is stored`;
      const told = afterTelling(this.seen.of(get(state, at.seen)), id, record, status);
      if (typeof told === 'string') return told;
      state[at.seen] = this.seen.id(told);
    }
    return undefined;
  }

  private serve(
    state: State,
    place: number,
    { operation, key, undoes }: Extract<Wish, { readonly to: 'serve' }>,
    told: () => string,
  ): Successor[] {
    const before = this.effects.of(get(state, at.effects));
    const known = before[key];
    const choices = known ? [known.is === 'refused'] : operation === 'charge' && this.scenario.refuses ? [false, true] : [false];
    return choices.map((refused) => {
      const after = copy(state);
      const effects = known ? before : served(before, operation, key, undoes, refused);
      if (typeof effects !== 'string') after[at.effects] = this.effects.id(effects);
      const next = this.goOn(after, place, refused ? 'refused' : 'done', 0);
      const words = () => `${told()}: ${refused ? 'refused' : known ? 'known already' : 'done'}`;
      return { ...this.successor(next, words), wrong: typeof effects === 'string' ? effects : undefined };
    });
  }

  private with(queue: number, message: number, copies: number): number {
    return this.memo.queue.of(joined(joined(queue, 20, message), 2, copies), () => {
      const before = this.queue.of(queue);
      const count = Math.min(this.scenario.copies, copies + (before.find(([id]) => id === message)?.[1] ?? 0));
      return this.queue.id(
        [...before.filter(([id]) => id !== message), [message, count] as const].toSorted(([one], [other]) => one - other),
      );
    });
  }

  private without(queue: number, message: number): number {
    return this.memo.queue.of(joined(joined(queue, 20, message), 2, 0), () =>
      this.queue.id(
        this.queue
          .of(queue)
          .flatMap(([id, count]) => (id !== message ? [[id, count] as const] : count > 1 ? [[id, count - 1] as const] : [])),
      ),
    );
  }

  /** States that differ in nothing but names are one: it stands for all of them. */
  private successor(state: State, told: () => string): Successor {
    swapIfLess(state, agentAt[0], agentAt[1], 1);
    this.forgetNames(state);
    for (const place of supervisorAt) if (!this.isRemembered(state, place)) state[place + 1] = 0;
    swapIfLess(state, supervisorAt[0], supervisorAt[1], 2);
    return { state, free: true, told };
  }

  /** Whom it woke, and for what, matters as long as it is still due. */
  private isRemembered(state: State, place: number): boolean {
    const woken = get(state, place + 1);
    const record = get(state, at.record);
    if (woken === 0 || record === 0) return true;
    return this.memo.due.of(joined(woken, 24, record), () => {
      const { nextDueAt, nextDueFor } = this.woken.of(woken).head;
      const now = this.records.of(record);
      return now.nextDueAt === nextDueAt && now.nextDueFor?.kind === nextDueFor?.kind;
    });
  }

  /** The name of a write matters as long as its writer may ask whether it was his. */
  private forgetNames(state: State): void {
    const [first, second] = [get(state, schedulerAt[0]), get(state, schedulerAt[1])];
    const alone = get(state, at.submission) === 0 && get(state, at.cancellation) === 0;
    const swaps = alone && first < second;
    if (swaps) {
      state[schedulerAt[0]] = second;
      state[schedulerAt[1]] = first;
    }
    const id = get(state, at.record);
    if (id === 0) return;
    const busy = hostsAt.map((place) => get(state, place));
    const key = busy.reduce((whole, point) => joined(whole, 1, point === 0 ? 0 : 1), joined(id, 1, swaps ? 1 : 0));
    state[at.record] = this.memo.record.of(key, () => {
      const record = renamed(this.records.of(id), (name) => (swaps ? (mirrored[name] ?? name) : name));
      const isBusy = (writeId: string) => hosts.some((host, index) => busy[index] !== 0 && writeId.startsWith(`${host}:`));
      const writeIds = record.writeIds.map(({ id: writeId }) => ({ id: isBusy(writeId) ? writeId : '-', rev: 0 }));
      const from = writeIds.findIndex((each) => each.id !== '-');
      const idle = hosts.findIndex((host) => host === record.lockedBy);
      const lockedBy = idle >= 0 && busy[idle] === 0 && alone && busy[0] === 0 && busy[1] === 0 ? 'host-idle' : record.lockedBy;
      return this.records.id({ ...record, lockedBy, writeIds: from < 0 ? [] : writeIds.slice(from) });
    });
  }

  private wishOf(state: State, place: number): Wish | undefined {
    const standing = get(state, place) === 0 ? undefined : this.runs.standing(get(state, place));
    return typeof standing === 'number' ? this.runs.wishes.of(standing) : undefined;
  }

  /** What the story shows of a state. */
  told(state: State): string {
    const record = this.recordOf(state);
    if (!record) return 'nothing is stored';
    const { processState, outcome, rev, epoch, failureCount, outbox } = record;
    return `${outcome ?? processState}, rev ${rev}, epoch ${epoch}, failures ${failureCount}, outbox ${outbox.map(({ id }) => id).join(' ') || 'empty'}`;
  }
}

const hostsAt = [schedulerAt[0], schedulerAt[1], at.submission, at.cancellation] as const;
const hosts = ['host-A', 'host-B', 'host-submission', 'host-cancellation'] as const;
const sayings: readonly Answer['said'][] = ['found', 'nothing', 'written', 'refused', 'done'];
const mirrored: { readonly [name: string]: string } = { 'host-A': 'host-B', 'host-B': 'host-A' };
const places: readonly number[] = [at.submission, at.cancellation, ...schedulerAt, ...supervisorAt, ...agentAt];

const isSupervisor = (place: number): boolean => place === supervisorAt[0] || place === supervisorAt[1];

const namesFor = (place: number): readonly (readonly [inside: string, outside: string])[] => {
  if (place === schedulerAt[0])
    return [
      [me, 'host-A'],
      ['host-other', 'host-B'],
    ];
  if (place === schedulerAt[1])
    return [
      [me, 'host-B'],
      ['host-other', 'host-A'],
    ];
  return place === at.submission ? [[me, 'host-submission']] : [[me, 'host-cancellation']];
};

/** Who sees the same record in the same way. */
const viewOf = (place: number): number => (isSupervisor(place) ? 1 : Math.min(15, place));

function renamed(record: StateRecord, name: (host: string) => string): StateRecord {
  const writeIds = record.writeIds.map(({ id, rev }) => {
    const end = id.lastIndexOf(':');
    return { id: end < 0 ? id : name(id.slice(0, end)) + id.slice(end), rev };
  });
  return { ...record, lockedBy: record.lockedBy === null ? null : name(record.lockedBy), writeIds };
}

const get = (state: State, place: number): number => state[place] ?? 0;
const copy = (state: State): State => state.slice();
const equal = (one: State, other: State): boolean => one.every((value, index) => value === other[index]);

const differsOnlyIn = (place: number, one: State, other: State): boolean =>
  one.every((value, index) => index === place || value === other[index]);

function swapIfLess(state: State, one: number, other: number, count: number): void {
  for (let index = 0; index < count; index++) {
    const difference = get(state, one + index) - get(state, other + index);
    if (difference > 0) return;
    if (difference === 0) continue;
    for (let place = 0; place < count; place++) {
      const kept = get(state, one + place);
      state[one + place] = get(state, other + place);
      state[other + place] = kept;
    }
    return;
  }
}

const nameOf = (place: number): string =>
  ({
    [at.submission]: 'the API',
    [at.cancellation]: 'the client',
    [schedulerAt[0]]: 'scheduler A',
    [schedulerAt[1]]: 'scheduler B',
    [supervisorAt[0]]: 'supervisor A',
    [supervisorAt[1]]: 'supervisor B',
    [agentAt[0]]: 'agent A',
    [agentAt[1]]: 'agent B',
  })[place] ?? `place ${place}`;

const text = ({ queue, body }: Message): string => {
  const { type, requestId, result } = JSON.parse(body) as { type: string; requestId?: string; result?: { status: string } };
  return `${type}${requestId ? ` ${requestId}` : ''}${result ? ` (${result.status})` : ''} from ${queue}`;
};

const words = (wish: Wish): string => {
  switch (wish.to) {
    case 'send':
      return `sends ${wish.messages.map((message) => text(message)).join(', ')}`;
    case 'publish':
      return `announces ${wish.announcements.map(({ id }) => id).join(', ')}`;
    case 'serve':
      return `asks the service to ${wish.operation} under ${wish.key}`;
    case 'update':
      return `writes rev ${wish.record.rev} (${wish.record.outcome ?? wish.record.processState}, epoch ${wish.record.epoch})`;
    case 'patch':
      return `writes rev ${wish.head.rev} without the instance (${wish.head.processState})`;
    case 'create':
      return 'creates the order';
    default:
      return `reads (${wish.to})`;
  }
};
