import { type Loaded, loaded } from './host.ts';
import { type Crash, crashText, positions } from './points.ts';
import { shortened } from './report.ts';
import type { Scenario } from './scenario.ts';
import { type Run, World } from './world.ts';

/** One run, with its crashes. */
export interface Played {
  readonly crashes: readonly Crash[];
  readonly run: Run;
  /** Violations, including differences from the run without a crash. */
  readonly broken: readonly string[];
}

/** The expected result of a run, besides the laws. */
export interface Expectation {
  /** Further outcomes that are correct, besides that of the run without a crash. */
  readonly mayEndAs: ReadonlySet<string>;
  /** Whether a crash may leave the order blocked or stuck. */
  readonly mayBlock: boolean;
  /** The user's own check. If it rejects, the run is a violation. */
  readonly check: (run: Run) => void | Promise<void>;
  readonly beforeEach: () => void | Promise<void>;
}

export const lawsAlone: Expectation = { mayEndAs: new Set(), mayBlock: true, check: () => {}, beforeEach: () => {} };

/** Plays a scenario once without a crash, then with the requested crashes. */
export class CrashPoints {
  readonly without: Run;
  private readonly scenario: Scenario;
  private readonly loaded: Loaded;
  private readonly expectation: Expectation;

  private constructor(scenario: Scenario, ready: Loaded, expectation: Expectation, without: Run) {
    this.scenario = scenario;
    this.loaded = ready;
    this.expectation = expectation;
    this.without = without;
  }

  /** @throws CrashlessError if the run without a crash violates something. */
  static async of(scenario: Scenario, expectation: Expectation = lawsAlone): Promise<CrashPoints> {
    const ready = await loaded(scenario);
    await expectation.beforeEach();
    const without = await new World(scenario, ready, []).play();
    const problem = without.broken[0] ?? restlessIn(without) ?? (await problemOf(() => expectation.check(without)));
    if (problem !== undefined) throw new CrashlessError(problem, without);
    return new CrashPoints(scenario, ready, expectation, without);
  }

  /** Yields every crash point of the run without a crash, at every position. */
  *singles(): Generator<readonly [Crash]> {
    for (const { number } of this.without.points) for (const position of positions) yield [{ number, position }];
  }

  /** Yields pairs: each first crash with every later crash point, at every position. */
  async *pairs(firsts: Iterable<readonly [Crash]> = this.singles()): AsyncGenerator<readonly [Crash, Crash]> {
    for (const [first] of firsts) {
      const { run } = await this.play([first]);
      for (const { number } of run.points) if (number > first.number) for (const position of positions) yield [first, { number, position }];
    }
  }

  async play(crashes: readonly Crash[]): Promise<Played> {
    await this.expectation.beforeEach();
    const run = await new World(this.scenario, this.loaded, crashes).play();
    return { crashes, run, broken: [...run.broken, ...this.unlike(run, crashes), ...(await this.checked(run))] };
  }

  private async checked(run: Run): Promise<readonly string[]> {
    const problem = await problemOf(() => this.expectation.check(run));
    return problem === undefined ? [] : [problem];
  }

  /** Returns how a run differs from the run without a crash. */
  private unlike(run: Run, crashes: readonly Crash[]): readonly string[] {
    const { without, expectation } = this;
    const [first] = crashes;
    const expected = without.points.find(({ number }) => number === first?.number);
    const [crashed] = run.crashed;
    const same = crashed?.where === expected?.where && run.crashed.length === crashes.length;
    if (!same)
      return [
        `the runs are not deterministic: the crash ${crashes.map(crashText).join(', ')} was meant for ${expected?.where ?? 'a call'}, and hit ${crashed?.where ?? 'no call'}`,
      ];
    const { outcome, text, told, waits = [] } = run.ending;
    const right = isAlike(outcome, without.ending.outcome) || expectation.mayEndAs.has(outcome) || (told && expectation.mayBlock);
    const doubled = [...run.standing].filter(([path, times]) => times > Math.max(1, without.standing.get(path) ?? 0));
    return [
      ...(right ? [] : [`the order ${text}, and without a crash it ${without.ending.text}`, ...waits]),
      ...doubled.map(([path, times]) => `${path} has ${times} effects, each under its own idempotency key`),
    ];
  }
}

const lastCalls = 10;

const restlessIn = ({ ending: { outcome, text }, tookMs }: Run): string | undefined =>
  outcome === 'not at rest' || outcome === 'not stored'
    ? `after ${Math.round(tookMs / 1000)} s of virtual time the order ${text}`
    : undefined;

/** With parallel branches, timing decides whether anything was done before the fault. `compensated` and `rejected` leave no effect. */
const isAlike = (one: string, other: string): boolean => one === other || (undone.has(one) && undone.has(other));

const undone: ReadonlySet<string> = new Set(['compensated', 'rejected']);

/** A violation in the run without a crash. */
export class CrashlessError extends Error {
  override readonly name = 'CrashlessError';

  constructor(problem: string, { ending: { waits }, story }: Run) {
    const head = `The run without a crash failed: ${problem}.`;
    // An order without rest repeats the same calls: the last ones are enough.
    const lines = waits ? [...waits, '', 'Its last calls:', ...story.slice(-lastCalls)] : ['', 'What happened:', ...shortened(story)];
    super([head, ...lines].join('\n'));
  }
}

const problemOf = async (check: () => void | Promise<void>): Promise<string | undefined> => {
  try {
    await check();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
};
