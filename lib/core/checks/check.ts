import type { Catalog } from '#core/definition/catalog';
import { limits, rootPath, secondsProblem, type WorkflowDefinition } from '#core/definition/definition';
import { exprVersion } from '#core/definition/expression';
import { peopleProblems } from '#core/definition/people';
import { checkHandlers } from './handlers.ts';
import { checkUndoing } from './missing-undo.ts';
import { checkReads } from './reads.ts';
import { checkOutput } from './secret-output.ts';
import { checkSecretUse } from './secret-use.ts';
import { everyIn, type Report, treeOf } from './tree.ts';
import { checkTypes } from './type-check.ts';

/** A problem of a definition. With `severity: 'error'` the definition is not loaded. */
export interface Problem {
  readonly severity: 'error' | 'warning';
  /** The path of the activity: `order/charge`. */
  readonly path: string;
  /** The problem and its remedy. An expression is shown with a caret below the position. */
  readonly message: string;
}

/**
 * Returns all problems of a definition together. A definition without errors can be loaded; warnings are for its author. With
 * a catalog, the inputs and outputs of steps are checked as well.
 */
export function check(definition: WorkflowDefinition, catalog?: Catalog): readonly Problem[] {
  const problems: Problem[] = [];
  const report: Report = (path, message, severity = 'error') => {
    problems.push({ severity, path, message });
  };

  if (!/^[a-z][a-z0-9-]{0,63}$/.test(definition.name))
    report(
      '',
      `"${definition.name}" is not a valid workflow name. Use at most 64 lowercase letters, digits and "-", and begin with a letter.`,
    );
  if (!Number.isSafeInteger(definition.version) || definition.version < 1)
    report('', `version is ${definition.version}; it must be an integer of at least 1.`);
  if (definition.exprVersion !== exprVersion) report('', `exprVersion is ${definition.exprVersion}; this system supports ${exprVersion}.`);

  const { completeWithinSeconds, maxFailures, onExhausted, longWaitSeconds } = definition;
  const limitProblem =
    completeWithinSeconds === undefined ? undefined : secondsProblem('completeWithinSeconds', completeWithinSeconds, 'above 0');
  const waitProblem = longWaitSeconds === undefined ? undefined : secondsProblem('longWaitSeconds', longWaitSeconds, 'above 0');
  for (const problem of [limitProblem, waitProblem]) if (problem) report('', problem);
  if (maxFailures !== undefined && !(Number.isSafeInteger(maxFailures) && maxFailures >= 0))
    report('', `maxFailures is ${maxFailures}; it must be an integer of at least 0.`);
  for (const problem of peopleProblems(definition.people)) report('', problem);
  if (longWaitSeconds !== undefined && onExhausted !== 'wait')
    report('', `longWaitSeconds has no effect with onExhausted "${onExhausted ?? 'error'}": set onExhausted to "wait", or leave it out.`);

  const root = treeOf(definition.root, report);
  if (!root) return problems;
  const all = [...everyIn(root)];
  if (all.length > limits.activitiesMax)
    report(rootPath, `The workflow has ${all.length} activities; the maximum is ${limits.activitiesMax}. Split it into several workflows.`);
  checkReads(root, report);
  checkTypes(all, definition.order, catalog, report);
  checkHandlers(root, [...(definition.toOperator ?? []), ...(definition.toCaller ?? [])], report);
  checkUndoing(root, report);
  checkOutput(all, definition.order, report);
  checkSecretUse(all, definition.order, report);
  return problems;
}
