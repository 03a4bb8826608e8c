import type { Catalogue } from './catalogue.ts';
import { checkHandlers } from './checks/handlers.ts';
import { checkReads } from './checks/reads.ts';
import { everyIn, type Report, treeOf } from './checks/tree.ts';
import { checkTypes } from './checks/typing.ts';
import { checkUndoing } from './checks/undoing.ts';
import { limits, rootPath, secondsProblem, type WorkflowDefinition } from './definition.ts';
import { exprVersion } from './expression.ts';

/** Something wrong in a definition. `severity: 'error'` keeps it from being loaded. */
export interface Problem {
  readonly severity: 'error' | 'warning';
  /** Path of the activity: `order/charge`. */
  readonly path: string;
  /** What is wrong and what to do; an expression is shown with a caret below the place. */
  readonly message: string;
}

/**
 * Everything that is wrong with a definition, at once. Without errors it may be loaded; warnings are for its author.
 * With a catalogue of operations, what steps are asked with and what they answer is checked as well.
 */
export function check(definition: WorkflowDefinition, catalogue?: Catalogue): readonly Problem[] {
  const problems: Problem[] = [];
  const report: Report = (path, message, severity = 'error') => {
    problems.push({ severity, path, message });
  };

  if (!/^[a-z][a-z0-9-]{0,63}$/.test(definition.name))
    report('', `"${definition.name}" is no name for a workflow: small letters, digits and "-", at most 64.`);
  if (!Number.isSafeInteger(definition.version) || definition.version < 1)
    report('', `version is ${definition.version}; it is a whole number from 1 up.`);
  if (definition.exprVersion !== exprVersion) report('', `exprVersion is ${definition.exprVersion}; this system reads ${exprVersion}.`);

  const { completeWithinSeconds, maxFailures, onExhausted, longWaitSeconds } = definition;
  const tooLong =
    completeWithinSeconds === undefined ? undefined : secondsProblem('completeWithinSeconds', completeWithinSeconds, 'above 0');
  const waitsTooLong = longWaitSeconds === undefined ? undefined : secondsProblem('longWaitSeconds', longWaitSeconds, 'above 0');
  for (const problem of [tooLong, waitsTooLong]) if (problem) report('', problem);
  if (maxFailures !== undefined && !(Number.isSafeInteger(maxFailures) && maxFailures >= 0))
    report('', `maxFailures is ${maxFailures}; it is a whole number from 0 up.`);
  if (longWaitSeconds !== undefined && onExhausted !== 'wait')
    report('', `longWaitSeconds has no effect with onExhausted "${onExhausted ?? 'error'}": set onExhausted to "wait", or leave it out.`);

  const root = treeOf(definition.root, report);
  if (!root) return problems;
  const all = [...everyIn(root)];
  if (all.length > limits.activitiesMax)
    report(rootPath, `${all.length} activities; at most ${limits.activitiesMax} make one workflow. Split it into several workflows.`);
  checkReads(root, report);
  checkTypes(all, definition.order, catalogue, report);
  checkHandlers(root, [...(definition.toOperator ?? []), ...(definition.toCaller ?? [])], report);
  checkUndoing(root, report);
  return problems;
}
