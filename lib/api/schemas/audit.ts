import * as z from 'zod';
import { auditedRoles, auditKinds, auditProblems } from '#ports/audit';
import { anyJson, cursor, limit, optionalOneOf, optionalTime, time } from './common.ts';

const text = z.string().min(1).max(1024).exactOptional();

export const AuditQuery = z.strictObject({
  by: text.describe('the sub of the person'),
  kind: optionalOneOf(auditKinds),
  target: text.describe('the id of what was changed or read; a channel or a group of people by its name, a dead letter as channel/id'),
  since: optionalTime,
  limit,
  cursor,
});

export const AuditDay = z.strictObject({
  day: z.string().describe('a UTC day'),
  entries: z.int().min(0).describe('how many entries the day had when it was over'),
  hash: z.string().describe('the digest: a hash over these entries and over the digest of the day before'),
  at: time.describe('when the digest was written'),
  misfits: z
    .array(z.strictObject({ entry: z.string().nullable(), problem: z.enum(auditProblems) }))
    .describe('what has changed since, the earliest first; empty: nothing'),
});

export const AuditEntry = z.strictObject({
  id: z.string(),
  at: time,
  by: z.string(),
  role: z.enum(auditedRoles),
  kind: z.enum(auditKinds),
  target: z.string(),
  action: z
    .string()
    .describe(
      'for a dead letter: if another entry with the same requestId has this action with the suffix -refused, the action was refused',
    ),
  reason: z.string().nullable(),
  before: anyJson.describe('without secrets'),
  after: anyJson.describe('without secrets'),
  requestId: z.string(),
});
