import type { HostListeners, RuntimeService, ServiceRuntime } from 'redress';

/** A service of the app's own: it counts the orders that wait for a person, and says so where it is told to. */
export interface Tally {
  readonly service: RuntimeService;
  readonly on: HostListeners;
  /** Orders that wait for a person, by the fault that nothing handles. */
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
      // The orders go on; a person is told that the count is not to be had.
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
