import type { Database } from '#adapters/sqlite/database';
import type { AgentDefinition, AnyOperation } from '#authoring/agent';
import type { ConsumerDefinition } from '#authoring/consumer';
import type { App } from '#authoring/workflow';
import type { Clock } from '#ports/clock';
import type { Ports } from '#runtime/system';
import { instrumented } from '#testing/world/instrumented-ports';

/** Ends a process as `kill -9` does: its later calls have no effect, and its earlier calls are never answered. */
export class KillSwitch {
  isKilled = false;
  /** One function for each answer that the test waits for: it ends the wait with an error. */
  private readonly waits = new Set<() => void>();

  kill(): void {
    this.isKilled = true;
    for (const hangUp of this.waits) hangUp();
    this.waits.clear();
  }

  /** Runs a call of the process. Once the process is killed, calls neither begin nor settle. */
  inside<T>(begin: () => T | PromiseLike<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.isKilled) return;
      const unlessKilled =
        <V>(settle: (value: V) => void) =>
        (value: V) => {
          if (!this.isKilled) settle(value);
        };
      new Promise<T>((begun) => begun(begin())).then(unlessKilled(resolve), unlessKilled(reject));
    });
  }

  /** Waits for an answer on behalf of the test. Rejects when the process is killed first. */
  fromOutside<T>(answer: Promise<T>, hungUp: () => Error): Promise<T> {
    return new Promise((resolve, reject) => {
      const hangUp = () => reject(hungUp());
      this.waits.add(hangUp);
      void answer.then(resolve, reject).finally(() => this.waits.delete(hangUp));
    });
  }
}

/**
 * Returns the database as one process sees it. The data outlives the process, but a transaction that is open when it is killed never
 * commits.
 */
export const killableDatabase = (database: Database, kill: KillSwitch): Database => ({
  ...database,
  async write(operation) {
    const written = await database.write(() => (kill.isKilled ? undefined : { value: operation() }));
    return written ? written.value : new Promise(() => {});
  },
});

export const killableClock = (clock: Clock, kill: KillSwitch): Clock => ({
  now: () => clock.now(),
  sleep: (ms, signal) => kill.inside(() => clock.sleep(ms, signal)),
});

/** Ports whose calls, reads included, end with the process. */
export function killablePorts<P extends Pick<Ports, 'store' | 'queues' | 'publisher'>>(ports: P, kill: KillSwitch): P {
  const cut = <T extends object>(name: string, port: T): T => instrumented(name, port, ({ apply }) => kill.inside(apply));
  const { store, queues, publisher } = ports;
  return { ...ports, store: cut('store', store), queues: cut('queues', queues), publisher: cut('publisher', publisher) };
}

/** The app of one process. Its operations, handlers and listeners are not called once the process is killed. */
export const killableApp = (app: App, kill: KillSwitch): App => ({
  ...app,
  agents: app.agents.map((agent) => killableAgent(agent, kill)),
  ...(app.consumers ? { consumers: app.consumers.map((consumer) => killableConsumer(consumer, kill)) } : {}),
  ...(app.on ? { on: instrumented('on', app.on, ({ apply }) => kill.inside(apply)) } : {}),
});

const killableAgent = ({ operations, ...agent }: AgentDefinition, kill: KillSwitch): AgentDefinition => ({
  ...agent,
  operations: Object.fromEntries(Object.entries(operations).map(([name, operation]) => [name, killableOperation(operation, kill)])),
});

/** Calls methods on `operation` itself, because users may write operations as classes. */
const killableOperation = (operation: AnyOperation, kill: KillSwitch): AnyOperation => ({
  ...operation,
  run: (input, call) => kill.inside(() => operation.run(input, call)),
  ...(operation.lookup ? { lookup: (key, call) => kill.inside(() => operation.lookup?.(key, call)) } : {}),
  ...(operation.cancel ? { cancel: (call) => kill.inside(() => operation.cancel?.(call)) } : {}),
});

const killableConsumer = ({ types, ...consumer }: ConsumerDefinition, kill: KillSwitch): ConsumerDefinition => ({
  ...consumer,
  types: Object.fromEntries(
    Object.entries(types).map(([name, type]) => [
      name,
      { ...type, handle: (body, context) => kill.inside(() => type.handle(body, context)) },
    ]),
  ),
});
