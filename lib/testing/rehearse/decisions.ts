import type { EventContent } from '#core/data/event';
import type { Schemas } from '#core/instructions/kind';
import type { ProcessState } from '#ports/records';
import { contentOf } from '#roles/operator/event-content';
import { judgedOf, problemsWith, refusalsOf } from '#roles/operator/feasibility';
import type { Player } from './player.ts';
import type { RequestedStep, Rule, TestDecision } from './stubs.ts';

/** A decision of a client or operator, and its time. */
interface Decided extends Rule {
  readonly decision: TestDecision;
}

/** The decisions of clients and operators in a rehearsal: instructions, and signals, which may arrive before the order waits for them. */
export class Decisions {
  private readonly rules: readonly Decided[];
  /** Decisions without a time and without a place. They arrive one by one, each time the order cannot continue alone. */
  private readonly resting: TestDecision[];
  private readonly counts = new Map<Rule, number>();

  constructor(rules: readonly Rule[]) {
    this.rules = rules.filter((rule): rule is Decided => rule.decision !== undefined);
    this.resting = this.rules.filter(({ atMs, place }) => atMs === undefined && place === undefined).map(({ decision }) => decision);
  }

  /** Decisions with a time: milliseconds since the order began. */
  get timed(): readonly { readonly atMs: number; readonly decision: TestDecision }[] {
    return this.rules.flatMap(({ atMs, decision }) => (atMs === undefined ? [] : [{ atMs, decision }]));
  }

  /** Returns the decisions that arrive when this activity is requested. */
  during(requested: RequestedStep): readonly TestDecision[] {
    const here = this.rules.filter(({ atMs, place, concerns }) => atMs === undefined && place !== undefined && concerns(requested));
    for (const rule of here) this.counts.set(rule, (this.counts.get(rule) ?? 0) + 1);
    return here.filter((rule) => rule.first === this.counts.get(rule)).map(({ decision }) => decision);
  }

  /** Returns the next decision for an order that cannot continue without one. */
  next(): TestDecision | undefined {
    return this.resting.shift();
  }
}

/**
 * Returns the event that a decision causes.
 *
 * @throws TypeError with the reasons if the system would refuse the decision.
 */
export function happeningOf(given: TestDecision, { program, state, name }: Player, now: number): EventContent {
  const decision = given.kind === 'signal' ? given : { by: 'operator', reason: 'Instruction of a rehearsal.', ...given };
  const record = { processState: processStateOf(state), suspended: state.phase === 'suspended', outcome: state.outcome ?? null };
  const order = judgedOf({ program, order: { orderId: '', body: null }, record, instance: { state } }, { schemas: anything, now });
  const reasons = refusalsOf(order, decision).map(({ detail }) => detail);
  const problems = reasons.length > 0 ? [] : problemsWith(order, decision).map(({ pointer, detail }) => `${pointer} ${detail}`);
  const [reason] = [...reasons, ...problems];
  if (reason !== undefined)
    throw new TypeError(`Cannot apply ${textOf(given)} to the order of the workflow ${name} at this point: ${reason}`);
  return contentOf(decision, order);
}

/** Schemas that accept every value: the compiler checks the values of instructions. Answers and payloads are checked when they arrive. */
const anything: Schemas = { of: () => undefined, problems: () => [] };

/** `instruction cancel`, `signal visa` */
export const textOf = (decision: TestDecision): string =>
  decision.kind === 'signal' ? `signal ${decision.name}` : `instruction ${decision.kind}`;

const processStateOf = ({ phase, blocked }: Player['state']): ProcessState =>
  phase === 'closed' ? 'Processed' : blocked ? 'Error' : 'Processing';
