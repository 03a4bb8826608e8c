import { type AnyAgent, agentDefinitionOf } from '#authoring/agent';
import { calledIn, type Workflow } from '#authoring/workflow';
import type { Json } from '#core/data/json';
import type { WorkflowDefinition } from '#core/definition/definition';
import { sampleOfJson } from '#testing/rehearse/sample';
import { type Rule, ruleOf, type Stub } from '#testing/rehearse/stubs';
import { CrashPoints, type Played } from './enumerate.ts';
import { type Crash, crashIn, crashText, type Point } from './points.ts';
import { CrashTestError } from './report.ts';
import type { Scenario } from './scenario.ts';
import type { Run } from './world.ts';

export { CrashTestError } from './report.ts';

/** How an order ended, or where it rests: `held` and `stuck` are in front of a person, `waits` is for a signal. */
export type CrashedOutcome = Run['ending']['outcome'];

export interface CrashTestOptions<I = unknown> {
  /** The order's body; made up from the workflow's schema where it is left out. */
  readonly order?: I;
  /** What agents, people and signals answer, as in `rehearse`. */
  readonly stubs?: Stub | readonly Stub[];
  /**
   * Agents whose own functions are run, against whatever the test has put behind them. Without it no function of the
   * user is called: operations answer with values made up from their schemas.
   */
  readonly real?: readonly AnyAgent[];
  /** Before each run: for stand-ins of the test's own, which must be new each time. */
  beforeEach?(): void | Promise<void>;
  /** After each run, once everything rests: what it throws is a failure of that run. */
  check?(run: CrashedRun): void | Promise<void>;
  /** Other ends that are right after a crash: `['compensated']` of a workflow whose time may be over by then. */
  readonly mayEndAs?: readonly CrashedOutcome[];
  /** Whether a crash may put the order in front of a person (default). They are counted either way. */
  readonly mayBlock?: boolean;
  /** The client cancels, so long after he submitted. */
  readonly cancelAfterSeconds?: number;
  /** How long no process is there after one has died (default: 1). */
  readonly downSeconds?: number;
  /** Variables as the system itself takes them, `{ MAX_FAILURES: '1' }`; what is not said is as on AWS, or with `sendsAlong` as on one machine. */
  readonly variables?: { readonly [name: string]: string };
  /** Sends within each write's own transaction, as on one machine. Without it what is sent is apart, as on AWS: more can go wrong. */
  readonly writesAndSendsAtomically?: boolean;
  /** Plays just these crashes, in one run: as a report says. */
  readonly only?: string | readonly string[];
}

/** One run, for checks of the test's own. */
export interface CrashedRun {
  readonly outcome: CrashedOutcome;
  /** How often what a step does is there at the end, by its path. */
  readonly standing: ReadonlyMap<string, number>;
  /** What happened, line by line. */
  readonly story: readonly string[];
}

/** What a crash test has done. */
export interface CrashTested {
  /** Calls at which the process died, in the order of the run without a crash. */
  readonly points: readonly Point[];
  /** With a crash: one for each point and position. */
  readonly runs: number;
  /** How the order ended without a crash. */
  readonly outcome: CrashedOutcome;
  /** How many of the runs ended in which way. */
  readonly outcomes: { readonly [outcome in CrashedOutcome]?: number };
  /** Crashes after which a person is asked, although he is not without one: `17 applied`, and why. */
  readonly blocks: readonly { readonly crash: string; readonly where: string; readonly why: string }[];
}

/**
 * Runs an order of a workflow on the real functions and the embedded store, in memory and in virtual time: once as it
 * is, and then once for every call of something outside of the process, which dies there: before the call, once it was
 * carried out but nobody heard of it, and after its answer. Another process goes on. In the end the order must have come
 * to where it comes without a crash, or stand before a person who was told; nothing is done twice, and whatever was
 * undone was done.
 *
 * @throws CrashTestError that tells which crash broke what, and how to play it again.
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

/** @throws TypeError where the run without a crash has no such call: nothing would die there. */
function crashesIn(only: readonly string[], { points }: Run): readonly Crash[] {
  const crashes = only.map(crashIn);
  const [first] = crashes;
  if (first && points.some(({ number }) => number === first.number)) return crashes;
  throw noSuchCrash(only[0] ?? '', first?.number ?? 0, points, 'this workflow: no process can die at that call of its run, which has');
}

/** @throws TypeError where the run with the crashes before it has no such call. */
function ensureCrashed(crashes: readonly Crash[], { crashed, points }: Run): void {
  const missed = crashes[crashed.length];
  const last = crashes[crashed.length - 1];
  if (!missed || !last) return;
  const later = points.filter(({ number }) => number > last.number);
  throw noSuchCrash(crashText(missed), missed.number, later, `the run after "${crashText(last)}": it has`);
}

function noSuchCrash(text: string, wanted: number, points: readonly Point[], where: string): TypeError {
  const near = points.filter(({ number }) => Math.abs(number - wanted) <= 5).map(({ number }) => number);
  const numbered = points.length > 0 ? `, numbered ${points[0]?.number} to ${points.at(-1)?.number}` : '';
  const nearby = near.length > 0 ? `; ${near.join(', ')} are near` : '';
  return new TypeError(`"${text}" is no crash of ${where} ${points.length} crash points${numbered}${nearby}.`);
}

/** @throws TypeError for what only a rehearsal plays. */
function crashRuleOf(stubs: Stub): Rule {
  const rule = ruleOf(stubs);
  if (rule.decision)
    throw new TypeError(
      'A crash test plays no instructions and no signals with atSeconds: say it in rehearse, or cancel with cancelAfterSeconds.',
    );
  if (rule.takesMs !== undefined)
    throw new TypeError('A crash test has no .takes(seconds): its services answer within milliseconds. Say it in rehearse.');
  return rule;
}

function scenarioOf(
  workflow: WorkflowDefinition,
  agents: readonly AnyAgent[],
  { order, stubs = [], real = [], variables = {}, writesAndSendsAtomically = false, downSeconds = 1, cancelAfterSeconds }: CrashTestOptions,
): Scenario {
  return {
    app: { workflows: withCalled(workflow), agents: agents.map(agentDefinitionOf) },
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

/** A workflow, and all that it calls. */
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
