import { definitionPath } from '#core/data/ids';
import type { Json, JsonObject } from '#core/data/json';
import type { Amended, GivenHandler } from '#core/data/state';
import { awaitsReply } from '#core/data/step-state';
import { assignedIn, type Program, parentOf } from '#core/definition/program';
import type { TransitionBuilder } from '#core/engine/transition-builder';
import { ofWorkflow } from './handle.ts';
import { firstOf, type InstructionKind, type InstructionRefusal, type Judged, refusal, whenFinished } from './kind.ts';

/** Changes settings of this order alone. It starts nothing, and holds from the next write on. */
export interface Amend {
  readonly kind: 'amend';
  /** The time by which the whole order must have ended, in RFC 3339. */
  readonly endBy?: string;
  readonly maxFailures?: number;
  /** `path`: a retry, or an activity inside one. */
  readonly retry?: { readonly path: string; readonly retries?: number; readonly intervalSeconds?: number };
  readonly variables?: { readonly [name: string]: Json };
  /** Workflows that handle exceptions of these faults. They replace earlier ones of the same faults. */
  readonly handle?: readonly GivenHandler[];
}

export const amend: InstructionKind<Amend> = {
  refusals: (order, instruction) =>
    firstOf(
      () => whenFinished(order),
      () => [
        ...ofTime(order, instruction),
        ...ofRetry(order, instruction),
        ...ofVariables(order, instruction),
        ...ofHandlers(order, instruction),
      ],
    ),
  staysStopped: () => true,
  changesRecord: ({ maxFailures }) => (maxFailures === undefined ? {} : { maxFailures }),
  was: ({ state: { endBy, vars = {} } }, instruction) => ({
    ...(instruction.endBy === undefined ? {} : { endBy: endBy === undefined ? null : new Date(endBy).toISOString() }),
    ...(instruction.variables ? { variables: valuesBefore(vars, instruction.variables) } : {}),
  }),
  apply(builder, instruction) {
    builder.set({ amended: amendedBy(builder, instruction) });
    if (instruction.endBy !== undefined) endOrderBy(builder, Date.parse(instruction.endBy));
    if (instruction.variables) builder.set({ vars: { ...builder.state.vars, ...instruction.variables } });
  },
};

const valuesBefore = (vars: { readonly [name: string]: Json }, changed: JsonObject): JsonObject =>
  Object.fromEntries(Object.keys(changed).map((name) => [name, vars[name] ?? null]));

function amendedBy({ state: { amended = {} }, program }: TransitionBuilder, instruction: Amend): Amended {
  const { endBy, maxFailures, retry, variables, handle } = instruction;
  const path = retry && retryAt(program, retry.path);
  const { path: _, ...changed } = retry ?? { path: '' };
  return {
    ...amended,
    ...(endBy === undefined ? {} : { endBy: Date.parse(endBy) }),
    ...(maxFailures === undefined ? {} : { maxFailures }),
    ...(path === undefined ? {} : { retry: { ...amended.retry, [path]: { ...amended.retry?.[path], ...changed } } }),
    ...(variables ? { variables: { ...amended.variables, ...variables } } : {}),
    ...(handle ? { handle: merged(amended.handle, handle) } : {}),
  };
}

/** Returns all handlers. A new one replaces the earlier one of the same fault. */
const merged = (before: readonly GivenHandler[] = [], given: readonly GivenHandler[]): readonly GivenHandler[] => [
  ...new Map([...before, ...given].map((each) => [each.fault, each])).values(),
];

/** Gives the order a new time limit. A step with a later deadline gets the limit as its deadline; no deadline is extended. */
function endOrderBy(builder: TransitionBuilder, endBy: number): void {
  const { suspendedAt = builder.event.at, activities } = builder.state;
  // A resumption moves all times by the length of the suspension, so the limit is stored earlier by the part of the suspension that has
  // passed.
  const limit = endBy - (builder.event.at - suspendedAt);
  builder.set({ endBy: limit });
  for (const path of Object.keys(activities)) {
    const step = builder.stepAt(path);
    if (step && step.mode === undefined && awaitsReply(step) && step.completeBy > limit)
      builder.patch(path, { local: { ...step, completeBy: limit } });
  }
}

/** Returns the path of the retry that is meant: the activity itself, or the innermost one around it. */
function retryAt({ nodes }: Program, path: string): string | undefined {
  for (let at: string | undefined = path; at !== undefined; at = parentOf(at))
    if (nodes.get(definitionPath(at))?.activity === 'retry') return at;
  return undefined;
}

const ofTime = ({ now }: Judged, { endBy }: Amend): readonly InstructionRefusal[] =>
  endBy === undefined || Date.parse(endBy) > now
    ? []
    : [refusal('input-invalid', 'The new time limit has passed already. Give a time in the future.', { pointer: '/endBy' })];

function ofRetry({ program }: Judged, { retry }: Amend): readonly InstructionRefusal[] {
  if (retry === undefined || retryAt(program, retry.path) !== undefined) return [];
  const detail = `No retry is at ${retry.path}, or around it. Name a retry, or an activity inside one.`;
  return [refusal('no-such-step', detail, { path: retry.path, pointer: '/retry/path' })];
}

function ofVariables({ program }: Judged, { variables = {} }: Amend): readonly InstructionRefusal[] {
  const known = [...new Set(assignedIn(program.definition.root))].filter((name) => !name.startsWith('$'));
  const unknown = Object.keys(variables).filter((name) => !known.includes(name));
  const those = known.length === 0 ? 'It has no variables.' : `It has: ${known.join(', ')}.`;
  return unknown.map((name) =>
    refusal('input-invalid', `The workflow sets no variable "${name}". ${those}`, {
      pointer: `/variables/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`,
    }),
  );
}

function ofHandlers(order: Judged, { handle = [] }: Amend): readonly InstructionRefusal[] {
  return handle.flatMap((given, index) => ofWorkflow(order, given, `/handle/${index}`));
}
