import { RE2JS } from 're2js';

/** A regular expression on RE2. JavaScript's own engine backtracks: a text of 27 letters can keep it busy for ten seconds. */
class LinearPattern extends RegExp {
  readonly #compiled: RE2JS;

  constructor(source: string, compiled: RE2JS) {
    super(source);
    this.#compiled = compiled;
  }

  override test(text: string): boolean {
    return this.#compiled.matcher(text).find();
  }
}

/**
 * Compiles a pattern whose `test` takes linear time. Returns `undefined` for lookahead, lookbehind and back references,
 * which RE2 does not support.
 */
export function linearPattern(source: string): RegExp | undefined {
  try {
    return new LinearPattern(source, RE2JS.compile(RE2JS.translateRegExp(source)));
  } catch {
    return undefined;
  }
}
