import { listAudit, verifyAudit } from './audit.ts';
import { type Route, route } from './route.ts';
import { AuditDay, AuditEntry, AuditQuery } from './schemas/audit.ts';
import { PageQuery, pageOf } from './schemas/common.ts';

/** The calls about the audit. A viewer may not use them. */
export const auditRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/audit',
    roles: ['operator', 'admin'],
    summary: 'List what people did, newest first',
    query: AuditQuery,
    answers: { 200: { description: 'A page of the audit; it may be short, or empty, and not be the last', schema: pageOf(AuditEntry) } },
    refusals: [],
    handle: listAudit,
  }),
  route({
    method: 'GET',
    path: '/audit/days',
    roles: ['operator', 'admin'],
    summary: 'Compare the audit with its daily digests, the oldest day first',
    query: PageQuery,
    answers: { 200: { description: 'A page of days, each with the entries that do not fit its digest', schema: pageOf(AuditDay) } },
    refusals: [],
    handle: verifyAudit,
  }),
];
