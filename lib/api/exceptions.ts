import type * as z from 'zod';
import type { JsonObject } from '#core/data/json';
import type { ExceptionRecord, Handling } from '#core/exceptions/exception';
import { exceptionList } from '#ports/list-filters';
import { timeText } from '#ports/messages';
import { type ExceptionGroup, exceptionGroups } from '#roles/exceptions/groups';
import { listExceptions } from '#roles/exceptions/list';
import { exceptionOf } from '#roles/exceptions/read';
import { stateOfException } from '#roles/exceptions/records';
import { openCursor, sealCursor } from './cursor.ts';
import { badCursor } from './orders.ts';
import { refuseUnserved } from './parameters.ts';
import { badParameter, type Refusal, refuse } from './problem.ts';
import { type Answer, type Call, json } from './route.ts';
import type { ExceptionQuery, GroupQuery } from './schemas/exceptions.ts';

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
  return json(200, { items: page.map(groupView), next: from + limit < groups.length ? sealCursor([from + limit], scope) : null });
}

export async function showException({ api, id }: Call): Promise<Answer | Refusal> {
  const exception = await exceptionOf(id, api.store);
  return exception ? json(200, exceptionView(exception), { orderId: exception.orderId }) : refuse('not-found');
}

const exceptionView = (exception: ExceptionRecord) => {
  const { seq: _, submittedAt: __, groupBy: ___, at, handling, ...shown } = exception;
  return { ...shown, at: timeText(at), state: stateOfException(exception), handling: handling && handlingView(handling) };
};

const handlingView = ({ at, ...handling }: Handling) => ({ ...handling, at: timeText(at) });

const groupView = ({ firstAt, lastAt, ...group }: ExceptionGroup) => ({ ...group, firstAt: timeText(firstAt), lastAt: timeText(lastAt) });
