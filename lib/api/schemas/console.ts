import * as z from 'zod';

const text = z.string().exactOptional();

export const AssetHeaders = z.object({ 'accept-encoding': text, 'if-none-match': text });
export type AssetHeaders = z.output<typeof AssetHeaders>;

const fromHere = { host: text, origin: text, 'sec-fetch-site': text };
export const SessionHeaders = z.object({ 'sign-in-code': text.describe('the code that the address of the console carries'), ...fromHere });
export type SessionHeaders = z.output<typeof SessionHeaders>;
export const SessionEndHeaders = z.object(fromHere);

export const SignInKind = z.union([
  z.strictObject({ kind: z.enum(['local', 'none']) }).describe('local: a code that a command of this machine prints'),
  z.strictObject({ kind: z.literal('issuer'), authorizeUrl: z.url(), tokenUrl: z.url(), clientId: z.string(), scope: z.string() }),
]);

export const SessionStarted = z.strictObject({ expiresInSeconds: z.int() });

export const Session = z.strictObject({
  subject: z.string(),
  roles: z.array(z.string()),
  groups: z.array(z.string()),
  hasChaos: z.boolean().describe('whether this system has experiments: only the host of one machine has'),
});
