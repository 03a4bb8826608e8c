/** A secret that is long enough to be recognized in another form. Shorter ones would match parts of ordinary words. */
export interface LongSecret {
  /** The text without spaces and dashes, in lowercase. */
  readonly core: string;
  /** The text as a part of a URL. */
  readonly inUrl: string;
}

/** The shortest secret that is recognized in another form. */
const coreCharactersMin = 8;
/** The longest secret that is searched with other spaces and dashes. */
const coreCharactersMax = 256;

const coreOf = (text: string): string => text.replaceAll(/[\s-]/g, '').toLowerCase();

export const longSecrets = (secrets: readonly string[]): readonly LongSecret[] =>
  secrets.flatMap((secret) => {
    const core = coreOf(secret);
    return core.length >= coreCharactersMin ? [{ core, inUrl: encodeURIComponent(secret.toWellFormed()) }] : [];
  });

/** Replaces secrets in upper or lower case, with other spaces or dashes, in base64 or as a part of a URL. */
export function withoutForms(text: string, secrets: readonly LongSecret[], mask: string): string {
  const plain = secrets.reduce((rest, { inUrl }) => rest.replaceAll(inUrl, mask), text);
  const core = coreOf(plain);
  const spread = secrets.reduce(
    (rest, secret) =>
      secret.core.length <= coreCharactersMax && core.includes(secret.core) ? rest.replace(spreadPattern(secret.core), mask) : rest,
    plain,
  );
  return spread.replace(/[A-Za-z0-9+/_-]{11,}={0,2}/g, (run) => (holdsSecret(run, secrets) ? mask : run));
}

/** Matches the characters with spaces and dashes between them. None of them is a space or a dash, so the search does not backtrack. */
const spreadPattern = (core: string): RegExp =>
  new RegExp([...core].map((character) => character.replace(/[^\p{L}\p{N}]/u, escaped)).join('[\\s-]*'), 'giu');

const escaped = (character: string): string => `\\u{${character.codePointAt(0)?.toString(16)}}`;

/**
 * Whether a sequence of base64 characters holds a secret. The secret may begin at any character, so `run` is decoded from each of four
 * positions.
 */
function holdsSecret(run: string, secrets: readonly LongSecret[]): boolean {
  if (secrets.length === 0) return false;
  const standard = run.replaceAll('-', '+').replaceAll('_', '/').replaceAll('=', '');
  return [0, 1, 2, 3].some((skipped) => {
    const whole = standard.slice(skipped);
    // One character of base64 is less than a byte.
    const decoded = coreOf(decodedUtf8(whole.length % 4 === 1 ? whole.slice(0, -1) : whole));
    return secrets.some(({ core }) => decoded.includes(core));
  });
}

const decoder = new TextDecoder();
const decodedUtf8 = (base64: string): string => decoder.decode(Uint8Array.from(atob(base64), (character) => character.charCodeAt(0)));
