import type * as z from 'zod';
import { type Breaker, phaseOf } from '../breaker.ts';
import type { QueueDepth } from '../channel.ts';
import { queues, timeText } from '../messages.ts';
import { openCursor, sealCursor } from './cursor.ts';
import { badCursor } from './orders.ts';
import type { Refusal } from './problem.ts';
import { type Answer, type Call, json } from './route.ts';
import type { PageQuery } from './schemas.ts';

/** The agents' queue pairs, with what is known of the services behind them. */
export async function listChannels({ api, caller, query }: Call<z.output<typeof PageQuery>>): Promise<Answer | Refusal> {
  const scope = { key: api.cursorKey, bound: ['channels', caller.subject] };
  const after = query.cursor === undefined ? [''] : openCursor(query.cursor, scope);
  if (!after) return badCursor;
  const names = api.definitions.agents.map(({ name }) => name).filter((name) => name > String(after[0]));
  const rest = names.toSorted();
  const items = await Promise.all(rest.slice(0, query.limit).map((name) => channelView(name, api)));
  const last = items.at(-1);
  return json(200, { items, next: rest.length > items.length && last ? sealCursor([last.name], scope) : null });
}

async function channelView(name: string, { channel, store, clock }: Call['api']) {
  const [requests, replies, breaker] = await Promise.all([
    channel.depth(queues.requests(name)),
    channel.depth(queues.replies(name)),
    store.breaker(name),
  ]);
  return { name, open: true, requests: depthView(requests), replies: depthView(replies), breaker: breakerView(breaker, clock.now()) };
}

const depthView = ({ visible, inFlight, delayed, oldestAgeMs }: QueueDepth) => ({ visible, inFlight, delayed, oldestAgeMs });

/** Of a service that was never away, or whose absence is over, there is nothing more to say. */
function breakerView(breaker: Breaker | undefined, now: number) {
  const phase = phaseOf(breaker, now);
  if (!breaker || phase === 'closed') return { phase };
  const { openedAt, closedAt, probeAt, failedProbes } = breaker;
  return {
    phase,
    awaySince: timeText(openedAt),
    failedProbes,
    ...(closedAt === null ? { nextProbeAt: timeText(probeAt) } : { backSince: timeText(closedAt) }),
  };
}
