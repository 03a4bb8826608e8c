import { type Destination, destinationText } from '#core/notifications/delivery';
import type { PeopleMessage } from '#core/notifications/message';
import type { Sender, SendResult } from '#ports/sender';
import type { SimulatedHost } from './host.ts';
import type { Chance } from './random.ts';
import type { Surroundings } from './surroundings.ts';

/** The time that a receiver may be away: minutes, or longer than the notifier tries to deliver a message. */
const awayMs = [20_000, 1_500_000] as const;
export const goneMs = 26 * 3_600_000;
/** The shares of receivers that are away at first, that are gone for good, and whose answers are often lost. */
const awayShare = 0.4;
const goneShare = 0.06;
const forgetfulShare = 0.4;
/** The longest time that a sender waits for an answer, and the longest that a receiver takes. */
const patienceMs = 10_000;
const slowMs = 14_000;

interface Receiver {
  /** The time until which it answers 503, in milliseconds since 1970. */
  readonly awayUntil: number;
  /** The probability that it takes a message, and its answer is lost. */
  readonly forgets: number;
  readonly isSlow: boolean;
}

/** The receivers of messages for people. They fail, are slow, and lose answers, so that a message comes twice. */
export class Receivers {
  private readonly known = new Map<string, Receiver>();
  private readonly around: Surroundings;
  private readonly chance: Chance;

  constructor(around: Surroundings, chance: Chance) {
    this.around = around;
    this.chance = chance;
  }

  senderFor(host: SimulatedHost): Sender {
    return {
      send: (message, destination) => {
        const receiver = this.receiver(destination);
        const latencyMs = receiver.isSlow ? this.chance.between(1, slowMs) : this.chance.between(1, 300);
        const site = { name: `service people ${destinationText(destination)}`, faults: [] };
        const about = () => message.data['orderId'] as string | undefined;
        return host.call(site, () => this.take(message, destination, { receiver, latencyMs }), { latencyMs, about });
      },
    };
  }

  private take(
    message: PeopleMessage,
    destination: Destination,
    { receiver, latencyMs }: { readonly receiver: Receiver; readonly latencyMs: number },
  ): SendResult {
    const { around, chance } = this;
    // In a first phase where nothing goes wrong, receivers take messages, because the world waits for them.
    const isCalm = around.faults.calm !== undefined;
    if (around.timeline.now < receiver.awayUntil && !isCalm) {
      around.carriedOut('emitted message refused');
      return { outcome: 'failed', reason: 'The receiver answered 503; expected 2xx.' };
    }
    const isConfirmed = isCalm || (latencyMs < patienceMs && (around.faults.over || !chance.happens(receiver.forgets)));
    around.carriedOut(`emitted message ${isConfirmed ? 'confirmed' : 'taken without an answer'}`);
    around.record({ type: 'message received', message, destination, isConfirmed });
    return isConfirmed ? { outcome: 'delivered' } : { outcome: 'failed', reason: 'The receiver did not answer in time.' };
  }

  private receiver(destination: Destination): Receiver {
    const { chance, around } = this;
    const name = destinationText(destination);
    const known = this.known.get(name);
    if (known) return known;
    const { now } = around.timeline;
    const receiver = {
      awayUntil: chance.happens(goneShare) ? now + goneMs : chance.happens(awayShare) ? now + chance.between(...awayMs) : 0,
      forgets: chance.happens(forgetfulShare) ? 0.5 * chance.next() : 0,
      isSlow: chance.happens(0.3),
    };
    this.known.set(name, receiver);
    return receiver;
  }
}
