import { type ActivityType, behaviourOf, behaviours } from './activities/index.ts';
import { type Activity, limits, rootPath, type WorkflowDefinition } from './definition.ts';
import { exprVersion, parseExpression } from './expression.ts';
import { isObject } from './json.ts';
import { expressionsIn } from './program.ts';
import { didYouMean } from './suggest.ts';

/** Something wrong in a definition. `severity: 'error'` keeps it from being loaded. */
export interface Problem {
  readonly severity: 'error' | 'warning';
  /** Path of the activity: `order/charge`. */
  readonly path: string;
  /** What is wrong and what to do; an expression is shown with a caret below the place. */
  readonly message: string;
}

/** Everything that is wrong with a definition, at once. An empty list means that it may be loaded. */
export function check(definition: WorkflowDefinition): readonly Problem[] {
  const problems: Problem[] = [];
  const report = (path: string, message: string) => problems.push({ severity: 'error', path, message });

  if (!/^[a-z][a-z0-9-]{0,63}$/.test(definition.name))
    report('', `"${definition.name}" is no name for a workflow: small letters, digits and "-", at most 64.`);
  if (!Number.isSafeInteger(definition.version) || definition.version < 1)
    report('', `version is ${definition.version}; it is a whole number from 1 up.`);
  if (definition.exprVersion !== exprVersion) report('', `exprVersion is ${definition.exprVersion}; this system reads ${exprVersion}.`);

  const { completeWithinSeconds, maxFailures } = definition;
  if (completeWithinSeconds !== undefined && !(completeWithinSeconds > 0))
    report('', `completeWithinSeconds is ${completeWithinSeconds}; it is a number above 0.`);
  if (maxFailures !== undefined && !(Number.isSafeInteger(maxFailures) && maxFailures >= 0))
    report('', `maxFailures is ${maxFailures}; it is a whole number from 0 up.`);

  const found = collect(definition.root, report);
  if (found.length > limits.activitiesMax)
    report(rootPath, `${found.length} activities; at most ${limits.activitiesMax} make one workflow. Split it with a child workflow.`);
  for (const [index, each] of found.entries()) checkExpressions(each, index, found, report);
  return problems;
}

type Report = (path: string, message: string) => void;
interface Placed {
  readonly node: Activity;
  readonly path: string;
}

function collect(root: Activity, report: Report): readonly Placed[] {
  const found: Placed[] = [];
  const visit = (node: Activity, path: string, depth: number): void => {
    if (!isObject(node) || !Object.hasOwn(behaviours, node.activity)) {
      return report(
        path,
        `"${String((node as { activity?: unknown })?.activity)}" is no activity.${didYouMean(String((node as Activity)?.activity), Object.keys(behaviours))}`,
      );
    }
    if (depth > limits.depthMax) return report(path, `More than ${limits.depthMax} levels deep. Split it with a child workflow.`);
    found.push({ node, path });

    const behaviour = behaviourOf(node.activity as ActivityType);
    const problems = behaviour.problems?.(node) ?? [];
    for (const problem of problems) report(path, problem);
    if (problems.length > 0) return;

    const names = new Set<string>();
    for (const child of behaviour.children(node)) {
      const name: unknown = child?.name;
      const childPath = `${path}/${name}`;
      if (typeof name !== 'string' || !/^[A-Za-z][A-Za-z0-9_-]{0,63}$/.test(name))
        report(childPath, `"${name}" is no name for an activity: a letter, then letters, digits, "-" and "_", at most 64.`);
      if (names.has(childPath)) report(childPath, `Two activities have this path. Name one of them: .named('…').`);
      names.add(childPath);
      visit(child, childPath, depth + 1);
    }
  };
  visit(root, rootPath, 1);
  return found;
}

function checkExpressions({ node, path }: Placed, index: number, found: readonly Placed[], report: Report): void {
  for (const template of behaviourOf(node.activity).templates(node)) {
    for (const { text, pointer } of expressionsIn(template)) {
      const parsed = parseExpression(text);
      if (!parsed.ok) {
        report(path, `${pointer}: ${parsed.message}\n${pointedAt(text, parsed.position)}`);
        continue;
      }
      for (const { name, position } of parsed.expression.steps) {
        const problem = stepProblem(name, { node, path }, index, found);
        if (problem) report(path, `${pointer}: ${problem}\n${pointedAt(text, position)}`);
      }
    }
  }
}

/** The line of an expression in which a position lies, and a caret below it. */
function pointedAt(text: string, position: number): string {
  const start = text.lastIndexOf('\n', position - 1) + 1;
  const [line = ''] = text.slice(start).split('\n');
  return `  ${line}\n  ${' '.repeat(position - start)}^`;
}

/** A step's output may be read only where that step has run for certain. */
function stepProblem(name: string, reader: Placed, index: number, found: readonly Placed[]): string | undefined {
  const steps = found.filter(({ node }) => node.activity === 'step' && node.name === name);
  if (steps.length === 0)
    return `no step is named "${name}".${didYouMean(
      name,
      found.filter(({ node }) => node.activity === 'step').map(({ node }) => node.name),
    )}`;
  if (steps.length > 1)
    return `${steps.length} steps are named "${name}" (${steps.map(({ path }) => path).join(', ')}). Name the one that is meant: .named('…').`;

  const [step] = steps;
  if (step && (found.indexOf(step) >= index || inOtherBranch(step, reader, found)))
    return `"${name}" (${step.path}) need not have run before ${reader.path}.`;
  return undefined;
}

/** Siblings of a parallel run side by side: none of them may read what another one answers. */
function inOtherBranch(step: Placed, reader: Placed, found: readonly Placed[]): boolean {
  return found.some(({ node, path }) => {
    if (node.activity !== 'parallel' || !step.path.startsWith(`${path}/`) || !reader.path.startsWith(`${path}/`)) return false;
    return step.path.slice(path.length + 1).split('/')[0] !== reader.path.slice(path.length + 1).split('/')[0];
  });
}
