import { advance } from '#core/advance';
import type { RequestCommand } from '#core/data/command';
import type { Event, EventContent } from '#core/data/event';
import { requestIdOf, undoPathOf } from '#core/data/ids';
import type { CoreFact } from '#core/data/journal';
import type { Json } from '#core/data/json';
import type { State } from '#core/data/state';
import { isRemote } from '#core/definition/definition';
import { nodeAt, type Program, stepAt, wakeAtOf } from '#core/definition/program';
import type { Subject } from '#core/engine/transition';

/** The most answers and pauses that a forecast plays before it gives up. */
const eventsMax = 400;

/** The requests and facts that follow a write if every step answers well. */
export interface Forecast {
  /** The facts that follow. `settled`: they follow from the write alone, and do not depend on the answers of steps. */
  readonly facts: readonly { readonly fact: CoreFact; readonly settled: boolean }[];
  /**
   * `unless`: the request waits for a person if one of these steps turns out to be done, because the undo of that step cannot be requested.
   */
  readonly requests: readonly { readonly request: RequestCommand; readonly settled: boolean; readonly unless?: readonly string[] }[];
  /** The steps whose agents are asked whether the step was done, and the canceled steps that may have been done. */
  readonly uncertain: readonly string[];
  /** The order at rest, or where the forecast gave up. */
  readonly state: State;
}

/** An order after a write, and all else that a forecast needs. */
export interface Outset {
  readonly program: Program;
  readonly subject: Subject;
  /** The state after the write, with every entry of its undo list. */
  readonly state: State;
  readonly at: number;
  readonly epoch: number;
  /** Makes up the output of an operation. */
  readonly output: (agent: string, operation: string) => Json;
}

/**
 * Plays an order forward on the core alone: undos and open outcomes are answered first, then the other steps, then time passes. It ends
 * when the order is at rest: it has ended, is blocked, or waits for somebody.
 */
export function forecast(outset: Outset): Forecast {
  const player = new Forecaster(outset);
  player.play();
  return player;
}

/** A suspended order that somebody resumes: its state right after that, and what follows. */
export interface Resumed {
  readonly state: State;
  readonly follows: Forecast;
}

/** Resumes a suspended order, and plays it forward. */
export function forecastOfResumed(outset: Outset): Resumed {
  const player = new Forecaster(outset);
  player.resume();
  const { state } = player;
  player.play();
  return { state, follows: player };
}

class Forecaster implements Forecast {
  readonly facts: { readonly fact: CoreFact; readonly settled: boolean }[] = [];
  readonly requests: { readonly request: RequestCommand; readonly settled: boolean; readonly unless?: readonly string[] }[] = [];
  readonly uncertain: string[] = [];
  state: State;
  private readonly outset: Outset;
  private readonly ignored = new Set<string>();
  /** The steps whose impossible undo has been left out so far. */
  private unless: readonly string[] = [];
  private at: number;
  /** Whether everything so far follows from the write alone. */
  private settled = true;

  constructor(outset: Outset) {
    this.outset = outset;
    this.state = outset.state;
    this.at = outset.at;
  }

  resume(): void {
    this.apply({ type: 'resumed' });
  }

  play(): void {
    for (let events = 0; events < eventsMax && this.state.phase === 'running'; events++) {
      const before = this.state;
      const compensating = this.requested(true);
      if (compensating !== undefined) {
        this.answer(compensating);
        // A reply that does not count now changes nothing. Without `ignored`, the same step would be answered again and again.
        if (this.state === before) this.ignored.add(compensating);
        continue;
      }
      if (this.passImpossibleUndo()) continue;
      if (this.endsAnyway() || !this.passUndoPause()) this.goOn();
      if (this.state === before) return;
    }
  }

  /** Whether the order is ending and a clean-up step waits for its answer. The undos after that step then follow from the write, too. */
  private endsAnyway(): boolean {
    return this.state.ending !== undefined && this.requested(false) !== undefined;
  }

  private goOn(): void {
    const working = this.requested(false);
    if (this.state.ending === undefined) this.settled = false;
    // A clean-up step may be refused: it is undone only if it is done.
    else if (working !== undefined) this.uncertain.push(working);
    if (working !== undefined) this.answer(working);
    else this.passTime();
  }

  /**
   * Returns a step that waits for an answer. `compensating`: to an undo, a confirmation or a cancellation, and not to its own operation.
   */
  private requested(compensating: boolean): string | undefined {
    return Object.keys(this.state.activities).find((path) => {
      const step = stepAt(this.outset.program, this.state, path);
      return step?.phase === 'requested' && (step.mode !== undefined) === compensating && !this.ignored.has(path);
    });
  }

  private answer(path: string): void {
    const { program, subject, output } = this.outset;
    const step = stepAt(program, this.state, path);
    const node = nodeAt(program, path);
    if (!step || !isRemote(node)) return;
    if (step.mode === 'confirm' || step.mode === 'cancel') this.uncertain.push(path);
    this.at = Math.max(this.at, step.until ?? 0);
    this.apply({
      type: 'replied',
      requestId: requestIdOf(subject.orderId, path, step),
      sentAt: Math.min(this.at, step.completeBy),
      reply: { status: 'succeeded', output: output(node.agent, node.operation) },
      epoch: step.epoch,
    });
  }

  /** Leaves out the impossible undo of a step that perhaps was not done: then the order goes on. Returns false if there is none. */
  private passImpossibleUndo(): boolean {
    const step = this.uncertain.find((path) => stepAt(this.outset.program, this.state, undoPathOf(path))?.phase === 'impossible');
    if (step === undefined) return false;
    this.unless = [...this.unless, step];
    this.apply({ type: 'markedCompensated', path: step });
    return true;
  }

  /** Lets the pause of a failing undo pass. Returns false if there is none. */
  private passUndoPause(): boolean {
    const { program } = this.outset;
    const pauses = Object.keys(this.state.activities).flatMap((path) => {
      const step = stepAt(program, this.state, path);
      return step?.mode !== undefined && step.phase === 'waitingToRetry' ? [step.completeBy] : [];
    });
    if (pauses.length === 0) return false;
    this.at = Math.max(this.at, Math.min(...pauses));
    this.apply({ type: 'woken' });
    return true;
  }

  /** Lets the next timer end. The timer of a wait for a signal counts only while the order ends: a clean-up goes on without the signal. */
  private passTime(): void {
    const { program } = this.outset;
    const times = Object.entries(this.state.activities).flatMap(([path, activity]) => {
      const waitsFor = nodeAt(program, path).activity === 'waitFor' && this.state.ending === undefined;
      return waitsFor ? [] : (wakeAtOf(program, path, activity) ?? []);
    });
    if (times.length === 0) return;
    this.at = Math.max(this.at, Math.min(...times));
    this.apply({ type: 'woken' });
  }

  private apply({ epoch = this.outset.epoch, ...content }: EventContent & { readonly epoch?: number }): void {
    const { program, subject } = this.outset;
    const { state, commands, facts } = advance(program, subject, this.state, { ...content, at: this.at, epoch } as Event);
    const { settled, unless } = this;
    this.facts.push(...facts.map((fact) => ({ fact, settled })));
    for (const command of commands)
      if (command.type === 'request') this.requests.push({ request: command, settled, ...(unless.length > 0 ? { unless } : {}) });
    this.state = state;
  }
}
