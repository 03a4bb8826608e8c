import { InstanceLockedError } from '#ports/errors';
import { consumerOf, queueNames as names } from '#ports/messages';
import { callKey } from '#roles/operator/idempotency';
import type { Decision } from '#roles/operator/instruction';
import { decodeInstance, type StoredEntry } from '#roles/scheduler/instance';
import { acquireLease, lockPolicies } from '#roles/scheduler/lease';
import { orderIdOf, type Submission } from '#roles/submission/submission';
import type { System } from '#runtime/system';
import { instructOnce, recorded, submitOnce, unreadable, untilAnswered } from '#testing/world/clients';
import { failureOf } from '#testing/world/telemetry';
import { offers, secretOf } from './app.ts';
import { as, type Role } from './at-work.ts';
import { type SimulatedHost, sources } from './host.ts';
import type { Shared } from './ports.ts';
import type { SimulatedQueues } from './queues.ts';
import type { Surroundings } from './surroundings.ts';

/** Options of an instruction. */
interface How {
  readonly ifMatch?: number;
  readonly onAnswer?: (answer: 'accepted' | 'refused') => void;
  /** Whether the operator reads the preview first. */
  readonly foresees?: boolean;
  /** Whether the decision contains an answer that the workflow does not accept. */
  readonly isWrong?: boolean;
}

/** Options of an order that a client submits. */
interface Submitting {
  /** The longest time until the client submits it. */
  readonly soonMs?: number;
  /** Whether the client may cancel it. */
  readonly mayCancel?: boolean;
}

const wrongName: Decision = { kind: 'signal', name: 'disapproved', payload: { by: 'somebody' } };
const wrongPayload: Decision = { kind: 'signal', name: 'approved', payload: { by: 7 } };

const patienceMs = 4000;
export const clientName = 'client';
/** The response queue of the client. */
export const responseQueue = 'redress-response-client';
/** Returns a reference for half of the orders, derived from the order id. */
export const referenceOf = (orderId: string): string | undefined =>
  orderId.charCodeAt(orderId.length - 1) % 2 === 0 ? `reference ${orderId.slice(-4)}` : undefined;
/** A client whose identity no sender here may use. */
export const strangerName = 'stranger';

/** Workflows that clients cancel more often, and how soon: slow ones are canceled while they run. */
const canceled: { readonly [workflow: string]: { readonly often: number; readonly withinMs: number } } = {
  weekend: { often: 0.8, withinMs: 900_000 },
  entry: { often: 0.8, withinMs: 90_000 },
};

/** The parts of the system that outsiders can reach. */
export interface Reach {
  readonly around: Surroundings;
  readonly queues: SimulatedQueues;
  readonly shared: Shared;
  /** Returns a running host that answers calls; undefined if there is none. */
  anyHost(): SimulatedHost | undefined;
  /** Returns the history of an order as far as it has come; empty if the order is not stored yet. */
  journalOf(orderId: string): readonly StoredEntry[];
}

/** Clients and operators: they submit, signal, cancel and decide, and repeat each call until it is answered. */
export class Clients {
  /** Number of unanswered calls. */
  waiting = 0;
  /** Orders about which people do not decide one by one as long as faults last, mostly because bulk runs do. */
  readonly leftToRuns = new Set<string>();
  private readonly reach: Reach;
  /** Orders that a newer program currently has. */
  private readonly newer = new Set<string>();
  private calls = 0;
  /** Leases that were requested and not released: `host order`. */
  private readonly leases = new Set<string>();
  /** Numbers of submitted orders: two orders of a client have two keys. */
  private readonly numbers = new Set<number>();
  /** Damaged orders that somebody has tried to end for good. */
  private readonly tried = new Set<string>();

  constructor(reach: Reach) {
    this.reach = reach;
  }

