import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { place } from './plan.ts';
import type { Limits, Result } from './trial.ts';

interface Line extends Result {
  /** Of the code that it was tried with. */
  readonly code: string;
  /** In how many worlds it was tried at most: a survivor of few is no survivor of many. */
  readonly limits: string;
}

/** All results so far, one line each, kept as they come: an interrupted run goes on where it was. */
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
      // The last line may be half of one.
      if (text.endsWith('}')) this.remember(JSON.parse(text) as Line);
    }
  }

  private remember(line: Line): void {
    this.byKey.set(line.key, line);
  }

  /** What is known of it. With other code around it, what was caught then is taken for caught only where that is wanted. */
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
