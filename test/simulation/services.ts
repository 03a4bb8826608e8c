import { isDeepStrictEqual } from 'node:util';
import { type Call, PermanentFailure, TransientFailure } from 'redress';
import { RequestCanceled } from '#roles/agent/deadline';
import type { Effect } from '#testing/world/effects';
import { failureOf } from '#testing/world/telemetry';
import { atMostOnce, openingOf, type Remote, refusals, safeOf, secretOf } from './app.ts';
import type { Site, Victim } from './faults.ts';
import type { SimulatedHost } from './host.ts';
import type { Sight } from './sight.ts';

/** What a service knows of one idempotency key. It answers the same key with the same answer, for ever. */
interface Known {
  readonly operation: string;
  readonly answer: 'done' | 'refused';
}

/** One call, by whom it is given up. */
interface Watched {
  readonly orderId: string;
  readonly requestId: string;
  readonly operation: string;
  readonly tries: number;
  readonly completeBy: number;
  readonly signal: AbortSignal;
}

/** The remote services: what they have done is not undone by any crash here. */
export class Services {
  readonly effects = new Map<string, Effect>();
  private readonly sight: Sight;
  /** Services that are ill, by agent: how likely each call of them fails. */
  readonly illness = new Map<string, number>();
  /** Services that cannot even be reached at times, by agent. */
  readonly outOfReach = new Map<string, (orderId: string) => boolean>();
  /** How long some operations take, by name, instead of what is usual. */
  readonly lasts = new Map<string, () => number>();
  /** What some operations refuse beside what is usual, by name. */
  readonly refuses = new Map<string, (orderId: string) => boolean>();
  private readonly known = new Map<string, Known>();
  private calls = 0;

  constructor(sight: Sight) {
    this.sight = sight;
  }

  remoteFor(host: SimulatedHost): Remote {
    return {
      asked: (operation, input, call) => {
        // A service without idempotency leaves alone what comes after the time that was given for it.
        const inTime = () => !atMostOnce.has(operation) || this.sight.timeline.now < call.completeBy.getTime() - host.skewMs;
        return this.travel(host, operation, input, call, () =>
          inTime() ? this.does(operation, input, call) : this.fails(operation, input),
        );
      },
      looked: (operation, key, call) =>
        this.travel(host, `${operation} lookup`, key, call, () => {
          const effect = this.effects.get(key);
          return effect && !effect.undone ? answerTo(effect.operation, key) : undefined;
        }),
    };
  }

  private async travel<T>(host: SimulatedHost, operation: string, input: unknown, call: Call<string>, arrive: () => T): Promise<T> {
    const { requestId, tries } = host.asking.get(call.signal) ?? { requestId: call.requestId, tries: 0 };
    host.asking.set(call.signal, { requestId, tries: tries + 1 });
    const { faults, chance, timeline } = this.sight;
    const [agent = ''] = operation.split('.');
    const victim = () => aboutKey(call.idempotencyKey);
    // Who can be asked whether something was done takes his time with it.
    const slow = faults.hits('service slow', operation, victim) || (agent === 'ledger' && faults.hits('service slow', operation, victim));
    const site: Site = { name: `service ${operation}`, faults: [] };
    const isOutOfReach = this.isOutOfReach(agent, victim);
    const lasts = faults.over || isOutOfReach ? undefined : this.lasts.get(operation);
    const usualMs = slow ? chance.between(2000, chance.happens(0.2) ? 90_000 : 25_000) : chance.between(1, 300);
    const asked = host.call(
      site,
      () => {
        const isDown = faults.isDown('service is down', agent, { now: timeline.now, victim }) || this.isIll(agent, victim);
        if (isDown || faults.hits('service fails', operation, victim)) return this.fails(operation, input);
        if (isOutOfReach) throw new TransientFailure('There is no way to it.', { nothingSent: true });
        return arrive();
      },
      { latencyMs: lasts?.() ?? usualMs, about: () => victim().orderId },
    );
    const { orderId, path, signal } = call;
    const asks = { orderId, requestId, operation, tries: tries + 1, completeBy: call.completeBy.getTime(), signal };
    return this.watched(host, agent, asks, async () => {
      const answer = await asked;
      if (!faults.hits('service answer lost', operation, victim)) return answer;
      this.sight.tell(() => `the answer to ${operation} for ${path} is lost`);
      throw new TransientFailure('The connection broke.');
    });
  }

  private isIll(agent: string, victim: () => Victim): boolean {
    const { faults, chance } = this.sight;
    const failing = this.illness.get(agent);
    if (faults.over || failing === undefined || !(failing === 1 || chance.happens(failing))) return false;
    faults.lands('service is down', agent, victim());
    return true;
  }

  private isOutOfReach(agent: string, victim: () => Victim): boolean {
    const { faults } = this.sight;
    const { orderId = '' } = victim();
    if (faults.over || !this.outOfReach.get(agent)?.(orderId)) return false;
    faults.lands('service is down', agent, victim());
    return true;
  }

