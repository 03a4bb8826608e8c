import { isSenderOf } from '#ports/clients';
import type { Clock } from '#ports/clock';
import { UnreadableMessageError } from '#ports/errors';
import { Handle, newerProblem, queueNames, Restart, SubmissionMessage, timeText, Undone } from '#ports/messages';
import type { Queues } from '#ports/queues';
import type { Store } from '#ports/store';
import { jsonIn } from '#ports/util/json';
import { tellConsumers } from '#roles/recovery/inconsistencies';
import { messageProblems } from './body-limits.ts';
import { beginHandlerOrder, type HandlerPorts } from './handler.ts';
import { beginRestarted, type RestartPorts } from './restart.ts';
import { pointerOf, type Submission, type SubmissionProblem, type Submit } from './submission.ts';

/** Processes messages of the submissions queue: submissions, and messages of the system that begin orders or look for consumers of writes. */
export interface SubmissionConsumer {
  /** Processes one message. */
  consume(body: string, senderId: string): Promise<void>;
  /** Returns the client for which the sender may submit; undefined if the message is not a submission of a registered sender. */
  clientOf(body: string, senderId: string): Promise<string | undefined>;
}

/** A refusal must fit into one message. A pointer repeats its whole path, so fifty of them may be longer than the submission itself. */
const problemsMax = 50;
const problemsBytesMax = 128 * 1024;

/** Returns the first problems, as many as a refusal may have; one at least, if there is one. */
function firstFitting(problems: readonly SubmissionProblem[]): readonly SubmissionProblem[] {
  let bytes = 0;
  return problems.slice(0, problemsMax).filter((problem, index) => {
    bytes += Buffer.byteLength(JSON.stringify(problem));
    return index === 0 || bytes <= problemsBytesMax;
  });
}

const senderUnknown = 'The sender is not registered for this client. Register it with PUT /clients/{id}.';

/**
 * Creates the consumer of submissions. Only a registered sender may submit for a client. A refusal goes to the client's
 * response queue; without one, the message becomes a dead letter.
 */
export function createSubmissionConsumer(
  system: { store: Store; queues: Queues; clock: Clock; submit: Submit } & RestartPorts & HandlerPorts,
): SubmissionConsumer {
  const { store, queues, clock, submit } = system;

  /** Submits an order from a message, after the same checks as for an API call. Returns the problems; none if the order was accepted. */
  async function submitFrom(text: string, submission: Submission): Promise<readonly SubmissionProblem[]> {
    const ofForm = messageProblems(text);
    if (ofForm.length > 0) return firstFitting(ofForm);
    const submitted = await submit(submission);
    if (submitted.outcome === 'accepted') return [];
    if (submitted.outcome === 'invalid') return firstFitting(submitted.problems);
    return [
      { pointer: '/idempotencyKey', code: 'idempotency-key-reused', detail: 'This key was used for another submission. Use a new key.' },
    ];
  }

  async function clientOf(body: string, senderId: string): Promise<string | undefined> {
    const { success, data } = SubmissionMessage.safeParse(jsonIn(body));
    const registered = success ? await store.client(data.client) : undefined;
    return registered && isSenderOf(registered, senderId) ? registered.id : undefined;
  }

  async function consume(body: string, senderId: string): Promise<void> {
    const given = jsonIn(body);
    const newer = newerProblem(given);
    if (newer) throw newer;
    const restart = Restart.safeParse(given).data;
    if (restart) return beginRestarted(restart.orderId, system);
    const handle = Handle.safeParse(given).data;
    if (handle) return beginHandlerOrder(handle.orderId, handle.seq, system);
    const undone = Undone.safeParse(given).data;
    if (undone) return tellConsumers(undone, system);
    const parsed = SubmissionMessage.safeParse(given);
    if (!parsed.success)
      throw new UnreadableMessageError(
        `This is not a valid submission: ${parsed.error.issues.map(({ path, message }) => `${pointerOf(path)} ${message}`).join('; ')}.`,
      );

    const { v: _, type: __, workflow, reference, responseChannel, ...rest } = parsed.data;
    const registered = await store.client(rest.client);
    if (!registered || !isSenderOf(registered, senderId)) throw new UnreadableMessageError(senderUnknown);

    const problems = await submitFrom(body, {
      ...rest,
      ...(workflow === undefined ? {} : { workflow }),
      ...(reference === undefined ? {} : { reference }),
      ...(responseChannel === undefined ? {} : { responseChannel }),
    });
    if (problems.length === 0) return;
    if (responseChannel === undefined || !registered.responseChannels.includes(responseChannel))
      throw new UnreadableMessageError(
        `The submission was refused: ${problems.map(({ pointer, detail }) => `${pointer} ${detail.replace(/\.$/, '')}`).join('; ')}.`,
      );

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
  }

  return { consume, clientOf };
}
