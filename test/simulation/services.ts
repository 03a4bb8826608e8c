import { isDeepStrictEqual } from 'node:util';
import { type Call, PermanentFailure, TransientFailure } from 'redress';
import type { Effect } from '#testing/world/effects';
import { failureOf } from '#testing/world/telemetry';
import { atMostOnce, openingOf, type Remote, refusals, safeOf, secretOf } from './app.ts';
import type { Site, Victim } from './faults.ts';
import type { SimulatedHost } from './host.ts';
import { shelfOf, usesOf } from './stock.ts';
import type { Surroundings } from './surroundings.ts';

/** The record of a service for one idempotency key. The same key always gets the same answer. */
interface Known {
  readonly operation: string;
  readonly answer: 'done' | 'refused';
}

/** One use of objects, as the warehouse has noted it. */
export interface LedgerLine {
  readonly key: string;
  /** The time, by the clock of the world. */
  readonly at: number;
  readonly reads: readonly string[];
  readonly writes: readonly string[];
}

/** The remote services: no crash of a host undoes their effects. */
export class Services {
  private readonly effects: ReadonlyMap<string, Effect>;
  private readonly around: Surroundings;
  /** Failing services, by agent, with the probability that a call fails. */
  readonly illness = new Map<string, number>();
  /** Services that are sometimes unreachable, by agent. */
  readonly outOfReach = new Map<string, (orderId: string) => boolean>();
  /** Durations of operations that differ from the default, by name. */
  readonly lasts = new Map<string, (orderId: string) => number>();
  /** Additional refusals of operations, by name. */
  readonly refuses = new Map<string, (orderId: string) => boolean>();
  /** The uses of objects, oldest first. */
  readonly ledger: LedgerLine[] = [];
  private readonly known = new Map<string, Known>();

  constructor(around: Surroundings, effects: ReadonlyMap<string, Effect>) {
    this.around = around;
    this.effects = effects;
  }

  remoteFor(host: SimulatedHost): Remote {
    return {
      asked: (operation, input, call) => {
        // A service without idempotency ignores a request after its deadline.
        const inTime = () => !atMostOnce.has(operation) || this.around.timeline.now < call.completeBy.getTime() - host.skewMs;
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
    host.watch.tries(call);
    const { faults, chance, timeline } = this.around;
    const [agent = ''] = operation.split('.');
    const victim = () => aboutKey(call.idempotencyKey);
    // The ledger, which can report whether a request was carried out, is slow more often.
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
      { latencyMs: lasts?.(victim().orderId ?? '') ?? usualMs, about: () => victim().orderId },
    );
    return host.watch.call(agent, { ...call, operation }, async () => {
      const answer = await asked;
      if (!faults.hits('service answer lost', operation, victim)) return answer;
      this.around.narrate(() => `the answer to ${operation} for ${call.path} is lost`);
      throw new TransientFailure('The connection broke.');
    });
  }

  private isIll(agent: string, victim: () => Victim): boolean {
    const { faults, chance } = this.around;
    const failing = this.illness.get(agent);
    if (faults.over || failing === undefined || !(failing === 1 || chance.happens(failing))) return false;
    faults.lands('service is down', agent, victim());
    return true;
  }

  private isOutOfReach(agent: string, victim: () => Victim): boolean {
    const { faults } = this.around;
    const { orderId = '' } = victim();
    if (faults.over || !this.outOfReach.get(agent)?.(orderId)) return false;
    faults.lands('service is down', agent, victim());
    return true;
  }

  /** Fails with an error that quotes the input, as many services do. */
  private fails(operation: string, input: unknown): never {
    throw new TransientFailure(`${operation} does not answer to ${JSON.stringify(input)}.`);
  }

  private does(operation: string, input: unknown, call: Call<string>): unknown {
    const { idempotencyKey: key } = call;
    const isUndo = (input as { id?: string }).id !== undefined;
    if (isUndo && this.around.faults.hits('undo refused', operation, () => aboutKey(key)))
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

  /** Checks that an undo gets the secret code of its booking: the output must reach the undo unredacted. */
  private checkCode({ id, code }: { readonly id: string; readonly code: string }): void {
    if (code !== secretOf(id))
      this.around.record(failureOf('a booking is to be canceled', new Error(`${id} has another code than ${code}`)));
  }

  private checkOpening(input: { readonly id: string }): void {
    if (!isDeepStrictEqual(input, openingOf(input.id)))
      this.around.record(failureOf('a safe is to be unlocked', new Error(`${input.id} is not opened by ${JSON.stringify(input)}`)));
  }

  private decide(operation: string, key: string): Known {
    const refused = this.refusesNow(operation, key);
    const known = { operation, answer: refused ? ('refused' as const) : ('done' as const) };
    this.known.set(key, known);
    return known;
  }

  private refusesNow(operation: string, key: string): boolean {
    const { faults } = this.around;
    const victim = () => aboutKey(key);
    if (refusals[operation] === undefined) return false;
    if (faults.over || !this.refuses.get(operation)?.(victim().orderId ?? '')) return faults.hits('service refuses', operation, victim);
    faults.lands('service refuses', operation, victim());
    return true;
  }

  private effect(operation: string, key: string, input: unknown): void {
    const undoes = (input as { id?: string }).id;
    this.around.narrate(() => `${operation} is done for ${key}`);
    const uses = usesOf(operation, key, input);
    if (uses.reads.length + uses.writes.length > 0) this.ledger.push({ key, at: this.around.timeline.now, ...uses });
    this.around.record({ type: 'effect', operation, key, ...(undoes === undefined ? {} : { undoes }) });
  }
}

const answerTo = (operation: string, key: string, input?: unknown) => ({
  id: key,
  ...(operation === 'stock.describe' ? { text: 'x'.repeat((input as { readonly characters: number }).characters) } : {}),
  ...(operation === 'stock.book' || operation === 'stock.take' ? { shelf: shelfOf(key) } : {}),
  ...(operation === 'hotel.book' ? { key: { code: secretOf(key) } } : {}),
  ...(operation === 'hotel.lock' ? { safe: safeOf(key) } : {}),
});

/** Returns the order that an idempotency key belongs to. */
const aboutKey = (key: string) => ({ orderId: key.split('/', 1)[0] });
