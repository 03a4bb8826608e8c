import { definitionPath } from '#core/data/ids';
import type { Json } from '#core/data/json';
import { isRemote } from '#core/definition/definition';
import { inputOf, stepAt } from '#core/definition/program';
import { mask } from '#core/definition/secrets';
import { resubmit } from '#core/engine/resumption';
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
import { unmasked } from './masks.ts';
import { isUnknown } from './outcome.ts';
import { placeOf, proposalFor } from './place.ts';

/** Requests a step with another input, under a new idempotency key. */
export interface ReplaceInput {
  readonly kind: 'replace-input';
  /** Default: the step at which the order is blocked. */
  readonly path?: string;
  /** The whole input. A mask stands for the secret that is there now. */
  readonly input: Json;
}

export const replaceInput: InstructionKind<ReplaceInput> = {
  refusals: (order, instruction) =>
    firstOf(
      () => whenFinished(order),
      () => whenUndone(order),
      () => whenSuspendedInError(order),
      () => ofPath(order, pathOf(order, instruction)),
      () => ofInput(order, instruction),
    ),
  staysStopped: (order, instruction) => order.state.blocked?.path !== pathOf(order, instruction),
  event(order, { input: given, ...instruction }) {
    const path = pathOf(order, instruction) ?? '';
    return { type: 'instructed', instruction: { kind: 'replace-input', path, input: unmasked(given, presentInput(order, path)) } };
  },
  apply(builder, { path = '', input }) {
    builder.set({ inputs: { ...builder.state.inputs, [path]: input } });
    if (builder.state.blocked?.path === path) resubmit(builder, path, undefined);
  },
};

type Order = Pick<Judged, 'program' | 'state' | 'subject'>;

const pathOf = ({ state }: Pick<Judged, 'state'>, { path }: Pick<ReplaceInput, 'path'>): string | undefined => path ?? state.blocked?.path;

/** Returns the input that the step would be requested with now; undefined if it cannot be evaluated yet. */
function presentInput({ program, state, subject }: Order, path: string): Json | undefined {
  const input = inputOf(program, subject, state, path);
  return input.ok ? input.value : undefined;
}

function ofPath({ program, state }: Judged, path: string | undefined): readonly InstructionRefusal[] {
  if (path === undefined) return [refusal('no-such-step', 'No step is blocked: name one with "path".', { pointer: '/path' })];
  const about = { path, pointer: '/path' };
  const place = placeOf(program, state, path);
  const node = program.nodes.get(definitionPath(path));
  if (place === 'unknown' || !node || !isRemote(node))
    return [refusal('no-such-step', `${path} is not a step of this workflow.${proposalFor(program, path)}`, about)];
  if (place === 'turn') return [refusal('inside-loop', `${path} is in a loop: name its turn, such as order/loop[0]/step.`, about)];
  if (place === 'other-branch') return [refusal('other-branch', `${path} is in a branch that the order has not taken.`, about)];
  if (place === 'behind') return [refusal('moved-on', `${path} is closed: its input cannot be replaced any more.`, about)];
  if (place !== 'open') return [];
  const step = stepAt(program, state, path);
  if (step?.mode !== undefined) return [refusal('moved-on', `${path} is being canceled, or its effect is being confirmed.`, about)];
  if (state.activities[path]?.reply?.status === 'succeeded')
    return [refusal('moved-on', `${path} was done meanwhile: its input cannot be replaced any more.`, about)];
  if (!isUnknown(program, state, path)) return [];
  const detail = `Nobody knows what became of the last request of ${path}. Wait for its answer, or resubmit the order: the input stays the same.`;
  return [refusal('outcome-unknown', detail, { path })];
}

function ofInput(order: Judged, instruction: ReplaceInput): readonly InstructionRefusal[] {
  const path = pathOf(order, instruction) ?? '';
  const node = order.program.nodes.get(definitionPath(path));
  if (!node || !isRemote(node)) return [];
  const input = unmasked(instruction.input, presentInput(order, path));
  if (JSON.stringify(input).includes(`"${mask}"`))
    return [refusal('input-invalid', `"${mask}" stands for no value here. Give the value itself.`, { path, pointer: '/input' })];
  const schema = order.schemas.of(node.agent, node.operation)?.input;
  const problems = schema === undefined ? [] : order.schemas.problems(schema, input, '/input');
  return problems.map(({ pointer, detail }) => refusal('input-invalid', detail, { path, pointer }));
}
