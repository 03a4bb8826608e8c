import { outputVariable } from '#core/data/child-order';
import { definitionPath } from '#core/data/ids';
import type { Json } from '#core/data/json';
import { isRemote, rootPath } from '#core/definition/definition';
import { nodeAt, scopeOf, stepAt } from '#core/definition/program';
import type { ExceptionRecord } from '#core/exceptions/exception';
import type { Situation } from '#core/rules/situation';
import { timeText } from '#ports/messages';
import { subjectOf } from '#ports/records';
import type { Draft } from './draft.ts';
import type { JournalEntry } from './instance.ts';
import { redactedInput } from './redaction.ts';
import { wholeJournal } from './step-report.ts';

/** Returns what the expressions of rules may read about an event at this path. */
export function valuesAt(
  draft: Pick<Draft, 'loaded' | 'instance'>,
  path: string | undefined,
  exception?: ExceptionRecord,
): Situation['values'] {
  const { loaded, instance } = draft;
  const { order, program } = loaded;
  const { steps, vars } = scopeOf(program, subjectOf(order), instance.state, path ?? rootPath);
  const { [outputVariable]: _, ...variables } = vars ?? {};
  const step = path === undefined ? undefined : stepValue(draft, path);
  return {
    order: order.body,
    outputs: { ...journaledOutputs(draft), ...steps },
    variables,
    ...(exception ? { exception: exceptionValue(exception) } : {}),
    ...(step ? { step } : {}),
  };
}

/** Returns the steps that constraints are about, with the inputs that these steps have now. A person may have replaced an input. */
export function stepsAt(draft: Pick<Draft, 'loaded' | 'instance'>, paths: readonly string[]): { readonly [path: string]: Json } {
  const { loaded, instance } = draft;
  return Object.fromEntries(
    paths.flatMap((path) => {
      const step = stepValue(draft, path) as { readonly [field: string]: Json } | undefined;
      const isThere = instance.state.activities[path] !== undefined || instance.state.inputs?.[path] !== undefined;
      const input = isThere ? redactedInput({ ...loaded, instance }, path) : undefined;
      return step ? [[path, { ...step, input: input ?? null }] as const] : [];
    }),
  );
}

/** Returns the outputs in the journal, by the names of their activities: the newest, if an activity has several. */
const journaledOutputs = ({ loaded: { pages }, instance }: Pick<Draft, 'loaded' | 'instance'>): { readonly [name: string]: Json } =>
  pages ? outputsIn(wholeJournal(pages, instance.tail)) : {};

/** Returns the outputs that lines of a journal have, by the names of their activities. */
export const outputsIn = (journal: readonly JournalEntry[]): { readonly [name: string]: Json } =>
  Object.fromEntries(
    journal.flatMap((entry) =>
      entry.type === 'ActivityClosed' && entry.output !== undefined
        ? [[entry.path.slice(entry.path.lastIndexOf('/') + 1), entry.output] as const]
        : [],
    ),
  );

/** Returns an exception as the HTTP API shows it. */
function exceptionValue({ seq: _, submittedAt: __, groupBy: ___, handling: ____, taskId: _____, ...exception }: ExceptionRecord): Json {
  return { ...exception, at: timeText(exception.at) } as unknown as Json;
}

function stepValue({ loaded: { program }, instance: { state, tail } }: Pick<Draft, 'loaded' | 'instance'>, path: string): Json | undefined {
  if (!program.nodes.has(definitionPath(path))) return undefined;
  const node = nodeAt(program, path);
  if (!isRemote(node)) return undefined;
  const closed = state.activities[path] ? undefined : tail.findLast((entry) => entry.type === 'ActivityClosed' && entry.path === path);
  return {
    path,
    name: node.name,
    agent: node.agent,
    operation: node.operation,
    status: state.activities[path]?.status ?? (closed ? 'Closed' : 'Initialized'),
    attempts: stepAt(program, state, path)?.attempt ?? 0,
    output: (closed?.type === 'ActivityClosed' ? closed.output : undefined) ?? null,
  };
}
