import { definitionPath, stepOfRequest } from '#core/data/ids';
import type { StepState } from '#core/data/step-state';
import { isRemote, rootPath } from '#core/definition/definition';
import { nodeAt, type Program } from '#core/definition/program';
import { dependentsOf } from '#core/recovery/dependents';
import type { Reply } from '#ports/messages';
import type { StateRecord } from '#ports/records';
import type { JournalEntry, StoredEntry } from '#roles/scheduler/instance';
import { stepOf } from '#testing/world/effects';
import type { History, Tracked } from '#testing/world/history';
import { type Law, on } from './law.ts';

/**
 * While a recovery undoes a scope, two things become lines of the history but raise no exception: the fault of a step that the recovery has
 * canceled, and an undone write that only steps of the scope have read (S48).
 */
export function maskedFaults(): Law {
  /** The replies to each request, by its id: whether each is a fault. */
  const replies = new Map<string, readonly boolean[]>();
  return {
    name: 'masked faults',
    after: on(['sent', 'written'], (observation, history) => {
      if (observation.type === 'sent') {
        if (!observation.queue.endsWith('-replies')) return undefined;
        const { requestId, type, result } = JSON.parse(observation.body) as Partial<Reply>;
        if (type === 'reply' && requestId !== undefined)
          replies.set(requestId, [...(replies.get(requestId) ?? []), result?.status === 'failed']);
        return undefined;
      }
      const order = history.orders.get(observation.after.orderId);
      if (!order?.before || !observation.before || order.damagedAt !== undefined) return undefined;
      return wrongMask(order) ?? notMasked(observation.before, observation.after, order, replies);
    }),
    atEnd: ({ sound }) => sound.flatMap(hiddenIn),
  };
}

/** Returns what is wrong with a masked fault: the mask names no recovery in progress, or one whose scope lacks the step. */
function wrongMask({ orderId, before, instance, program, newFacts }: Tracked): string | undefined {
  for (const fact of newFacts) {
    const masked = maskIn(fact);
    if (masked === undefined) continue;
    const by = before?.state.recovering ?? instance.state.recovering;
    if (masked.by !== by) return `order ${orderId}: ${fact.type} is masked by ${masked.by}, and the order recovers ${by ?? 'nothing'}`;
    if (masked.path !== undefined && program && !scopeOf(program, masked.by).has(definitionPath(masked.path)))
      return `order ${orderId}: the fault of ${masked.path} is masked by ${masked.by}, on which it does not depend`;
  }
  return undefined;
}

function maskIn(fact: JournalEntry): { readonly by: string; readonly path?: string } | undefined {
  if (fact.type === 'FaultMasked') return { by: fact.maskedBy, path: fact.path };
  return fact.type === 'InconsistencyFound' && fact.maskedBy !== undefined ? { by: fact.maskedBy } : undefined;
}

/** Returns what is wrong if the write has applied a fault of a canceled step without a journal line about it. */
function notMasked(
  before: StateRecord,
  after: StateRecord,
  order: Tracked,
  replies: ReadonlyMap<string, readonly boolean[]>,
): string | undefined {
  const { recovering, activities } = order.before?.state ?? {};
  if (recovering === undefined) return undefined;
  for (const id of after.lastBy.filter((each) => !before.lastBy.includes(each))) {
    const path = stepOfRequest(after.orderId, id);
    const known = replies.get(id);
    if (path === undefined || !known?.every((isFault) => isFault)) continue;
    if (activities?.[path]?.status !== 'Canceling') continue;
    if (order.newFacts.some((fact) => fact.type === 'FaultMasked' && fact.path === path)) continue;
    return `order ${after.orderId}: ${path} has failed while ${recovering} was recovered, and the history does not say so`;
  }
  return undefined;
}

/** Returns the masked faults that a completed order has lost: their steps never ran again, and were not skipped or decided on. */
function hiddenIn({ orderId, state, journal }: Tracked): readonly string[] {
  if (state.outcome !== 'completed') return [];
  return journal.flatMap((fact) => {
    if (fact.type !== 'FaultMasked') return [];
    // The write that masks the fault may also request the step again: such a line has the same time.
    const later = journal.filter((each) => (each.seq > fact.seq || each.at === fact.at) && 'path' in each && each.path === fact.path);
    const isOpen = later.some(({ type }) => type === 'StepRequested') && !later.some(({ type }) => type === 'ActivityClosed');
    const isForgotten =
      !later.some(({ type }) => type === 'StepRequested' || type === 'ActivitySkipped') && !isInstructedLater(journal, fact);
    return isOpen || isForgotten ? [`order ${orderId} has completed although ${fact.path} had a masked fault, and never ran again`] : [];
  });
}

const isInstructedLater = (journal: readonly StoredEntry[], { seq }: StoredEntry): boolean =>
  journal.some((each) => each.seq > seq && (each.type === 'InstructionGiven' || each.type === 'RuleActed'));

const scopes = new WeakMap<Program, Map<string, ReadonlySet<string>>>();

/** Returns the affected scope of an activity, by paths of the definition. */
export function scopeOf(program: Program, path: string): ReadonlySet<string> {
  const known = scopes.get(program) ?? new Map<string, ReadonlySet<string>>();
  scopes.set(program, known);
  const at = definitionPath(path);
  const found = known.get(at) ?? new Set(path === rootPath ? program.nodes.keys() : dependentsOf(program, at).scope);
  known.set(at, found);
  return found;
}

/** A recovery in progress, of the activity at `path`. */
interface Recovery {
  readonly path: string;
  /** The steps of the scope, as they stood when the recovery began. */
  readonly stood: ReadonlyMap<string, 'at work' | 'done' | 'not begun' | 'other'>;
  /** The number of the journal line that began the recovery. */
  readonly since: number;
}

