import { type Fault, shortType } from '#core/data/fault';
import { ruleFailed, ruleStopped } from './faults.ts';
import { type Filled, fillAction } from './fill-action.ts';
import type { RuleScope } from './language.ts';
import { combine, isOfObject, isOfPattern, isOrderOf } from './match.ts';
import { countAction, isNoted, keep, keyOf, note, noteConstraint, type RuleMemory, timesActed, use } from './memory.ts';
import { type Rule, ruleLimits } from './rule.ts';
import { type CompiledRule, isFit, type RuleSet, rulesAbout } from './rule-set.ts';
import type { AskedRule, CandidateRule, Decision, RuleFact, Situation } from './situation.ts';

/** The decisions of the rules about an event, and what they remember of it. */
export interface Decided {
  /** The decisions, in the order in which they are carried out. At most one is in force and not an announcement. */
  readonly decisions: readonly Decision[];
  readonly memory: RuleMemory;
  readonly facts: readonly RuleFact[];
  /** The rules that were asked, for the diagnosis in the history. */
  readonly asked: readonly AskedRule[];
  /** The rules about the event, if none of them has acted. The task of a person shows them (F-144). */
  readonly candidates: readonly CandidateRule[];
}

/**
 * Decides what rules do about an event of an order (F-140 to F-144). It reads no clock and nothing else, so the same arguments give the
 * same answer. A decision is journalled with the event: a replay reads it and asks no rules.
 *
 * The rules with the highest priority are asked first. The first rule in force that acts ends the matching, unless it only announces.
 */
export function decide(set: RuleSet, situation: Situation, memory: RuleMemory = {}): Decided {
  const rules = rulesAbout(set, situation.event.kind, situation.workflow.name);
  if (rules.length === 0) return { decisions: [], memory, facts: [], asked: [], candidates: [] };
  return new Deciding(set, situation, memory).ask(rules);
}

/** The most candidates that a task shows. */
const candidatesMax = 10;

/** The answer of one rule. */
type Answer =
  | { readonly is: 'not-about' }
  | { readonly is: 'not-matched'; readonly why: CandidateRule['why']; readonly missing?: CandidateRule['missing'] & {} }
  | { readonly is: 'decided'; readonly action: Filled }
  | { readonly is: 'stopped'; readonly fault: Fault };

class Deciding {
  private readonly set: RuleSet;
  private readonly situation: Situation;
  private readonly scope: RuleScope;
  private memory: RuleMemory;
  private readonly facts: RuleFact[] = [];
  private readonly decisions: Decision[] = [];
  private readonly asked: AskedRule[] = [];
  private readonly candidates: CandidateRule[] = [];

  constructor(set: RuleSet, situation: Situation, memory: RuleMemory) {
    this.set = set;
    this.situation = situation;
    this.memory = memory;
    const { steps: _, ...values } = situation.values;
    this.scope = { ...values, at: new Date(situation.event.at).toISOString() };
  }

  ask(rules: readonly CompiledRule[]): Decided {
    const about = rules.filter((each) => this.isAbout(each));
    if (about.some(({ rule }) => rule.all)) {
      const { memory, facts } = keep(this.memory, this.situation.event);
      this.memory = memory;
      this.facts.push(...facts);
    }
    let hasActed = false;
    for (const each of about) {
      if (!this.answerOf(each)) continue;
      hasActed = true;
      break;
    }
    const { decisions, memory, facts, asked } = this;
    return { decisions, memory, facts, asked, candidates: hasActed ? [] : this.candidates.slice(0, candidatesMax) };
  }

  private isAbout({ rule, patterns }: CompiledRule): boolean {
    const { event, undosAreRuled } = this.situation;
    if (undosAreRuled && rule.action.kind === 'compensate-with') return false;
    return isOrderOf(this.situation, rule) && isOfObject(event, rule) && patterns.some((pattern) => isOfPattern(event, pattern));
  }

  /** Notes the answer of a rule, and returns whether it ends the matching. */
  private answerOf(compiled: CompiledRule): boolean {
    const { rule } = compiled;
    const answer = this.ruleAnswer(compiled);
    if (answer.is === 'not-about') return false;
    this.asked.push({ id: rule.id, version: rule.version, matched: answer.is !== 'not-matched' });
    if (answer.is === 'not-matched') {
      const missing = answer.missing ? { missing: answer.missing } : {};
      this.candidates.push({ ruleId: rule.id, version: rule.version, name: rule.name, why: answer.why, ...missing });
      return false;
    }
    if (rule.mode === 'dry-run') {
      this.candidates.push({ ruleId: rule.id, version: rule.version, name: rule.name, why: 'dry-run' });
      this.wouldHave(rule, answer);
      return false;
    }
    this.decisions.push(decisionOf(rule, 'enforce', actionIn(rule, answer)));
    return !(answer.is === 'decided' && answer.action.ok && answer.action.action.kind === 'announce');
  }

  /** Notes a *would have* for the history, once for each rule and order. */
  private wouldHave(rule: Rule, answer: Answer & { is: 'decided' | 'stopped' }): void {
    const key = keyOf(rule.id);
    if (isNoted(this.memory, 'wouldHave', key)) return;
    this.memory = note(this.memory, 'wouldHave', key);
    this.decisions.push(decisionOf(rule, 'dry-run', actionIn(rule, answer)));
  }

