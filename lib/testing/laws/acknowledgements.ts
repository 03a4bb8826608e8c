import { requestIdOf } from '#core/data/ids';
import type { StepState } from '#core/data/step-state';
import { poisonIn } from '#roles/dead-letters/envelope';
import { since } from '#roles/dead-letters/requeue';
import { parseIncoming } from '#roles/scheduler/incoming';
import type { History } from '#testing/world/history';
import { isForged, type Law, on, type Setting } from './law.ts';

/** S26, X-1: an answer is taken off its queue only when it was written down, and what follows from it was sent; or it was given up. */
export function acknowledgements(setting: Pick<Setting, 'forgedWord'>): Law {
  const sent = new Set<string>();
  const times = new Map<string, number>();
  /** By request: its answers. Copies of one request may be answered differently, and each answer has the id of the request. */
  const answers = new Map<string, Set<string>>();
  /** Whoever tried to process them died each time: their story waits for a person, and the order for its deadline. */
  const givenUp = new Set<string>();
  /** Orders that could not be read for a while: what came then is put aside. */
  const unread = new Set<string>();
  return {
    name: 'acknowledgements',
    after: on(['sent', 'newer', 'damaged', 'acknowledged'], (observation, history) => {
      if (observation.type === 'sent') {
        times.set(asSent(observation.body), (times.get(asSent(observation.body)) ?? 0) + 1);
        const requestId = observation.queue.endsWith('-replies') ? /"requestId":"([^"]+)"/.exec(observation.body)?.[1] : undefined;
        if (requestId !== undefined) answers.set(requestId, (answers.get(requestId) ?? new Set()).add(asSent(observation.body)));
        const poison = observation.queue.endsWith('-dead')
          ? poisonIn(observation.body, observation.queue.replace(/-dead$/, ''))
          : undefined;
        if (poison) givenUp.add(poison.body);
        if (observation.queue.endsWith('-requests')) sent.add((JSON.parse(observation.body) as { readonly requestId: string }).requestId);
      }
      if (observation.type === 'newer' || observation.type === 'damaged') unread.add(observation.orderId);
      // Under the id of another answer: what follows from that one may still be on its way.
      const isForgedReply = observation.type === 'acknowledged' && isForged(observation.body, setting);
      if (isForgedReply || (observation.type === 'acknowledged' && givenUp.has(observation.body))) return undefined;
      // What was posted anew is taken up once more.
      if (observation.type !== 'acknowledged' || (times.get(asSent(observation.body)) ?? 0) > 1) return undefined;
      const message = parseIncoming(observation.body, observation.queue);
      // What is only woken may find nothing to do now, and something a moment later.
      if (message?.incoming.type !== 'reply' || unread.has(message.orderId)) return undefined;
      if ((answers.get(message.incoming.id)?.size ?? 0) > 1) return undefined;
      return unsent(message.orderId, message.incoming.id, sent, history);
    }),
  };
}

/** What is put back for a newer version says since when it waits, and is the same message all the same. */
function asSent(body: string): string {
  if (!body.includes(`"${since}"`)) return body;
  const { [since]: _, ...message } = JSON.parse(body) as { readonly [field: string]: unknown };
  return JSON.stringify(message);
}

function unsent(orderId: string, id: string, sent: ReadonlySet<string>, history: History): string | undefined {
  const order = history.orders.get(orderId);
  if (!order?.state.lastBy.includes(id)) return undefined;
  const { state, lastRequested: lastAsked } = order.instance;
  const missing = lastAsked.find((path) => {
    const own = state.activities[path]?.local as StepState | undefined;
    return own?.phase === 'requested' && own.epoch === order.state.epoch && !sent.has(requestIdOf(orderId, path, own));
  });
  return missing && `${id} is acknowledged, and ${missing}, which follows from it, was not asked for`;
}
