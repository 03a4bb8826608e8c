import type { HostListeners, RuntimeService, ServiceRuntime } from 'redress';

/** A service of the app: it counts the orders that wait for a person, and writes each count. */
export interface Tally {
  readonly service: RuntimeService;
  readonly on: HostListeners;
  /** Blocked orders by their unhandled fault. */
  readonly counts: ReadonlyMap<string, number>;
}

export function createTally(write: (line: string) => void): Tally {
  const counts = new Map<string, number>();
  let runtime: ServiceRuntime | undefined;

  function count(type: string, orderId: string): void {
    counts.set(type, (counts.get(type) ?? 0) + 1);
    try {
      write(`tally: ${type} ${counts.get(type)}`);
    } catch (error) {
      // Orders continue, and the host reports that the count was not written.
      runtime?.raiseServicesExceptionNotHandled(error, orderId);
    }
  }

  return {
    counts,
    service: {
      name: 'tally',
      start(given) {
        runtime = given;
        write(`tally: started in ${given.role}`);
      },
      stop: () => write('tally: stopped'),
    },
    on: { workflowTerminated: ({ orderId, fault }) => count(fault?.type ?? 'unknown', orderId) },
  };
}
