import { definitionPath, idempotencyKeyOf } from '#core/data/ids';
import type { Json } from '#core/data/json';
import type { Amended } from '#core/data/state';
import type { Program } from '#core/definition/program';
import { withRuledUndos } from '#core/definition/ruled-undos';
import { withoutSealed } from '#core/definition/sealed';
import { withoutTexts } from '#core/definition/secrets';
import { workflowRef } from '#core/definition/workflow-ref';
import { explain, type Surroundings } from '#core/views/explain';
import { undoProgress } from '#core/views/undo-progress';
import type { OrderRecord, StateRecord } from '#ports/records';
import type { Instance, JournalEntry } from '#roles/scheduler/instance';
import { outputWithoutSecrets, redactedInput, secretsOf } from '#roles/scheduler/redaction';
import { type ActivityReport, followedOf } from '#roles/scheduler/step-report';
import { childIdOf } from '#roles/submission/submission';
import { endedByIn, lastInstructionIn } from './given-instructions.ts';
import { readJournal } from './history.ts';
import { maskedFaultsIn } from './masked-faults.ts';
import type { Followed } from './order-waits.ts';
import type { Call } from './route.ts';
import { surroundingsOf } from './surroundings.ts';
import type { ReadOrder } from './views.ts';

/** Reads the steps, the output and, for operators, the explanation of an order from its instance and its journal. */
export async function readOrder(
  api: Pick<Call['api'], 'store' | 'clock' | 'definitions'>,
  { order, state }: { readonly order: OrderRecord; readonly state: StateRecord },
  isForOperators: boolean,
): Promise<ReadOrder> {
  const defined = api.definitions.programOf(state);
  const { journal, instance } = await readJournal(api.store, state);
  const program = defined && instance ? withRuledUndos(defined, instance.state) : defined;
  const endBy = instance?.state.endBy;
  if (!program) return { program, endBy, followed: [], explanation: isForOperators ? missingText(state) : null, output: undefined };

  const childOf = (path: string, generation: number): string => childIdOf(idempotencyKeyOf(order.orderId, path, generation));
  const followed = followedOf(program, journal, instance?.state, (path) => calledBy(journal, path, childOf));
  if (!instance) return { program, endBy, followed, explanation: null, output: undefined };
  const output = outputWithoutSecrets({ program, order, instance });
  if (!isForOperators) return { program, endBy, followed, explanation: null, output };
  const around = await surroundingsOf(api, { program, state, instance, journal }, childOf);
  return {
    program,
    endBy,
    followed: followed.map((each) => withInput(withOutage(each, around), { program, order, instance })),
    explanation: explanationOf(program, { order, state }, instance, around),
    output,
    ...changesOf(program, order, instance, journal),
  };
}

/** Returns how far an undo of the order is, the faults that recoveries have masked, and what people have instructed and amended. */
function changesOf(
  program: Program,
  order: OrderRecord,
  instance: Instance,
  journal: readonly JournalEntry[],
): Pick<ReadOrder, 'undo' | 'amended' | 'maskedFaults' | 'lastInstruction' | 'endedBy'> {
  const isOfProgram = Object.keys(instance.state.activities).every((path) => program.nodes.has(definitionPath(path)));
  const { amended, ending, outcome } = instance.state;
  const secrets = secretsOf({ program, order, instance });
  return {
    undo: isOfProgram ? undoProgress(program, instance.state, journal) : undefined,
    maskedFaults: maskedFaultsIn(journal),
    lastInstruction: lastInstructionIn(program, journal),
    endedBy: endedByIn(outcome ?? ending?.outcome, journal),
    amended: amended && (withoutSealed(withoutTexts(amended as Json, secrets)) as Amended),
  };
}

/** Explains why an order whose workflow is missing does not continue. */
const missingText = ({ workflow, processState }: StateRecord): string | null =>
  processState === 'Processed'
    ? null
    : `The workflow ${workflowRef(workflow)} of this order is not part of this app. Put that version back into workflows; until then the order does not continue.`;

/**
 * Explains the order's state. The text does not depend on the time of the call, except for outages and failures, which it names as of now:
 * they may change without a new ETag. Null for a quarantined order, and for one with activities that its workflow does not have. Masks
 * secrets, because messages of faults may quote them.
 */
function explanationOf(
  program: Program,
  { order, state }: { readonly order: OrderRecord; readonly state: StateRecord },
  instance: Instance,
  around: Surroundings,
): string | null {
  const { processState, suspended } = state;
  if (processState === 'Error' && instance.state.phase !== 'blocked') return null;
  if (suspended && instance.state.phase === 'initialized') return 'Suspended by an operator: the order does not start until it is resumed.';
  const isOfProgram = Object.keys(instance.state.activities).every((path) => program.nodes.has(definitionPath(path)));
  return isOfProgram ? withoutTexts(explain(program, instance.state, undefined, around), secretsOf({ program, order, instance })) : null;
}

/** Returns the id of the order that the last request of a `call` activity has started. */
function calledBy(journal: readonly JournalEntry[], path: string, childOf: (path: string, generation: number) => string): string | null {
  const last = journal.findLast((entry) => entry.type === 'StepRequested' && entry.path === path);
  return last?.type === 'StepRequested' ? childOf(path, Number.parseInt(last.attemptId, 10)) : null;
}

/** An open step shows its input, from which a person begins to correct it. */
function withInput(each: Followed, loaded: Parameters<typeof redactedInput>[0]): Followed {
  const isOpen = each.agent !== null && each.status !== 'Initialized' && each.status !== 'Closed';
  const input = isOpen ? redactedInput(loaded, each.path) : undefined;
  return input === undefined ? each : { ...each, input };
}

/** Adds the wait of a step whose agent cannot work. The wait began with the request or with the outage, whichever came later. */
function withOutage(report: ActivityReport, { obstacleOf }: Surroundings): Followed {
  const { agent, status, activity } = report;
  const isAtWork = activity === 'step' && agent !== null && status !== 'Initialized' && status !== 'Closed';
  const obstacle = isAtWork ? obstacleOf?.(agent) : undefined;
  if (!obstacle || agent === null) return report;
  return { ...report, waitsFor: { kind: 'outage', agent, since: Math.max(obstacle.since, report.requestedAt ?? 0) } };
}
