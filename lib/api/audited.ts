import type { Json } from '#core/data/json';
import { type AuditDraft, type AuditEntry, auditedRoles, type PreparedEntry } from '#ports/audit';
import type { Document } from '#ports/documents';
import type { Caller } from './authentication.ts';
import type { Call } from './route.ts';
import { seesAll } from './views.ts';

type AuditedCall = Pick<Call, 'api' | 'caller' | 'requestId'>;

/** The action of a person, without the values before and after. */
type Action = Pick<AuditEntry, 'kind' | 'target' | 'action' | 'reason'>;

/** Returns the documents of an action's entry, for the transaction of the change. Another try after a lost race gets a new entry. */
type Beside = (before: Json, after: Json) => readonly Document[];

/** Carries out an action of a person. `work` writes the entry in the transaction of its change: neither exists without the other. */
export async function audited<T>(
  call: AuditedCall,
  action: Action,
  work: (beside: Beside) => Promise<T>,
  isDone: (result: T) => boolean,
): Promise<T> {
  let last: PreparedEntry | undefined;
  const result = await work((before, after) => {
    last = preparedEntry(call, { ...action, before, after });
    return last.documents;
  });
  if (isDone(result)) await last?.stored();
  return result;
}

export const preparedEntry = (call: AuditedCall, entry: Omit<AuditDraft, 'by' | 'role' | 'requestId'>): PreparedEntry =>
  call.api.audit.prepare({ ...whoIn(call), ...entry });

/**
 * Records that a person reads personal data: once for each person, target and quarter of an hour. A client reads its own data, which is
 * not recorded.
 */
export async function auditedRead(call: AuditedCall, target: string): Promise<void> {
  if (!seesAll(call.caller)) return;
  await call.api.audit.recordRead({ ...whoIn(call), kind: 'read', target, action: 'read', reason: null, before: null, after: null });
}

const whoIn = ({ caller, requestId }: AuditedCall) => ({ by: caller.subject, role: auditedRole(caller), requestId });

const auditedRole = ({ roles }: Caller): AuditEntry['role'] => auditedRoles.find((role) => roles.has(role)) ?? 'viewer';
