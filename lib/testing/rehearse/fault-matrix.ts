import { calledIn } from '#authoring/workflow';
import { workflowsAgent } from '#core/data/child-order';
import { isQuestion, shortType } from '#core/data/fault';
import { definitionPath } from '#core/data/ids';
import type { Json, JsonObject } from '#core/data/json';
import { type Activity, isRemote, type WorkflowDefinition } from '#core/definition/definition';
import { nodeAt, programOf } from '#core/definition/program';
import { sampleOfJson } from '#core/definition/sample';
import { isInChild } from './player.ts';
import { type Rehearsal, type RehearsedOutcome, rehearse } from './rehearse.ts';
import { declared, notCompleted, type Purpose, type Rule, type Stub, stubOf, unusable } from './stubs.ts';
import { alignedTable } from './table.ts';

/** The result of a rehearsal with one failure. */
export interface FaultRow {
  /** Path of the failing step, undo or wait; empty for the run without a failure. */
  readonly step: string;
  /**
   * The failure: a fault that the operation or the called workflow declares, `ChildNotCompleted`, `silence`, `outcome unknown` (an
   * unusable reply), `NoSignal`, `no signal` (a wait without a limit) or `no answer` of a person.
   */
  readonly fault: string;
  /** The failure that leads to this step: `CardDeclined at order/charge`. */
  readonly after: string;
  readonly outcome: RehearsedOutcome;
  readonly undone: readonly string[];
  readonly leftDone: readonly string[];
  readonly rehearsal: Rehearsal;
}

/** All single failures of a workflow, for its review. */
export interface FaultMatrix {
  readonly rows: readonly FaultRow[];
  /** Paths that no row reaches: other branches, and undos that only an operator starts. */
  readonly neverAsked: readonly string[];
  /** Returns the rows as aligned text. */
  table(): string;
}

interface Scenario {
  readonly step: string;
  readonly fault: string;
  readonly after: Scenario | undefined;
  readonly rule: Stub | undefined;
}

/**
 * Rehearses the order without a failure, then once for each failure: each declared fault, silence and an unusable reply at each step; each
 * missing signal and missing answer of a person; each failing called workflow. Then it does the same for the handlers and undos that only
 * a run with a failure reaches. Signals and answers without a stub come at once, with values made from their schemas. Called workflows have
 * tables of their own.
 */
export function every(workflow: WorkflowDefinition, order: Json, ...stubs: readonly Stub[]): FaultMatrix {
  const program = programOf(workflow);
  const seen = new Set<string>();
  const rows: FaultRow[] = [];
  const outside = arrivalsIn(workflow);
  const todo: Scenario[] = [{ step: '', fault: '', after: undefined, rule: undefined }];
  for (let scenario = todo.shift(); scenario; scenario = todo.shift()) {
    const rehearsal = rehearse(workflow, order, ...rulesOf(scenario), ...stubs, ...outside);
    rows.push(rowOf(scenario, rehearsal));
    const waits = rehearsal.waits.map(({ path }) => ({ path, purpose: 'do' as const }));
    for (const asked of [...rehearsal.steps, ...waits]) {
      // Turns of a loop share one row.
      const path = definitionPath(asked.path);
      if (isInChild(path) || seen.has(path)) continue;
      seen.add(path);
      todo.push(...failuresAt(nodeAt(program, path), asked, scenario));
    }
  }
  const neverAsked = [...program.nodes].flatMap(([path, node]) => (isAsked(node) && !seen.has(path) ? [path] : []));
  return { rows, neverAsked, table: () => tableOf(rows, neverAsked) };
}

const isAsked = (node: Activity): boolean => isRemote(node) || node.activity === 'waitFor' || node.activity === 'askOperator';

const rulesOf = ({ rule, after }: Scenario): readonly Stub[] => [...(rule ? [rule] : []), ...(after ? rulesOf(after) : [])];

/** Returns stubs for all signals and answers of a workflow and of those that it calls. */
function arrivalsIn(workflow: WorkflowDefinition): readonly Stub[] {
  const local = [...programOf(workflow).nodes.values()].flatMap((node): readonly Stub[] => {
    if (node.activity === 'waitFor') return [arrival(`signal ${node.signal}`, node.payload)];
    return node.activity === 'askOperator' ? [arrival(`question ${node.name}`, node.answer)] : [];
  });
  return [...local, ...[...calledIn(workflow).values()].flatMap(arrivalsIn)];
}

function arrival(operation: string, schema: JsonObject = {}): Stub {
  const value = sampleOfJson(schema, operation);
  const concerns: Rule['concerns'] = (requested) => requested.operation === operation;
  return stubOf({ concerns, first: 1, last: Infinity, answer: { status: 'succeeded', output: value } });
}

/** Returns all failures of a step. A confirmation finds the effect, so that there is something to undo. */
function failuresAt(node: Activity, { path, purpose }: { path: string; purpose: Purpose }, base: Scenario): readonly Scenario[] {
  const after = base.rule ? base : undefined;
  const at = (fault: string, answer: Rule['answer'], of: readonly Purpose[] = [purpose]): Scenario => {
    const concerns: Rule['concerns'] = (requested) => requested.path === path && of.includes(requested.purpose);
    return { step: path, fault, after, rule: stubOf({ concerns, first: 1, last: Infinity, answer }) };
  };
  if (node.activity === 'waitFor') return [at(node.withinSeconds === undefined ? 'no signal' : 'NoSignal', 'silence')];
  if (node.activity === 'askOperator') return [at('no answer', 'silence')];
  // A called workflow that fails has already been undone, and its undo has its own table.
  if (isCallUndo(path, node)) return [];
  const of: readonly Purpose[] = node.activity === 'call' ? ['do', 'confirm'] : [purpose];
  const faults = isRemote(node) ? (node.faults ?? []) : [];
  const refusals = faults.map((type) => at(shortType(type), declared({ path: type, name: shortType(type) }), of));
  if (node.activity === 'call')
    return [...refusals, at('ChildNotCompleted', notCompleted('The called order did not complete, in a rehearsal.'), of)];
  return [...refusals, at('silence', 'silence'), ...(purpose === 'do' ? [at('outcome unknown', unusable)] : [])];
}

const isCallUndo = (path: string, node: Activity): boolean => isRemote(node) && node.agent === workflowsAgent && path.endsWith('/undo');

const rowOf = ({ step, fault, after }: Scenario, rehearsal: Rehearsal): FaultRow => {
  const { outcome, undone, leftDone } = rehearsal;
  return { step, fault, after: after ? `${after.fault} at ${after.step}` : '', outcome, undone, leftDone, rehearsal };
};

function tableOf(rows: readonly FaultRow[], neverAsked: readonly string[]): string {
  const cells = rows.map(({ step, fault, after, outcome, undone, leftDone, rehearsal }) => [
    short(step) || 'nothing goes wrong',
    `${fault}${after ? `, after ${after.replace(/\border\//, '')}` : ''}`,
    outcome === 'blocked' && rehearsal.fault
      ? `${outcome} for ${isQuestion(rehearsal.fault) ? 'an answer' : shortType(rehearsal.fault.type)}`
      : outcome,
    undone.map(short).join(', '),
    leftDone.map(short).join(', '),
  ]);
  const never = neverAsked.length > 0 ? `\nNever asked for: ${neverAsked.map(short).join(', ')}.\n` : '';
  return `${alignedTable(['step', 'fault', 'outcome', 'undone', 'left done'], cells)}${never}`;
}

const short = (path: string): string => path.replaceAll(/(^| > )order\//g, '$1');