/**
 * A recovery looks at the present state of each step in its scope: it cancels a step at work, undoes only what was done, and leaves alone
 * what has not begun. When the order continues, the services have no effect of the scope that could be undone (S49).
 */
export function recoveredScopes(): Law {
  const running = new Map<string, Recovery>();
  return {
    name: 'recovered scopes',
    after: on(['written'], ({ after, before }, history) => {
      const order = history.orders.get(after.orderId);
      if (!order?.before || !before) return undefined;
      const { orderId } = order;
      const was = order.before.state.recovering;
      const is = order.instance.state.recovering;
      const { ending, phase } = order.instance.state;
      const isLost = order.damagedAt !== undefined || is === rootPath || ending !== undefined || phase === 'closed';
      if (isLost) return void running.delete(orderId);
      const begun = is !== undefined && is !== was ? recoveryIn(order, is) : undefined;
      if (begun) running.set(orderId, begun);
      const recovery = running.get(orderId);
      if (!recovery) return undefined;
      const wrong = wrongNow(order, recovery, begun !== undefined) ?? (is === undefined ? wrongAfter(order, recovery, history) : undefined);
      if (is === undefined) running.delete(orderId);
      return wrong && `order ${orderId} recovers ${recovery.path}: ${wrong}`;
    }),
  };
}

/** Whether a line of the history begins a recovery. */
export const beginsRecovery = (fact: StoredEntry): boolean =>
  (fact.type === 'InstructionGiven' && fact.kind === 'recover') || (fact.type === 'RuleActed' && fact.action.kind === 'recover');

function recoveryIn({ before, program, journal, newFacts }: Tracked, path: string): Recovery | undefined {
  if (!before || !program) return undefined;
  const begin = newFacts.findLast(beginsRecovery);
  const since = begin?.seq ?? 0;
  const scope = scopeOf(program, path);
  const stood = new Map<string, 'at work' | 'done' | 'not begun' | 'other'>();
  for (const each of scope) {
    const node = program.nodes.get(each);
    if (!node || !isRemote(node)) continue;
    const { status, local } = before.state.activities[each] ?? {};
    const { mode, phase } = (local ?? {}) as Partial<StepState>;
    const isAtWork = status === 'Executing' && mode === undefined && (phase === 'requested' || phase === 'failedForNow');
    const standing = standingOf(
      each,
      journal.filter(({ seq }) => seq <= since),
    );
    // A step may have closed in the same write, before the recovery.
    stood.set(each, isAtWork && standing !== 'done' ? 'at work' : standing);
  }
  return { path, stood, since };
}

function standingOf(path: string, journal: readonly StoredEntry[]): 'done' | 'not begun' | 'other' {
  const own = journal.filter((fact) => 'path' in fact && (fact.path === path || fact.path === `${path}/undo`));
  const last = own.findLast((fact) => fact.type === 'ActivityClosed' || fact.type === 'StepRequested' || fact.type === 'MarkedCompensated');
  if (!last) return 'not begun';
  return last.type === 'ActivityClosed' && last.result === 'Succeeded' && last.attemptId !== undefined ? 'done' : 'other';
}

/** Returns what the write does wrongly to a step of the scope, compared with how the step stood when the recovery began. */
function wrongNow({ before, instance, newFacts, journal }: Tracked, { stood, since }: Recovery, isFirst: boolean): string | undefined {
  for (const [path, how] of stood) {
    const activity = instance.state.activities[path];
    const { mode } = (activity?.local ?? {}) as Partial<StepState>;
    if (isFirst && how === 'at work' && activity && activity.status !== 'Canceling' && mode !== 'confirm')
      return `${path} is at work and was not canceled`;
    const own = (type: StoredEntry['type'], at: string): boolean =>
      newFacts.some((fact) => fact.type === type && 'path' in fact && fact.path === at);
    const isUndone =
      own('StepRequested', `${path}/undo`) &&
      !journal.some(({ seq, ...fact }) => seq > since && seq < (newFacts[0]?.seq ?? 0) && 'path' in fact && fact.path === `${path}/undo`);
    if (isUndone && how === 'not begun') return `${path} has not begun and is undone`;
    const isConfirmed = (before?.state.activities[path]?.local as Partial<StepState> | undefined)?.mode === 'confirm';
    const hasAnswered =
      isConfirmed ||
      journal.some((fact) => fact.seq > since && (fact.type === 'ActivityClosed' || fact.type === 'LateResult') && fact.path === path);
    if (isUndone && how === 'at work' && !hasAnswered) return `${path} is undone although it is at work`;
  }
  return undefined;
}

/** Returns a step of the scope that is not undone, or an effect that the service still has, when the order goes on. */
function wrongAfter({ orderId, program, journal }: Tracked, { stood, since }: Recovery, history: History): string | undefined {
  if (!program) return undefined;
  const later = journal.filter(({ seq }) => seq > since);
  const isUndone = (path: string): boolean =>
    later.some(
      (fact) =>
        (fact.type === 'MarkedCompensated' && fact.path === path) ||
        (fact.type === 'ActivityClosed' && fact.result === 'Compensated' && fact.path === `${path}/undo`),
    );
  for (const [path, how] of stood)
    if (how === 'done' && nodeAt(program, path).undo && !isUndone(path)) return `${path} was done and is not undone`;
  const left = history.existingEffects(orderId).find(([key]) => {
    const { path } = stepOf(key);
    const isMarked = later.some((fact) => fact.type === 'MarkedCompensated' && fact.path === path);
    return stood.has(path) && nodeAt(program, path).undo !== undefined && !isMarked;
  });
  return left && `the service still has ${left[0]}, and the order goes on`;
}
