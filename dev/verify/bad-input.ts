import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { site, startLocal, within } from '../../test/processes/support.ts';
import { Contract } from './bad-input/contract.ts';
import { defects } from './bad-input/defects.ts';
import { operationsOf } from './bad-input/document.ts';
import { openAgent, send } from './bad-input/http.ts';
import { floodQueues, leftIn } from './bad-input/messages.ts';
import { type BadRequest, badRequests } from './bad-input/requests.ts';
import { changedIn, storedIn } from './bad-input/stored.ts';
import { prepare } from './bad-input/surroundings.ts';
import { type Figure, measured } from './figure.ts';
import { withCleanup } from './live/cleanup.ts';

const forms = { full: { requests: 50_000, messages: 5_000 }, short: { requests: 6_000, messages: 250 } } as const;
const connections = 8;
/** Requests are made in portions, so that the memory of this process stays small. */
const portion = 2_500;
/** The most MB by which the system's memory may grow after the share `warmShare` of a full run. Until then, V8 sizes its heap. */
const growthMaxMb = 20;
const warmShare = 0.6;

/** G12: requests and messages that nobody should accept, at a system as it is shipped (OWASP API 3, 4 and 8). */
export const figure: Figure = {
  shows:
    'requests generated from the served contract with defects, and malformed messages: no 5xx, every refusal is a problem of the contract, nothing is written',
  measure: ({ form, seed, progress }) =>
    withCleanup(async (ending) => {
      const { requests, messages } = forms[form];
      const place = site(ending);
      const host = await startLocal(ending, { ...place.variables, LOG_LEVEL: 'error', OVERVIEW_PERIOD_SECONDS: '0' });
      const agent = openAgent(connections);
      const { document, around, submitGood } = await prepare(agent, host.url, place);
      const operations = operationsOf(document);
      const { database } = place.open();
      await submitGood('before');
      await leftIn(database);

      // The notifier tells people of the blocked order within some seconds.
      await sleep(12_000);
      const before = storedIn(database);
      const tally = new Tally();
      let [warmMb, started] = [0, performance.now()];
      for (let sent = 0; sent < requests; sent += portion) {
        const all = badRequests(operations, around, { count: Math.min(portion, requests - sent), seed: seed + sent });
        await sendAll(all, async (each) => tally.add(each, await send(agent, host.url, each).catch((error: Error) => error)));
        if (sent < warmShare * requests) warmMb = memoryMb(host.pid);
        progress(`${Math.min(sent + portion, requests)} of ${requests} requests; the system has ${memoryMb(host.pid)} MB`);
      }
      const seconds = (performance.now() - started) / 1000;
      const grownMb = memoryMb(host.pid) - warmMb;
      const changes = changedIn(before, storedIn(database));

      const flooded = await floodQueues(place.open(), { orderId: around.own.orderId, count: messages, seed });
      progress(`${messages} messages`);
      await within(submitGood('after'), 'an order of another client is not completed');
      agent.destroy();
      await sleep(50);
      const unseen = Object.keys(defects).filter((kind) => form === 'full' && (tally.kinds[kind] ?? 0) < 100);
      const idle = operations.filter(({ method, path }) => (tally.calls[`${method} ${path}`] ?? 0) < requests / 4_000);
      return measured(
        [
          ...tally.wrong.slice(0, 20),
          ...changes,
          ...flooded.wrong,
          ...(host.child.exitCode === null ? [] : ['the system has ended']),
          ...(host.err() === '' ? [] : [`the system logs errors: ${host.err().slice(0, 500)}`]),
          ...(form === 'full' && grownMb > growthMaxMb ? [`the memory of the system grew by ${grownMb} MB`] : []),
          ...unseen.map((kind) => `too few requests with "${kind}"`),
          ...idle.map(({ method, path }) => `too few requests for ${method} ${path}`),
        ],
        {
          requests,
          calls: operations.length,
          wrong: tally.wrong.length,
          perSecond: Math.round(requests / seconds),
          grownMb,
          statuses: tally.statuses,
          codes: tally.codes,
          kinds: tally.kinds,
          messages: { ...flooded, wrong: flooded.wrong.length },
        },
      );
    }),
};

type Counts = { [name: string]: number };

/** Counts and judges the answers. */
class Tally {
  readonly wrong: string[] = [];
  readonly statuses: Counts = {};
  readonly codes: Counts = {};
  readonly kinds: Counts = {};
  readonly calls: Counts = {};
  private readonly contract = new Contract();

  add(each: BadRequest, answer: Awaited<ReturnType<typeof send>> | Error): void {
    const { method, path } = each.operation;
    count(this.calls, `${method} ${path}`);
    for (const kind of each.kinds) count(this.kinds, kind);
    const what = `${each.method} ${each.target.slice(0, 200)} (${each.kinds.join(', ')})`;
    if (answer instanceof Error) {
      this.wrong.push(`${what} got no answer: ${answer.message}`);
      return;
    }
    count(this.statuses, String(answer.status));
    count(this.codes, /"code":"([a-z-]+)","requestId"/.exec(answer.text)?.[1] ?? 'none');
    for (const wrong of this.contract.wrongOf(answer, each.codes, each.operation)) this.wrong.push(`${what} got ${wrong}`);
  }
}

const count = (counts: Counts, name: string): void => {
  counts[name] = (counts[name] ?? 0) + 1;
};

/** Works on all items, a few in parallel. */
async function sendAll<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let index = next++; index < items.length; index = next++) await work(items[index] as T);
  };
  await Promise.all(Array.from({ length: connections }, worker));
}

/** Returns the resident memory of a process in MB. Only Linux tells it; elsewhere the answer is 0. */
function memoryMb(pid: number): number {
  try {
    return Math.round(Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024);
  } catch {
    return 0;
  }
}
