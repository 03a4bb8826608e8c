import { lookup } from 'node:dns';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { type Destination, urlProblem } from '#core/notifications/delivery';
import type { PeopleMessage } from '#core/notifications/message';
import type { Credentials } from '#ports/credentials';
import type { SendResult } from '#ports/sender';
import { isPrivateAddress } from './private-addresses.ts';

export interface WebhookOptions {
  /** The host names that the deployment allows, some with a port. No other host is ever called. */
  readonly hosts: readonly string[];
  /** The secrets that sign messages, as Standard Webhooks writes them: `whsec_` and base64. */
  readonly credentials: Credentials;
  /** The longest time of one call; by default ten seconds. */
  readonly timeoutMs?: number;
}

type WebhookDestination = Extract<Destination, { kind: 'webhook' }>;

/** Returns the body of a message: the payload of Standard Webhooks. */
export const webhookBody = ({ type, at, subject, text, data }: PeopleMessage): string =>
  JSON.stringify({ type, timestamp: new Date(at).toISOString(), data: { ...data, subject, text } });

/**
 * Sends messages as Standard Webhooks do: a signed POST, whose `webhook-id` is the same in each try. A receiver answers 2xx when it has
 * the message. Redirects are not followed, because they could lead to any host.
 */
export function webhookSender({ hosts, credentials, timeoutMs = 10_000 }: WebhookOptions) {
  return async (message: PeopleMessage, { url, credential }: WebhookDestination): Promise<SendResult> => {
    const problem = urlProblem(url, hosts);
    if (problem) return failed(problem);
    try {
      const secret = await credentials.read(credential);
      if (secret === undefined) return failed(`The deployment has no credential ${credential}. Add it, then the next try uses it.`);
      const body = webhookBody(message);
      const sentAt = new Date();
      const headers = {
        'content-type': 'application/json',
        'content-length': String(Buffer.byteLength(body)),
        'webhook-id': message.id,
        'webhook-timestamp': String(Math.floor(sentAt.getTime() / 1000)),
        'webhook-signature': signatureOf(secret, message.id, sentAt, body),
      };
      const status = await post(new URL(url), headers, body, timeoutMs);
      return status >= 200 && status < 300 ? { outcome: 'delivered' } : failed(`The receiver answered ${status}; expected 2xx.`);
    } catch (error) {
      return failed(reasonOf(error, credential));
    }
  };
}

class BadSecretError extends Error {}

function signatureOf(secret: string, id: string, at: Date, body: string): string {
  try {
    return new Webhook(secret).sign(id, at, body);
  } catch {
    // The error of the library may quote the secret.
    throw new BadSecretError();
  }
}

const failed = (reason: string): SendResult => ({ outcome: 'failed', reason });

/** Says why a call failed, by its code alone: other texts may quote the URL, and with it a token. */
function reasonOf(error: unknown, credential: string): string {
  if (error instanceof BadSecretError)
    return `The credential ${credential} is not a secret of Standard Webhooks: expected whsec_ and base64.`;
  if (error instanceof PrivateAddressError)
    return `The host has the private address ${error.address}. Only an address that the deployment names literally may be private.`;
  if (error instanceof TimeoutError) return 'The receiver did not answer in time.';
  const code = (error as { readonly code?: unknown }).code;
  return `The receiver cannot be reached (${typeof code === 'string' ? code : 'unknown error'}).`;
}

class TimeoutError extends Error {}

class PrivateAddressError extends Error {
  readonly address: string;
  constructor(address: string) {
    super(`private address ${address}`);
    this.address = address;
  }
}

/** Resolves a name, and refuses private addresses. The connection uses this very result, so that a name cannot change in between. */
const publicLookup: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, addresses) => {
    if (error) return callback(error, '', 0);
    const found = addresses.find(({ address }) => isPrivateAddress(address));
    if (found) return callback(new PrivateAddressError(found.address), '', 0);
    const [first] = addresses;
    if (options.all) return callback(null, addresses);
    return callback(null, first?.address ?? '', first?.family ?? 4);
  });
};

/** Whether the deployment named an address or `localhost` instead of a name to be resolved. Such a host may be private. */
const isLiteralHost = (hostname: string): boolean => hostname === 'localhost' || isIP(hostname.replace(/^\[|\]$/g, '')) !== 0;

function post(url: URL, headers: { readonly [name: string]: string }, body: string, timeoutMs: number): Promise<number> {
  const call = url.protocol === 'https:' ? httpsRequest : httpRequest;
  const lookups = isLiteralHost(url.hostname) ? {} : { lookup: publicLookup };
  return new Promise((resolve, reject) => {
    const sent = call(url, { method: 'POST', headers, agent: false, ...lookups }, (response) => {
      // The body of the answer is read and ignored.
      response.resume();
      response.once('end', () => resolve(response.statusCode ?? 0));
      response.once('error', reject);
    });
    const timer = setTimeout(() => sent.destroy(new TimeoutError()), timeoutMs);
    sent.once('close', () => clearTimeout(timer));
    sent.once('error', reject);
    sent.end(body);
  });
}
