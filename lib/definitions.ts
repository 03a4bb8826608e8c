import type * as z from 'zod';
import type { AgentDefinition, AnyOperation } from './authoring/agent.ts';
import { catalogueOfApp, schemasOf } from './authoring/catalogue.ts';
import type { App } from './authoring/workflow.ts';
import { callProblems } from './core/calls.ts';
import type { Catalogue } from './core/catalogue.ts';
import { check, type Problem } from './core/check.ts';
import type { WorkflowDefinition } from './core/definition.ts';
import type { Json } from './core/json.ts';
import { type Program, programOf } from './core/program.ts';
import { SetupError } from './errors.ts';
import { validatorOf } from './json-schema.ts';
import { isPinnedTo } from './pinning.ts';
import type { StateRecord } from './record.ts';

/** The workflows and agents of the app that this system runs. */
export interface Definitions {
  /** The exact version; an order stays with the one that it started on. */
  program(name: string, version: number): Program | undefined;
  /** What an order goes on by; undefined where its version is not part of the app, or has changed since the order began. */
  programOf(order: Pick<StateRecord, 'workflow' | 'definition'>): Program | undefined;
  /** What a new order of this name starts on. */
  newest(name: string): Program | undefined;
  names(): readonly string[];
  /** Whether an output is what the operation's schema promises. */
  isOutput(agent: string, operation: string, output: Json): boolean;
  readonly agents: readonly AgentDefinition[];
  /** What their author should know of, although they run: `fulfil-order@1, order/confirm: It has no undo …`. */
  readonly warnings: readonly string[];
}

/** @throws SetupError that names all that is wrong with any of the workflows, each with its place. */
export function loadDefinitions({ workflows, agents }: App): Definitions {
  const warnings = warningsOf(workflows, catalogueOfApp({ workflows, agents }));
  const programs = new Map<string, Program>();
  const newest = new Map<string, Program>();
  for (const definition of workflows) {
    const program = programOf(definition);
    programs.set(nameOf(definition), program);
    const latest = newest.get(definition.name);
    if (!latest || latest.definition.version < definition.version) newest.set(definition.name, program);
  }
  const outputs = new Map(
    agents.flatMap(({ name, operations }) =>
      Object.entries(operations).map(([operation, described]) => [`${name}.${operation}`, outputSchema(described)]),
    ),
  );
  const program = (name: string, version: number) => programs.get(`${name}@${version}`);
  return {
    program,
    programOf: ({ workflow, definition }) => {
      const found = program(workflow.name, workflow.version);
      return found && isPinnedTo(found.definition, definition) ? found : undefined;
    },
    newest: (name) => newest.get(name),
    names: () => [...newest.keys()],
    isOutput: (agent, operation, output) => outputs.get(`${agent}.${operation}`)?.safeParse(output).success ?? false,
    agents,
    warnings,
  };
}

const nameOf = ({ name, version }: WorkflowDefinition): string => `${name}@${version}`;

/** On one line: expressions are shown over several, with a caret below the place. */
const warningText = (workflow: string, { path, message }: Problem): string =>
  `${workflow}, ${path}: ${message.replaceAll(/\s*\n\s*/g, ' ')}`;

function warningsOf(workflows: readonly WorkflowDefinition[], catalogue: Catalogue): readonly string[] {
  const names = workflows.map(nameOf);
  const twice = new Set(names.filter((name, index) => names.indexOf(name) !== index));
  const found = workflows.flatMap((definition) =>
    problemsOf(definition, catalogue, isSuperseded(definition, workflows)).map((problem) => ({ workflow: nameOf(definition), problem })),
  );
  const wrong = [
    ...found
      .filter(({ problem }) => problem.severity === 'error')
      .map(({ workflow, problem }) => `${workflow} ${problem.path}: ${problem.message}`),
    ...callProblems(workflows).map(({ workflow, path, message }) => `${workflow} ${path}: ${message}`),
    ...[...twice].map((name) => `Two workflows are called ${name}. Give one of them another name or version.`),
  ];
  if (wrong.length > 0)
    throw new SetupError(`Workflows cannot be loaded:\n${wrong.join('\n')}`, 'Mend the definitions, or add to defineApp what is missing.');
  return found.map(({ workflow, problem }) => warningText(workflow, problem));
}

/** Only orders that are under way go by it: new ones take a later version. */
const isSuperseded = ({ name, version }: WorkflowDefinition, workflows: readonly WorkflowDefinition[]): boolean =>
  workflows.some((other) => other.name === name && other.version > version);

/** What only the present schemas of operations say against a superseded version keeps nobody from starting: its orders need it. */
function problemsOf(definition: WorkflowDefinition, catalogue: Catalogue, superseded: boolean): readonly Problem[] {
  const problems = check(definition, catalogue);
  if (!superseded) return problems;
  const lasting = new Set(check(definition, { ...catalogue, schemasOf: () => undefined }).map(({ path, message }) => `${path} ${message}`));
  return problems.map((each) => (lasting.has(`${each.path} ${each.message}`) ? each : { ...each, severity: 'warning' }));
}

/** The schema as it is on the wire: what the agent's own schema makes of an answer, after any change of its form. */
const outputSchema = (operation: AnyOperation): z.ZodType => validatorOf(schemasOf(operation).output ?? {});
