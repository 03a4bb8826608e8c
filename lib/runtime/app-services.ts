import { hash } from 'node:crypto';
import type { HostEvents, RuntimeService, ServiceRuntime } from '#authoring/services';
import type { App } from '#authoring/workflow';
import type { Clock } from '#ports/clock';
import type { Announcement, Publisher } from '#ports/event-bus';
import { timeText } from '#ports/messages';
import type { Telemetry } from '#ports/telemetry';
import { alertOf } from '#ports/util/alert';
import type { Emit, SystemEvents } from './system.ts';

export interface AppServicesOptions {
  readonly app: Pick<App, 'services' | 'on'>;
  /** Services in addition to those of the app. */
  readonly services?: readonly RuntimeService[];
  readonly hostId: string;
  readonly role: string;
  readonly ports: { readonly clock: Clock; readonly telemetry: Telemetry; readonly publisher: Publisher };
  /** A further receiver of every event. */
  readonly emit?: Emit;
}

/** The app's services and event listeners in one process. */
export interface AppServices {
  readonly emit: Emit;
  /** Starts the services one after another. If one fails, stops the earlier ones and rejects. */
  start(submit: ServiceRuntime['submit']): Promise<void>;
  stop(): Promise<void>;
  /** Notifies the app that the process stops because of an error. */
  failed(error: unknown): void;
  /** Resolves when all listeners have run and all alerts about services are published. Lambda freezes unfinished work after a run. */
  settled(): Promise<void>;
}

export function createAppServices({ app, services = [], hostId, role, ports, emit: others }: AppServicesOptions): AppServices {
  const { clock, telemetry, publisher } = ports;
  const all = [...services, ...(app.services ?? [])];
  const { track, settled } = trackWork(telemetry);
  let started: readonly RuntimeService[] = [];

  function tell<E extends keyof HostEvents>(event: E, detail: HostEvents[E]): void {
    const listener = app.on?.[event];
    if (listener) track(Promise.resolve(detail).then(listener), 'app listener failed', { event });
  }

  const listeners: { readonly [E in keyof SystemEvents]: (detail: SystemEvents[E]) => void } = {
    workflowTerminated: ({ orderId, record: { workflow, fault } }) => tell('workflowTerminated', { orderId, workflow, fault }),
    servicesExceptionNotHandled: (detail) => tell('servicesExceptionNotHandled', detail),
    // Listeners of the app do not get this event: only the host on one machine shows it, to the developer.
    operationFailed: () => undefined,
  };
  const emit: Emit = (event, detail) => {
    others?.(event, detail);
    listeners[event](detail);
  };

  const runtimeFor = ({ name }: RuntimeService, submit: ServiceRuntime['submit']): ServiceRuntime => ({
    hostId,
    role,
    clock,
    submit,
    raiseServicesExceptionNotHandled(error, orderId) {
      telemetry.log('error', 'service raised an exception', { service: name, error, ...(orderId ? { orderId } : {}) });
      emit('servicesExceptionNotHandled', { service: name, error, ...(orderId ? { orderId } : {}) });
      const alert = exceptionAlert({ name, hostId, error, orderId, at: clock.now() });
      track(publisher.publish([alert]), 'cannot announce service exception', { service: name });
    },
  });

  async function stopAll(): Promise<void> {
    const stopping = started;
    started = [];
    for (const service of stopping) await service.stop?.();
  }

  return {
    emit,
    settled,
    failed: (error) => tell('stopped', { hostId, role, error }),
    async start(submit) {
      try {
        for (const service of all) {
          await service.start(runtimeFor(service, submit));
          started = [...started, service];
        }
      } catch (error) {
        await stopAll();
        throw error;
      }
      tell('started', { hostId, role });
    },
    async stop() {
      await stopAll();
      tell('stopped', { hostId, role });
      await settled();
    },
  };
}

/** Returns a tracker of background work. It logs failures, and `settled` resolves when all work is done. */
function trackWork(telemetry: Telemetry) {
  const pending = new Set<Promise<void>>();
  return {
    track(work: Promise<unknown>, trouble: string, fields: { readonly [name: string]: string }): void {
      const done = work.then(
        () => undefined,
        (error: unknown) => telemetry.log('error', trouble, { ...fields, error }),
      );
      pending.add(done);
      void done.then(() => pending.delete(done));
    },
    async settled(): Promise<void> {
      while (pending.size > 0) await Promise.all(pending);
    },
  };
}

interface ServiceException {
  readonly name: string;
  readonly hostId: string;
  readonly error: unknown;
  readonly orderId: string | undefined;
  readonly at: number;
}

function exceptionAlert({ name, hostId, error, orderId, at }: ServiceException): Announcement {
  const message = error instanceof Error ? error.message : String(error);
  const id = `service/${name}/${hash('sha256', `${hostId}${timeText(at)}${message}`).slice(0, 16)}`;
  return alertOf('Service Exception', {
    id,
    orderId,
    at,
    type: 'ServiceException',
    source: name,
    before: 'running',
    after: 'running',
    message,
  });
}
