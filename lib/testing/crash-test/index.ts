import { type AnyAgent, agentDefinitionOf } from '#authoring/agent';
import type { AppRule } from '#authoring/rule';
import { calledIn, type Workflow } from '#authoring/workflow';
import type { Json } from '#core/data/json';
import type { WorkflowDefinition } from '#core/definition/definition';
import { sampleOfJson } from '#core/definition/sample';
import { type Rule, ruleOf, type Stub } from '#testing/rehearse/stubs';
import { CrashPoints, type Played } from './enumerate.ts';
import { type Crash, crashIn, crashText, type Point } from './points.ts';
import { CrashTestError } from './report.ts';
import type { Scenario } from './scenario.ts';
import type { Run } from './world.ts';

export { CrashTestError } from './report.ts';

/** The end of an order, or its resting state: `blocked` and `stuck` wait for a person, `waits` for a signal. */
export type CrashedOutcome = Run['ending']['outcome'];

export interface CrashTestOptions<I = unknown> {
  /** The order's body. The default is made from the workflow's schema. */
  readonly order?: I;
  /** Stubs for agents, people and signals, as in `rehearse`. */
  readonly stubs?: Stub | readonly Stub[];
  /**
   * Agents whose own operations run, against services that the test provides. Other operations answer with values made from their schemas.
   */
  readonly real?: readonly AnyAgent[];
  /** The rules of the app. The schedulers ask them as in production. */
  readonly rules?: readonly AppRule[];
  /** Called before each run, to reset the test's own stand-ins. */
  beforeEach?(): void | Promise<void>;
  /** Called after each run, when everything rests. If it throws, that run fails. */
  check?(run: CrashedRun): void | Promise<void>;
  /** Further correct outcomes after a crash: `['compensated']` if the time limit may pass meanwhile. */
  readonly mayEndAs?: readonly CrashedOutcome[];
  /** Whether a crash may block the order (default: true). The result counts such runs either way. */
  readonly mayBlock?: boolean;
  /** The client cancels the order this many seconds after the submission. */
  readonly cancelAfterSeconds?: number;
  /** Seconds until the next process starts after a crash (default: 1). */
  readonly downSeconds?: number;
  /**
   * Environment variables of the system, `{ MAX_FAILURES: '1' }`. Defaults are those of AWS, or of one machine with
   * `writesAndSendsAtomically`.
   */
  readonly variables?: { readonly [name: string]: string };
  /**
   * Whether messages are sent in the transaction of each write, as on one machine. Without it they are sent after the write, as on AWS, so
   * more can fail.
   */
  readonly writesAndSendsAtomically?: boolean;
  /** Plays only these crashes, all in one run. Each has the name that a report gives it: `17 applied`. */
  readonly only?: string | readonly string[];
}

/** One run, for the test's own checks. */
export interface CrashedRun {
  readonly outcome: CrashedOutcome;
  /** The number of effects of each step at the end, by its path. */
  readonly standing: ReadonlyMap<string, number>;
  /** The events of the run, line by line. */
  readonly story: readonly string[];
}

/** The result of a crash test. */
export interface CrashTested {
  /** The calls at which the process can crash, in the order of the run without a crash. */
  readonly points: readonly Point[];
  /** The number of runs with a crash: one for each point and position, or a single one with `only`. */
  readonly runs: number;
  /** The outcome of the order without a crash. */
  readonly outcome: CrashedOutcome;
  /** The number of runs for each outcome. */
  readonly outcomes: { readonly [outcome in CrashedOutcome]?: number };
  /** Crashes after which the order waits for a person, unlike the run without a crash, with the reason. */
  readonly blocks: readonly { readonly crash: string; readonly where: string; readonly why: string }[];
}

/**
 * Runs an order on the real functions and the embedded store, in memory and in virtual time. It plays one run without a crash. Then it
 * crashes the process at every external call: before the call, after its effect but before the answer, and after the answer. Another
 * process takes over. Each run must end like the first, or block with an alert. No effect may exist twice, and only existing effects may
 * be undone.
 *
 * @throws CrashTestError that names the crash, what it broke, and how to replay it.
 */
export async function crashTest<I, R, C extends string>(
  workflow: Workflow<I, R, C>,
  agents: readonly AnyAgent[],
  options: CrashTestOptions<I> = {},
): Promise<CrashTested> {
  const { mayEndAs = [], mayBlock = true, beforeEach = () => {}, check = () => {}, only } = options;
  const checked = ({ ending, standing, story }: Run) => check({ outcome: ending.outcome, standing, story });
  const expectation = { mayEndAs: new Set<string>(mayEndAs), mayBlock, beforeEach, check: checked };
  const all = await CrashPoints.of(scenarioOf(workflow, agents, options), expectation);
  const chosen: Iterable<readonly Crash[]> = only === undefined ? all.singles() : [crashesIn([only].flat(), all.without)];
  const tested = new Tested(all.without);
  const failed: Played[] = [];
  for (const crashes of chosen) {
    const played = await all.play(crashes);
    if (only !== undefined) ensureCrashed(crashes, played.run);
    tested.add(played);
    if (played.broken.length > 0) failed.push(played);
  }
  if (failed.length > 0) throw new CrashTestError(workflow, all.without, tested.runs, failed);
  return tested.result();
}

