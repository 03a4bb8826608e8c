import type { RequestCommand } from '#core/data/command';
import type { StepReply } from '#core/data/event';
import { fault, ok, rejected } from './run.ts';

/** The reaction of an agent to a request with a new key. */
export type Mood = 'does' | 'refuses' | 'rejects' | 'busy' | 'doesButIsUnsure' | 'isUnsure' | 'doesInSilence' | 'silent';
export const moods: readonly Mood[] = ['does', 'refuses', 'rejects', 'busy', 'doesButIsUnsure', 'isUnsure', 'doesInSilence', 'silent'];

/** Whether an agent only looks up its effect to confirm it, and does nothing after the time limit. */
export const looksUp = ({ agent }: RequestCommand): boolean => agent === 'looker' || agent === 'workflows';

/** A called order ends and reports its outcome, or has not ended yet: the engine that answers for it always knows. */
const moodOfOrders: { readonly [mood in Mood]: Mood } = {
  does: 'does',
  refuses: 'refuses',
  rejects: 'refuses',
  busy: 'silent',
  doesButIsUnsure: 'does',
  isUnsure: 'silent',
  doesInSilence: 'doesInSilence',
  silent: 'silent',
};

/** Correct agents: each key is applied once, and a repetition gets the first answer. */
export class Service {
  /** Keys whose effect exists, and their requests. */
  readonly applied = new Map<string, RequestCommand>();
  private readonly definite = new Map<string, StepReply>();

  /**
   * Returns the agent's reply; undefined if it is silent. The agent never refuses an undo permanently without a further
   * attempt.
   */
  answer(ask: RequestCommand, wanted: Mood, type = 'Refused'): StepReply | undefined {
    const key = ask.idempotencyKey;
    const isUndo = ask.path.endsWith('/undo');
    const mood = ask.agent === 'workflows' ? moodOfOrders[wanted] : wanted;
    if (mood === 'busy') return fault(type, { permanent: false });
    if (mood === 'isUnsure') return fault(type, { unknown: true });
    if (mood === 'silent') return undefined;

    const first = this.definite.get(key);
    if (first && mood !== 'doesInSilence' && mood !== 'doesButIsUnsure') return first;
    // Not done so far: an earlier request may still be on its way.
    if (first === undefined && ask.confirming && looksUp(ask)) return fault('NotDone');
    if (first === undefined && (mood === 'refuses' || mood === 'rejects')) {
      const reply = mood === 'refuses' ? fault(type) : rejected;
      if (!isUndo) this.definite.set(key, reply);
      return reply;
    }
    if (first === undefined) this.apply(key, ask);
    if (mood === 'doesInSilence') return undefined;
    return mood === 'doesButIsUnsure' ? fault(type, { unknown: true }) : this.definite.get(key);
  }

  private apply(key: string, ask: RequestCommand): void {
    this.applied.set(key, ask);
    this.definite.set(key, ok({ key }));
  }
}
