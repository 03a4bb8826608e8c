import { isUndoPath, undonePath } from '#core/data/ids';
import { isRemote } from '#core/definition/definition';
import { nodeAt, type Program } from '#core/definition/program';
import { withRuledUndos } from '#core/definition/ruled-undos';
import type { JournalEntry } from '#roles/scheduler/instance';
import type { StepReport } from '#roles/scheduler/step-report';
import type { Tracked } from '#testing/world/history';
import type { Observation } from '#testing/world/observation';
import { type Law, on, type Setting } from './law.ts';

type Viewed = Extract<Observation, { type: 'viewed' }>;

/** The step reports of an order agree with its journal. Its undo plan contains exactly the effects that exist, without secrets (F-160). */
export const stepReports = (setting: Pick<Setting, 'answersNameTheirKey'>): Law => ({
  name: 'step reports',
  after: on(['viewed'], (observation, history) => {
    const order = history.orders.get(observation.orderId);
    if (!order || order.damagedAt !== undefined || order.state.rev !== observation.rev) return undefined;
    const program = order.program && withRuledUndos(order.program, order.instance.state);
    const wrong =
      program &&
      (wrongPaths(observation, order, program) ??
        wrongStep(observation, order, program) ??
        wrongPlan(observation, order, program, setting));
    return wrong && `order ${observation.orderId}, rev ${observation.rev}: ${wrong}`;
  }),
});

/** Checks the paths. A step that began has one report for each turn of its loops, and a step that did not begin has one report. */
function wrongPaths({ steps }: Viewed, { journal }: Tracked, program: Program): string | undefined {
  const begun = new Set(
    journal.flatMap((fact) => ('path' in fact && fact.path !== undefined && isRemote(nodeAt(program, fact.path)) ? [fact.path] : [])),
  );
  const inDefinition = new Set([...begun].map((path) => path.replaceAll(/\[\d+\]/g, '')));
  const others = [...program.nodes].flatMap(([path, node]) =>
    isRemote(node) && !inDefinition.has(path) && !path.endsWith('/undo') ? [path] : [],
  );
  const [shown, expected] = [steps.map(({ path }) => path).toSorted(), [...begun, ...others].toSorted()].map((paths) => paths.join(' '));
  return shown === expected ? undefined : `the reported steps are ${shown}, expected ${expected}`;
}

function wrongStep({ steps }: Viewed, order: Tracked, program: Program): string | undefined {
  for (const step of steps) {
    const { skipped: _, ...shown } = step;
    const expected = JSON.stringify(reportOf(step.path, order, program));
    if (JSON.stringify(shown) !== expected) return `step ${step.path} is reported as ${JSON.stringify(step)}, expected ${expected}`;
  }
  return undefined;
}

function reportOf(path: string, { journal, instance }: Tracked, program: Program): StepReport | undefined {
  const node = nodeAt(program, path);
  if (!isRemote(node)) return undefined;
  const facts = journal.filter((fact) => 'path' in fact && fact.path === path);
  const requests = facts.filter(({ type }) => type === 'StepRequested');
  const lastEnd = facts.findLastIndex(({ type }) => type === 'ActivityClosed');
  const sinceEnd = facts.slice(lastEnd + 1);
  const begin = sinceEnd.find(isBegin);
  const closed = begin ? undefined : facts[lastEnd];
  const [before] = closed ? [facts.slice(0, lastEnd)] : [sinceEnd];
  const lastRun = before.slice(before.findLastIndex(({ type }) => type === 'ActivityClosed') + 1);
  const timed = lastRun.findLast((fact) => fact.type === 'StepRequested' || fact.type === 'StepExtended');
  const alive = instance.state.activities[path];
  const end = closed?.type === 'ActivityClosed' && !alive ? closed : undefined;
  const undo = `${path}/undo`;
  const isUndone =
    end &&
    journal.some((fact) => fact.type === 'ActivityClosed' && fact.path === undo && fact.result === 'Compensated' && fact.seq > end.seq);
  const of = path.endsWith('/undo') ? nodeAt(program, path.slice(0, -'/undo'.length)).name : undefined;
  return {
    path,
    name: of === undefined ? node.name : `undo of ${of}`,
    agent: node.agent,
    operation: node.operation,
    status: alive?.status ?? (closed ? 'Closed' : statusOf(sinceEnd)),
    result: end ? (isUndone ? 'Compensated' : end.result) : null,
    attempts: requests.length,
    completeBy: timed && 'completeBy' in timed ? Number(timed.completeBy) : null,
    startedAt: lastRun.find(isBegin)?.at ?? null,
    closedAt: end?.at ?? null,
    ...answerOf(lastRun, end, isUndone),
    output: (closed?.type === 'ActivityClosed' ? closed.output : undefined) ?? null,
  };
}

