import type { WorkflowDefinition } from '#core/definition/definition';
import { programOf } from '#core/definition/program';
import { recordingOf } from '#core/evolution/recorded-answers';
import { whatIf } from '#core/evolution/what-if';
import { subjectOf } from '#ports/records';
import type { OrderCase } from '#roles/cases/case';
import { otherRequest } from '#roles/repair/migrated';
import { caseIn } from './case-file.ts';
import { replay } from './replay.ts';

/** The answer of a matcher, in the form of jest and vitest. */
export interface Matched {
  readonly pass: boolean;
  readonly message: () => string;
}

/** The matchers that `expect` gets. */
export interface HistoryMatchers<R = unknown> {
  /** Passes if the workflow leads to everything that each exported order has done, as the check of `migrate` requires. */
  toFitWorkflow(workflow: WorkflowDefinition): R;
  /** Passes if each exported order would have ended on this workflow without a person, with the answers of its own history. */
  toEndWithoutPerson(workflow: WorkflowDefinition): R;
}

/**
 * Matchers about exported orders for `expect.extend(historyMatchers)` in jest and vitest: `expect(cases).toFitWorkflow(version2)`. They
 * take the parsed content of a case, or of several.
 *
 * @throws ReplayError if the content is not a case.
 */
export const historyMatchers = {
  toFitWorkflow: (given: unknown, workflow: WorkflowDefinition): Matched =>
    matched(given, workflow, 'fit', (each) => {
      const target = programOf(workflow);
      return otherRequest(programOf(each.definition), target, each.journal)?.reason ?? replay(each, { workflow }).difference;
    }),
  toEndWithoutPerson: (given: unknown, workflow: WorkflowDefinition): Matched =>
    matched(given, workflow, 'end without a person on', (each) => personFor(each, workflow)),
};

/** Returns why an order would have needed a person; undefined if it would not. */
function personFor({ order, head, definition, schemas, journal }: OrderCase, workflow: WorkflowDefinition): string | undefined {
  const catalog = { schemasOf: (agent: string, operation: string) => schemas[`${agent}.${operation}`] };
  const subject = subjectOf({ ...order, hash: '', answer: '' });
  const played = { program: programOf(workflow), subject, catalog, stepMs: head.stepMs };
  const { why, path } = whatIf(played, recordingOf(order.orderId, programOf(definition), journal));
  return why === undefined ? undefined : path === undefined ? why : `${path}: ${why}`;
}

function matched(
  given: unknown,
  { name, version }: WorkflowDefinition,
  what: string,
  problemOf: (each: OrderCase) => string | undefined,
): Matched {
  const cases = (Array.isArray(given) ? given : [given]).map(caseIn);
  const found = cases.map((each) => ({ id: each.order.orderId, problem: problemOf(each) }));
  const wrong = found.filter(({ problem }) => problem !== undefined);
  const listed = (lines: readonly string[]): string => lines.map((line) => `\n  ${line}`).join('');
  return {
    pass: wrong.length === 0,
    message: () =>
      wrong.length === 0
        ? `Expected an order that does not ${what} ${name}@${version}:${listed(found.map(({ id }) => id))}`
        : `${wrong.length} of ${found.length} orders do not ${what} ${name}@${version}:${listed(wrong.map(({ id, problem }) => `${id}: ${problem}`))}`,
  };
}
