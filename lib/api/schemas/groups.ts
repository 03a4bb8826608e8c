import * as z from 'zod';
import { peopleLimits } from '#core/definition/people';
import { groupLimits, noteLimits } from '#core/notifications/people-group';
import { reason, time } from './common.ts';

const person = z.string().min(1).max(peopleLimits.groupCharactersMax);
const muteTime = z.iso
  .datetime({ offset: true, error: 'expected a date and time that exist, such as 2026-01-31T12:00:00Z' })
  .nullable()
  .exactOptional();

const webhook = z.strictObject({
  kind: z.literal('webhook'),
  url: z.string().min(1).max(2048).describe('an https address whose host NOTIFY_HOSTS names'),
  credential: z
    .string()
    .regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/, 'expected the name of a credential: letters, digits and "_"')
    .default('NOTIFY_SECRET')
    .describe('the name of the secret that signs, as Standard Webhooks say'),
});
const topic = z.strictObject({
  kind: z.literal('sns'),
  topicArn: z
    .string()
    .regex(/^arn:[a-z-]+:sns:[a-z0-9-]+:\d{12}:[A-Za-z0-9_-]{1,256}$/, 'expected the ARN of a topic')
    .exactOptional()
    .describe('without it, the topic of the deployment'),
});
const destination = z.discriminatedUnion('kind', [webhook, topic]);

export const GroupBody = z.strictObject({
  members: z.array(person).max(groupLimits.membersMax).describe('the `sub` of each person'),
  notify: z
    .array(destination)
    .max(groupLimits.destinationsMax)
    .describe('where the group hears of its tasks; an empty list: where the deployment says'),
  mutedUntil: muteTime.describe('until then the group gets no message; null ends the mute'),
  reason: reason.default('not given'),
});

export const GroupHeaders = z.object({
  'if-match': z
    .string()
    .regex(/^"[1-9]\d{0,14}"$/, 'expected the ETag of the group in quotes, such as "7"')
    .exactOptional()
    .describe('the ETag of the group: refuses the change if somebody has changed the group since'),
});

export const PeopleGroupView = z.strictObject({
  name: person,
  rev: z.int().min(1),
  members: z.array(person),
  notify: z.array(destination).describe('only admins see the path of an address'),
  mutedUntil: time.nullable(),
  by: z.string(),
  at: time,
  reason: z.string(),
});

const anyText = (charactersMax: number) => z.string().min(1).max(charactersMax).nullable().exactOptional();

export const ExceptionNoteBody = z
  .strictObject({
    mutedUntil: muteTime.describe('until then nobody hears of these exceptions; null ends the mute'),
    note: anyText(noteLimits.noteCharactersMax).describe('null removes it'),
    ticket: anyText(noteLimits.ticketCharactersMax)
      .refine((url) => typeof url !== 'string' || /^https?:\/\/\S+$/.test(url), 'expected the address of a ticket: https://…')
      .describe('null removes it'),
    reason: reason.exactOptional(),
  })
  .refine((body) => ['mutedUntil', 'note', 'ticket'].some((field) => field in body), 'expected at least one of mutedUntil, note, ticket');

export const ExceptionNoteView = z.strictObject({
  fingerprint: z.string(),
  rev: z.int().min(1),
  mutedUntil: time.nullable(),
  note: z.string().nullable(),
  ticket: z.string().nullable(),
  by: z.string(),
  at: time,
});
