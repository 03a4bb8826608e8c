import { isRemote } from '#core/definition/definition';
import { nodeAt, type Program } from '#core/definition/program';
import type { JournalEntry } from '#roles/scheduler/instance';
import type { StepReport } from '#roles/scheduler/step-report';
import type { Tracked } from '#testing/world/history';
import type { Observation } from '#testing/world/observation';
import { type Law, on, type Setting } from './law.ts';

type Looked = Extract<Observation, { type: 'looked' }>;

/** F-160: what a person is shown of each step is what has happened to it; what an undo would take back is what is done, and no secret is in it. */
export const views = (setting: Pick<Setting, 'answersNameTheirKey'>): Law => ({
  name: 'views',
  after: on(['looked'], (observation, history) => {
    const order = history.orders.get(observation.orderId);
    if (!order || order.damagedAt !== undefined || order.state.rev !== observation.rev) return undefined;
    const { program } = order;
    const wrong =
      program &&
      (wrongPaths(observation, order, program) ??
        wrongStep(observation, order, program) ??
        wrongPlan(observation, order, program, setting));
    return wrong && `${observation.orderId}, rev ${observation.rev}: ${wrong}`;
  }),
});

/** Each step that began, in each of its turns, and each that did not, once. */
function wrongPaths({ steps }: Looked, { journal }: Tracked, program: Program): string | undefined {
  const begun = new Set(
    journal.flatMap((fact) => ('path' in fact && fact.path !== undefined && isRemote(nodeAt(program, fact.path)) ? [fact.path] : [])),
  );
  const turns = new Set([...begun].map((path) => path.replaceAll(/\[\d+\]/g, '')));
  const others = [...program.nodes].flatMap(([path, node]) =>
    isRemote(node) && !turns.has(path) && !path.endsWith('/undo') ? [path] : [],
  );
  const [shown, wanted] = [steps.map(({ path }) => path).toSorted(), [...begun, ...others].toSorted()].map((paths) => paths.join(' '));
  return shown === wanted ? undefined : `the steps are shown as ${shown} instead of ${wanted}`;
}

function wrongStep({ steps }: Looked, order: Tracked, program: Program): string | undefined {
  for (const step of steps) {
    const wanted = JSON.stringify(reportOf(step.path, order, program));
    if (JSON.stringify(step) !== wanted) return `${step.path} is shown as ${JSON.stringify(step)} instead of ${wanted}`;
  }
  return undefined;
}

function reportOf(path: string, { journal, instance }: Tracked, program: Program): StepReport | undefined {
  const node = nodeAt(program, path);
  if (!isRemote(node)) return undefined;
  const facts = journal.filter((fact) => 'path' in fact && fact.path === path);
  const asked = facts.filter(({ type }) => type === 'StepRequested');
  const lastEnd = facts.findLastIndex(({ type }) => type === 'ActivityClosed');
  const life = facts.slice(lastEnd + 1);
  const begin = life.find(isBegin);
  const closed = begin ? undefined : facts[lastEnd];
  const [before] = closed ? [facts.slice(0, lastEnd)] : [life];
  const own = before.slice(before.findLastIndex(({ type }) => type === 'ActivityClosed') + 1);
  const timed = own.findLast((fact) => fact.type === 'StepRequested' || fact.type === 'StepExtended');
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
    status: alive?.status ?? (closed ? 'Closed' : statusOf(life)),
    result: end ? (isUndone ? 'Compensated' : end.result) : null,
    attempts: asked.length,
    completeBy: timed && 'completeBy' in timed ? Number(timed.completeBy) : null,
    startedAt: own.find(isBegin)?.at ?? null,
    closedAt: end?.at ?? null,
    output: (closed?.type === 'ActivityClosed' ? closed.output : undefined) ?? null,
  };
}

const isBegin = ({ type }: JournalEntry): boolean => type === 'ActivityStarted' || type === 'StepRequested';

function statusOf(life: readonly JournalEntry[]): StepReport['status'] {
  if (life.length === 0) return 'Initialized';
  return life.findLast(({ type }) => isStatus.has(type))?.type === 'OrderBlocked' ? 'Faulting' : 'Executing';
}
const isStatus: ReadonlySet<string> = new Set(['ActivityStarted', 'StepRequested', 'OrderBlocked', 'OrderUnblocked']);

function wrongPlan(
  { steps, plan }: Looked,
  { orderId, state, instance }: Tracked,
  program: Program,
  { answersNameTheirKey }: Pick<Setting, 'answersNameTheirKey'>,
): string | undefined {
  const strange = plan.steps.find(({ path, input, outcomeUnknown, impossible }) => {
    const { id, code } = (input ?? {}) as { readonly id?: string; readonly code?: string };
    if (outcomeUnknown || impossible !== undefined) return input !== null;
    return (
      answersNameTheirKey && id !== undefined && (!id.startsWith(`${orderId}/${path}/`) || (code !== undefined && code !== '[secret]'))
    );
  });
  if (strange) return `the undo of ${strange.path} is shown with ${JSON.stringify(strange.input)}`;
  const stays = plan.withoutUndo.find(({ path }) => nodeAt(program, path).undo !== undefined);
  if (stays) return `${stays.path} is said to have no undo`;
  if (state.processState === 'Processed' || instance.state.ending) return undefined;
  const known = new Set([...plan.steps, ...plan.withoutUndo].map(({ path }) => path));
  const left = steps.find(
    ({ path, result, agent }) => result === 'Succeeded' && agent !== 'workflows' && !path.endsWith('/undo') && !known.has(path),
  );
  return left && `${left.path} is done, and no undo is shown of it`;
}