/** Returns when a step was requested and answered. Requests before a person resubmitted the step do not count. */
function answerOf(
  facts: readonly JournalEntry[],
  end: JournalEntry | undefined,
  isUndone: boolean | undefined,
): Pick<StepReport, 'requestedAt' | 'answeredAt'> {
  const requests = facts.filter(({ type }) => type === 'StepRequested');
  const last = requests.at(-1)?.seq ?? 0;
  const blocked = facts.findLast(({ type, seq }) => type === 'OrderBlocked' && seq < last)?.seq ?? 0;
  const request = requests.find(({ seq }) => seq > blocked);
  const recorded = facts.findLast(({ type, seq }) => type === 'ReplyRecorded' && seq > last);
  const isAnswer =
    request !== undefined && end?.type === 'ActivityClosed' && (end.result === 'Succeeded' || end.result === 'Compensated' || isUndone);
  return { requestedAt: request?.at ?? null, answeredAt: recorded?.at ?? (isAnswer ? end.at : null) };
}

const isBegin = ({ type }: JournalEntry): boolean => type === 'ActivityStarted' || type === 'StepRequested';

function statusOf(facts: readonly JournalEntry[]): StepReport['status'] {
  if (facts.length === 0) return 'Initialized';
  return facts.findLast(({ type }) => statusFacts.has(type))?.type === 'OrderBlocked' ? 'Faulting' : 'Executing';
}
const statusFacts: ReadonlySet<string> = new Set(['ActivityStarted', 'StepRequested', 'OrderBlocked', 'OrderUnblocked']);

function wrongPlan(
  { steps, plan }: Viewed,
  { orderId, state, instance }: Tracked,
  program: Program,
  { answersNameTheirKey }: Pick<Setting, 'answersNameTheirKey'>,
): string | undefined {
  const wrong = plan.steps.find(({ path, input, outcomeUnknown, impossible }) => {
    const { id, code } = (input ?? {}) as { readonly id?: string; readonly code?: string };
    if (outcomeUnknown || impossible !== undefined) return input !== null;
    return (
      answersNameTheirKey && id !== undefined && (!id.startsWith(`${orderId}/${path}/`) || (code !== undefined && code !== '[secret]'))
    );
  });
  if (wrong) return `the undo of ${wrong.path} is shown with the input ${JSON.stringify(wrong.input)}`;
  const stays = plan.withoutUndo.find(({ path }) => nodeAt(program, path).undo !== undefined);
  if (stays) return `${stays.path} is shown as a step without an undo`;
  if (state.processState === 'Processed' || instance.state.ending) return undefined;
  // A person has marked these steps as undone while the order is suspended: the resumption closes their undos.
  const marked = steps.flatMap(({ path, skipped }) => (isUndoPath(path) && skipped === 'done' ? [undonePath(path)] : []));
  const known = new Set([...[...plan.steps, ...plan.withoutUndo].map(({ path }) => path), ...marked]);
  const left = steps.find(
    ({ path, result, agent }) => result === 'Succeeded' && agent !== 'workflows' && !isUndoPath(path) && !known.has(path),
  );
  return left && `${left.path} succeeded, but its undo is not shown`;
}
