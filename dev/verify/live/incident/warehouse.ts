import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

/** `refusing`: the service refuses every order for the same reason. `away`: it answers 503. */
type Health = 'well' | 'refusing' | 'away';

/** A remote service outside the processes that are killed. For each parcel it remembers the idempotency keys of its effects. */
export class Warehouse {
  health: Health = 'refusing';
  /** The keys under which each parcel got a label: more than one means a doubled effect. */
  readonly labels = new Map<number, Set<string>>();
  /** Requests that were answered with 503, and had no effect. */
  callsWhileAway = 0;
  private readonly server = createServer((request, response) => {
    void json(request).then((sent) => {
      const { number, key } = sent as { number: number; key: string };
      const [status, text] = this.answer(number, key);
      response.writeHead(status).end(text);
    });
  });

  async start(): Promise<string> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.server.close();
    this.server.closeAllConnections();
  }

  private answer(number: number, key: string): readonly [number, string] {
    if (this.health === 'refusing') return [409, 'no paper'];
    if (this.health === 'away') {
      this.callsWhileAway += 1;
      return [503, 'away'];
    }
    const keys = this.labels.get(number) ?? new Set();
    this.labels.set(number, keys.add(key));
    return [200, `label ${number}`];
  }
}
