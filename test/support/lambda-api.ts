import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A stand-in for Lambda's event source mappings: every queue in a request has one. */
export interface LambdaApi {
  readonly endpoint: string;
  /** State of a queue's mapping, by the ARN of the queue. */
  stateOf(queueArn: string): string;
  /** Number of changes of a mapping. */
  changes(): number;
  /** Number of changes to refuse because Lambda is still busy with the last one. */
  isBusy(times: number): void;
  stop(): Promise<void>;
}

/** The UUID of a queue's mapping. */
export const mappingIdOf = (queueArn: string): string => `mapping-${queueArn.split(':').at(-1)}`;

export async function startLambdaApi(): Promise<LambdaApi> {
  const disabled = new Set<string>();
  let changes = 0;
  let busy = 0;
  const stateIn = (id: string): string => (disabled.has(id) ? 'Disabled' : 'Enabled');

  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost');
    const answer = (status: number, body: object, headers = {}) =>
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
    const [, id] = /event-source-mappings\/([^/]+)$/.exec(pathname) ?? [];
    if (request.method === 'GET') {
      const arn = searchParams.get('EventSourceArn') ?? '';
      return answer(200, { EventSourceMappings: [{ UUID: mappingIdOf(arn), EventSourceArn: arn, State: stateIn(mappingIdOf(arn)) }] });
    }
    let body = '';
    for await (const chunk of request) body += chunk;
    if (request.method !== 'PUT' || id === undefined) return answer(400, { Message: 'no such call' });
    if (busy-- > 0) return answer(400, { Message: 'in use' }, { 'x-amzn-errortype': 'ResourceInUseException' });
    const { Enabled } = JSON.parse(body) as { Enabled: boolean };
    changes += 1;
    if (Enabled) disabled.delete(id);
    else disabled.add(id);
    return answer(202, { UUID: id, State: Enabled ? 'Enabling' : 'Disabling' });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stateOf: (arn) => stateIn(mappingIdOf(arn)),
    changes: () => changes,
    isBusy: (times) => void (busy = times),
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
