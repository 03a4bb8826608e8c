import type { Json } from '#core/data/json';
import type { State } from '#core/data/state';
import { isRemote } from '#core/definition/definition';
import { nodeAt, type Program } from '#core/definition/program';
import { isWithin } from '#core/engine/undo-pages';
import {
  firstOf,
  type InstructionKind,
  type InstructionRefusal,
  type InstructionWarning,
  type Judged,
  refusal,
  whenNothingIsOpen,
  whenUndone,
} from './kind.ts';
import { unmasked } from './masks.ts';
import { isUnknown } from './outcome.ts';

/**
 * Ends the order, and begins it again as another one. A finished order with an open exception stays as it is: its client knows how it
 * ended, so nothing of it is undone any more.
 */
export interface Restart {
  readonly kind: 'restart';
  /** The body of the new order. A mask stands for the secret that is there now. Default: that of this order. */
  readonly order?: Json;
  /** The version of the workflow of the new order. Default: that of this order. */
  readonly version?: number;
  /** Whether everything is undone before the new order begins. */
  readonly undoFirst: boolean;
  /** Whether the effects of this order may stay, although the new one does them again. */
  readonly keepEffects?: boolean;
}

export const restart: InstructionKind<Restart> = {
  readsHistory: true,
  refusals: (order, instruction) =>
    firstOf(
      () => whenNothingIsOpen(order),
      () => whenReplaced(order),
      () => whenUndone(order),
      () => [...ofEffects(order, instruction), ...ofBody(order, instruction)],
    ),
  warnings: (order, { undoFirst, keepEffects }) =>
    undoFirst && !keepEffects ? [] : [...standing(order, undoFirst)].map((path) => warning(path)),
  staysStopped: ({ state }) => isFinished(state),
  event: (_, { undoFirst }) => (undoFirst ? { type: 'canceled', outcome: 'compensated' } : { type: 'terminated' }),
};

const isFinished = ({ phase }: State): boolean => phase === 'closed';

/** Returns the reason against a finished order that another order has replaced, because of another exception. */
const whenReplaced = ({ state, restartedAs }: Judged): readonly InstructionRefusal[] =>
  isFinished(state) && restartedAs !== undefined
    ? [refusal('finished', `The order is finished, and ${restartedAs} has replaced it. Decide about that order instead.`)]
    : [];

const warning = (path: string): InstructionWarning => ({
  code: 'effects-stand',
  path,
  detail: `The effect of ${path} stays, and the new order repeats it.`,
});

/** Returns the program of the new order; undefined if the app does not have that version. */
const targetOf = ({ program, programs }: Judged, { version }: Restart): Program | undefined =>
  version === undefined || version === program.definition.version ? program : programs(program.definition.name, version);

/** Returns the steps whose effects stay: all steps that may be done; with `undoFirst`, only those of them without an undo. */
function standing({ program, state, past }: Judged, undoFirst: boolean): ReadonlySet<string> {
  const noted = (state.undo ?? []).flatMap(({ path }) => (isRemote(nodeAt(program, path)) ? [path] : []));
  const told = [...past].flatMap(([path, { outcome, skipped }]) => {
    if (skipped || outcome === 'gone' || outcome === 'undone') return [];
    // A terminated order does not keep what became of a step that was at work.
    return outcome === 'open' && !isFinished(state) && !mayBeDone(program, state, path) ? [] : [path];
  });
  return new Set(
    [...noted, ...told].filter((path) => {
      const node = nodeAt(program, path);
      if (!isRemote(node) || node.noUndo) return false;
      return undoFirst ? !node.undo && !isUndoneAsPart(program, state, path) : true;
    }),
  );
}

/** Whether the request of an open step may have been carried out. */
const mayBeDone = (program: Program, state: State, path: string): boolean =>
  state.activities[path]?.reply?.status === 'succeeded' || isUnknown(program, state, path);

/** Whether a composite around the step is undone as a whole. */
const isUndoneAsPart = (program: Program, { undo = [] }: State, path: string): boolean =>
  undo.some((entry) => !isRemote(nodeAt(program, entry.path)) && isWithin(path, entry.path));

function ofEffects(order: Judged, { undoFirst, keepEffects }: Restart): readonly InstructionRefusal[] {
  if (isFinished(order.state) && undoFirst) return [...standing(order, false)].map(staysDone);
  if (keepEffects) return [];
  return [...standing(order, undoFirst)].map((path) =>
    undoFirst
      ? refusal('no-undo', `${path} has no undo, so the new order would repeat its effect. Allow that with "keepEffects".`, { path })
      : refusal(
          'effects-stand',
          `The effect of ${path} stays, so the new order would repeat it. Undo it first, or allow the repetition with "keepEffects".`,
          { path },
        ),
  );
}

const staysDone = (path: string): InstructionRefusal =>
  refusal(
    'effects-stand',
    `The effect of ${path} stays, because nothing of a finished order is undone. Allow that with "undoFirst": false and "keepEffects", or have a workflow handle the exception.`,
    { path },
  );

function ofBody(order: Judged, instruction: Restart): readonly InstructionRefusal[] {
  const target = targetOf(order, instruction);
  if (!target) {
    const { name } = order.program.definition;
    return [refusal('version-differs', `The app has no version ${instruction.version} of ${name}.`, { pointer: '/version' })];
  }
  const body = unmasked(instruction.order ?? order.subject.order, order.subject.order);
  return order.schemas
    .problems(target.definition.order, body, '/order')
    .map(({ pointer, detail }) => refusal('input-invalid', detail, { pointer }));
}
