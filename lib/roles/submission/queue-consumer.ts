import type { Clock } from '#ports/clock';
import { UnreadableMessageError } from '#ports/errors';
import { newerProblem, queueNames, SubmissionMessage, timeText } from '#ports/messages';
import type { Queues } from '#ports/queues';
import type { Store } from '#ports/store';
import { messageProblems } from './body-limits.ts';
import { pointerOf, type Submission, type SubmissionProblem, type Submit } from './submission.ts';

/** Takes one message of the submissions queue. */
export type SubmissionConsumer = (body: string, senderId: string) => Promise<void>;

/** More would help nobody, and an answer must fit its message. */
const problemsMax = 50;

/** Only a registered sender may speak for a client. A refusal is answered where the client listens, else the message is poison. */
export function createSubmissionConsumer(system: { store: Store; queues: Queues; clock: Clock; submit: Submit }): SubmissionConsumer {
  const { store, queues, clock, submit } = system;

  /** An order is the same whichever way it comes: its form is looked at as that of a call is, and then its meaning. */
  async function problemsOf(text: string, submission: Submission): Promise<readonly SubmissionProblem[]> {
    const ofForm = messageProblems(text);
    if (ofForm.length > 0) return ofForm.slice(0, problemsMax);
    const submitted = await submit(submission);
    if (submitted.outcome === 'accepted') return [];
    if (submitted.outcome === 'invalid') return submitted.problems;
    return [{ pointer: '/idempotencyKey', code: 'idempotency-key-reused', detail: 'The key was used for another submission.' }];
  }

  return async (body, senderId) => {
    const given = jsonOf(body);
    const newer = newerProblem(given);
    if (newer) throw newer;
    const parsed = SubmissionMessage.safeParse(given);
    if (!parsed.success)
      throw new UnreadableMessageError(
        `It is no submission: ${parsed.error.issues.map(({ path, message }) => `${pointerOf(path)} ${message}`).join('; ')}.`,
      );

    const { v: _, type: __, workflow, reference, responseChannel, ...rest } = parsed.data;
    const registered = await store.client(rest.client);
    if (!registered?.senders.includes(senderId)) throw new UnreadableMessageError('Its sender is not registered for this client.');

    const problems = await problemsOf(body, {
      ...rest,
      ...(workflow === undefined ? {} : { workflow }),
      ...(reference === undefined ? {} : { reference }),
      ...(responseChannel === undefined ? {} : { responseChannel }),
    });
    if (problems.length === 0) return;
    if (responseChannel === undefined || !registered.responseChannels.includes(responseChannel))
      throw new UnreadableMessageError(`It was refused: ${problems.map(({ pointer, detail }) => `${pointer} ${detail}`).join('; ')}.`);

    const refused = {
      v: 1,
      type: 'status',
      ...(reference === undefined ? {} : { reference }),
      idempotencyKey: rest.idempotencyKey,
      seq: 1,
      status: 'refused',
      errors: problems,
      at: timeText(clock.now()),
    };
    await queues.send([{ queue: queueNames.response(responseChannel), body: JSON.stringify(refused) }]);
  };
}

const jsonOf = (body: string): unknown => {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
};
