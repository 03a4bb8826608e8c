import type * as z from 'zod';
import type { JsonObject } from '#core/data/json';
import type { AuditEntry, AuditPosition } from '#ports/audit';
import { timeText } from '#ports/messages';
import { openCursor, sealCursor } from './cursor.ts';
import { badCursor } from './orders.ts';
import type { Refusal } from './problem.ts';
import { type Answer, type Call, json } from './route.ts';
import type { AuditQuery } from './schemas/audit.ts';

/** Lists what people did, newest first. */
export async function listAudit({ api, caller, query }: Call<z.output<typeof AuditQuery>>): Promise<Answer | Refusal> {
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

function positionIn([day, after]: readonly unknown[]): AuditPosition {
  return { day: String(day), ...(after === '' ? {} : { after: String(after) }) };
}

const entryView = ({ at, ...entry }: AuditEntry) => ({ ...entry, at: timeText(at) });
