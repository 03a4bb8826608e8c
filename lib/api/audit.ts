import type * as z from 'zod';
import type { JsonObject } from '#core/data/json';
import type { AuditEntry, AuditPosition, VerifiedDay } from '#ports/audit';
import { auditList } from '#ports/list-filters';
import { timeText } from '#ports/messages';
import { openCursor, sealCursor } from './cursor.ts';
import { badCursor } from './orders.ts';
import { refuseUnserved } from './parameters.ts';
import type { Refusal } from './problem.ts';
import { type Answer, type Call, json } from './route.ts';
import type { AuditQuery } from './schemas/audit.ts';
import type { PageQuery } from './schemas/common.ts';

/** Lists what people did, newest first. */
export async function listAudit({ api, caller, query }: Call<z.output<typeof AuditQuery>>): Promise<Answer | Refusal> {
  const unserved = refuseUnserved(auditList, query);
  if (unserved) return unserved;
  const { limit, cursor, since, ...filter } = query;
  const scope = { key: api.cursorKey, bound: ['audit', caller.subject, { ...filter, since: since ?? null } as JsonObject] };
  const opened = cursor === undefined ? undefined : openCursor(cursor, scope);
  if (cursor !== undefined && !opened) return badCursor;
  const page = await api.audit.page(
    { ...filter, ...(since === undefined ? {} : { since: Date.parse(since) }) },
    opened && positionIn(opened),
    limit,
  );
  const next = page.next ? sealCursor([page.next.day, page.next.after ?? ''], scope) : null;
  return json(200, { items: page.items.map(entryView), next });
}

/** Compares the audit with its digests, day by day, the oldest first. */
export async function verifyAudit({ api, caller, query }: Call<z.output<typeof PageQuery>>): Promise<Answer | Refusal> {
  const { limit, cursor } = query;
  const scope = { key: api.cursorKey, bound: ['audit-days', caller.subject] };
  const opened = cursor === undefined ? [] : openCursor(cursor, scope);
  if (!opened) return badCursor;
  const { items, next } = await api.audit.verifiedDays(opened[0] === undefined ? undefined : String(opened[0]), limit);
  return json(200, { items: items.map(dayView), next: next === undefined ? null : sealCursor([next], scope) });
}

const dayView = ({ day, entries, hash, at, misfits }: VerifiedDay) => ({ day, entries, hash, at: timeText(at), misfits });

function positionIn([day, after]: readonly unknown[]): AuditPosition {
  return { day: String(day), ...(after === '' ? {} : { after: String(after) }) };
}

const entryView = ({ at, ...entry }: AuditEntry) => ({ ...entry, at: timeText(at) });
