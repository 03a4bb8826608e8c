import { isUtf8 } from 'node:buffer';
import type { Json } from '#core/data/json';
import { bodyLimits, survey } from '#roles/submission/body-limits';
import { type Refusal, refuse } from './problem.ts';

/** Whether the request has no body, according to its headers. */
export const isBodiless = (headers: Headers): boolean =>
  headers.get('content-type') === null && Number(headers.get('content-length') ?? 0) === 0;

/** Refuses a body by its headers alone, before any byte of it is read. */
export function mediaRefusal(headers: Headers): Refusal | undefined {
  if (
    headers.get('content-encoding') !== null ||
    !/^application\/json *(; *charset="?utf-8"? *)?$/i.test(headers.get('content-type') ?? '')
  )
    return refuse('unsupported-media-type');
  return Number(headers.get('content-length') ?? 0) > bodyLimits.bytesMax ? refuse('too-large') : undefined;
}

/** Returns the body as unambiguous JSON within the limits. The route's schema checks its meaning. */
export async function readBody(request: Request): Promise<{ readonly value: Json } | Refusal> {
  const bytes = await bytesOf(request);
  if (bytes === 'too-large' || bytes === 'malformed-json') return refuse(bytes);
  return isUtf8(bytes) ? parseBody(bytes.toString('utf8')) : refuse('malformed-json');
}

function parseBody(text: string): { readonly value: Json } | Refusal {
  const surveyed = survey(text);
  switch (surveyed.outcome) {
    case 'malformed':
      return refuse('malformed-json');
    case 'too-large':
      return refuse('too-large');
    case 'invalid':
      return refuse('invalid', { errors: surveyed.problems });
    case 'data':
      return { value: surveyed.value };
  }
}

async function bytesOf(request: Request): Promise<Buffer | 'too-large' | 'malformed-json'> {
  try {
    // With a Content-Length, the HTTP server reads no more than that.
    if (request.headers.get('content-length') !== null) {
      const bytes = Buffer.from(await request.arrayBuffer());
      return bytes.length > bodyLimits.bytesMax ? 'too-large' : bytes;
    }
    const chunks: Uint8Array[] = [];
    let length = 0;
    for await (const chunk of request.body ?? []) {
      length += chunk.length;
      if (length > bodyLimits.bytesMax) return 'too-large';
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  } catch {
    // The client closed the connection before the end of the body.
    return 'malformed-json';
  }
}
