import { workflowRef } from '#core/definition/workflow-ref';
import type { Clock } from '#ports/clock';
import { collections, type Documents } from '#ports/documents';
import type { Publisher } from '#ports/event-bus';
import { alertOf, publishAlert } from '#ports/util/alert';
import type { RuledOrder, RuleUse, StaleRule } from '#roles/scheduler/types';
import { createRuleCounter } from './counts.ts';
import { noteOutcome } from './outcomes.ts';
import type { Rules } from './rules.ts';

interface Ports {
  readonly store: Documents;
  readonly clock: Clock;
  readonly publisher: Publisher;
  readonly random: () => number;
  readonly rules: Pick<Rules, 'rule' | 'put'>;
}

/** A process remembers at most this many stale rules as announced. */
const announcedMax = 10_000;

/**
 * Counts what rules did in stored writes, demotes rules that do harm, and announces rules that do not fit a new version of a workflow. A
 * process that crashes between a write and its count loses the count: the figures are approximate.
 */
export function createRuleUse(ports: Ports): (order: RuledOrder, use: RuleUse) => Promise<void> {
  const { clock, publisher } = ports;
  const counter = createRuleCounter(ports);
  const announced = new Set<string>();

  async function judge(ruleId: string, version: number, hasPassed: boolean): Promise<void> {
    counter.count(ruleId, hasPassed ? 'passed' : 'failedAgain');
    if (await noteOutcome(ports, { ruleId, version, hasPassed })) await publishAlert(publisher, demoted(ruleId, version, clock.now()));
  }

  async function announceStale(rule: StaleRule, workflow: string): Promise<void> {
    const id = `${rule.ruleId}@${rule.version}/${workflow}`;
    if (announced.has(id)) return;
    const known = await ports.store.document(collections.staleRules, id);
    // If a process crashes between the alert and its record, the alert is sent again, under the same id.
    if (!known) {
      await publishAlert(publisher, staleAlert(id, rule, workflow, clock.now()));
      await ports.store.putDocument({ collection: collections.staleRules, id, rev: 1, content: { at: clock.now() } }, 0);
    }
    if (announced.size < announcedMax) announced.add(id);
  }

  return async ({ workflow }, { hits = [], verdicts = [], stale: found = [] }) => {
    for (const { ruleId, acted } of hits) counter.count(ruleId, 'hits', ...(acted ? (['acted'] as const) : []));
    for (const { ruleId, version, verdict } of verdicts)
      if (verdict === 'passed' || verdict === 'failed-again') await judge(ruleId, version, verdict === 'passed');
    for (const rule of found) await announceStale(rule, workflowRef(workflow));
    await counter.flushIfDue();
  };
}

const demoted = (ruleId: string, version: number, at: number) =>
  alertOf('Rule Demoted', {
    id: `rule/${ruleId}/${version}/demoted`,
    at,
    type: 'RuleDemoted',
    source: ruleId,
    before: 'enforce',
    after: 'dry-run',
    message: `The rule ${ruleId} went to dry-run: at least half of its last 20 actions failed again. Look at the orders in its history, and change the rule.`,
  });

const staleAlert = (id: string, { ruleId }: StaleRule, workflow: string, at: number) =>
  alertOf('Rule Stale', {
    id: `rule/${id}/stale`,
    at,
    type: 'RuleStale',
    source: ruleId,
    before: 'enforce',
    after: 'enforce',
    message: `The rule ${ruleId} does not fit ${workflow} and is skipped for its orders. Change the rule, or the workflow.`,
  });
