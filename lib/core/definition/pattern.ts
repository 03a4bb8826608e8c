import { RE2JS } from 're2js';

/** A regular expression by RE2. JavaScript's own tries one way after the other: a text of 27 letters can keep it busy for ten seconds. */
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
 * A pattern whose `test` needs time in proportion to the text. `undefined` where RE2 does not take it: it looks ahead or
 * behind, or refers back to a group.
 */
export function linearPattern(source: string): RegExp | undefined {
  try {
    return new LinearPattern(source, RE2JS.compile(RE2JS.translateRegExp(source)));
  } catch {
    return undefined;
  }
}
