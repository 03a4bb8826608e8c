import { isUtf8 } from 'node:buffer';
import type { Json } from '#core/data/json';
import { bodyLimits, survey } from '#roles/submission/body-limits';
import { type Refusal, refuse } from './problem.ts';

/** Whether no body was sent, as far as the headers say. */
export const isBodiless = (headers: Headers): boolean =>
  headers.get('content-type') === null && Number(headers.get('content-length') ?? 0) === 0;

/** What the headers say against a body, before a byte of it is read. */
export function mediaRefusal(headers: Headers): Refusal | undefined {
  if (
    headers.get('content-encoding') !== null ||
    !/^application\/json *(; *charset="?utf-8"? *)?$/i.test(headers.get('content-type') ?? '')
  )
    return refuse('unsupported-media-type');
  return Number(headers.get('content-length') ?? 0) > bodyLimits.bytesMax ? refuse('too-large') : undefined;
}

/** The body as data that can be trusted in its form: unambiguous JSON within the limits. Its meaning is not looked at. */
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
    // With a length, the server sees to it that no more comes.
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
    // The sender broke off: what came is no whole body.
    return 'malformed-json';
  }
}
