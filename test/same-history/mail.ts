import { isObject } from '#core/data/json';
import type { Outgoing } from '#ports/queues';
import type { SentWithWrite } from '#ports/store';
import type { Ports } from '#runtime/system';
import type { Disturbance, Scenario } from './scenario.ts';

type Sending = Pick<Ports, 'store' | 'queues'>;

/** Loses, delays or doubles messages on their way, from any sender. */
export class Mail {
  private readonly disturbances: readonly Disturbance[];
  private readonly seen = new Map<Disturbance, number>();

  constructor({ mail }: Pick<Scenario, 'mail'>) {
    this.disturbances = mail;
  }

  /** The ports of a host, with its messages going through here, both those of a write and others. */
  around<P extends Sending>(ports: P): P {
    const { store, queues } = ports;
    const through = (along: SentWithWrite): SentWithWrite => ({ ...along, messages: this.through(along.messages) });
    return {
      ...ports,
      store: {
        ...store,
        create: (order, state, along) => store.create(order, state, through(along)),
        update: (state, when, along) => store.update(state, when, through(along)),
      },
      queues: { ...queues, send: (messages) => queues.send(this.through(messages)) },
    };
  }

  private through(messages: readonly Outgoing[]): readonly Outgoing[] {
    return messages.flatMap((message) => {
      const disturbance = this.disturbances.find((each) => this.matches(each, message));
      return disturbance ? afterwards(message, disturbance) : [message];
    });
  }

  private matches(disturbance: Disturbance, { body }: Outgoing): boolean {
    const message: unknown = JSON.parse(body);
    if (!isObject(message) || message['type'] !== disturbance.type) return false;
    if (disturbance.path !== undefined && message['path'] !== disturbance.path) return false;
    const nth = (this.seen.get(disturbance) ?? 0) + 1;
    this.seen.set(disturbance, nth);
    return nth === disturbance.nth;
  }
}

function afterwards(message: Outgoing, { becomes, lateSeconds }: Disturbance): readonly Outgoing[] {
  if (becomes === 'lost') return [];
  const delayed = lateSeconds === 0 ? message : { ...message, delayMs: (message.delayMs ?? 0) + lateSeconds * 1000 };
  return becomes === 'late' ? [delayed] : [message, delayed];
}
