import { ask, type Behaviour, type Context, close, type Next, raise, succeeded } from '../behaviour.ts';
import { type ActivityBase, limits, type Template } from '../definition.ts';
import { engineFault, engineFaults } from '../fault.ts';
import { utf8Bytes } from '../json.ts';

export interface Step extends ActivityBase {
  readonly activity: 'step';
  readonly agent: string;
  readonly operation: string;
  readonly input: Template;
  readonly completeWithinSeconds?: number;
  /** Seconds over all heartbeats of one asking. */
  readonly longestSeconds?: number;
  /** Faults that the operation declares, with their ancestors: `Refused/CardDeclined`. */
  readonly faults?: readonly string[];
  /** JSON pointers into the output that nobody may see. */
  readonly secretOutput?: readonly string[];
}

interface Asked {
  /** Rises when the effect gets a new name: see `idempotencyKey`. */
  readonly generation: number;
  readonly attempt: number;
  /** The claim under which it was asked. */
  readonly epoch: number;
  readonly completeBy: number;
  /** When it was asked: the longest time counts from here. */
  readonly since: number;
}

export type StepState = Asked & {
  readonly phase:
    | 'asked'
    /** Answered "not now": the step waits for its time to pass, as if the agent had been silent. */
    | 'failedForNow'
    /** Answered "no": asking once more is a new effect. */
    | 'refused'
    /** Answered, but nobody knows whether the effect exists. */
    | 'unknown';
};

/** Asks an agent to do one operation and waits for its answer. */
export const step: Behaviour<Step, StepState> = {
  children: () => [],
  problems,
  templates: ({ input }) => [input],
  execute: (step, context) => askAgent(step, 1, 1, context),

  repeat: (step, { phase, generation, attempt }, context) =>
    askAgent(step, phase === 'refused' ? generation + 1 : generation, attempt + 1, context),

  replied(_, asked, reply) {
    if (asked.phase !== 'asked') return undefined;
    if (reply.status === 'rejected') {
      return raise(engineFault(engineFaults.requestRejected, reply.message), { ...asked, phase: 'refused' });
    }
    if (reply.status === 'succeeded') {
      const bytes = utf8Bytes(reply.output);
      if (bytes <= limits.outputBytesMax) return close(succeeded(reply.output));

      const message = `The output has ${bytes} bytes; at most ${limits.outputBytesMax} are kept. Answer with a reference to where it lies.`;
      return raise(engineFault(engineFaults.outputTooLarge, message, { outcomeUnknown: true }), { ...asked, phase: 'unknown' });
    }
    if (reply.fault.permanent) return raise(reply.fault, { ...asked, phase: reply.fault.outcomeUnknown ? 'unknown' : 'refused' });

    return { state: { ...asked, phase: 'failedForNow' }, failedForNow: reply.fault };
  },
};

const askAgent = (step: Step, generation: number, attempt: number, context: Context): Next<StepState> => {
  const { at, epoch, endBy } = context;
  const asked = { generation, attempt, epoch, since: at };
  const refuse = (fault: ReturnType<typeof engineFault>) =>
    raise<StepState>(fault, { ...asked, attempt: attempt - 1, phase: 'unknown', completeBy: at });

  if (endBy !== undefined && at >= endBy) {
    return refuse(engineFault(engineFaults.deadlineExceeded, 'The time of the whole order is over, so nothing more is asked.'));
  }
  const input = context.evaluate(step.input);
  if (!input.ok) return refuse(input.fault);

  const completeBy = Math.min(at + (step.completeWithinSeconds ? step.completeWithinSeconds * 1000 : context.stepMs), endBy ?? Infinity);
  return ask({ input: input.value, generation, attempt, completeBy }, { ...asked, phase: 'asked', completeBy });
};

function problems({ agent, operation, completeWithinSeconds, longestSeconds }: Step): readonly string[] {
  const nameless = Object.entries({ agent, operation }).filter(([, name]) => typeof name !== 'string' || name === '');
  const timeless = Object.entries({ completeWithinSeconds, longestSeconds }).filter(
    ([, seconds]) => seconds !== undefined && !(typeof seconds === 'number' && seconds > 0),
  );
  return [
    ...nameless.map(([field]) => `It names no ${field}.`),
    ...timeless.map(([field, seconds]) => `${field} is ${JSON.stringify(seconds)}; it is a number above 0.`),
  ];
}
