import { deflateRawSync, inflateRawSync } from 'node:zlib';

/** A text as it is kept where room is short: as it is, or packed, as base64. */
export type Compressed = string | { readonly deflated: string };

/** Less is as good as it is: who reads the table reads it at once. */
const plainBytesMax = 64 * 1024;

export const compressed = (text: string): Compressed =>
  Buffer.byteLength(text) <= plainBytesMax ? text : { deflated: deflateRawSync(text).toString('base64') };

export const decompressed = (text: Compressed): string =>
  typeof text === 'string' ? text : inflateRawSync(Buffer.from(text.deflated, 'base64')).toString('utf8');

export const compressedBytes = (text: Compressed): number =>
  typeof text === 'string' ? Buffer.byteLength(JSON.stringify(text)) : text.deflated.length;
