import { requestIdOf } from '#core/data/ids';
import type { StepState } from '#core/data/step-state';
import { poisonIn } from '#roles/dead-letters/envelope';
import { since } from '#roles/dead-letters/requeue';
import { parseIncoming } from '#roles/scheduler/incoming';
import { forgedWord } from '../forgeries.ts';
import type { History } from '../history.ts';
import { type Law, on } from './law.ts';

/** S26, X-1: an answer is taken off its queue only when it was written down, and what follows from it was sent; or it was given up. */
export function acknowledgements(): Law {
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
    after: on(['sent', 'newer', 'damaged', 'acknowledged'], (happening, history) => {
      if (happening.type === 'sent') {
        times.set(asSent(happening.body), (times.get(asSent(happening.body)) ?? 0) + 1);
        const requestId = happening.queue.endsWith('-replies') ? /"requestId":"([^"]+)"/.exec(happening.body)?.[1] : undefined;
        if (requestId !== undefined) answers.set(requestId, (answers.get(requestId) ?? new Set()).add(asSent(happening.body)));
        const poison = happening.queue.endsWith('-dead') ? poisonIn(happening.body, happening.queue.replace(/-dead$/, '')) : undefined;
        if (poison) givenUp.add(poison.body);
        if (happening.queue.endsWith('-requests')) sent.add((JSON.parse(happening.body) as { readonly requestId: string }).requestId);
      }
      if (happening.type === 'newer' || happening.type === 'damaged') unread.add(happening.orderId);
      // Under the id of another answer: what follows from that one may still be on its way.
      const isForged = happening.type === 'acknowledged' && happening.body.includes(forgedWord);
      if (isForged || (happening.type === 'acknowledged' && givenUp.has(happening.body))) return undefined;
      // What was posted anew is taken up once more.
      if (happening.type !== 'acknowledged' || (times.get(asSent(happening.body)) ?? 0) > 1) return undefined;
      const message = parseIncoming(happening.body, happening.queue);
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
