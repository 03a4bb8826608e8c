import { definitionPath } from '#core/data/ids';
import type { Json, JsonObject } from '#core/data/json';
import { type Activity, isRemote } from '#core/definition/definition';
import { stepAt } from '#core/definition/program';
import { skipBlocked } from '#core/engine/resumption';
import { skip as skipActivity } from '#core/engine/skipping';
import { isOwnUndo, readersOf } from '#core/views/readers';
import {
  firstOf,
  type InstructionKind,
  type InstructionRefusal,
  type Judged,
  refusal,
  whenFinished,
  whenSuspendedInError,
  whenUndone,
} from './kind.ts';
import { isUnknown } from './outcome.ts';
import { placeOf, proposalFor } from './place.ts';

/** Closes a step, a wait or a question with an output, without doing it. */
export interface Skip {
  readonly kind: 'skip';
  /** Default: the activity at which the order is blocked. */
  readonly path?: string;
  readonly output?: Json;
  /** `done`: somebody did it by hand, so it can be undone with that output. */
  readonly effect: 'none' | 'done';
}

type Chosen = Skip & { readonly path: string };

export const skip: InstructionKind<Skip> = {
  refusals: (order, instruction) =>
    firstOf(
      () => whenFinished(order),
      () => whenUndone(order),
      () => whenSuspendedInError(order),
      () => ofPath(order, chosen(order, instruction)),
      () => [...ofOutcome(order, chosen(order, instruction)), ...ofOutput(order, chosen(order, instruction))],
    ),
  skips: (order, instruction) => [chosen(order, instruction)?.path ?? []].flat(),
  staysStopped: (order, instruction) => order.state.blocked?.path !== chosen(order, instruction)?.path,
  event: (order, instruction) => ({ type: 'instructed', instruction: chosen(order, instruction) ?? instruction }),
  apply(builder, { path = '', output, effect }) {
    const given = { effect, ...(output === undefined ? {} : { output }) };
    if (builder.state.blocked?.path === path) skipBlocked(builder, path, given);
    else skipActivity(builder, path, given);
  },
};

function chosen({ state }: Pick<Judged, 'state'>, { by: _, reason: __, ...instruction }: Skip & Author): Chosen | undefined {
  const path = instruction.path ?? state.blocked?.path;
  return path === undefined ? undefined : { ...instruction, path };
}

type Author = { readonly by?: string; readonly reason?: string };

const canBeSkipped = (node: Activity): boolean => isRemote(node) || node.activity === 'waitFor' || node.activity === 'askOperator';

function ofPath({ program, state }: Judged, instruction: Chosen | undefined): readonly InstructionRefusal[] {
  if (!instruction) return [refusal('no-such-step', 'No activity is blocked: name the one to skip with "path".', { pointer: '/path' })];
  const { path } = instruction;
  const about = { path, pointer: '/path' };
  const place = placeOf(program, state, path);
  const node = program.nodes.get(definitionPath(path));
  if (place === 'unknown' || !node || !canBeSkipped(node))
    return [refusal('no-such-step', `${path} is not a step, wait or question of this workflow.${proposalFor(program, path)}`, about)];
  if (place === 'turn') return [refusal('inside-loop', `${path} is in a loop: name its turn, such as order/loop[0]/step.`, about)];
  if (place === 'other-branch') return [refusal('other-branch', `${path} is in a branch that the order has not taken.`, about)];
  if (place === 'behind') return [refusal('moved-on', `${path} is closed already, or will not start any more.`, about)];
  const isEnding = place === 'open' && (state.activities[path]?.status === 'Canceling' || stepAt(program, state, path)?.mode !== undefined);
  return isEnding ? [refusal('moved-on', `${path} is being canceled, or its effect is being confirmed.`, about)] : [];
}

function ofOutcome({ program, state }: Judged, instruction: Chosen | undefined): readonly InstructionRefusal[] {
  if (!instruction) return [];
  const { path, effect } = instruction;
  const activity = state.activities[path];
  const node = program.nodes.get(definitionPath(path));
  if (!activity || !node || !isRemote(node)) return [];
  if (activity.awaitsPerson) {
    if (effect === 'done' || !isUnknown(program, state, path)) return [];
    const detail = `Nobody knows whether the last request of ${path} was carried out. Resubmit the order to find out, or give the output with effect "done".`;
    return [refusal('outcome-unknown', detail, { path })];
  }
  if (node.undo || node.noUndo) return [];
  return [refusal('no-undo', `${path} is at work and has no undo: wait for its answer, or cancel the order.`, { path })];
}

function ofOutput(order: Judged, instruction: Chosen | undefined): readonly InstructionRefusal[] {
  if (!instruction) return [];
  const { path, output, effect } = instruction;
  const node = order.program.nodes.get(definitionPath(path));
  if (!node) return [];
  const schema = schemaOf(order, node);
  const about = { path, pointer: '/output' };
  const fits = (value: Json) => (schema === undefined ? [] : order.schemas.problems(schema, value, '/output'));
  const isMissing = output === undefined || (output === null && fits(null).length > 0);
  if (!isMissing) return fits(output).map(({ pointer, detail }) => refusal('output-invalid', detail, { path, pointer }));
  const readers = readersOf(order.program, node.name).filter(
    (reader) => effect === 'done' || !isOwnUndo(order.program, reader, definitionPath(path)),
  );
  return readers.length === 0
    ? []
    : [refusal('output-missing', `The output of ${path} is needed: ${readers.join(', ')} reads it. Give it as "output".`, about)];
}

function schemaOf({ schemas }: Judged, node: Activity): JsonObject | undefined {
  if (node.activity === 'step') return schemas.of(node.agent, node.operation)?.output;
  if (node.activity === 'waitFor') return node.payload;
  return node.activity === 'askOperator' ? node.answer : undefined;
}
