import { Environment } from './environment.ts';
import { forgetting, hostsAt, seenFrom, viewOf } from './names.ts';
import { type Answer, type Invocation, Runs, type Wish, type Woken } from './runs.ts';
import type { Scenario } from './scenarios.ts';
import {
  agentAt,
  at,
  begun,
  copy,
  differsOnlyIn,
  equal,
  get,
  isAgent,
  isSupervisor,
  now,
  places,
  type State,
  schedulerAt,
  supervisorAt,
  swapIfLess,
  width,
} from './state.ts';
import { joined, Memo, Table } from './table.ts';
import { nameOf, text, words } from './words.ts';

export interface Successor {
  readonly state: State;
  /** Whether it needs no fault. */
  readonly free: boolean;
  /** The violation that it causes. */
  readonly wrong?: string | undefined;
  readonly told: () => string;
}

const wakeAgainMs = 30_000;

/** One order, all roles that may work on it, and the possible next events. */
export class World {
  readonly runs: Runs;
  readonly environment: Environment;
  private readonly scenario: Scenario;
  private readonly woken = new Table<Woken>();
  private readonly memo = {
    record: new Memo<number>(),
    answer: new Memo<number>(),
    invocation: new Memo<number>(),
    due: new Memo<boolean>(),
  };
  private incomplete = false;

  constructor(scenario: Scenario) {
    this.scenario = scenario;
    this.environment = new Environment(scenario);
    this.runs = new Runs(this.environment.order);
  }

  /** Returns the initial state: the client's order has arrived, and nothing is stored yet. */
  first(): State {
    const { crashes, lostAnswers, hurries, cancels } = this.scenario;
    const state = new Int32Array(width);
    this.environment.begin(state);
    state[at.crashes] = crashes;
    state[at.lost] = lostAnswers;
    state[at.hurries] = hurries;
    state[at.cancels] = cancels ? 1 : 0;
    state[at.submission] = this.begin({ role: 'submission', order: this.environment.order, at: begun });
    return state;
  }

  /** Returns all possible next events; undefined if a role must be examined first: call `runs.look`, then this again. */
  successors(state: State): readonly Successor[] | undefined {
    this.incomplete = false;
    const successors = this.foremost(state) ?? this.all(state);
    return this.incomplete ? undefined : successors;
  }

  /** Returns a single event if its order is invisible to all others. */
  private foremost(state: State): Successor[] | undefined {
    const hasty = this.hasty(state);
    if (hasty !== undefined) return [...this.step(state, hasty), ...this.crash(state, hasty)];
    const drained = this.drained(state);
    return drained && [drained];
  }

  private all(state: State): Successor[] {
    const free = [...this.steps(state), ...this.deliveries(state), ...this.passes(state), ...this.cancellation(state)];
    const rests = free.every((each) => equal(each.state, state));
    return [...free, ...this.faults(state), ...this.time(state, rests)];
  }

  private begin(invocation: Invocation): number {
    return this.runs.begin(this.runs.invocations.id(invocation));
  }

  /**
   * Returns the place of a run whose next step may come first, because no other run sees its time. Every message may
   * arrive late, so sending at once covers sending later. A write on a changed record has lost already.
   */
  private hasty(state: State): number | undefined {
    const rev = this.environment.recordOf(state)?.rev ?? 0;
    return places.find((place) => {
      const wish = this.wishOf(state, place);
      return wish?.to === 'send' || wish?.to === 'publish' || (wish !== undefined && 'when' in wish && wish.when.rev < rev);
    });
  }

  /**
   * Returns an event that changes nothing. If the order is finished and no run is about to write, the sequence of such
   * events does not matter, and they come first.
   */
  private drained(state: State): Successor | undefined {
    const record = this.environment.recordOf(state);
    const isAtRest = record?.processState === 'Processed' && record.nextDueAt === null;
    if (!isAtRest || places.some((place) => get(state, place) !== 0 && !isAgent(place))) return undefined;
    return this.deliveries(state).find((each) => differsOnlyIn(at.queue, each.state, state));
  }

