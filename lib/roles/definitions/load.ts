import type * as z from 'zod';
import type { AnyOperation } from '#authoring/agent';
import { catalogOfApp, schemasOf } from '#authoring/catalog';
import { type App, placeAt } from '#authoring/workflow';
import { callProblems } from '#core/checks/calls';
import { check, type Problem } from '#core/checks/check';
import type { Catalog } from '#core/definition/catalog';
import { rootPath, type WorkflowDefinition } from '#core/definition/definition';
import { type Program, programOf } from '#core/definition/program';
import { workflowRef } from '#core/definition/workflow-ref';
import type { Definitions } from '#ports/definitions';
import { SetupError } from '#ports/errors';
import { issuesIn, validatorOf } from '#ports/util/validation';
import { isPinnedTo } from './pinning.ts';

/**
 * Returns the definitions of an app.
 *
 * @throws SetupError that names every problem of every workflow, with its path.
 */
export function loadDefinitions({ workflows, agents, consumers = [], rules = [] }: App): Definitions {
  const catalog = catalogOfApp({ workflows, agents });
  const warnings = checked(workflows, catalog);
  const programs = new Map<string, Program>();
  const newest = new Map<string, Program>();
  for (const definition of workflows) {
    const program = programOf(definition);
    programs.set(workflowRef(definition), program);
    const latest = newest.get(definition.name);
    if (!latest || latest.definition.version < definition.version) newest.set(definition.name, program);
  }
  const outputs = new Map(
    agents.flatMap(({ name, operations }) =>
      Object.entries(operations).map(([operation, described]) => [`${name}.${operation}`, outputSchema(described)]),
    ),
  );
  const program = (name: string, version: number) => programs.get(workflowRef({ name, version }));
  return {
    program,
    programOf: ({ workflow, definition }) => {
      const found = program(workflow.name, workflow.version);
      return found && isPinnedTo(found.definition, definition) ? found : undefined;
    },
    newest: (name) => newest.get(name),
    names: () => [...newest.keys()],
    workflows,
    catalog,
    rules,
    isValidOutput: (agent, operation, output) => {
      const schema = outputs.get(`${agent}.${operation}`);
      return schema !== undefined && issuesIn(schema, output).length === 0;
    },
    isValidInput: (agent, operation, input) => {
      const schema = catalog.schemasOf(agent, operation)?.input;
      return schema === undefined || issuesIn(validatorOf(schema), input).length === 0;
    },
    agents,
    consumers,
    warnings,
  };
}

/** Returns a warning on one line. Problems in expressions have several lines, with a caret under the position. */
const warningText = (workflow: string, { path, message }: Problem): string =>
  `${workflow}, ${path}: ${message.replaceAll(/\s*\n\s*/g, ' ')}`;

/** Checks all workflows, and returns the warnings. @throws SetupError if there is an error. */
function checked(workflows: readonly WorkflowDefinition[], catalog: Catalog): readonly string[] {
  const names = workflows.map(workflowRef);
  const twice = new Set(names.filter((name, index) => names.indexOf(name) !== index));
  const found = workflows.flatMap((definition) =>
    problemsOf(definition, catalog, isSuperseded(definition, workflows)).map((problem) => ({ definition, problem })),
  );
  const wrong = [
    ...found
      .filter(({ problem }) => problem.severity === 'error')
      .map(({ definition, problem: { path, message } }) => `${workflowRef(definition)} ${path}: ${message}${placeAt(definition, path)}`),
    ...callProblems(workflows).map(({ workflow, path, message }) => `${workflow} ${path}: ${message}`),
    ...[...twice].map((name) => {
      const places = new Set(workflows.filter((each) => workflowRef(each) === name).map((each) => placeAt(each, rootPath)));
      return `Two workflows are called ${name}. Give one of them another name or version.${[...places].join('')}`;
    }),
  ];
  if (wrong.length > 0)
    throw new SetupError(
      `Workflows cannot be loaded:\n${wrong.join('\n')}`,
      'Correct the definitions, or add the missing parts to defineApp.',
    );
  return found.map(({ definition, problem }) => warningText(workflowRef(definition), problem));
}

/** Whether a later version exists. Then only orders under way use this version. */
const isSuperseded = ({ name, version }: WorkflowDefinition, workflows: readonly WorkflowDefinition[]): boolean =>
  workflows.some((other) => other.name === name && other.version > version);

/**
 * Returns the problems of a definition. In a superseded version, conflicts with the current schemas are only warnings, because its
 * orders still need it.
 */
function problemsOf(definition: WorkflowDefinition, catalog: Catalog, superseded: boolean): readonly Problem[] {
  const problems = check(definition, catalog);
  if (!superseded) return problems;
  const withoutSchemas = new Set(
    check(definition, { ...catalog, schemasOf: () => undefined }).map(({ path, message }) => `${path} ${message}`),
  );
  return problems.map((each) => (withoutSchemas.has(`${each.path} ${each.message}`) ? each : { ...each, severity: 'warning' }));
}

/** Returns the validator of an output as a reply carries it: the agent's own schema has transformed the value already. */
const outputSchema = (operation: AnyOperation): z.ZodType => validatorOf(schemasOf(operation).output ?? {});
