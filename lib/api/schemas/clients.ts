import * as z from 'zod';
import { everySession } from '#ports/clients';
import { responseQueuePrefix } from '#ports/queues';
import { clientIdPattern } from '../authentication.ts';
import { reason, time } from './common.ts';

const channelId = z
  .string()
  .regex(
    new RegExp(`^${responseQueuePrefix}[A-Za-z0-9_-]{1,60}$`),
    'expected redress-response- followed by 1 to 60 letters, digits, "-" and "_"',
  );
const senderId = z
  .string()
  .regex(/^[\x21-\x7e]{1,256}$/, 'expected 1 to 256 printable ASCII characters without spaces')
  .refine((id) => !id.includes('*') || everySession.test(id), 'expected "*" only as AROAEXAMPLEID:*, for every session of an IAM role');
const appClientId = z
  .string()
  .regex(/^[\w.+-]{1,128}$/, 'expected the client_id of an app client: 1 to 128 letters, digits, ".", "_", "+" and "-"');

const registration = {
  responseChannels: z.array(channelId).max(100),
  senders: z.array(senderId).max(100),
  appClients: z.array(appClientId).max(20).describe('app clients of the token issuer, by their client_id, that act as this client'),
};

export const ClientBody = z.strictObject({ ...registration, appClients: registration.appClients.default([]), reason });

export const ClientHeaders = z.object({
  'if-match': z
    .string()
    .regex(/^"[1-9]\d{0,14}"$/, 'expected the ETag of the registration in quotes, such as "7"')
    .exactOptional()
    .describe('required for a change: the ETag of the registration, which is its rev in quotes'),
});

export const Client = z.strictObject({
  id: z.string().regex(clientIdPattern),
  rev: z.int().min(1),
  ...registration,
  by: z.string().describe('who wrote this version'),
  at: time,
  reason: z.string().describe('why this version was written'),
});
