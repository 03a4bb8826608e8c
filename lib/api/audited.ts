import type { Json } from '#core/data/json';
import { type AuditEntry, auditedRoles } from '#ports/audit';
import type { Caller } from './authentication.ts';
import type { Call } from './route.ts';
import { seesAll } from './views.ts';

type Action = Pick<AuditEntry, 'kind' | 'target' | 'action' | 'reason' | 'after'>;

/** Writes the entry of an action with the values before it. A second call does nothing. */
type Record = (before: Json) => Promise<void>;

/**
 * Carries out an action of a person. `work` calls `record` just before its first write, so that no change is without its entry. If the
 * action is refused after that, for example because it lost a race, a second entry says so.
 */
export async function audited<T>(
  { api, caller, requestId }: Pick<Call, 'api' | 'caller' | 'requestId'>,
  action: Action,
  work: (record: Record) => Promise<T>,
  isDone: (result: T) => boolean,
): Promise<T> {
  const who = { by: caller.subject, role: auditedRole(caller), requestId };
  let isRecorded = false;
  const result = await work(async (before) => {
    if (isRecorded) return;
    await api.audit.record({ ...who, ...action, before });
    isRecorded = true;
  });
  if (isRecorded && !isDone(result))
    await api.audit.record({ ...who, ...action, action: `${action.action}-refused`, before: null, after: null });
  return result;
}

/**
 * Records that a person reads personal data: once for each person, target and quarter of an hour. A client reads its own data, which is
 * not recorded.
 */
export async function auditedRead({ api, caller, requestId }: Pick<Call, 'api' | 'caller' | 'requestId'>, target: string): Promise<void> {
  if (!seesAll(caller)) return;
  const who = { by: caller.subject, role: auditedRole(caller), requestId };
  await api.audit.recordRead({ ...who, kind: 'read', target, action: 'read', reason: null, before: null, after: null });
}

const auditedRole = ({ roles }: Caller): AuditEntry['role'] => auditedRoles.find((role) => roles.has(role)) ?? 'viewer';