  submitSomething(number: number, offer?: (typeof offers)[number], { soonMs, mayCancel = true }: Submitting = {}): string {
    if (this.numbers.has(number)) throw new Error(`Two themes of this world submit order-${number}. Give one of them other numbers.`);
    this.numbers.add(number);
    const { chance, timeline } = this.reach.around;
    const { workflow, body } = offer ?? chance.pick(offers);
    const idempotencyKey = `order-${number}`;
    const orderId = orderIdOf(clientName, idempotencyKey);
    const reference = referenceOf(orderId);
    const named = { client: clientName, idempotencyKey, ...(reference === undefined ? {} : { reference }) };
    const submission = { ...named, workflow, order: body, responseChannel: responseQueue };
    const byMessage = chance.happens(0.3);
    timeline.after(chance.between(0, soonMs ?? 60_000), `client submits ${number}`, () => {
      this.reach.around.narrate(() => `the client ${byMessage ? 'posts' : 'submits'} ${orderId}, a ${workflow}`);
      if (byMessage)
        this.reach.queues.send([{ queue: names.submissions, body: JSON.stringify({ v: 1, type: 'submission', ...submission }) }]);
      else this.submit(submission);
    });
    if (chance.happens(0.1)) this.rival(submission);
    if (chance.happens(0.1)) this.pose(submission);
    if (chance.happens(0.1)) this.upgrade(orderId);
    if (workflow === 'approval') for (let signals = chance.between(1, 3); signals > 0; signals--) this.signal(orderId);
    const { often, withinMs } = canceled[workflow] ?? { often: 0.2, withinMs: 120_000 };
    if (mayCancel && chance.happens(often)) this.cancel(orderId, withinMs);
    return orderId;
  }

  /** Submits one order, and repeats the call until it is answered. */
  submit(submission: Submission & { readonly workflow: string }): void {
    this.persist('client', `submit ${submission.idempotencyKey}`, async ({ system }) => {
      this.reach.around.record(await submitOnce(system, submission));
      return true;
    });
  }

  /** Submits another order under the same key; it may arrive before the order that owns the key. */
  private rival(submission: Submission & { readonly workflow: string }): void {
    const { chance, timeline } = this.reach.around;
    const others = offers.filter(({ workflow }) => workflow !== submission.workflow);
    timeline.after(chance.between(0, 90_000), 'the client uses a key again', () => {
      const { workflow, body } = chance.pick(others);
      this.submit({ ...submission, workflow, order: body });
    });
  }

  /** Sends a submission in the name of a client that has not allowed it. */
  private pose(submission: Submission): void {
    const { around } = this.reach;
    around.timeline.after(around.chance.between(0, 60_000), 'somebody poses as another client', () => {
      const body = JSON.stringify({ v: 1, type: 'submission', ...submission, client: strangerName, responseChannel: undefined });
      this.reach.queues.put(names.submissions, body, 0);
      around.record({ type: 'poisoned', body });
    });
  }

  /** A newer program has the order for a while, and is rolled back. */
  private upgrade(orderId: string): void {
    const { around, shared } = this.reach;
    around.timeline.after(around.chance.between(500, 90_000), 'a newer program writes', () => {
      if (around.faults.over || shared.last.get(orderId)?.state.processState !== 'Processing') return;
      // For an order that is submitted twice, this may be planned twice. It happens once.
      if (this.newer.has(orderId)) return;
      this.newer.add(orderId);
      shared.rewrite(orderId, 2);
      around.record({ type: 'newer', orderId, isNewer: true });
      around.timeline.after(around.chance.between(1000, 40_000), 'the newer program is rolled back', () => {
        this.newer.delete(orderId);
        around.record({ type: 'newer', orderId, isNewer: false });
        shared.rewrite(orderId, 1);
      });
    });
  }

  private signal(orderId: string): void {
    const { around } = this.reach;
    around.timeline.after(around.chance.between(0, 150_000), 'somebody signals', () => {
      const key = `signal-${++this.calls}`;
      const isWrong = around.chance.happens(0.15);
      const signal: Decision = isWrong
        ? around.chance.pick([wrongName, wrongPayload])
        : { kind: 'signal', name: 'approved', payload: { by: secretOf('somebody') } };
      const heard = (answer: 'pending' | 'accepted' | 'refused') => around.record({ type: 'signal', orderId, key, answer });
      // A signal without a key must not be repeated: the system could not recognize the repetition.
      if (around.chance.happens(0.5)) return this.instruct(orderId, signal, key, { onAnswer: heard, isWrong });
      heard('pending');
      const answered = as('client', () => this.reach.anyHost()?.system.scheduler.instruct(orderId, signal, { id: key }));
      answered?.then(({ outcome }) => heard(outcome === 'done' ? 'accepted' : 'refused')).catch(() => undefined);
    });
  }

