import type { Step } from '../core/activities/step.ts';
import type { WorkflowDefinition } from '../core/definition.ts';
import { shortType } from '../core/fault.ts';
import type { Json } from '../core/json.ts';
import { definitionPath, nodeAt, programOf } from '../core/program.ts';
import { type Rehearsal, type RehearsedOutcome, type RehearsedStep, rehearse } from './rehearse.ts';
import { alignedTable } from './table.ts';
import { declared, type Purpose, type Rule, unusable, type When, whenever } from './when.ts';

/** What becomes of the order when one thing goes wrong. */
export interface FaultRow {
  /** Path of the step, or of its undo; empty where nothing goes wrong. */
  readonly step: string;
  /** A fault that its operation declares; `silence`; `outcome unknown`: an answer that nobody can use. */
  readonly fault: string;
  /** What had to go wrong before, so that the step was asked for at all: `CardDeclined at order/charge`. */
  readonly after: string;
  readonly outcome: RehearsedOutcome;
  readonly undone: readonly string[];
  readonly leftDone: readonly string[];
  readonly rehearsal: Rehearsal;
}

/** Every declared fault at every step: what a review of a workflow looks at. */
export interface FaultMatrix {
  readonly rows: readonly FaultRow[];
  /** Paths of the steps that none of these faults leads to: other branches, and undoing that only a person starts. */
  readonly neverAsked: readonly string[];
  /** The rows as text, aligned. */
  table(): string;
}

interface Scenario {
  readonly step: string;
  readonly fault: string;
  readonly after: Scenario | undefined;
  readonly rule: When | undefined;
}

/**
 * Rehearses the order once with nothing going wrong, then with each declared fault, silence and an unusable answer at
 * each step; and the same again at the steps that only such a run asks for: those of handlers, and undos.
 */
export function every(workflow: WorkflowDefinition, order: Json, ...whens: readonly When[]): FaultMatrix {
  const program = programOf(workflow);
  const seen = new Set<string>();
  const rows: FaultRow[] = [];
  const todo: Scenario[] = [{ step: '', fault: '', after: undefined, rule: undefined }];
  for (let scenario = todo.shift(); scenario; scenario = todo.shift()) {
    const rehearsal = rehearse(workflow, order, ...rulesOf(scenario), ...whens);
    rows.push(rowOf(scenario, rehearsal));
    for (const asked of rehearsal.steps) {
      // One turn of a loop stands for all.
      const path = definitionPath(asked.path);
      if (seen.has(path)) continue;
      seen.add(path);
      todo.push(...wrongsAt(nodeAt(program, path) as Step, asked, scenario));
    }
  }
  const neverAsked = [...program.nodes].flatMap(([path, { activity }]) => (activity === 'step' && !seen.has(path) ? [path] : []));
  return { rows, neverAsked, table: () => tableOf(rows, neverAsked) };
}

const rulesOf = ({ rule, after }: Scenario): readonly When[] => [...(rule ? [rule] : []), ...(after ? rulesOf(after) : [])];

/** All that can go wrong at a step. Asked whether it was done, it says yes: then there is something to undo. */
function wrongsAt({ faults = [] }: Step, { path, purpose }: RehearsedStep, base: Scenario): readonly Scenario[] {
  const after = base.rule ? base : undefined;
  const at = (fault: string, answer: Rule['answer'], of: readonly Purpose[] = [purpose]): Scenario => {
    const concerns: Rule['concerns'] = (asking) => asking.path === path && of.includes(asking.purpose);
    return { step: path, fault, after, rule: whenever({ concerns, first: 1, last: Infinity, answer }) };
  };
  return [
    ...faults.map((type) => at(shortType(type), declared({ path: type, name: shortType(type) }))),
    at('silence', 'silence'),
    ...(purpose === 'do' ? [at('outcome unknown', unusable)] : []),
  ];
}

const rowOf = ({ step, fault, after }: Scenario, rehearsal: Rehearsal): FaultRow => {
  const { outcome, undone, leftDone } = rehearsal;
  return { step, fault, after: after ? `${after.fault} at ${after.step}` : '', outcome, undone, leftDone, rehearsal };
};

function tableOf(rows: readonly FaultRow[], neverAsked: readonly string[]): string {
  const cells = rows.map(({ step, fault, after, outcome, undone, leftDone, rehearsal }) => [
    short(step) || 'nothing goes wrong',
    `${fault}${after ? `, after ${after.replace(/\border\//, '')}` : ''}`,
    rehearsal.fault ? `${outcome} for ${shortType(rehearsal.fault.type)}` : outcome,
    undone.map(short).join(', '),
    leftDone.map(short).join(', '),
  ]);
  const never = neverAsked.length > 0 ? `\nNever asked for: ${neverAsked.map(short).join(', ')}.\n` : '';
  return `${alignedTable(['step', 'fault', 'outcome', 'undone', 'left done'], cells)}${never}`;
}

const short = (path: string): string => path.replace(/^order\//, '');
