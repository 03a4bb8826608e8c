import { queues } from '../../../lib/messages.ts';
import { orderIdOf } from '../../../lib/submission.ts';
import { responseQueue } from '../history.ts';
import { clientName } from '../outside.ts';
import type { Happening } from '../sight.ts';
import { type Law, on } from './law.ts';

const taken = ['purged', 'refused', 'posted wrongly', 'sent'] as const;
type Taken = (typeof taken)[number];

interface Posted {
  readonly key: string;
  readonly body: string;
  /** What it must be refused for; undefined where nothing is wrong with it. */
  readonly pointer?: string;
  readonly reference?: string;
  readonly mayAnswer: boolean;
}

/** S22: whatever is submitted is stored, or refused with the place of what is wrong, or kept for a person; what is wrong is never stored. */
export function refusals(): Law {
  const posted = new Map<string, Posted>();
  const refused = new Set<string>();
  const aside = new Set<string>();
  const take = (happening: Extract<Happening, { type: Taken }>): string | undefined => {
    if (happening.type === 'purged') posted.delete(happening.body);
    if (happening.type === 'refused') {
      const { key, outcome, pointers, wanted } = happening;
      return outcome === 'invalid' && pointers.includes(wanted) ? undefined : `${key} is answered ${outcome} for "${pointers.join(' ')}"`;
    }
    if (happening.type === 'posted wrongly') {
      const { body, pointer, submission } = happening;
      const { idempotencyKey: key, reference, responseChannel } = submission;
      const named = reference === undefined ? {} : { reference };
      posted.set(body, { key, body, pointer, ...named, mayAnswer: responseChannel === responseQueue });
    }
    if (happening.type !== 'sent') return undefined;
    if (happening.queue === queues.setAside) aside.add((JSON.parse(happening.body) as { readonly body: string }).body);
    if (happening.queue === queues.submissions && !posted.has(happening.body)) posted.set(happening.body, goodOne(happening.body));
    return happening.queue.startsWith('redress-response-') ? answer(happening.queue, happening.body) : undefined;
  };
  const answer = (queue: string, body: string): string | undefined => {
    const { idempotencyKey, errors, at, ...rest } = JSON.parse(body) as { readonly [field: string]: unknown };
    if (rest['status'] !== 'refused') return undefined;
    const one = [...posted.values()].find(({ key }) => key === idempotencyKey);
    if (!one || queue !== responseQueue || !one.mayAnswer) return `${idempotencyKey} is refused on ${queue}`;
    refused.add(one.body);
    const pointers = (errors as readonly { readonly pointer: string }[]).map(({ pointer }) => pointer);
    const wanted = one.pointer ?? '/idempotencyKey';
    const named = one.reference === undefined ? {} : { reference: one.reference };
    const isWhole = JSON.stringify(rest) === JSON.stringify({ v: 1, type: 'status', ...named, seq: 1, status: 'refused' });
    return isWhole && pointers.includes(wanted) && !Number.isNaN(Date.parse(String(at))) ? undefined : `${one.key} is refused with ${body}`;
  };
  return {
    name: 'refusals',
    after: on(taken, take),
    atEnd: (history) =>
      [...posted.values()].flatMap(({ key, body, pointer }) => {
        const isStored = history.orders.has(orderIdOf(clientName, key));
        if (pointer !== undefined && isStored) return [`${key} is wrong, and is stored`];
        return isStored || refused.has(body) || aside.has(body) ? [] : [`${key} was posted, and is nowhere to be found`];
      }),
  };
}

function goodOne(body: string): Posted {
  const { idempotencyKey: key, reference } = JSON.parse(body) as { readonly idempotencyKey: string; readonly reference?: string };
  return { key, body, ...(reference === undefined ? {} : { reference }), mayAnswer: true };
}