  /**
   * Tells of the call, and of its end: whoever has given it up hears nothing more of it. What is canceled is not given up: its
   * answer is waited for until its time is over.
   */
  private async watched<T>(host: SimulatedHost, agent: string, { signal, ...asked }: Watched, work: () => Promise<T>): Promise<T> {
    const call = ++this.calls;
    let isOver = false;
    const until = () => Math.max(asked.completeBy, host.beatenUntil.get(asked.requestId) ?? 0);
    const leftMs = () => until() - (this.sight.timeline.now + host.skewMs);
    // It may have asked for more time meanwhile. While its process stands still it does not learn that its time is over.
    const goesInTime = (): void =>
      this.sight.timeline.after(leftMs(), 'the time of a canceled call is over', () =>
        isOver ? undefined : host.goOn(() => (leftMs() <= 0 ? hears('abandoned') : goesInTime())),
      );
    const goes = () => (signal.reason instanceof RequestCanceled ? goesInTime() : hears('abandoned'));
    const isTooLate = () => signal.aborted && leftMs() <= 0;
    const hears = (how: 'answered' | 'failed' | 'abandoned'): void => {
      if (isOver) return;
      isOver = true;
      host.guarded(agent, {
        what: 'call ended',
        call,
        how,
        isStopping: host.isLeaving || host.isHurried,
        stoodStillUntil: host.frozenUntil,
      });
    };
    host.guarded(agent, { what: 'calls', call, ...asked, isAbandoned: signal.aborted, stoodStillUntil: host.frozenUntil });
    if (signal.aborted) goes();
    signal.addEventListener('abort', goes, { once: true });
    try {
      const answer = await work();
      hears(isTooLate() ? 'abandoned' : 'answered');
      return answer;
    } catch (error) {
      const isAbandoned = isTooLate() || (signal.aborted && !(error instanceof PermanentFailure));
      hears(isAbandoned ? 'abandoned' : error instanceof PermanentFailure ? 'answered' : 'failed');
      throw error;
    }
  }

  /** Services like to quote what they were sent. */
  private fails(operation: string, input: unknown): never {
    throw new TransientFailure(`${operation} does not answer to ${JSON.stringify(input)}.`);
  }

  private does(operation: string, input: unknown, call: Call<string>): unknown {
    const { idempotencyKey: key } = call;
    const isUndo = (input as { id?: string }).id !== undefined;
    if (isUndo && this.sight.faults.hits('undo refused', operation, () => aboutKey(key)))
      throw new PermanentFailure('TooLate', `It cannot be taken back now: ${JSON.stringify(input)}.`);
    if (operation === 'hotel.cancel') this.checkCode(input as { readonly id: string; readonly code: string });
    if (operation === 'hotel.unlock') this.checkOpening(input as { readonly id: string });
    const before = atMostOnce.has(operation) ? undefined : this.known.get(key);
    const { answer } = before ?? this.decide(operation, key);
    const refusal = refusals[operation];
    if (answer === 'refused' && refusal)
      return call.failed(refusal, `No "{${JSON.stringify(input)}\\".`, {
        why: refusal.path.slice(refusal.path.lastIndexOf('/') + 1),
        quoted: JSON.stringify(input),
      });
    if (!before) this.effect(operation, key, input);
    return answerTo(operation, key, input);
  }

  /** Whoever undoes a booking must know what it was answered with, also where nobody may see it. */
  private checkCode({ id, code }: { readonly id: string; readonly code: string }): void {
    if (code !== secretOf(id)) this.sight.saw(failureOf('a booking is to be canceled', new Error(`${id} has another code than ${code}`)));
  }

  private checkOpening(input: { readonly id: string }): void {
    if (!isDeepStrictEqual(input, openingOf(input.id)))
      this.sight.saw(failureOf('a safe is to be unlocked', new Error(`${input.id} is not opened by ${JSON.stringify(input)}`)));
  }

  private decide(operation: string, key: string): Known {
    const refused = this.refusesNow(operation, key);
    const known = { operation, answer: refused ? ('refused' as const) : ('done' as const) };
    this.known.set(key, known);
    return known;
  }

  private refusesNow(operation: string, key: string): boolean {
    const { faults } = this.sight;
    const victim = () => aboutKey(key);
    if (refusals[operation] === undefined) return false;
    if (faults.over || !this.refuses.get(operation)?.(victim().orderId ?? '')) return faults.hits('service refuses', operation, victim);
    faults.lands('service refuses', operation, victim());
    return true;
  }

  private effect(operation: string, key: string, input: unknown): void {
    const undoes = (input as { id?: string }).id;
    this.sight.tell(() => `${operation} is done for ${key}`);
    this.sight.saw({ type: 'effect', operation, key, ...(undoes === undefined ? {} : { undoes }) });
    const effect = undoes === undefined ? undefined : this.effects.get(undoes);
    if (effect) effect.undone = true;
    if (undoes !== undefined) return;
    const known = this.effects.get(key);
    if (known) known.times += 1;
    else this.effects.set(key, { operation, times: 1, undone: false });
  }
}

const answerTo = (operation: string, key: string, input?: unknown) => ({
  id: key,
  ...(operation === 'stock.describe' ? { text: 'x'.repeat((input as { readonly characters: number }).characters) } : {}),
  ...(operation === 'hotel.book' ? { key: { code: secretOf(key) } } : {}),
  ...(operation === 'hotel.lock' ? { safe: safeOf(key) } : {}),
});

/** The order whose effect it is. */
const aboutKey = (key: string) => ({ orderId: key.split('/', 1)[0] });
