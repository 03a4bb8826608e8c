import { appendFileSync, existsSync, mkdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname } from 'node:path';
import { commit } from '../commit.ts';
import type { Broken, Memory, Round } from './measurement.ts';

interface Sample extends Memory {
  readonly minutes: number;
}

/** The result of a soak, written while it runs, so that an interrupted soak keeps what it has found. */
export class Report {
  readonly counts: { [what: string]: number } = {};
  readonly memory: Sample[] = [];
  broken = 0;
  private readonly file: string;
  private readonly begun = Date.now();

  constructor(file: string, { hours, seed, names }: { readonly hours: number; readonly seed: number; readonly names: readonly string[] }) {
    this.file = file;
    mkdirSync(dirname(file), { recursive: true });
    const at = new Date(this.begun).toISOString().slice(0, 16).replace('T', ' ');
    if (!existsSync(file)) this.write(`# Soak of ${at.slice(0, 10)}\n`);
    const machine = `Node ${process.version}, ${availableParallelism()} cores`;
    this.write(
      `\n## From ${at} UTC\n\nCommit ${commit()}, seeds from ${seed} on, for ${hours} hours, ${machine}: ${names.join(', ')}.\n\n`,
    );
  }

  get minutes(): number {
    return (Date.now() - this.begun) / 60_000;
  }

  add(name: string, { counts, broken, memory }: Round): void {
    for (const [what, count] of Object.entries(counts)) this.counts[what] = (this.counts[what] ?? 0) + count;
    if (memory) this.memory.push({ ...memory, minutes: this.minutes });
    for (const each of broken) this.writeBroken(name, each);
  }

  writeBroken(name: string, { wrong, again }: Broken): void {
    this.broken += 1;
    const text = wrong.trim().replaceAll('\n', '\n  ');
    this.write(`- **Broken** after ${this.minutes.toFixed(1)} minutes, ${name}: ${text}\n  Again: \`${again}\`\n`);
  }

  /** Writes the progress. */
  writeProgress(): void {
    const last = this.memory.at(-1);
    const memory = last ? `; RSS ${last.rssMb} MB, heap ${last.heapMb} MB` : '';
    this.write(`- ${this.minutes.toFixed(1)} minutes: ${this.words()}${memory}; ${this.broken} broken\n`);
  }

  end(why: string): void {
    const growth = this.growth();
    this.write(`\nEnded after ${this.minutes.toFixed(1)} minutes (${why}): ${this.words()}. Broken: ${this.broken}. ${growth.words}\n`);
  }

  /** Compares the sample at a fifth of the time with the last one. Before that, caches still fill. */
  growth(): { readonly words: string; readonly isLeak: boolean } {
    const last = this.memory.at(-1);
    const first = this.memory[Math.floor(this.memory.length / 5)];
    if (!first || !last || this.memory.length < 10) return { words: 'Too short to say whether memory grows.', isLeak: false };
    const grown = last.heapMb - first.heapMb;
    const words = `Heap after collection: ${first.heapMb} MB after ${first.minutes.toFixed(1)} minutes, ${last.heapMb} MB at the end; RSS ${first.rssMb} MB, then ${last.rssMb} MB.`;
    return { words, isLeak: grown > 30 && last.heapMb > 1.5 * first.heapMb };
  }

  private words(): string {
    const counts = Object.entries(this.counts).map(([what, count]) => `${Math.round(count).toLocaleString('en')} ${what}`);
    return counts.join(', ') || 'nothing yet';
  }

  private write(text: string): void {
    appendFileSync(this.file, text);
    process.stdout.write(text);
  }
}
