import http, { type IncomingMessage, type OutgoingHttpHeaders } from 'node:http';
import https from 'node:https';

export interface HttpRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: OutgoingHttpHeaders;
  readonly body: string | undefined;
  readonly signal: AbortSignal;
}

export interface HttpAnswer {
  readonly status: number;
  readonly retryAfter: string | undefined;
  /** Undefined if the body exceeds the read limit. */
  readonly text: string | undefined;
}

const answerBytesMax = 256 * 1024;

/**
 * Sends one request and returns the answer, whatever its status, redirects included. Rejects if no answer comes: the connection is refused
 * or breaks, or the signal aborts. It uses node:http, which takes half the time of fetch and also keeps connections open.
 */
export async function exchange({ url, body, ...options }: HttpRequest): Promise<HttpAnswer> {
  const { request } = url.protocol === 'https:' ? https : http;
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request(url, options).on('response', resolve).on('error', reject).end(body);
  });
  return { status: response.statusCode ?? 0, retryAfter: response.headers['retry-after'], text: await textOf(response) };
}

async function textOf(response: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > answerBytesMax) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
