import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Json } from '#core/data/json';

/** The list, filters and caller that a cursor is bound to, and the key that signs it. */
interface CursorScope {
  readonly key: Uint8Array;
  readonly bound: readonly Json[];
}

/** Returns a position in a list as signed text. */
export function sealCursor(position: readonly Json[], scope: CursorScope): string {
  const payload = Buffer.from(JSON.stringify(position)).toString('base64url');
  return `${payload}.${signature(payload, scope)}`;
}

/** Returns the position, or undefined when the cursor was changed or belongs to another list, filter or caller. */
export function openCursor(cursor: string, scope: CursorScope): readonly Json[] | undefined {
  const [payload = '', signed = ''] = cursor.split('.', 2);
  const expected = Buffer.from(`${payload}.${signature(payload, scope)}`);
  const given = Buffer.from(cursor);
  if (signed === '' || given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
  return JSON.parse(Buffer.from(payload, 'base64url').toString()) as readonly Json[];
}

const signature = (payload: string, { key, bound }: CursorScope): string =>
  createHmac('sha256', key)
    .update(JSON.stringify([bound, payload]))
    .digest('base64url');
