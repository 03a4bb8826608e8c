import assert from 'node:assert/strict';
import { advance } from '#core/advance';
import type { RequestCommand } from '#core/data/command';
import type { EventContent } from '#core/data/event';
import type { State } from '#core/data/state';
import { stepAt } from '#core/definition/program';
import { violations } from '#core/engine/invariants';
import { undoneBy } from '#core/engine/replay';
import { type Check, checkOf } from '#core/instructions/check';
import { forecast } from '#core/instructions/forecast';
import { kindOf, type OrderInstruction } from '#core/instructions/index';
import type { Judged } from '#core/instructions/kind';
import { pastOf } from '#core/instructions/past';
import type { World } from './chaos.ts';
import { requestsIn } from './history.ts';

/** The order of a world, as the kinds of instructions see it. */
export function judgedOf({ run }: World): Judged {
  const { state, program, orderId, now } = run;
  const subject = { orderId, order: {} };
  return {
    program,
    subject,
    state,
    processState: state.phase === 'closed' ? 'Processed' : state.blocked ? 'Error' : 'Processing',
    outcome: state.outcome ?? null,
    suspended: state.phase === 'suspended',
    openCauses: 0,
    openReports: 0,
    schemas: { of: () => undefined, problems: () => [] },
    past: pastOf(
      program,
      subject,
      run.turns.flatMap(({ facts }) => facts),
    ),
    programs: () => undefined,
    newest: () => run.program,
    now,
  };
}

/** Returns instructions of every kind about an order and each of its activities. */
export function instructionsFor({ run }: World): readonly OrderInstruction[] {
  const paths = [...new Set([...Object.keys(run.state.activities), ...run.program.nodes.keys()])];
  return [
    { kind: 'cancel' },
    { kind: 'compensate' },
    { kind: 'terminate' },
    { kind: 'resubmit', answer: 1 },
    { kind: 'resubmit' },
    { kind: 'retry-undo' },
    { kind: 'acknowledge' },
    { kind: 'suspend' },
    { kind: 'amend', maxFailures: 1 },
    { kind: 'amend', handle: [{ fault: 'Refused', workflow: 'story' }] },
    { kind: 'restart', undoFirst: true, keepEffects: true },
    { kind: 'handle', workflow: 'story' },
    ...paths.flatMap((path): OrderInstruction[] => [
      { kind: 'skip', path, effect: 'none', output: { key: 'given' } },
      { kind: 'skip', path, effect: 'done', output: { key: 'given' } },
      { kind: 'replace-input', path, input: { of: 'given' } },
      { kind: 'mark-compensated', path },
      { kind: 'resume-at', path, undoBetween: true },
      { kind: 'resume-at', path, undoBetween: false },
      { kind: 'compensate', path },
    ]),
  ];
}

/** Returns a recovery at each activity except the whole order, whose recovery is the same as `compensate`. */
export const recoveriesFor = ({ run }: World): readonly OrderInstruction[] =>
  [...run.program.nodes.keys()].flatMap((path) => (path === 'order' ? [] : [{ kind: 'recover', path } as const]));

/** Returns an instruction that undoes each scope of an order alone. */
export const scopesFor = ({ run }: World): readonly { readonly kind: 'compensate'; readonly path: string }[] =>
  Object.keys(run.state.activities).flatMap((path) => (path === 'order' ? [] : [{ kind: 'compensate', path } as const]));

interface Given {
  readonly check: Omit<Check, 'estimate'>;
  readonly state: State;
  readonly requests: readonly RequestCommand[];
}

/** Gives an instruction to the order of a world, and checks it. Undefined if it is infeasible. */
export function give(world: World, judged: Judged, instruction: OrderInstruction): Given | undefined {
  const { run } = world;
  const kind = kindOf(instruction);
  if (kind.refusals(judged, instruction).length > 0) return undefined;
  const content: EventContent = kind.event?.(judged, instruction) ?? { type: 'instructed', instruction };
  const { state, commands, facts } = applied(world, run.state, content);
  const requests = requestsIn(commands).filter(({ path, requestId }) => {
    const step = stepAt(run.program, state, path);
    return step?.phase === 'requested' && requestId.endsWith(`#${step.epoch}.${step.attempt}`);
  });
  const output = () => ({ key: 'made up' });
  const follows = forecast({ program: run.program, subject: judged.subject, state, at: run.now, epoch: run.epoch, output });
  const skips = kind.skips?.(judged, instruction) ?? [];
  return { check: checkOf(run.program, run.state, { after: state, facts, requests, follows, skips }, []), state, requests };
}

function applied({ run }: World, state: State, content: EventContent & { readonly epoch?: number }, at = run.now) {
  const event = { epoch: run.epoch, ...content, at } as Parameters<typeof advance>[3];
  const transition = advance(run.program, { orderId: run.orderId, order: {} }, state, event);
  assert.deepEqual(violations(run.program, transition.state), [], `${JSON.stringify(content)}: the state is valid`);
  return transition;
}

/** Carries the instruction out against the services, until no undo and no confirmation is left. Returns the steps that were undone. */
export const carryOut = (world: World, given: Given): readonly string[] => carriedOut(world, given).undone;

/** Does what `carryOut` does, as long as `goesOn` says. Returns the state after it, too. */
export function carriedOut(
  world: World,
  given: Given,
  goesOn: (state: State) => boolean = () => true,
): { readonly undone: readonly string[]; readonly state: State } {
  const { run, service } = world;
  const asked = [...run.requests, ...given.requests];
  const undone: string[] = [];
  let { state } = given;
  for (let turn = 0, at = run.now; turn < 300 && state.phase === 'running' && goesOn(state); turn++) {
    const before = state;
    const steps = Object.keys(state.activities).flatMap((path) => {
      const step = stepAt(run.program, state, path);
      return step ? [{ path, step }] : [];
    });
    const compensating = steps.filter(({ step }) => step.mode !== undefined);
    const open = [...compensating, ...(state.ending ? steps : [])].find(({ step }) => step.phase === 'requested');
    const ask = open && asked.findLast(({ path }) => path === open.path);
    const reply = ask && service.answer(ask, 'does');
    const pauses = compensating.flatMap(({ step }) => (step.phase === 'waitingToRetry' ? [step.completeBy] : []));
    if (open && ask && reply) {
      at = Math.max(at, open.step.until ?? 0);
      const sentAt = Math.min(at, Math.max(open.step.completeBy, open.step.until ?? 0));
      const content = { type: 'replied', requestId: ask.requestId, sentAt, reply, epoch: open.step.epoch } as const;
      const next = applied(world, state, content, at);
      const step = undoneBy(run.program, open.path);
      if (step !== undefined && reply.status === 'succeeded') undone.push(step);
      asked.push(...requestsIn(next.commands));
      state = next.state;
    } else if (pauses.length > 0 || state.ending) {
      at = pauses.length > 0 ? Math.max(at, Math.min(...pauses)) : at + 3_600_000;
      const next = applied(world, state, { type: 'woken' }, at);
      asked.push(...requestsIn(next.commands));
      state = next.state;
    }
    if (state === before) break;
  }
  return { undone, state };
}
