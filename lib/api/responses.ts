import type { UnreadableRecordError } from '#ports/errors';
import { problems, problemText, type Refusal, refuse } from './problem.ts';
import type { Answer, Route } from './route.ts';

/** The time until the store may be available again, or another process may have taken over. */
const retryAfterSeconds = '2';

export const unavailable = refuse('unavailable', { headers: { 'retry-after': retryAfterSeconds } });

/**
 * Returns the refusal of a call about an unreadable record. During a rollout, a process of the newer version can soon read the record.
 * Later it is quarantined, and operators are alerted.
 */
export function unreadable({ orderId, reason, newerUntil = 0 }: UnreadableRecordError, now: number): Refusal {
  if (newerUntil > now) return refuse('unavailable', { headers: { 'retry-after': rolloutRetrySeconds } });
  const detail = `The record of order ${orderId} cannot be read: ${reason}. The operators are alerted, and must act first.`;
  return refuse('conflict', { errors: [{ pointer: '', code: 'unreadable', detail }] });
}

const rolloutRetrySeconds = '30';

/** Headers of every response. Without CORS headers, a page of another origin cannot call the API. */
const always = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'strict-transport-security': 'max-age=63072000',
};

export function answerResponse({ status, text, bytes, headers }: Answer, row: Route | undefined, requestId: string): Response {
  const type = row?.produces === 'text/html' ? 'text/html; charset=utf-8' : 'application/json';
  const isBodiless = status === 204 || status === 304;
  return new Response(isBodiless ? null : (bytes ?? text), {
    status,
    headers: {
      ...always,
      'x-request-id': requestId,
      ...(isBodiless ? {} : { 'content-type': type }),
      'cache-control': 'no-store',
      ...headers,
    },
  });
}

/** The most characters of the requested path that a problem repeats. */
const instanceCharactersMax = 512;

export function refusalResponse(refusal: Refusal, url: string, requestId: string): Response {
  const instance = new URL(url).pathname.slice(0, instanceCharactersMax);
  const headers = {
    ...always,
    'x-request-id': requestId,
    'content-type': 'application/problem+json',
    'cache-control': 'no-store',
    ...refusal.headers,
  };
  return new Response(problemText(refusal, { requestId, instance }), { status: problems[refusal.problem].status, headers });
}
