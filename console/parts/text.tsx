import { ageOf, clockTime, exactTime, lengthOf, now, shortTime } from '../time.ts';

// biome-ignore lint/suspicious/noControlCharactersInRegex: the expression finds control characters to make them visible.
const controls = /[\u0000-\u001f\u007f-\u009f]/g;
/** Signs that change the direction of the text around them, and those without a width. */
const invisible = /[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;

/** Makes characters visible that a screen would hide. */
export const shown = (text: string, keepLines = false): string =>
  text
    .replaceAll(controls, (character) =>
      keepLines && (character === '\n' || character === '\t')
        ? character
        : String.fromCodePoint(0x2400 + Math.min(character.charCodeAt(0), 0x21)),
    )
    .replaceAll(invisible, (character) => `⟨U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}⟩`);

/** Text from outside: isolated from the text around it. */
export const Said = ({ children, lines = false }: { children: string; lines?: boolean }) => <bdi>{shown(children, lines)}</bdi>;

/** An id, shortened to what a person reads: `ord_h5ovm7yn`. */
export const shortId = (id: string): string => (/^[a-z]{3}_/.test(id) ? id.slice(0, 12) : id.length > 24 ? `${id.slice(0, 23)}…` : id);

/** The last part of a path: `ship` of `order/parallel/ship`, and `undo of ship` of its undo. */
export function stepName(path: string): string {
  const [last = path, before] = path.split('/').reverse();
  return last === 'undo' && before !== undefined ? `undo of ${before}` : last;
}

/** The common name of alike exceptions: `AddressInvalid at ship`. */
export const groupName = ({ type, step }: { readonly type: string; readonly step: string | null }): string =>
  `${type}${step === null ? '' : ` at ${stepName(step)}`}`;

export const Ago = ({ at }: { at: string }) => (
  <time dateTime={at} title={exactTime(at)}>
    {ageOf(at)}
  </time>
);

export const At = ({ at }: { at: string }) => (
  <time dateTime={at} title={exactTime(at)}>
    {shortTime(at)}
  </time>
);

export const Clock = ({ at }: { at: string | number }) => <time title={exactTime(at)}>{clockTime(at)}</time>;

/** The time that is left. It is marked `soon` while at most 15 minutes are left, and `late` after that. */
export function Countdown({ until, still = false }: { until: string; still?: boolean }) {
  const left = Date.parse(until) - now.value;
  if (still) return <span class="due">time stands still</span>;
  const tone = left < 0 ? 'late' : left <= 15 * 60_000 ? 'soon' : '';
  return (
    <time class={`due ${tone}`} dateTime={until} title={exactTime(until)}>
      {left < 0 ? `${lengthOf(left)} late` : `in ${left < 120_000 ? `${Math.ceil(left / 1_000)} s` : lengthOf(left)}`}
    </time>
  );
}

/** `1 order`, `12 orders`. */
export const counted = (count: number, noun: string): string => `${count.toLocaleString('en')} ${count === 1 ? noun : `${noun}s`}`;
