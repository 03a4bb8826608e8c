import type { App } from 'redress';
import type { Clock } from '#ports/clock';
import { createTelemetry } from '#ports/telemetry';
import { readConfig } from '#runtime/config';
import { type Host, startHost } from '#runtime/host/host';
import { loadFunction } from '#runtime/host/load';
import type { Ports } from '#runtime/system';
import type { Place, Played } from '../place.ts';
import { staffed } from '../shop.ts';
import type { SteppedClock } from './stepped-clock.ts';

type Outer = Pick<Ports, 'store' | 'queues' | 'publisher'>;

/** The ground of the real host, and the part of it that moves with the time. */
export interface Ground extends Outer {
  readonly clock: SteppedClock;
  /** The time of the ground's own next event. */
  next?(): number;
  /** Notifies the servers that this time has come. */
  moveTo?(time: number): Promise<void>;
  bodies: Place['bodies'];
  announced: Place['announced'];
  close(): Promise<void>;
}

/** The real host on one machine, in a time that advances from one event to the next. */
export async function openHosted(ground: Ground, { app, variables, services, mail }: Played): Promise<Place> {
  const { clock, store } = ground;
  const open = new Open();
  let life = new AbortController();
  let host: Host | undefined;
  let lives = 0;

  const start = async (next: App = app): Promise<void> => {
    life = new AbortController();
    const alive = aliveClock(clock, life.signal);
    const ports = mail.around({
      store: alivePort(ground.store, life.signal, open),
      queues: alivePort(ground.queues, life.signal, open),
      publisher: alivePort(ground.publisher, life.signal, open),
      clock: alive,
      telemetry: createTelemetry({ level: 'off' }),
      issuer: { issuer: 'none', audience: 'none', keys: { keys: [] } },
      cursorKey: new Uint8Array(32),
    });
    host = await startHost({
      app: staffed(next, services.remoteFor(alive)),
      config: readConfig({ DEFAULT_WORKFLOW: next.workflows[0]?.name ?? '', LOG_LEVEL: 'off', OVERVIEW_PERIOD_SECONDS: '0', ...variables }),
      ports,
      load: loadFunction,
      without: ['api'],
      hostId: `host-${++lives}`,
    });
  };
  await start();

  return {
    store,
    get system() {
      if (!host) throw new Error('No host is alive.');
      return host.system;
    },
    async pass(ms) {
      const end = clock.now() + ms;
      for (;;) {
        await open.ended();
        const next = Math.min(clock.next(), ground.next?.() ?? Number.POSITIVE_INFINITY);
        if (next > end) break;
        clock.moveTo(next);
        await ground.moveTo?.(next);
      }
      clock.moveTo(end);
      await ground.moveTo?.(end);
      await open.ended();
    },
    send: (queue, body) => ground.queues.send([{ queue, body }]),
    crash() {
      life.abort();
      host = undefined;
    },
    start,
    bodies: ground.bodies,
    announced: ground.announced,
    async close() {
      life.abort();
      await open.ended();
      await ground.close();
    },
  };
}

/** Calls of ports that are under way. */
class Open {
  private count = 0;
  private idle: (() => void) | undefined;

  async during<T>(call: Promise<T>): Promise<T> {
    this.count += 1;
    try {
      return await call;
    } finally {
      this.count -= 1;
      if (this.count === 0) this.idle?.();
    }
  }

  /** Whether every part of the host waits for the time to advance. */
  async ended(): Promise<void> {
    for (let quiet = 0; quiet < 8; quiet++) {
      if (this.count > 0) {
        await new Promise<void>((resolve) => (this.idle = resolve));
        this.idle = undefined;
        quiet = 0;
      }
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}

const never = (): Promise<never> => new Promise(() => {});

/** A crashed host receives nothing and sends nothing. A receiver that waits for a message delays no other. */
const alivePort = <P extends object>(port: P, life: AbortSignal, open: Open): P =>
  new Proxy(port, {
    get(target, name) {
      const method: unknown = Reflect.get(target, name);
      if (typeof method !== 'function') return method;
      return async (...given: unknown[]) => {
        if (life.aborted) return never();
        const call =
          name === 'receive'
            ? receiving(target as Ports['queues'], given as Parameters<Ports['queues']['receive']>, life)
            : open.during(method.apply(target, given) as Promise<unknown>);
        const ended = call.then(
          (value) => () => value,
          (error: unknown) => () => {
            throw error;
          },
        );
        const answer = await ended;
        return life.aborted ? never() : answer();
      };
    },
  });

const receiving = (
  queues: Ports['queues'],
  [queue, options]: Parameters<Ports['queues']['receive']>,
  life: AbortSignal,
): Promise<unknown> => queues.receive(queue, { ...options, signal: options.signal ? AbortSignal.any([options.signal, life]) : life });

const aliveClock = (clock: Clock, life: AbortSignal): Clock => ({
  now: clock.now,
  sleep: async (ms, signal) => {
    await clock.sleep(ms, signal);
    return life.aborted ? never() : undefined;
  },
});
