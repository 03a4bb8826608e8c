import { stepOf } from '#core/activities/index';
import { type Fault, isQuestion } from '#core/data/fault';
import type { ActivityState } from '#core/data/state';
import { awaitsReply } from '#core/data/step-state';
import type { Activity, RemoteActivity } from '#core/definition/definition';
import { isRemote } from '#core/definition/definition';

/** An event outside of the order for which an activity waits. */
export type Wait =
  | { readonly kind: 'signal'; readonly name: string }
  /** The answer of a person. `question` is null until it is asked. */
  | { readonly kind: 'answer'; readonly question: string | null }
  | { readonly kind: 'time' }
  /** The end of a called order. `orderId` is null until the order is called. */
  | { readonly kind: 'order'; readonly workflow: string; readonly orderId: string | null };

type Waiting = Extract<Activity, { activity: 'waitFor' | 'askOperator' | 'delay' }>;

/** Whether a person follows the progress of this activity: a step, a call or a wait. */
export const isFollowed = (node: Activity): node is RemoteActivity | Waiting =>
  isRemote(node) || node.activity === 'waitFor' || node.activity === 'askOperator' || node.activity === 'delay';

/** Returns the event for which an activity waits; undefined for an activity that waits for none, such as a step. */
export function waitOf(
  node: Activity,
  { question = null, orderId = null }: { readonly question?: string | null; readonly orderId?: string | null } = {},
): Wait | undefined {
  switch (node.activity) {
    case 'waitFor':
      return { kind: 'signal', name: node.signal };
    case 'askOperator':
      return { kind: 'answer', question };
    case 'delay':
      return { kind: 'time' };
    case 'call':
      return { kind: 'order', workflow: node.operation, orderId };
    default:
      return undefined;
  }
}

/** Returns when an activity runs once more, if nothing but time can end this pause: milliseconds since 1970. */
export function pauseOf(node: Activity, activity: ActivityState | undefined): number | undefined {
  const step = stepOf(node, activity);
  return step && (step.mode || awaitsReply(step)) ? undefined : activity?.waitsUntil;
}

/** Returns the text of a question; undefined for any other fault. */
export const questionIn = (fault: Fault): string | undefined => (isQuestion(fault) ? fault.message : undefined);
