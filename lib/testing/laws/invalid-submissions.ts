import { queueNames } from '#ports/messages';
import { orderIdOf, type SubmissionProblem } from '#roles/submission/submission';
import type { History } from '#testing/world/history';
import type { Observation } from '#testing/world/observation';
import { type Law, on, type Setting } from './law.ts';

const kinds = ['purged', 'dead-lettered', 'refused', 'posted invalid', 'sent'] as const;
type Kind = (typeof kinds)[number];

interface Posted {
  readonly key: string;
  readonly body: string;
  readonly workflow?: string;
  /** Pointer and code of the problem that the refusal must name; undefined if it is valid. */
  readonly expected?: string;
  readonly reference?: string;
  /** Whether it names the response queue of its client, so that a refusal may be sent there. */
  readonly mayAnswer: boolean;
}

/** A submission is stored, refused with the place of its problem, or kept as a dead letter. An invalid one is never stored (S22). */
export function invalidSubmissions({ client, responseQueue }: Pick<Setting, 'client' | 'responseQueue'>): Law {
  /** Posted submissions, by body. */
  const posted = new Map<string, Posted>();
  /** Bodies that were refused, and bodies that became dead letters. */
  const refused = new Set<string>();
  const deadLetters = new Set<string>();
  const check = (observation: Extract<Observation, { type: Kind }>, history: History): string | undefined => {
    if (observation.type === 'purged') posted.delete(observation.body);
    if (observation.type === 'refused') {
      const { key, outcome, problems, expected } = observation;
      return outcome === 'invalid' && names(problems, expected)
        ? undefined
        : `submission ${key}: answered ${outcome} for ${JSON.stringify(problems)}, expected ${expected}`;
    }
    if (observation.type === 'posted invalid') {
      const { body, expected, submission } = observation;
      const { idempotencyKey: key, reference, responseChannel } = submission;
      const named = reference === undefined ? {} : { reference };
      posted.set(body, { key, body, expected, ...named, mayAnswer: responseChannel === responseQueue });
    }
    if (observation.type === 'dead-lettered') deadLetters.add(observation.message.body);
    if (observation.type !== 'sent') return undefined;
    const isSubmission = observation.queue === queueNames.submissions && !isOfSystem(observation.body);
    if (isSubmission && !posted.has(observation.body)) posted.set(observation.body, validSubmission(observation.body));
    return observation.queue.startsWith('redress-response-') ? checkRefusal(observation.queue, observation.body, history) : undefined;
  };
  const checkRefusal = (queue: string, body: string, history: History): string | undefined => {
    const { idempotencyKey, errors, at, ...rest } = JSON.parse(body) as { readonly [field: string]: unknown };
    if (rest['status'] !== 'refused') return undefined;
    const stored = history.orders.get(orderIdOf(client, String(idempotencyKey)))?.state.workflow.name;
    const withKey = [...posted.values()].filter(({ key }) => key === idempotencyKey);
    // Two submissions may use one key: the one that is not stored is refused, and refused again after a redelivery.
    const notStored = withKey.filter(({ workflow }) => workflow === undefined || workflow !== stored);
    const one = notStored.find(({ body }) => !refused.has(body)) ?? notStored[0] ?? withKey[0];
    if (!one || queue !== responseQueue || !one.mayAnswer)
      return `submission ${idempotencyKey}: its refusal was sent to ${queue}, where no client expects it`;
    refused.add(one.body);
    // A submission whose processing failed too often is refused with the code `internal`, and is also a dead letter. A process that stood
    // still may store it later.
    if (deadLetters.has(one.body) && (errors as readonly SubmissionProblem[]).every(({ code }) => code === 'internal')) return undefined;
    if (one.workflow !== undefined && one.workflow === stored) return `submission ${one.key} was refused although it is stored`;
    const expected = one.expected ?? '/idempotencyKey idempotency-key-reused';
    const named = one.reference === undefined ? {} : { reference: one.reference };
    const isWhole = JSON.stringify(rest) === JSON.stringify({ v: 1, type: 'status', ...named, seq: 1, status: 'refused' });
    return isWhole && names(errors as readonly SubmissionProblem[], expected) && !Number.isNaN(Date.parse(String(at)))
      ? undefined
      : `submission ${one.key} was refused with ${body}, expected ${expected}`;
  };
  return {
    name: 'invalid submissions',
    after: on(kinds, check),
    atEnd: (history) =>
      [...posted.values()].flatMap(({ key, body, expected }) => {
        const isStored = history.orders.has(orderIdOf(client, key));
        if (expected !== undefined && isStored) return [`submission ${key} is invalid but was stored`];
        return isStored || refused.has(body) || deadLetters.has(body)
          ? []
          : [`submission ${key} was neither stored, refused nor kept as a dead letter`];
      }),
  };
}

/** Whether the system itself sent the message, to begin the handler of an exception or to find the consumers of an undone write. */
const isOfSystem = (body: string): boolean => /^\{[^{}]*"type":"(handle|undone)"/.test(body);

/** Whether each problem has a pointer and a sentence, and one is the expected problem. */
const names = (problems: readonly SubmissionProblem[], expected: string): boolean =>
  problems.every(({ pointer, detail }) => pointer.startsWith('/') && detail.length > 8) &&
  problems.some(({ pointer, code }) => `${pointer} ${code}` === expected);

function validSubmission(body: string): Posted {
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
