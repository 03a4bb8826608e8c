import { isIP } from 'node:net';
import { connect } from 'node:tls';
import { RefusedError, UnreachableError } from '#cli/errors';
import { createApi } from '#cli/http';
import { spanText } from '#cli/text';
import { isObject } from '#core/data/json';
import { jsonIn } from '#ports/util/json';
import { type Examine, type Finding, failed, ok, skipped, warning } from './finding.ts';

/** The largest difference between two clocks that agree. Tokens, leases and deadlines need clocks that agree. */
const clocksApartMsMax = 30_000;
/** A token that expires within `expirySoonMs` gets a warning, and so does a certificate that expires within `renewalMs`. */
const expirySoonMs = 15 * 60_000;
const renewalMs = 14 * 86_400_000;
const connectMs = 5_000;

/** Whether the system answers, and its clock agrees with this one. */
export const health: Examine = async ({ url }) => {
  try {
    const sentAt = Date.now();
    const { date } = await createApi({ url, timeoutMs: connectMs }).call('GET', '/health');
    return [ok('system', `${url} answers.`), ...(date === undefined ? [] : [clockFinding(date - sentAt)])];
  } catch (error) {
    const start = 'Start it with redress start, or name its URL with --url or REDRESS_URL.';
    if (error instanceof UnreachableError) return [failed('system', error.message, start)];
    if (error instanceof RefusedError) return [failed('system', `${error.message}: ${error.problem.detail ?? url}`, start)];
    throw error;
  }
};

/** Compares the clocks. `apartMs`: how far the clock of the system is ahead. The system answers with whole seconds. */
function clockFinding(apartMs: number): Finding {
  if (Math.abs(apartMs) <= clocksApartMsMax) return ok('clock', 'agrees with the clock of the system.');
  const direction = apartMs > 0 ? 'behind' : 'ahead of';
  return failed(
    'clock',
    `This clock is ${spanText(Math.abs(apartMs))} ${direction} that of the system.`,
    'Set both clocks by NTP: tokens are refused otherwise.',
  );
}

/** Whether the token is accepted, and for how long. */
export const token: Examine = async (cli) => {
  const expiry = cli.givenToken === undefined ? [] : expiryOf(cli.givenToken);
  if (expiry.some(({ state }) => state === 'failed')) return expiry;
  try {
    await (await cli.api('viewer')).call('GET', '/overview');
    return [ok('token', cli.givenToken === undefined ? `signed with the key in ${cli.dataFolder}.` : 'accepted.'), ...expiry];
  } catch (error) {
    if (!(error instanceof RefusedError)) return [failed('token', (error as Error).message, 'Set REDRESS_TOKEN or --token.')];
    const { status, title, detail } = error.problem;
    if (status === 403)
      return [
        warning(
          'token',
          'It is not the token of an operator: channels and tasks cannot be examined.',
          'Use a token with the role viewer, operator or admin.',
        ),
      ];
    if (status === 401)
      return [
        failed(
          'token',
          `It was refused: ${detail ?? title}`,
          "Give another one with --token or REDRESS_TOKEN, or name the system's data folder with --data.",
        ),
      ];
    return [failed('token', `${title}: ${detail ?? status}`, 'Look at the log of the system.')];
  }
};

/** Returns what is wrong with the lifetime of a token, which is readable without its key. */
function expiryOf(given: string): readonly Finding[] {
  const claims = jsonIn(Buffer.from(given.split('.')[1] ?? '', 'base64url').toString());
  if (!isObject(claims) || typeof claims['exp'] !== 'number')
    return [failed('token', 'The token is not a JSON Web Token, or has no exp.', 'Sign one with redress token, or sign in at the issuer.')];
  const leftMs = claims['exp'] * 1000 - Date.now();
  if (leftMs <= 0)
    return [failed('token', `It expired ${spanText(-leftMs)} ago.`, 'Sign a new one with redress token, or sign in at the issuer.')];
  return leftMs < expirySoonMs
    ? [warning('token', `It expires in ${spanText(leftMs)}.`, 'Sign a new one with redress token, or sign in at the issuer.')]
    : [];
}

/** The certificate of an https address. */
export const certificate: Examine = async ({ url }) => {
  const { protocol, hostname, port } = new URL(url);
  if (protocol !== 'https:') return [skipped('certificate', 'The address has no https.')];
  const found = await certificateOf(hostname, Number(port || 443));
  const renew = 'Renew the certificate where the address ends: at the load balancer, the API gateway or the proxy.';
  if (found === undefined) return [skipped('certificate', 'The address does not answer.')];
  if (typeof found === 'string') return [failed('certificate', found, renew)];
  const leftMs = found.getTime() - Date.now();
  const until = `valid until ${found.toISOString()}.`;
  return [leftMs > renewalMs ? ok('certificate', until) : warning('certificate', until, renew)];
};

/** Resolves with the end of the certificate's validity, or with the reason why it is refused; undefined without a connection. */
const certificateOf = (host: string, port: number): Promise<Date | string | undefined> =>
  new Promise((resolve) => {
    const socket = connect({ host, port, ...(isIP(host) ? {} : { servername: host }), timeout: connectMs });
    const end = (result: Date | string | undefined) => {
      socket.destroy();
      resolve(result);
    };
    socket.on('secureConnect', () => end(new Date(socket.getPeerCertificate().valid_to)));
    socket.on('timeout', () => end(undefined));
    // Errors of the system have codes such as ECONNREFUSED, and those of TLS such as CERT_HAS_EXPIRED.
    socket.on('error', ({ message, code = '' }: NodeJS.ErrnoException) => end(/^E[A-Z]+$/.test(code) ? undefined : message));
  });
