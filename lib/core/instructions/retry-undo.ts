import { stepOfUndo, undoPathOf } from '#core/data/ids';
import { stepAt } from '#core/definition/program';
import { failingWork } from '#core/engine/compensation';
import { repeat } from '#core/engine/repetition';
import { firstOf, type InstructionKind, type InstructionRefusal, type Judged, refusal, whenFinished } from './kind.ts';
import { whenUndosStandStill } from './mark-compensated.ts';

/** Requests a failing undo again now, without its pause. Without a path: all that fail. */
export interface RetryUndo {
  readonly kind: 'retry-undo';
  /** The path of the step, or of its undo. */
  readonly path?: string;
}

export const retryUndo: InstructionKind<RetryUndo> = {
  refusals: (order, instruction) =>
    firstOf(
      () => whenFinished(order),
      () => [...whenUndosStandStill(order), ...ofChoice(order, instruction.path)],
    ),
  staysStopped: () => true,
  apply(builder, { path }) {
    for (const failing of chosen({ program: builder.program, state: builder.state }, path))
      if (builder.stepAt(failing)?.phase === 'waitingToRetry') repeat(builder, failing);
  },
};

type Order = Pick<Judged, 'program' | 'state'>;

/** Returns the paths of failing undos and confirmations. `path`: only those of this step. */
const chosen = ({ program, state }: Order, path: string | undefined): readonly string[] =>
  failingWork(program, state).filter((each) => path === undefined || each === path || each === undoPathOf(path));

function ofChoice(order: Order, path: string | undefined): readonly InstructionRefusal[] {
  const failing = failingWork(order.program, order.state);
  const meant = chosen(order, path);
  const known = failing.length === 0 ? 'No undo of this order has failed.' : `Failed undos: ${failing.map(stepOfUndo).join(', ')}.`;
  if (meant.length === 0 && path !== undefined)
    return [refusal('no-such-step', `The undo of ${path} is not running, or has not failed yet. ${known}`, { path, pointer: '/path' })];
  if (meant.length === 0) return [refusal('nothing-to-do', known)];
  const phases = meant.map((each) => stepAt(order.program, order.state, each)?.phase);
  if (phases.includes('waitingToRetry')) return [];
  return phases.includes('requested')
    ? [refusal('undo-running', 'The answer to the last request of this undo is outstanding. Wait for it.', { path: meant[0] ?? '' })]
    : [
        refusal(
          'no-undo',
          'This undo is never requested, because its input cannot be evaluated. Do it by hand, then mark it as compensated.',
          {
            path: meant[0] ?? '',
          },
        ),
      ];
}
