import * as z from 'zod';
import { responseQueuePrefix } from '#ports/queues';
import { clientIdPattern } from '../authentication.ts';

const channelId = z
  .string()
  .regex(
    new RegExp(`^${responseQueuePrefix}[A-Za-z0-9_-]{1,60}$`),
    'expected redress-response- followed by 1 to 60 letters, digits, "-" and "_"',
  );
const senderId = z.string().regex(/^[\x21-\x7e]{1,256}$/, 'expected 1 to 256 printable ASCII characters without spaces');

export const ClientBody = z.strictObject({
  responseChannels: z.array(channelId).max(100),
  senders: z.array(senderId).max(100),
});

export const Client = z.strictObject({
  id: z.string().regex(clientIdPattern),
  responseChannels: z.array(channelId),
  senders: z.array(senderId),
});
