import type { HistoryEntry } from '../../api/types.ts';
import { isUndo } from '../../graph/look.ts';
import { lengthOf } from '../../time.ts';

/** A stretch of time of one step: from a request to its answer, or a wait. */
export interface Bar {
  readonly path: string;
  readonly from: number;
  /** The end; undefined if it lasts until now. */
  readonly to: number | undefined;
  /**
   * The color. `fail`: it failed, and may be tried again. `refused`: it failed, and the order is blocked. `rest`: the pause before the
   * next try. `person`: the order is blocked, and waits for a person. `wait`: nothing was wrong, and nothing was done: a wait, or a
   * canceled step.
   */
  readonly kind: 'done' | 'fail' | 'refused' | 'work' | 'rest' | 'person' | 'undo' | 'wait';
  readonly label: string;
}

const rowOf = (path: string): string => (isUndo(path) ? path.slice(0, -'/undo'.length) : path);
const typeOf = (entry: HistoryEntry): string => (entry['fault'] as { type?: string } | undefined)?.type ?? '';
const timeOf = ({ at }: HistoryEntry): number => Date.parse(at);

interface Open {
  readonly from: number;
  readonly attempt: number;
}

/** Reads bars from a history. `waits`: paths of activities that wait for a time, a signal, a person or another order. */
export function barsOf(entries: readonly HistoryEntry[], waits: ReadonlySet<string>): readonly Bar[] {
  return new Reader(waits).read(entries);
}

class Reader {
  private readonly bars: Bar[] = [];
  private readonly requested = new Map<string, Open>();
  private readonly paused = new Map<string, number>();
  private readonly attempts = new Map<string, number>();
  private blocked: { readonly path: string; readonly from: number } | undefined;

  private readonly waits: ReadonlySet<string>;

  constructor(waits: ReadonlySet<string>) {
    this.waits = waits;
  }

  read(entries: readonly HistoryEntry[]): readonly Bar[] {
    for (const entry of entries) this.take(entry);
    for (const [path, { from, attempt }] of this.requested)
      this.add(path, from, undefined, this.waits.has(path) ? 'wait' : 'work', attemptText(attempt));
    for (const [path, from] of this.paused) this.add(path, from, undefined, 'rest', '');
    if (this.blocked) this.add(this.blocked.path, this.blocked.from, undefined, 'person', 'blocked');
    return this.bars;
  }

  private add(path: string, from: number, to: number | undefined, kind: Bar['kind'], label: string): void {
    this.bars.push({ path: rowOf(path), from, to, kind, label });
  }

  private take(entry: HistoryEntry): void {
    const { path, type } = entry;
    const at = timeOf(entry);
    if (type === 'OrderProcessed' || type === 'OrderUnblocked') this.decided(at);
    if (path === undefined) return;
    if (type === 'StepRequested' || (type === 'ActivityStarted' && this.waits.has(path))) this.begin(path, at);
    if (type === 'AttemptFailed') this.end(path, at, 'fail', typeOf(entry) || 'failed', true);
    if (type === 'UndoFailed') this.end(path, at, 'fail', typeOf(entry) || 'failed', true);
    if (type === 'OrderBlocked') {
      this.end(path, at, 'refused', typeOf(entry) || 'failed');
      this.decided(at);
      this.blocked = { path, from: at };
    }
    if (type === 'ActivityClosed') this.closed(entry, path, at);
  }

  private begin(path: string, at: number): void {
    this.end(path, at, 'fail', 'no answer');
    const pausedSince = this.paused.get(path);
    if (pausedSince !== undefined && at > pausedSince) this.add(path, pausedSince, at, 'rest', '');
    this.paused.delete(path);
    const attempt = (this.attempts.get(path) ?? 0) + 1;
    this.attempts.set(path, attempt);
    this.requested.set(path, { from: at, attempt });
  }

  private closed(entry: HistoryEntry, path: string, at: number): void {
    const result = entry['result'];
    const kind =
      isUndo(path) || result === 'Compensated' ? 'undo' : result === 'Succeeded' ? 'done' : result === 'Canceled' ? 'wait' : 'fail';
    const word = { done: 'done', undo: 'undone', wait: 'canceled', fail: 'failed' }[kind];
    // A retry requests the same step again after its pause.
    this.end(path, at, kind, word, kind === 'fail');
    if (this.blocked?.path === path) this.decided(at);
  }

