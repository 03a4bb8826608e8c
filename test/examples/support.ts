import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { AgentDefinition, Call } from 'redress';

/** A call as an agent receives it. */
export const callOf = <F extends string = never>({ faults = [], ...change }: Partial<Call<F>> = {}): Call<F> => ({
  orderId: 'o1',
  path: 'order/charge',
  requestId: 'r1',
  idempotencyKey: 'o1/order/charge',
  attempt: 1,
  repeated: false,
  heartbeat: async () => undefined,
  completeBy: new Date(Date.now() + 10_000),
  signal: AbortSignal.timeout(10_000),
  faults,
  failed: (fault, message, data) => ({ failed: fault, message, ...(data ? { data } : {}) }),
  ...change,
});

/** Runs one operation as the agent would. */
export async function run(
  agents: readonly AgentDefinition[],
  operation: string,
  input: object,
  call: Call<never> = callOf(),
): Promise<unknown> {
  const described = describedIn(agents, operation);
  return described.run(described.input.parse(input) as never, { ...call, faults: described.faults ?? [] } as never);
}

/** Looks up the call's key as an operation would. */
export async function lookUp(agents: readonly AgentDefinition[], operation: string, call: Call<never>): Promise<unknown> {
  return describedIn(agents, operation).lookup?.(call.idempotencyKey, call as never);
}

function describedIn(agents: readonly AgentDefinition[], operation: string) {
  const [agent = '', name = ''] = operation.split('.');
  const described = agents.find((each) => each.name === agent)?.operations[name];
  if (!described) throw new Error(`There is no ${operation}.`);
  return described;
}

/** A service that answers as the test says. */
export async function startService(listener: RequestListener) {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
