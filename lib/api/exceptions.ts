import type * as z from 'zod';
import type { Json, JsonObject } from '#core/data/json';
import type { ExceptionRecord, Handling } from '#core/exceptions/exception';
import type { ExceptionNote } from '#core/notifications/people-group';
import { exceptionList } from '#ports/list-filters';
import { timeText } from '#ports/messages';
import { type ExceptionGroup, exceptionGroups } from '#roles/exceptions/groups';
import { exceptionIdOf } from '#roles/exceptions/ids';
import { listExceptions } from '#roles/exceptions/list';
import { exceptionOf } from '#roles/exceptions/read';
import { stateOfException } from '#roles/exceptions/records';
import { exceptionNotes } from '#roles/notifier/exception-notes';
import { callKey } from '#roles/operator/idempotency';
import type { Report } from '#roles/operator/instruction';
import { openCursor, sealCursor } from './cursor.ts';
import { carryOutAudited } from './instructions.ts';
import { badCursor } from './orders.ts';
import { refuseUnserved } from './parameters.ts';
import { badParameter, conflict, isRefusal, type Refusal, refuse } from './problem.ts';
import { type Answer, type Call, json } from './route.ts';
import type { ExceptionQuery, GroupQuery, RaiseBody } from './schemas/exceptions.ts';
import type { KeyHeaders } from './schemas/instructions.ts';

/** Lists exceptions, newest first. */
export async function listAllExceptions({ api, caller, query }: Call<z.output<typeof ExceptionQuery>>): Promise<Answer | Refusal> {
  const unserved = refuseUnserved(exceptionList, query);
  if (unserved) return unserved;
  const { limit, cursor, since, until, ...named } = query;
  const filter = {
    ...named,
    ...(since === undefined ? {} : { since: Date.parse(since) }),
    ...(until === undefined ? {} : { until: Date.parse(until) }),
  };
  const scope = { key: api.cursorKey, bound: ['exceptions', caller.subject, filter as JsonObject] };
  const opened = cursor === undefined ? [] : openCursor(cursor, scope);
  if (!opened) return badCursor;
  const after = opened[0] === undefined ? undefined : String(opened[0]);
  const { items, next } = await listExceptions(api.store, filter, { after, limit, now: api.clock.now() });
  return json(200, { items: items.map(exceptionView), next: next === undefined ? null : sealCursor([next], scope) });
}

/** Lists alike exceptions together, those with the most open ones first. */
export async function listExceptionGroups({ api, caller, query }: Call<z.output<typeof GroupQuery>>): Promise<Answer | Refusal> {
  const { limit, cursor, since, state } = query;
  if (since !== undefined && Date.parse(since) % 3_600_000 !== 0)
    return badParameter(
      '/since',
      'not-a-whole-hour',
      'since: expected a whole hour, such as 2026-01-31T12:00:00Z: groups count by the hour.',
    );
  const scope = {
    key: api.cursorKey,
    bound: ['exception-groups', caller.subject, { since: since ?? null, state: state ?? null } as JsonObject],
  };
  const opened = cursor === undefined ? [0] : openCursor(cursor, scope);
  if (!opened) return badCursor;
  const from = Number(opened[0]);
  const all = await exceptionGroups(api.store, api.clock.now(), since === undefined ? undefined : Date.parse(since));
  const groups = all.filter(({ open }) => state === undefined || open > 0 === (state === 'open'));
  const page = groups.slice(from, from + limit);
  const notes = page.length > 0 ? await exceptionNotes(api.store) : new Map<string, ExceptionNote>();
  const items = page.map((group) => groupView(group, notes.get(group.fingerprint), api.clock.now()));
  return json(200, { items, next: from + limit < groups.length ? sealCursor([from + limit], scope) : null });
}

export async function showException({ api, id }: Call): Promise<Answer | Refusal> {
  const exception = await exceptionOf(id, api.store);
  return exception ? json(200, exceptionView(exception), { orderId: exception.orderId }) : refuse('not-found');
}

/** Raises an exception of an order from outside. A repeated call with the same idempotency key gets the same answer. */
export async function raiseException(
  call: Call<unknown, z.output<typeof KeyHeaders>, z.output<typeof RaiseBody>>,
): Promise<Answer | Refusal> {
  const { api, caller, requestId, id, headers, body } = call;
  const given = headers['idempotency-key'];
  const key = given === undefined ? {} : { key: callKey(caller.subject, given, { kind: 'report', ...body } as Json) };
  const report = { ...body, kind: 'report', by: caller.subject } as Report;
  const raised = await carryOutAudited(call, report, { id: requestId, ...key });
  if (isRefusal(raised)) return raised.problem === 'infeasible' ? conflict(raised.errors?.map(({ detail }) => detail)) : raised;
  switch (raised.outcome) {
    case 'infeasible':
      return conflict(raised.refusals.map(({ detail }) => detail));
    case 'invalid':
      return refuse('invalid', { errors: raised.problems });
    case 'key-reused':
      return refuse('idempotency-key-reused');
    case 'done':
    case 'replayed': {
      // The call that had this key before has reported no exception, so it was of another kind.
      if (raised.exception === undefined) return refuse('idempotency-key-reused');
      const exceptionId = exceptionIdOf(id, raised.exception);
      api.telemetry.log('info', 'exception raised from outside', { orderId: id, requestId, by: caller.subject, exceptionId });
      const answer = json(202, { exceptionId }, { orderId: id, headers: { location: `/exceptions/${exceptionId}` } });
      return raised.outcome === 'done' ? answer : { ...answer, headers: { ...answer.headers, 'idempotent-replayed': 'true' } };
    }
    default:
      return refuse('not-found');
  }
}

export const exceptionView = (exception: ExceptionRecord) => {
  const { seq: _, submittedAt: __, groupBy: ___, at, handling, ...shown } = exception;
  return { ...shown, at: timeText(at), state: stateOfException(exception), handling: handling && handlingView(handling) };
};

const handlingView = ({ at, ...handling }: Handling) => ({ ...handling, at: timeText(at) });

export const groupView = ({ firstAt, lastAt, ...group }: ExceptionGroup, noted?: ExceptionNote, now = 0) => ({
  ...group,
  firstAt: timeText(firstAt),
  lastAt: timeText(lastAt),
  ...((noted?.mutedUntil ?? 0) > now ? { mutedUntil: timeText(noted?.mutedUntil ?? 0) } : {}),
  ...(noted?.note === undefined ? {} : { note: noted.note }),
  ...(noted?.ticket === undefined ? {} : { ticket: noted.ticket }),
});
