import { setTimeout as sleep } from 'node:timers/promises';
import type { Farm } from '../../../test/processes/farm.ts';
import { tokenFor } from '../../../test/processes/support.ts';

/** An operator who compensates every order in Error. An order that is still in Error gets another call half a second later. */
export function startOperator(data: string, farm: Pick<Farm, 'url' | 'page'>) {
  const decided = new Set<string>();
  const problems = new Set<string>();
  let stopping = false;

  async function decide(orderId: string): Promise<void> {
    const authorization = `Bearer ${await tokenFor(data, 'operator')}`;
    const url = `${await farm.url()}/orders/${orderId}`;
    const { status: seen, headers } = await fetch(url, { headers: { authorization } });
    // While the order cannot be read, the operator decides nothing.
    if (seen === 503) return;
    const body = JSON.stringify({ kind: 'compensate', reason: 'The address does not exist.' });
    // From here on the instruction may be carried out, whatever the answer.
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
  // A rejection is reported when the operator is stopped.
  rounds.catch(() => undefined);

  return {
    /** Orders for which a compensation was requested, whatever the answer. */
    decided: decided as ReadonlySet<string>,
    /** Refusals that the kills do not explain. */
    problems: problems as ReadonlySet<string>,
    async stop(): Promise<void> {
      stopping = true;
      await rounds;
    },
  };
}

/**
 * Ignores broken connections and 503, because hosts are killed while they answer and a store may be unavailable. Any other
 * answer is an error.
 */
function unlessUnreachable(error: unknown): undefined {
  const { name, message } = error as Error;
  if (name === 'TypeError' || message.includes('"code":"unavailable"')) return undefined;
  throw error;
}