  cancel(orderId: string, withinMs: number): void {
    const { around } = this.reach;
    around.timeline.after(around.chance.between(0, withinMs), 'the client cancels', () => {
      const key = `cancel-${++this.calls}`;
      this.instruct(orderId, { kind: 'cancel', by: clientName, reason: key }, key);
    });
  }

  /** A person looks at an order in Error and decides. */
  decide(orderId: string, { finally: isLast, isDamaged = false }: { readonly finally: boolean; readonly isDamaged?: boolean }): void {
    const { chance } = this.reach.around;
    // An order whose journal is unusable cannot be undone: after one attempt, an operator terminates it.
    const hasTried = this.tried.has(orderId);
    if (isDamaged && isLast) this.tried.add(orderId);
    const kinds = isDamaged
      ? ((isLast && hasTried ? ['terminate'] : ['compensate', 'terminate']) as readonly ('compensate' | 'terminate')[])
      : this.isBeingUndone(orderId)
        ? (['resubmit'] as const)
        : isLast
          ? (['cancel', 'compensate'] as const)
          : (['resubmit', 'cancel', 'compensate', 'terminate'] as const);
    const kind = chance.pick<'resubmit' | 'cancel' | 'compensate' | 'terminate'>(kinds);
    const isWrong = chance.happens(0.1);
    const answers = { answer: { yes: isWrong ? 'perhaps' : true, note: secretOf('somebody') } };
    const answer = kind === 'resubmit' && !this.isBeingUndone(orderId) && chance.happens(0.5) ? answers : {};
    const key = `decision-${++this.calls}`;
    const decision: Decision = { kind, by: 'operator', reason: key, ...answer, ...(kind === 'compensate' ? this.scopeFor(orderId) : {}) };
    if (chance.happens(0.5))
      this.instruct(orderId, decision, key, { foresees: chance.happens(0.4), isWrong: isWrong && 'answer' in answer });
    else this.decideAsSeen(orderId, decision, key, isWrong && 'answer' in answer);
  }

  /** Whether the order was being undone when it was last readable. */
  private isBeingUndone(orderId: string): boolean {
    const state = this.reach.shared.last.get(orderId)?.state;
    return state !== undefined && decodeInstance(state).state.ending !== undefined;
  }

  /** Undoes the innermost scope around the failed step. */
  compensateScope(orderId: string): void {
    const path = this.innermostScope(orderId);
    const key = `decision-${++this.calls}`;
    if (path === undefined) return;
    const { around } = this.reach;
    const onAnswer = (answer: string): void => around.carriedOut(`emitted scope undone ${answer}`);
    this.instruct(orderId, { kind: 'compensate', by: 'operator', reason: key, path }, key, { onAnswer });
  }

  /** Every second undo is one of a scope, if the failed step is inside one. */
  private scopeFor(orderId: string): { readonly path?: string } {
    const innermost = this.innermostScope(orderId);
    return innermost !== undefined && this.calls % 2 === 0 ? { path: innermost } : {};
  }

  private innermostScope(orderId: string): string | undefined {
    const state = this.reach.shared.last.get(orderId)?.state;
    const { blocked, activities = {} } = (state && decodeInstance(state).state) ?? {};
    const around = Object.keys(activities).filter((path) => path !== 'order' && blocked?.path.startsWith(`${path}/`));
    return around.toSorted((one, other) => other.length - one.length)[0];
  }