  /** Gives every run its answer. */
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
    return this.environment.waiting(state).flatMap((id) => {
      const message = this.environment.messages.of(id);
      const role = message.queue.endsWith('-requests') ? ('agent' as const) : ('scheduler' as const);
      const { schedulers, agents } = this.scenario;
      const slots = role === 'agent' ? agentAt.slice(0, agents) : schedulerAt.slice(0, schedulers);
      const place = slots.find((slot) => get(state, slot) === 0);
      if (place === undefined) return [];
      const taken = copy(state);
      this.environment.take(taken, id);
      taken[place] = this.started({ role, message, at: now(state) }, joined(id, 12, this.environment.timeOf(state)));
      return this.begun(taken, place, () => `${nameOf(place)} receives ${text(message)}`);
    });
  }

  private started(invocation: Invocation, key: number): number {
    return this.memo.invocation.of(key, () => this.begin(invocation));
  }

  /** Begins a run. Its first read is invisible to other roles, so both are one step. */
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
    const record = this.environment.recordOf(state);
    if (record?.worklist !== 'due' || (record.worklistAt ?? 0) > now(state)) return [];
    return supervisorAt.slice(0, this.scenario.supervisors).flatMap((place) => {
      if (get(state, place) !== 0) return [];
      const passing = copy(state);
      const known = get(state, place + 1);
      const woken = known === 0 ? undefined : this.woken.of(known);
      passing[place] = this.started({ role: 'supervisor', woken, at: now(state) }, -joined(known + 1, 12, this.environment.timeOf(state)));
      return this.begun(passing, place, () => `${nameOf(place)} looks at the order`);
    });
  }

  private cancellation(state: State): Successor[] {
    if (get(state, at.cancels) === 0 || get(state, at.record) === 0) return [];
    const canceling = copy(state);
    canceling[at.cancels] = 0;
    canceling[at.cancellation] = this.started({ role: 'cancellation', at: now(state) }, this.environment.timeOf(state));
    return this.begun(canceling, at.cancellation, () => 'the client cancels');
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

  /** Moves the time only when no other event is possible; a hurry moves it while other runs are in progress. */
  private time(state: State, rests: boolean): Successor[] {
    const record = this.environment.recordOf(state);
    if (!record || record.nextDueAt === null || record.nextDueFor?.kind === 'reminder') return [];
    const due = record.nextDueAt - begun;
    const before = get(state, at.now);
    if (due <= before && !rests) return [];
    if (!rests && get(state, at.hurries) === 0) return [];
    const later = copy(state);
    if (!rests) later[at.hurries] = get(state, at.hurries) - 1;
    later[at.now] = due > before ? due : before + wakeAgainMs;
    for (const place of supervisorAt) {
      const known = get(state, place + 1);
      if (known !== 0 && begun + get(later, at.now) - this.woken.of(known).at >= wakeAgainMs) later[place + 1] = 0;
    }
    const told = () => `${(get(later, at.now) - before) / 1000} s go by`;
    return [{ ...this.successor(later, told), free: rests }];
  }

  /**
   * Returns the effects of an answer, in each possible form. `lost`: the answer was lost, and the repeated write meets
   * its first attempt.
   */
  private answered(state: State, place: number, wish: Wish, lost = false): Successor[] {
    const after = copy(state);
    const told = () => `${nameOf(place)} ${words(wish)}${lost ? ', and does so again, as nobody answers' : ''}`;
    const { environment } = this;
    switch (wish.to) {
      case 'load':
      case 'head':
        return [this.goOn(after, place, get(state, at.record) === 0 ? 'nothing' : 'found', told)];
      case 'create':
      case 'update':
      case 'patch': {
        if (!environment.holds(state, wish)) return [this.goOn(after, place, 'refused', () => `${told()}: refused`)];
        const wrong = environment.write(after, place, get(state, place), wish);
        return [{ ...this.goOn(after, place, lost ? 'refused' : 'written', told), wrong }];
      }
      case 'send': {
        const wrong = this.wrongReply(get(state, place), wish.messages) ?? environment.send(after, wish.messages);
        return [{ ...this.goOn(after, place, 'done', told), wrong }];
      }
      case 'publish': {
        const wrong = wish.announcements.map((announcement) => environment.publish(after, announcement)).find((each) => each !== undefined);
        return [{ ...this.goOn(after, place, 'done', told), wrong }];
      }
      case 'serve':
        return environment.answers(state, wish).map((answer) => {
          const next = copy(state);
          const wrong = environment.serve(next, wish, answer);
          return { ...this.goOn(next, place, answer, () => `${told()}: ${answer}`), wrong };
        });
    }
  }

  private wrongReply(point: number, messages: Extract<Wish, { to: 'send' }>['messages']): string | undefined {
    const invocation = this.runs.invocationOf(point);
    if (invocation.role !== 'agent') return undefined;
    for (const reply of messages) {
      const wrong = this.environment.judgement.ofReply(invocation.message, reply);
      if (wrong !== undefined) return wrong;
    }
    return undefined;
  }

  private goOn(state: State, place: number, saying: Answer['said'], told: () => string): Successor {
    const said = sayings.indexOf(saying);
    const record = saying === 'found' || (saying === 'refused' && !isAgent(place)) ? get(state, at.record) : 0;
    const key = joined(joined(joined(record, 3, said), 4, record === 0 ? 0 : viewOf(place)), 12, this.environment.timeOf(state));
    const answer = this.memo.answer.of(key, () => {
      const more = record === 0 ? {} : { record: seenFrom(this.environment.records.of(record), place) };
      return this.runs.answers.id({ at: now(state), said: saying, ...more });
    });
    const point = this.runs.next(get(state, place), answer);
    const standing = this.runs.standing(point);
    if (standing === undefined) this.incomplete = true;
    state[place] = typeof standing === 'number' ? (this.runs.readsAnew(point) ?? point) : point;
    return this.successor(typeof standing === 'number' ? state : this.rested(state, place, standing), told);
  }

  /** Ends a run; a failed message is redelivered. */
  private rested(state: State, place: number, standing: 'done' | 'failed' | undefined = 'done'): State {
    const point = get(state, place);
    const invocation = this.runs.invocationOf(point);
    if (standing === 'failed' && 'message' in invocation) this.environment.put(state, this.environment.messages.id(invocation.message), 1);
    if (invocation.role === 'supervisor') state[place + 1] = this.remembered(point) ?? get(state, place + 1);
    state[place] = 0;
    return state;
  }

  /** Returns the wake-up that a supervisor remembers: only one that it sent without a write. */
  private remembered(point: number): number | undefined {
    const answers = this.runs.answersOf(point);
    const [found, sent] = answers;
    if (answers.length !== 2 || !found?.record || sent?.said !== 'done') return undefined;
    const { blob: _, ...head } = found.record;
    const { nextDueAt, nextDueFor } = head;
    return this.woken.id({ head, at: found.at }, `${nextDueFor?.kind}@${nextDueAt} ${found.at}`);
  }

  /** Returns the representative of all states that differ only in names. */
  private successor(state: State, told: () => string): Successor {
    swapIfLess(state, agentAt[0], agentAt[1], 1);
    this.forgetNames(state);
    for (const place of supervisorAt) if (!this.isRemembered(state, place)) state[place + 1] = 0;
    swapIfLess(state, supervisorAt[0], supervisorAt[1], 2);
    return { state, free: true, told };
  }

  /** Whether the remembered wake-up still matters: its order is due at the same time for the same reason. */
  private isRemembered(state: State, place: number): boolean {
    const woken = get(state, place + 1);
    const record = get(state, at.record);
    if (woken === 0 || record === 0) return true;
    return this.memo.due.of(joined(woken, 24, record), () => {
      const { nextDueAt, nextDueFor } = this.woken.of(woken).head;
      const found = this.environment.records.of(record);
      return found.nextDueAt === nextDueAt && found.nextDueFor?.kind === nextDueFor?.kind;
    });
  }

  /** Sorts equal schedulers, and drops names that no role will read. */
  private forgetNames(state: State): void {
    const [first, second] = [get(state, schedulerAt[0]), get(state, schedulerAt[1])];
    // Names may be swapped only if no other role has read them.
    const swaps = first < second && get(state, at.submission) === 0 && get(state, at.cancellation) === 0;
    if (swaps) {
      state[schedulerAt[0]] = second;
      state[schedulerAt[1]] = first;
    }
    const id = get(state, at.record);
    if (id === 0) return;
    let key = joined(id, 1, swaps ? 1 : 0);
    for (const place of hostsAt) key = joined(key, 1, get(state, place) === 0 ? 0 : 1);
    state[at.record] = this.memo.record.of(key, () => {
      const busy = hostsAt.map((place) => get(state, place) !== 0);
      return this.environment.records.id(forgetting(this.environment.records.of(id), busy, swaps));
    });
  }

  private wishOf(state: State, place: number): Wish | undefined {
    const standing = get(state, place) === 0 ? undefined : this.runs.standing(get(state, place));
    return typeof standing === 'number' ? this.runs.wishes.of(standing) : undefined;
  }
}

const sayings: readonly Answer['said'][] = ['found', 'nothing', 'written', 'refused', 'done'];