  private ruleAnswer(compiled: CompiledRule): Answer {
    const { rule } = compiled;
    const { event, workflow } = this.situation;
    const once = onceIn(event.kind);
    // A rule is asked once about an age or a lateness. The event is decided again until no rule is left to ask (`nextRuleTime`).
    if (once) {
      const key = keyOf(rule.id, rule.version, event.id);
      if (isNoted(this.memory, once, key)) return { is: 'not-about' };
      this.memory = note(this.memory, once, key);
    }
    if (!isFit(this.set, compiled, workflow)) {
      this.facts.push({ type: 'RuleStale', ruleId: rule.id, version: rule.version });
      return { is: 'not-matched', why: 'stale' };
    }
    const combination = rule.all ? this.combination(rule) : undefined;
    if (combination && !combination.isComplete) return { is: 'not-matched', why: 'incomplete', missing: combination.missing };

    const holds = this.holds(compiled);
    if (holds === 'known') return { is: 'not-about' };
    if (holds === false) return { is: 'not-matched', why: 'condition-false' };
    if (combination) this.memory = use(this.memory, combination.events, keyOf(rule.id));
    if (holds !== true) return { is: 'decided', action: { ok: false, reason: holds.reason } };
    return this.stoppedAnswer(rule) ?? this.actingAnswer(rule);
  }

  private combination(rule: Rule & { readonly all?: CompiledRule['patterns'] }) {
    const { event } = this.situation;
    const key = keyOf(rule.id);
    const free = (this.memory.kept ?? []).filter((each) => !each.used?.includes(key) && isOfObject(each, rule));
    const current = free.find(({ id }) => id === event.id) ?? event;
    return combine(
      rule.all ?? [],
      rule.withinSeconds ?? 0,
      current,
      free.filter(({ id }) => id !== event.id),
    );
  }

  /** Evaluates the condition. `known`: a constraint that was violated before this write already, or failed then. */
  private holds({ rule, patterns, condition }: CompiledRule): boolean | 'known' | { readonly reason: string } {
    const value = condition === undefined ? true : this.valueOf(condition, rule);
    if (this.situation.event.kind !== 'data' || !patterns.some(({ kind }) => kind === 'data')) return value;
    const key = keyOf(rule.id, rule.version);
    const before = this.memory.holds?.[key];
    const now = value === false ? undefined : value === true ? 'true' : 'failed';
    this.memory = noteConstraint(this.memory, key, now);
    return now !== undefined && now === before ? 'known' : value;
  }

  private valueOf(condition: CompiledRule['condition'] & {}, rule: Rule): boolean | { readonly reason: string } {
    if (!condition.ok) return { reason: condition.message };
    const result = condition.expression.evaluate(this.scopeOf(rule));
    if (!result.ok) return { reason: result.fault.message };
    if (typeof result.value === 'boolean') return result.value;
    return { reason: `its condition must be true or false, not ${JSON.stringify(result.value).slice(0, 100)}` };
  }

  /** Returns the answer of a rule that may act no more on this order; undefined if it may. */
  private stoppedAnswer({ id, action, timesPerOrder, mode }: Rule): Answer | undefined {
    const { event } = this.situation;
    if ((action.kind === 'raise' || action.kind === 'signal') && (event.round ?? 0) >= ruleLimits.roundsMax)
      return { is: 'stopped', fault: ruleStopped(id, `${ruleLimits.roundsMax} actions of rules in a row have caused this event.`) };
    const times = timesActed(this.memory, this.actedKey(id));
    if (mode === 'dry-run' || times < timesPerOrder) return undefined;
    const reason = Number.isFinite(times)
      ? `it has acted ${times} times ${event.kind === 'exception' && event.type !== undefined ? `on ${shortType(event.type)}` : 'for the same reason'}, and timesPerOrder is ${timesPerOrder}.`
      : 'rules have acted on it for too many reasons.';
    return { is: 'stopped', fault: ruleStopped(id, reason) };
  }

  private actingAnswer(rule: Rule): Answer {
    const action = fillAction(rule.action, this.scopeOf(rule), (this.situation.event.round ?? 0) + 1);
    if (action.ok && rule.mode === 'enforce') this.memory = countAction(this.memory, this.actedKey(rule.id));
    return { is: 'decided', action };
  }

  private readonly scopeOf = (rule: Rule): RuleScope => withStep(this.scope, this.situation.values, rule);

  private readonly actedKey = (id: string): string => keyOf(id, this.situation.event.fingerprint ?? this.situation.event.kind);
}

/** Returns the scope of a rule. For a constraint about a step, the name `step` stands for that step as it is now. */
export function withStep(scope: RuleScope, { steps }: Situation['values'], { object }: Rule): RuleScope {
  const step = object?.step === undefined ? undefined : steps?.[object.step];
  return step === undefined ? scope : { ...scope, step };
}

const onceIn = (kind: Situation['event']['kind']) => (kind === 'order-age' ? 'ages' : kind === 'step-late' ? 'late' : undefined);

const actionIn = ({ id }: Rule, answer: Answer & { is: 'decided' | 'stopped' }): Decision['action'] => {
  if (answer.is === 'decided' && answer.action.ok) return answer.action.action;
  const fault = answer.is === 'stopped' ? answer.fault : ruleFailed(id, answer.action.ok ? '' : answer.action.reason);
  return { kind: 'raise', fault, toPerson: true, round: 0 };
};

const decisionOf = ({ id, version, executor }: Rule, mode: Decision['mode'], action: Decision['action']): Decision => ({
  ruleId: id,
  version,
  mode,
  action,
  ...(executor ? { executor } : {}),
});
