/** Characters that a terminal interprets: control characters, line separators, and marks that change the text direction. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these characters must not reach a terminal.
const unsafe = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Returns untrusted text on one line, without characters that a terminal interprets. */
export const printable = (text: string): string => text.replace(unsafe, '\ufffd');

/** Cuts a text to `length` characters, with `…` in place of the rest. */
export const shortened = (text: string, length: number): string =>
  text.length <= length ? text : length < 1 ? '' : `${text.slice(0, length - 1)}…`;

/** Returns a number with its noun: `1 sender`, `2 senders`. */
export const counted = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`;

/** Formats a time span: `0.2 s`, `12 s`, `3 min`, `4 h`, `2 d`. */
export function spanText(ms: number): string {
  if (ms < 9_950) return `${(Math.max(0, ms) / 1000).toFixed(1)} s`;
  if (ms < 100_000) return `${Math.round(ms / 1000)} s`;
  if (ms < 6_000_000) return `${Math.round(ms / 60_000)} min`;
  return ms < 172_800_000 ? `${Math.round(ms / 3_600_000)} h` : `${Math.round(ms / 86_400_000)} d`;
}