  /** The operator reads the order, and decides some time later: the order may have continued meanwhile. */
  private decideAsSeen(orderId: string, decision: Decision, key: string, isWrong: boolean): void {
    const { timeline, chance } = this.reach.around;
    let hasLooked = false;
    this.persist('operator', `look at ${orderId}`, async ({ system }) => {
      const rev = (await system.store.head(orderId))?.rev;
      // Two reads may be answered; the operator decides once.
      if (hasLooked) return true;
      hasLooked = true;
      this.waiting += 1;
      timeline.after(chance.between(1000, 20_000), 'a person decides', () => {
        this.waiting -= 1;
        if (chance.happens(0.5)) this.instruct(orderId, decision, key, { ifMatch: rev ?? 0, isWrong });
        else this.decideOnce(orderId, decision, key, rev ?? 0);
      });
      return true;
    });
  }

  /** Decides without a key, and so only once: the system could not recognize a repetition. */
  private decideOnce(orderId: string, decision: Decision, reason: string, ifMatch: number): void {
    const answered = as('operator', () =>
      this.reach.anyHost()?.system.scheduler.instruct(orderId, decision, recorded(orderId, decision, { id: reason, ifMatch })),
    );
    answered
      ?.then((answer) => this.reach.around.record({ type: 'decided', orderId, reason, seenRev: ifMatch, answer }))
      .catch(() => undefined);
  }

  /** Gives an instruction that may not fit the state of the order. */
  meddle(orderId: string): void {
    const { chance } = this.reach.around;
    const key = `meddling-${++this.calls}`;
    const by = { by: 'operator', reason: key };
    const decision = chance.pick<Decision>([
      { kind: 'compensate', ...by },
      { kind: 'resubmit', ...by },
      { kind: 'resubmit', answer: { yes: true }, ...by },
      { kind: 'mark-compensated', ...by },
      { kind: 'resume', ...by },
      { kind: 'mark-compensated', path: 'order/reserve', ...by },
      wrongName,
    ]);
    this.instruct(orderId, decision, key, { foresees: chance.happens(0.4), isWrong: decision.kind === 'signal' });
  }

  /** A person has undone a step by hand whose undo kept failing. */
  markCompensated(orderId: string, path: string): void {
    const key = `mark-${++this.calls}`;
    this.instruct(orderId, { kind: 'mark-compensated', path, by: 'operator', reason: key }, key);
  }

  /** Holds the lease of an order for a while; if the host dies, until the lease expires. */
  hold(orderId: string): void {
    const host = this.reach.anyHost();
    if (!host) return;
    const name = `${host.id} ${orderId}`;
    // A host acquires a lease only once: a second attempt would look like a renewal.
    if (this.leases.has(name)) return;
    this.leases.add(name);
    as('operator', () => this.holdOn(host, orderId)).then(
      (isGivenBack) => void (isGivenBack && this.leases.delete(name)),
      (error: unknown) => this.reach.around.record(failureOf('a lease is not to be had', error, orderId)),
    );
  }

  /** Renews the lease a few times, sometimes too late. */
  private async holdOn({ id, system: { store, clock } }: SimulatedHost, orderId: string): Promise<boolean> {
    const { around } = this.reach;
    const { chance } = around;
    const leaseMs = chance.between(1000, 60_000);
    const wants = () => around.record({ type: 'lease requested', orderId, holder: id, leaseMs, now: clock.now() });
    wants();
    const policy = chance.pick(lockPolicies);
    const from = around.timeline.now;
    const lease = await acquireLease(store, orderId, { holder: id, leaseMs, clock, policy }).catch((error: unknown) => {
      if (error instanceof InstanceLockedError) around.record({ type: 'locked', orderId, policy, afterMs: around.timeline.now - from });
      throw error;
    });
    this.reach.around.faults.lands('order held', 'order', { role: 'scheduler', orderId });
    for (let renewals = chance.between(0, 2); renewals > 0; renewals--) {
      await clock.sleep(chance.between(500, leaseMs * 2));
      wants();
      const isKept = await lease?.renew();
      if (isKept !== undefined) around.record({ type: 'renewed', orderId, holder: id, isKept });
      if (!isKept) return false;
    }
    await clock.sleep(chance.between(500, 40_000));
    await lease?.release();
    return true;
  }

