import { setTimeout as sleep } from 'node:timers/promises';
import type { Farm } from '../../../test/processes/farm.ts';
import { tokenFor } from '../../../test/processes/support.ts';

/** A person who has every order in Error undone, and asks again where the line breaks. */
export function startOperator(data: string, farm: Pick<Farm, 'url' | 'page'>) {
  const decided = new Set<string>();
  const problems = new Set<string>();
  let stopping = false;

  async function decide(orderId: string): Promise<void> {
    const authorization = `Bearer ${await tokenFor(data, 'operator')}`;
    const url = `${await farm.url()}/orders/${orderId}`;
    const { status: seen, headers } = await fetch(url, { headers: { authorization } });
    // Who cannot see an order just now decides nothing on it.
    if (seen === 503) return;
    const body = JSON.stringify({ kind: 'compensate', reason: 'The address is none.' });
    // From here on it may be carried out, whatever is answered.
    decided.add(orderId);
    const response = await fetch(`${url}/instructions`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json', 'if-match': headers.get('etag') ?? '' },
      body,
    });
    const { ok, status } = response;
    if (!ok && ![409, 412, 428, 503].includes(status)) problems.add(`an operator is answered with ${status}: ${await response.text()}`);
  }

  const round = async (): Promise<number> => {
    const { items } = await farm.page('limit=100&state=Error');
    for (const { orderId } of items) await decide(orderId).catch(unlessUnreachable);
    return items.length;
  };
  const rounds = (async () => {
    while (!stopping) {
      await round().catch(unlessUnreachable);
      await sleep(500);
    }
  })();
  // Told of when it is stopped.
  rounds.catch(() => undefined);

  return {
    /** Orders that were to be undone. */
    decided: decided as ReadonlySet<string>,
    /** Answers that nobody should get. */
    problems: problems as ReadonlySet<string>,
    async stop(): Promise<void> {
      stopping = true;
      await rounds;
    },
  };
}

/** Hosts are killed while they answer, and a store that is away is answered with 503; anything else is a fault. */
function unlessUnreachable(error: unknown): undefined {
  const { name, message } = error as Error;
  if (name === 'TypeError' || message.includes('"code":"unavailable"')) return undefined;
  throw error;
}
