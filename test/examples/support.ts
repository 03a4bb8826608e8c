import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { AgentDefinition, Call } from 'redress';
import * as z from 'zod';

/** A call as an agent receives it. */
export const callOf = <F extends string = never, O extends z.ZodType = z.ZodUnknown>({
  faults = [],
  output = z.unknown() as z.ZodType as O,
  ...change
}: Partial<Call<F, O>> = {}): Call<F, O> => ({
  orderId: 'o1',
  path: 'order/charge',
  requestId: 'r1',
  idempotencyKey: 'o1/order/charge',
  attempt: 1,
  repeated: false,
  heartbeat: async () => undefined,
  credential: async (name) => `the value of ${name}`,
  completeBy: new Date(Date.now() + 10_000),
  signal: AbortSignal.timeout(10_000),
  faults,
  output,
  failed: (fault, message, data) => ({ failed: fault, message, ...(data ? { data } : {}) }),
  ...change,
});

/** Runs one operation as the agent would: its output is what the schema makes of the return value. */
export async function run(
  agents: readonly AgentDefinition[],
  operation: string,
  input: object,
  call: Call<never> = callOf(),
): Promise<unknown> {
  const described = describedIn(agents, operation);
  const { faults = [], output } = described;
  const returned = (await described.run(described.input.parse(input) as never, { ...call, faults, output } as never)) as object;
  return 'failed' in returned ? returned : output.parse(returned);
}

/** Looks up the call's key as an operation would. */
export async function lookUp(agents: readonly AgentDefinition[], operation: string, call: Call<never>): Promise<unknown> {
  const described = describedIn(agents, operation);
  return described.lookup?.(call.idempotencyKey, { ...call, output: described.output } as never);
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
