import type { RequestCommand } from '#core/data/command';
import type { StepReply } from '#core/data/event';
import { fault, ok, rejected } from './run.ts';

/** What an agent makes of an asking whose key it has not seen before. */
export type Mood = 'does' | 'refuses' | 'rejects' | 'busy' | 'doesButIsUnsure' | 'isUnsure' | 'doesInSilence' | 'silent';
export const moods: readonly Mood[] = ['does', 'refuses', 'rejects', 'busy', 'doesButIsUnsure', 'isUnsure', 'doesInSilence', 'silent'];

/** Whether it only looks up what it did, where that is all that is asked; and does nothing once its time is over. */
export const looksUp = ({ agent }: RequestCommand): boolean => agent === 'looker' || agent === 'workflows';

/** An order that was called ends, and says how, or it does not end yet: the engine that answers for it is never in doubt. */
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

/** Agents as they should be: each key is applied once, and answered with what was answered to it before. */
export class Service {
  /** Keys whose effect exists, and what they were asked with. */
  readonly applied = new Map<string, RequestCommand>();
  private readonly definite = new Map<string, StepReply>();

  /** What the agent answers; nothing where it is silent. An undo is never refused for good without being tried again. */
  answer(ask: RequestCommand, wanted: Mood, type = 'Refused'): StepReply | undefined {
    const key = ask.idempotencyKey;
    const isUndo = ask.path.endsWith('/undo');
    const mood = ask.agent === 'workflows' ? moodOfOrders[wanted] : wanted;
    if (mood === 'busy') return fault(type, { permanent: false });
    if (mood === 'isUnsure') return fault(type, { unknown: true });
    if (mood === 'silent') return undefined;

    const known = this.definite.get(key);
    if (known && mood !== 'doesInSilence' && mood !== 'doesButIsUnsure') return known;
    // Not done so far: what was asked before may still be on its way.
    if (known === undefined && ask.confirming && looksUp(ask)) return fault('NotDone');
    if (known === undefined && (mood === 'refuses' || mood === 'rejects')) {
      const reply = mood === 'refuses' ? fault(type) : rejected;
      if (!isUndo) this.definite.set(key, reply);
      return reply;
    }
    if (known === undefined) this.apply(key, ask);
    if (mood === 'doesInSilence') return undefined;
    return mood === 'doesButIsUnsure' ? fault(type, { unknown: true }) : this.definite.get(key);
  }

  private apply(key: string, ask: RequestCommand): void {
    this.applied.set(key, ask);
    this.definite.set(key, ok({ key }));
  }
}
