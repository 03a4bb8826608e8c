import { deflateRawSync, inflateRawSync } from 'node:zlib';

/** A text as stored in an item: plain if it is short, else deflated and in base64. */
export type Compressed = string | { readonly deflated: string };

/** Shorter texts stay plain, so that a person can read them in the table. */
const plainBytesMax = 64 * 1024;

export const compressed = (text: string): Compressed =>
  Buffer.byteLength(text) <= plainBytesMax ? text : { deflated: deflateRawSync(text).toString('base64') };

export const decompressed = (text: Compressed): string =>
  typeof text === 'string' ? text : inflateRawSync(Buffer.from(text.deflated, 'base64')).toString('utf8');

export const compressedBytes = (text: Compressed): number =>
  typeof text === 'string' ? Buffer.byteLength(JSON.stringify(text)) : text.deflated.length;
