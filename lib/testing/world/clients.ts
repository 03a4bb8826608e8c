import type { UsedSolution } from '#core/solutions/solution';
import { collections } from '#ports/documents';
import { UnreadableRecordError } from '#ports/errors';
import { timeText } from '#ports/messages';
import type { Instruct, Instructed } from '#roles/operator/instruct';
import type { Decision } from '#roles/operator/instruction';
import { orderIdOf, type Submission, type SubmissionProblem } from '#roles/submission/submission';
import type { System } from '#runtime/system';
import type { Observation } from './observation.ts';
import type { Timeline } from './timeline.ts';

interface RepeatedCall<Host> {
  readonly timeline: Timeline;
  /** A process that answers calls, if any does. */
  host(): Host | undefined;
  /** Makes the call once. Resolves to false if the answer is not final. */
  call(host: Host): Promise<boolean>;
  readonly what: string;
  readonly patienceMs: number;
  /** The pause before the next try. */
  pauseMs(): number;
  onAnswer(): void;
}

/** Makes a call until it has a final answer. A try without an answer has an unknown outcome. */
export function untilAnswered<Host>({ timeline, host, call, what, patienceMs, pauseMs, onAnswer }: RepeatedCall<Host>): void {
  let answered = false;
  const attempt = (): void => {
    let over = false;
    const again = (): void => {
      if (over || answered) return;
      over = true;
      timeline.after(pauseMs(), `${what} again`, attempt);
    };
    const answer = (isFinal: boolean): void => {
      if (over || answered) return;
      if (!isFinal) return again();
      answered = true;
      onAnswer();
    };
    const alive = host();
    if (!alive) return again();
    call(alive).then(answer, again);
    timeline.after(patienceMs, `${what} waits no longer`, again);
  };
  attempt();
}

type Submitted = Extract<Observation, { type: 'submitted' }>;

/** The workflow refuses the body of an order. Another try changes nothing. */
export class SubmissionRefusedError extends Error {
  override readonly name = 'SubmissionRefusedError';
  readonly problems: readonly SubmissionProblem[];

  constructor(problems: readonly SubmissionProblem[]) {
    super('The workflow refused the body of an order.');
    this.problems = problems;
  }
}

/**
 * Submits an order once, and returns the answer.
 *
 * @throws SubmissionRefusedError if the workflow refuses the body.
 */
export async function submitOnce(system: System, submission: Submission & { readonly workflow: string }): Promise<Submitted> {
  const { client, idempotencyKey, workflow } = submission;
  const answer = await system.submit(submission);
  const { outcome } = answer;
  if (outcome === 'invalid') throw new SubmissionRefusedError(answer.problems);
  const given = outcome === 'accepted' ? { replayed: answer.replayed, answer: answer.order.answer } : noAnswer;
  return { type: 'submitted', orderId: orderIdOf(client, idempotencyKey), workflow, outcome, ...given };
}

const noAnswer = { replayed: undefined, answer: undefined };

/** The answer to an instruction. A damaged order cannot be read. */
export type InstructionAnswer = Instructed | { readonly outcome: 'unreadable' };

interface Instruction {
  readonly orderId: string;
  readonly decision: Decision;
  /** The name of the decision, which all its tries share. */
  readonly reason: string;
  readonly how: Parameters<Instruct>[2];
  readonly isWrong?: boolean;
  /** Returns how often the order was written. */
  rev(): number | undefined;
  /** Returns the time of the world. */
  now(): number;
}

/** The solution of the operator's decisions. */
export const usedSolution: UsedSolution = { id: 'usual', version: 1 };

/**
 * Adds the entry of the audit, as the API does, and the solution that the operator uses. The entry has a name of its own for each try, so
 * that a run can be repeated.
 */
export const recorded = (orderId: string, decision: Decision, how: Parameters<Instruct>[2]): Parameters<Instruct>[2] => ({
  ...how,
  solution: usedSolution,
  beside: (before, after) => {
    // Decisions of clients have no entry: the history of their order holds them.
    if ('by' in decision && decision.by !== 'operator') return [];
    const reason = 'reason' in decision ? decision.reason : null;
    const content = { target: orderId, action: decision.kind, reason, before: before.rev, after: after.rev };
    return [{ collection: collections.audit(timeText(after.updatedAt).slice(0, 10)), id: `${orderId}/${how.id}`, rev: 1, content }];
  },
});

/** Gives an instruction once, and returns the answer with its observation. */
export async function instructOnce(
  { scheduler }: System,
  { orderId, decision, reason, how, isWrong = false, rev, now }: Instruction,
): Promise<{ readonly answer: InstructionAnswer; readonly observation: Extract<Observation, { type: 'instructed' }> }> {
  const [revAtStart, startedAt] = [rev(), now()];
  const answer = await scheduler.instruct(orderId, decision, how).catch(unreadable);
  const about = { orderId, decision, reason, id: how.id, outcome: answer.outcome };
  const judged = { revAtStart, startedAt, isUnchanged: revAtStart === rev(), isInvalid: isWrong };
  const observation = { type: 'instructed', ...about, ...judged, reasons: reasonsIn(answer) } as const;
  return { answer, observation };
}

/** Returns the answer to a call about a damaged order, and rethrows every other error. */
export const unreadable = (error: unknown) => {
  if (error instanceof UnreadableRecordError && error.newerUntil === undefined) return { outcome: 'unreadable' } as const;
  throw error;
};

const reasonsIn = (answer: InstructionAnswer): readonly string[] => {
  if (answer.outcome === 'infeasible') return answer.refusals.map(({ detail }) => detail);
  return answer.outcome === 'invalid' ? answer.problems.map(({ pointer, code, detail }) => (pointer && code ? detail : '')) : [];
};
