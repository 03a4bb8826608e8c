import type { AfterHandler } from '#core/data/event';
import { engineFault, engineFaults } from '#core/data/fault';
import type { JsonObject } from '#core/data/json';
import type { Blocked } from '#core/data/state';
import { handlersMax, resumeAt } from '#core/instructions/index';
import { pastOf } from '#core/instructions/past';
import { ruleFailed } from '#core/rules/faults';
import type { DecidedAction, Decision } from '#core/rules/situation';
import { queueNames, timeText } from '#ports/messages';
import { announcedAs, type OrderRecord, type OutboxEntry, type StateRecord, subjectOf } from '#ports/records';
import { exceptionIdOf } from '#roles/exceptions/ids';
import { judgedOf } from '#roles/operator/feasibility';
import { handlerIdOf } from '#roles/submission/submission';
import { resume } from './claiming.ts';
import { addFacts, addToOutbox, applyEvent, type Draft, patchRecord } from './draft.ts';
import type { RunningHandler } from './running-handler.ts';
import { wholeJournal } from './step-report.ts';
import type { Incoming } from './types.ts';

type Handle = Extract<DecidedAction, { kind: 'handle' }>;

/** Returns why an order cannot have another handler. */
export const handlerRefusal = ({ instance }: Draft): string | undefined =>
  (instance.rules?.handlers?.length ?? 0) < handlersMax ? undefined : `the order has ${handlersMax} running handlers, which is the limit.`;

/**
 * Has another order handle an exception (F-128). Unless both orders go on side by side (`parallel`), this order is suspended until the
 * handler has ended: its failed step is not requested, and nothing else begins (F-130).
 */
export function beginHandler(
  draft: Draft,
  { ruleId, version }: Decision,
  action: Handle,
  about: { readonly blocked: Blocked; readonly seq: number },
): Draft {
  const { orderId } = draft.record;
  const { blocked, seq } = about;
  const place = blocked.reported ? (blocked.fault.source ?? blocked.path) : blocked.path;
  const { workflow: name, version: wanted, control, path } = action;
  const handler: RunningHandler = {
    seq,
    orderId: handlerIdOf(orderId, seq),
    workflow: { name, ...(wanted === undefined ? {} : { version: wanted }) },
    control,
    place,
    ...(path === undefined ? {} : { path }),
  };
  const rule = { id: ruleId, version };
  const isParallel = control === 'parallel';
  const next = isParallel
    ? ({ kind: blocked.reported ? 'go-on' : 'retry', afterSeconds: 0 } as const)
    : ({ kind: 'suspend', again: true } as const);
  const decided = applyEvent(isParallel ? draft : patchRecord(draft, { suspended: true }), { type: 'decided', rule, action: next });
  return startHandler(decided, handler);
}

/** Begins the order that handles an exception, and notes that this order has a handler. */
export function startHandler(draft: Draft, handler: RunningHandler): Draft {
  const { seq, orderId, workflow } = handler;
  const noted = withHandlers(draft, [...(draft.instance.rules?.handlers ?? []), handler]);
  const exceptionId = exceptionIdOf(draft.record.orderId, seq);
  const fact = { type: 'HandlerStarted', exceptionId, handler: orderId, workflow: workflow.name } as const;
  return addToOutbox(addFacts(noted, [fact]), [handleEntry(draft, seq)]);
}

/** Returns the message that begins a handler. If the handler has ended, the message has it report its end again; `again`: the time. */
const handleEntry = ({ record }: Draft, seq: number, again?: number): OutboxEntry => ({
  id: `${announcedAs(record)}/handler/${seq}${again === undefined ? '' : `/${again}`}`,
  kind: 'status',
  channel: queueNames.submissions,
  message: { v: 1, type: 'handle', orderId: record.orderId, seq },
});

/** Whether the order with the exception is suspended until this handler has ended. */
export const isAwaited = ({ control }: RunningHandler): boolean => control !== 'parallel';

/**
 * Asks again for the handlers for which a suspended order has waited long: the message that begins a handler, or its report, may be lost.
 */
export function askHandlersAgain(draft: Draft): Draft {
  const { nextDueAt, nextDueFor } = draft.record;
  if (nextDueFor?.kind !== 'handler' || nextDueAt === null || nextDueAt > draft.now) return draft;
  const waited = (draft.instance.rules?.handlers ?? []).filter(isAwaited);
  return {
    ...addToOutbox(
      draft,
      waited.map(({ seq }) => handleEntry(draft, seq, draft.now)),
    ),
    changed: true,
  };
}

