import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { place } from './plan.ts';
import type { Limits, Result } from './trial.ts';

interface Line extends Result {
  /** A hash of the code with which the mutant was tried. */
  readonly code: string;
  /** The maximum number of worlds. A survivor of few worlds may not survive many. */
  readonly limits: string;
}

/** All results so far, one per line, appended as they come, so that an interrupted run continues where it stopped. */
export class Results {
  private readonly file = `${place}results.jsonl`;
  private readonly byKey = new Map<string, Line>();
  private readonly code: string;
  private readonly limits: string;

  constructor(code: string, { worldsMax, unseenMax }: Limits) {
    this.code = code;
    this.limits = `${worldsMax}/${unseenMax}`;
    if (!existsSync(this.file)) return;
    for (const text of readFileSync(this.file, 'utf8').split('\n')) {
      // The last line may be incomplete.
      if (text.endsWith('}')) this.remember(JSON.parse(text) as Line);
    }
  }

  private remember(line: Line): void {
    this.byKey.set(line.key, line);
  }

  /** Returns the known result of a mutant. A result with other code counts only if it was caught and `keepCaught` is set. */
  of(key: string, { keepCaught }: { readonly keepCaught: boolean }): Result | undefined {
    const line = this.byKey.get(key);
    if (line?.status === 'caught') return keepCaught || line.code === this.code ? line : undefined;
    return line?.code === this.code && line.limits === this.limits ? line : undefined;
  }

  add(result: Result): void {
    const line = { ...result, code: this.code, limits: this.limits };
    appendFileSync(this.file, `${JSON.stringify(line)}\n`);
    this.remember(line);
  }
}