  /** Sends a message that no role can parse. */
  poison(): void {
    const { around, queues } = this.reach;
    const queue = around.chance.pick([...sources.keys()].filter((name) => !name.endsWith('-dead') && consumerOf(name) === undefined));
    const number = ++this.calls;
    const newer = `{"v":99,"type":"reply","number":${number}}`;
    const body = `${around.chance.pick(['nonsense', '{', newer, '[]', '""'])}${' '.repeat(number)}`;
    around.faults.lands('poison', queue, queues.victimOn(queue, body));
    queues.put(queue, body, 0);
    around.record({ type: 'poisoned', body });
  }

  /** Returns a unique name for a call. */
  nameFor(what: string): string {
    return `${what}-${++this.calls}`;
  }

  instruct(orderId: string, decision: Decision, key: string, { ifMatch, onAnswer, foresees = false, isWrong = false }: How = {}): void {
    const { around } = this.reach;
    const seen = ifMatch === undefined ? {} : { ifMatch };
    let tries = 0;
    const role = decision.kind === 'signal' || key.startsWith('cancel') ? 'client' : 'operator';
    this.persist(role, `${decision.kind} ${key}`, async ({ system }) => {
      if (foresees) await this.foresee(system, orderId, decision, key);
      const mine = ++tries;
      const how = { id: `${key}/${mine}`, key: callKey(role, key, { ...decision }), ...seen };
      const rev = () => this.revOf(orderId);
      const { answer, observation } = await instructOnce(system, {
        ...{ orderId, decision, reason: key, isWrong, rev, now: () => around.timeline.now },
        how: recorded(orderId, decision, how),
      });
      const { outcome } = observation;
      around.record(observation);
      around.narrate(() => `${decision.kind} of ${orderId} is answered: ${outcome}`);
      // If the call was repeated meanwhile, its caller does not get the answer to this attempt.
      if (ifMatch !== undefined && answer.outcome !== 'unreadable' && mine === tries)
        around.record({ type: 'decided', orderId, reason: key, seenRev: ifMatch, answer });
      // The order may have been submitted, but not stored yet: the caller repeats the call a few times.
      if (outcome === 'not-found' && tries <= 5) return false;
      const isAccepted = outcome === 'done' || outcome === 'replayed';
      onAnswer?.(isAccepted ? 'accepted' : 'refused');
      if (isAccepted && around.chance.happens(0.4)) this.repeat(orderId, decision, key, role);
      return true;
    });
  }

  /** Previews the effect of a decision before it is made. */
  private async foresee(system: System, orderId: string, decision: Decision, reason: string): Promise<void> {
    const rev = this.revOf(orderId);
    const foreseen = await system.scheduler.instruct(orderId, decision, { id: `${reason}/foreseen`, dryRun: true }).catch(unreadable);
    if (foreseen.outcome !== 'planned' || !foreseen.plan || rev === undefined || rev !== this.revOf(orderId)) return;
    this.reach.around.record({ type: 'previewed', orderId, reason, rev, plan: foreseen.plan });
  }

  private revOf(orderId: string): number | undefined {
    return this.reach.shared.last.get(orderId)?.state.rev;
  }

  /** Repeats an answered call unchanged, much later. */
  private repeat(orderId: string, decision: Decision, name: string, role: Role): void {
    const { around } = this.reach;
    const key = callKey(role, name, { ...decision });
    around.timeline.after(around.chance.between(1000, 120_000), `${name} comes again`, () =>
      this.persist('client', `${name} once more`, async ({ system }) => {
        const { outcome } = await system.scheduler
          .instruct(orderId, decision, recorded(orderId, decision, { id: `${name}/again`, key }))
          .catch(unreadable);
        if (outcome !== 'unreadable') around.record({ type: 'repeated', orderId, key: name, outcome });
        return true;
      }),
    );
  }

  /** Repeats the call on any host until it is answered; an unanswered attempt may have had its effect. */
  persist(role: Role, what: string, call: (host: SimulatedHost) => Promise<boolean>): void {
    const { timeline, chance } = this.reach.around;
    this.waiting += 1;
    untilAnswered({
      timeline,
      what,
      patienceMs,
      host: () => this.reach.anyHost(),
      call: (host) => host.serve(role, () => call(host)),
      pauseMs: () => chance.between(100, 2000),
      onAnswer: () => void (this.waiting -= 1),
    });
  }
}