/** Forgets the handlers for which the order waited, after a person has resumed it. Their end then changes nothing in the order. */
export const withoutHandlers = (draft: Draft): Draft =>
  draft.instance.rules?.handlers
    ? withHandlers(
        draft,
        draft.instance.rules.handlers.filter((handler) => !isAwaited(handler)),
      )
    : draft;

function withHandlers(draft: Draft, handlers: readonly RunningHandler[]): Draft {
  const { handlers: _, ...rules } = draft.instance.rules ?? {};
  return { ...draft, instance: { ...draft.instance, rules: handlers.length > 0 ? { ...rules, handlers } : rules }, changed: true };
}

/**
 * Continues the order after a handler has ended, as its rule has said. If the order has ended, or was resumed meanwhile, it only notes the
 * end of the handler. The end of a handler that the order has forgotten changes nothing.
 */
export function handlerEnded(draft: Draft, { seq, handler: by, isCompleted, message }: Extract<Incoming, { type: 'handled' }>): Draft {
  const handlers = draft.instance.rules?.handlers ?? [];
  const handler = handlers.find((each) => each.seq === seq);
  if (!handler) return draft;
  const fact = { type: 'HandlerEnded', exceptionId: exceptionIdOf(draft.record.orderId, seq), handler: by, isCompleted } as const;
  const noted = addFacts(
    withHandlers(
      draft,
      handlers.filter((each) => each !== handler),
    ),
    [fact],
  );
  const stillWaits = handler.control !== 'parallel' && noted.record.suspended;
  if (noted.instance.state.phase === 'closed' || (handler.control !== 'parallel' && !stillWaits)) return noted;
  if (handler.control === 'none') return ended(noted, isCompleted);
  if (!isCompleted) return blockedBy(noted, handler, notCompleted(by, message));
  if (handler.control === 'parallel') return noted;
  return handler.control === 'ready' ? resume(noted) : resumedAt(noted, handler);
}

const free = (draft: Draft): Draft => patchRecord(draft, { suspended: false });

const ended = (draft: Draft, isCompleted: boolean): Draft =>
  applyEvent(free(draft), isCompleted ? { type: 'terminated' } : { type: 'canceled', outcome: 'compensated' });

export const notCompleted = (handler: string, message: string) =>
  engineFault(engineFaults.childNotCompleted, `The handler ${handler} did not complete: ${message}`, { data: { handler } });

function blockedBy(draft: Draft, { place, control }: RunningHandler, fault: ReturnType<typeof notCompleted>): Draft {
  if (control === 'parallel') return applyEvent(draft, { type: 'reported', fault: { ...fault, source: place } });
  return applyEvent(free(draft), { type: 'handlerEnded', place, next: { kind: 'block', fault } });
}

/** Continues the order at another activity, and undoes nothing. */
function resumedAt(draft: Draft, handler: RunningHandler): Draft {
  const { loaded, instance } = draft;
  const { path = '', place } = handler;
  if (!loaded.pages) return { ...draft, needs: 'journal' };
  const subject = subjectOf(loaded.order);
  const past = pastOf(loaded.program, subject, wholeJournal(loaded.pages, instance.tail));
  const record = { ...draft.record, suspended: false };
  const schemas = { of: () => undefined, problems: () => [] };
  const [refused] = resumeAt.refusals(judgedOf({ ...loaded, record, instance }, { schemas, now: draft.now, past }), {
    kind: 'resume-at',
    path,
    undoBetween: false,
  });
  if (refused) return blockedBy(draft, handler, ruleFailed('handle', refused.detail));
  const next: AfterHandler = { kind: 'resume-at', path, past: Object.fromEntries(past) };
  return applyEvent(free(draft), { type: 'handlerEnded', place, next });
}

/** Returns the message with which a handler reports its end to the order with the exception; none if the ended order is not a handler. */
export function handledReplyOf(
  { orderId, outcome, fault }: Pick<StateRecord, 'orderId' | 'outcome' | 'fault'>,
  { handles }: OrderRecord,
  now: number,
): readonly OutboxEntry[] {
  if (!handles || outcome === null) return [];
  const message = fault ? `${fault.type}: ${fault.message}` : `it ended as ${outcome}.`;
  return [
    {
      id: `${orderId}/handled`,
      kind: 'status',
      channel: queueNames.wakeUps,
      message: handledMessage(handles, { handler: orderId, isCompleted: outcome === 'completed', message }, now),
    },
  ];
}

export const handledMessage = (
  { orderId, seq }: { readonly orderId: string; readonly seq: number },
  ended: { readonly handler: string; readonly isCompleted: boolean; readonly message: string },
  now: number,
): JsonObject => ({ v: 1, type: 'wake-up', orderId, sentAt: timeText(now), handled: { seq, ...ended } });
