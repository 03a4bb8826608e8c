import { queueNames } from '#ports/messages';
import { orderIdOf, type SubmissionProblem } from '#roles/submission/submission';
import type { History } from '#testing/world/history';
import type { Observation } from '#testing/world/observation';
import { type Law, on, type Setting } from './law.ts';

const taken = ['purged', 'dead-lettered', 'refused', 'posted invalid', 'sent', 'dead-lettered'] as const;
type Taken = (typeof taken)[number];

interface Posted {
  readonly key: string;
  readonly body: string;
  readonly workflow?: string;
  /** Pointer and code of what it must be refused for; undefined where nothing is wrong with it. */
  readonly wanted?: string;
  readonly reference?: string;
  readonly mayAnswer: boolean;
}

/** S22: whatever is submitted is stored, or refused with the place of what is wrong, or kept for a person; what is wrong is never stored. */
export function refusals({ client, responseQueue }: Pick<Setting, 'client' | 'responseQueue'>): Law {
  const posted = new Map<string, Posted>();
  const refused = new Set<string>();
  const aside = new Set<string>();
  const take = (observation: Extract<Observation, { type: Taken }>, history: History): string | undefined => {
    if (observation.type === 'purged') posted.delete(observation.body);
    if (observation.type === 'refused') {
      const { key, outcome, problems, wanted } = observation;
      return outcome === 'invalid' && says(problems, wanted) ? undefined : `${key} is answered ${outcome} for ${JSON.stringify(problems)}`;
    }
    if (observation.type === 'posted invalid') {
      const { body, wanted, submission } = observation;
      const { idempotencyKey: key, reference, responseChannel } = submission;
      const named = reference === undefined ? {} : { reference };
      posted.set(body, { key, body, wanted, ...named, mayAnswer: responseChannel === responseQueue });
    }
    if (observation.type === 'dead-lettered') aside.add(observation.message.body);
    if (observation.type !== 'sent') return undefined;
    if (observation.queue === queueNames.submissions && !posted.has(observation.body))
      posted.set(observation.body, goodOne(observation.body));
    return observation.queue.startsWith('redress-response-') ? answer(observation.queue, observation.body, history) : undefined;
  };
  const answer = (queue: string, body: string, history: History): string | undefined => {
    const { idempotencyKey, errors, at, ...rest } = JSON.parse(body) as { readonly [field: string]: unknown };
    if (rest['status'] !== 'refused') return undefined;
    const stored = history.orders.get(orderIdOf(client, String(idempotencyKey)))?.state.workflow.name;
    const withKey = [...posted.values()].filter(({ key }) => key === idempotencyKey);
    // A key may be used for two orders: it is the one that is not stored that is refused, and again where it is delivered again.
    const notStored = withKey.filter(({ workflow }) => workflow === undefined || workflow !== stored);
    const one = notStored.find(({ body }) => !refused.has(body)) ?? notStored[0] ?? withKey[0];
    if (!one || queue !== responseQueue || !one.mayAnswer) return `${idempotencyKey} is refused on ${queue}`;
    refused.add(one.body);
    if (one.workflow !== undefined && one.workflow === stored) return `${one.key} is refused, and is stored`;
    // Handling it failed too often, whatever was wrong: then it lies before a person, too.
    if (aside.has(one.body) && (errors as readonly SubmissionProblem[]).every(({ code }) => code === 'internal')) return undefined;
    const wanted = one.wanted ?? '/idempotencyKey idempotency-key-reused';
    const named = one.reference === undefined ? {} : { reference: one.reference };
    const isWhole = JSON.stringify(rest) === JSON.stringify({ v: 1, type: 'status', ...named, seq: 1, status: 'refused' });
    return isWhole && says(errors as readonly SubmissionProblem[], wanted) && !Number.isNaN(Date.parse(String(at)))
      ? undefined
      : `${one.key} is refused with ${body}`;
  };
  return {
    name: 'refusals',
    after: on(taken, take),
    atEnd: (history) =>
      [...posted.values()].flatMap(({ key, body, wanted }) => {
        const isStored = history.orders.has(orderIdOf(client, key));
        if (wanted !== undefined && isStored) return [`${key} is wrong, and is stored`];
        return isStored || refused.has(body) || aside.has(body) ? [] : [`${key} was posted, and is nowhere to be found`];
      }),
  };
}

/** Each with the place of what is wrong, and a sentence; one of them is what is meant. */
const says = (problems: readonly SubmissionProblem[], wanted: string): boolean =>
  problems.every(({ pointer, detail }) => pointer.startsWith('/') && detail.length > 8) &&
  problems.some(({ pointer, code }) => `${pointer} ${code}` === wanted);

function goodOne(body: string): Posted {
  const {
    idempotencyKey: key,
    reference,
    workflow,
  } = JSON.parse(body) as {
    readonly idempotencyKey: string;
    readonly reference?: string;
    readonly workflow: string;
  };
  return { key, body, workflow, ...(reference === undefined ? {} : { reference }), mayAnswer: true };
}