/** @throws TypeError if the run without a crash has no such call. */
function crashesIn(only: readonly string[], { points }: Run): readonly Crash[] {
  const crashes = only.map(crashIn);
  const [first] = crashes;
  if (first && points.some(({ number }) => number === first.number)) return crashes;
  throw noSuchCrash(only[0] ?? '', first?.number ?? 0, points, 'this workflow, whose run without a crash has');
}

/** @throws TypeError if the run with the earlier crashes has no such call. */
function ensureCrashed(crashes: readonly Crash[], { crashed, points }: Run): void {
  const missed = crashes[crashed.length];
  const last = crashes[crashed.length - 1];
  if (!missed || !last) return;
  const later = points.filter(({ number }) => number > last.number);
  throw noSuchCrash(crashText(missed), missed.number, later, `the run after "${crashText(last)}", which has`);
}

function noSuchCrash(text: string, wanted: number, points: readonly Point[], where: string): TypeError {
  const near = points.filter(({ number }) => Math.abs(number - wanted) <= 5).map(({ number }) => number);
  const numbered = points.length > 0 ? `, numbered ${points[0]?.number} to ${points.at(-1)?.number}` : '';
  const nearby = near.length > 0 ? `; ${near.join(', ')} are near` : '';
  return new TypeError(`"${text}" is not a crash of ${where} ${points.length} crash points${numbered}${nearby}.`);
}

/** @throws TypeError for stubs that only a rehearsal supports. */
function crashRuleOf(stubs: Stub): Rule {
  const rule = ruleOf(stubs);
  if (rule.decision)
    throw new TypeError(
      'A crash test does not support instructions or signals with atSeconds. Use rehearse, or cancel with cancelAfterSeconds.',
    );
  if (rule.takesMs !== undefined)
    throw new TypeError('A crash test does not support .takes(seconds): its services answer within milliseconds. Use rehearse.');
  return rule;
}

function scenarioOf(
  workflow: WorkflowDefinition,
  agents: readonly AnyAgent[],
  {
    order,
    stubs = [],
    real = [],
    rules,
    variables = {},
    writesAndSendsAtomically = false,
    downSeconds = 1,
    cancelAfterSeconds,
  }: CrashTestOptions,
): Scenario {
  return {
    app: { workflows: withCalled(workflow), agents: agents.map(agentDefinitionOf), ...(rules ? { rules } : {}) },
    order: order === undefined ? sampleOfJson(workflow.order, 'order') : (JSON.parse(JSON.stringify(order)) as Json),
    rules: [stubs].flat().map(crashRuleOf),
    real: new Set(real.map((agent) => agentDefinitionOf(agent).name)),
    variables: { REDRESS_ADAPTERS: writesAndSendsAtomically ? 'embedded' : 'aws', ...variables },
    writesAndSendsAtomically,
    downMs: downSeconds * 1000,
    submittedBy: 'call',
    cancelAfterMs: cancelAfterSeconds === undefined ? undefined : cancelAfterSeconds * 1000,
  };
}

/** Returns a workflow and all workflows that it calls. */
export function withCalled(workflow: WorkflowDefinition): readonly WorkflowDefinition[] {
  const found = new Set<WorkflowDefinition>();
  const visit = (definition: WorkflowDefinition): void => {
    if (found.has(definition)) return;
    found.add(definition);
    for (const called of calledIn(definition).values()) visit(called);
  };
  visit(workflow);
  return [...found];
}

class Tested {
  runs = 0;
  private readonly without: Run;
  private readonly outcomes: { [outcome in CrashedOutcome]?: number } = {};
  private readonly blocks: CrashTested['blocks'][number][] = [];

  constructor(without: Run) {
    this.without = without;
  }

  add({ crashes, run: { ending, crashed } }: Played): void {
    this.runs += 1;
    this.outcomes[ending.outcome] = (this.outcomes[ending.outcome] ?? 0) + 1;
    if (!ending.told || this.without.ending.told) return;
    const where = crashed.map((point) => point.where).join('; ');
    this.blocks.push({ crash: crashes.map(crashText).join(', '), where, why: ending.text });
  }

  result(): CrashTested {
    const { runs, outcomes, blocks, without } = this;
    return { points: without.points, runs, outcome: without.ending.outcome, outcomes, blocks };
  }
}