  private end(path: string, at: number, kind: Bar['kind'], word: string, pauses = false): void {
    const open = this.requested.get(path);
    if (!open) return;
    this.requested.delete(path);
    const took = lengthOf(at - open.from);
    const shownKind = this.waits.has(path) && kind === 'done' ? 'wait' : kind;
    this.add(path, open.from, at, shownKind, [attemptText(open.attempt), `${took}: ${word}`].filter(Boolean).join(', '));
    if (pauses) this.paused.set(path, at);
    else this.paused.delete(path);
  }

  private decided(at: number): void {
    if (!this.blocked) return;
    this.add(this.blocked.path, this.blocked.from, at, 'person', `a person, ${lengthOf(at - this.blocked.from)}`);
    this.blocked = undefined;
  }
}

const attemptText = (attempt: number): string => (attempt > 1 ? `request ${attempt}` : '');

/** Maps times to pixels. Long stretches in which nothing happens are folded to a fixed width. */
export interface Scale {
  readonly x: (time: number) => number;
  readonly folds: readonly { readonly x: number; readonly width: number; readonly ms: number }[];
  readonly marks: readonly { readonly x: number; readonly ms: number }[];
}

const foldWidth = 56;
const marksApart = 84;

export function scaleOf(bars: readonly Bar[], now: number, width: number): Scale {
  const times = [...new Set([...bars.flatMap(({ from, to }) => [from, to ?? now]), now])].sort((one, other) => one - other);
  const busy = bars.filter(({ kind }) => kind !== 'rest' && kind !== 'person' && kind !== 'wait');
  const parts = times.slice(1).map((to, index) => ({ from: times[index] as number, to }));
  const folded = foldedOf(parts, (part) => busy.some(({ from, to }) => from < part.to && (to ?? now) > part.from));
  const openMs = parts.reduce((sum, part) => sum + (folded.has(part) ? 0 : part.to - part.from), 0);
  const perMs = Math.max(0, width - folded.size * foldWidth) / Math.max(1, openMs);
  let at = 0;
  const placed = parts.map((part) => {
    const wide = folded.has(part) ? foldWidth : (part.to - part.from) * perMs;
    at += wide;
    return { ...part, x: at - wide, width: wide, isFolded: folded.has(part) };
  });
  const start = times[0] ?? now;
  return {
    x(time) {
      const part = placed.find(({ to }) => time <= to) ?? placed.at(-1);
      if (!part) return 0;
      return part.x + (part.width * Math.max(0, time - part.from)) / Math.max(1, part.to - part.from);
    },
    folds: placed.flatMap(({ isFolded, x, width: wide, from, to }) => (isFolded ? [{ x, width: wide, ms: to - from }] : [])),
    marks: marksOf(placed, start, perMs),
  };
}

interface Part {
  readonly from: number;
  readonly to: number;
}

/**
 * Chooses stretches to fold, the longest first. Each lasts at least a second. An idle stretch is folded if it is at least a fifth as long
 * as all others together that are not folded, a busy stretch if it is at least five times as long.
 */
function foldedOf(parts: readonly Part[], isBusy: (part: Part) => boolean): ReadonlySet<Part> {
  const folded = new Set<Part>();
  const length = ({ from, to }: Part): number => to - from;
  let rest = parts.reduce((sum, part) => sum + length(part), 0);
  for (const part of parts.toSorted((one, other) => length(other) - length(one))) {
    const others = rest - length(part);
    if (length(part) < 1_000 || others <= 0 || length(part) < others * (isBusy(part) ? 5 : 0.2)) continue;
    folded.add(part);
    rest = others;
  }
  return folded;
}

const steps = [0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1_800, 3_600, 7_200, 21_600, 86_400];

function marksOf(placed: readonly (Part & { x: number; width: number; isFolded: boolean })[], start: number, perMs: number) {
  const step = 1_000 * (steps.find((seconds) => seconds * 1_000 * perMs >= marksApart) ?? 604_800);
  const marks: { x: number; ms: number }[] = [];
  for (const { from, to, x, isFolded } of placed) {
    if (isFolded) continue;
    for (let ms = Math.ceil((from - start) / step) * step; ms <= to - start; ms += step) {
      const at = x + (ms - (from - start)) * perMs;
      if (ms > 0 && at - (marks.at(-1)?.x ?? 0) >= marksApart * 0.8) marks.push({ x: at, ms });
    }
  }
  return marks;
}
