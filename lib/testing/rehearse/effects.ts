import type { StepReply } from '#core/data/event';
import { undonePath } from '#core/data/ids';
import { isDefiniteRefusal } from '#core/engine/step-replies';
import type { Purpose } from './stubs.ts';

/** The effects of an order at its services, and their undos. */
export class Effects {
  /** Whether each effect is certain, by its path, oldest effect first. */
  private readonly done = new Map<string, boolean>();
  readonly undone: string[] = [];

  note(path: string, purpose: Purpose, reply: StepReply | 'silence'): void {
    if (purpose === 'undo') return this.noteUndo(undonePath(path), reply);
    const known = this.done.get(path);
    if (reply !== 'silence' && isDefiniteRefusal(reply)) this.done.delete(path);
    else this.done.set(path, known === true || (reply !== 'silence' && reply.status === 'succeeded'));
  }

  private noteUndo(path: string, reply: StepReply | 'silence'): void {
    if (reply === 'silence' || reply.status !== 'succeeded') return;
    this.done.delete(path);
    this.undone.push(path);
  }

  leftDone(): readonly string[] {
    return [...this.done].map(([path, certain]) => (certain ? path : `${path}?`));
  }
}
