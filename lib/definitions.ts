import * as z from 'zod';
import type { AgentDefinition, AnyOperation } from './authoring/agent.ts';
import type { App } from './authoring/workflow.ts';
import { callProblems } from './core/calls.ts';
import { check } from './core/check.ts';
import { workflowsAgent } from './core/child-order.ts';
import type { Json } from './core/json.ts';
import { type Program, programOf } from './core/program.ts';
import { SetupError } from './errors.ts';

/** The workflows and agents of the app that this system runs. */
export interface Definitions {
  /** The exact version; an order stays with the one that it started on. */
  program(name: string, version: number): Program | undefined;
  /** What a new order of this name starts on. */
  newest(name: string): Program | undefined;
  names(): readonly string[];
  /** Whether an output is what the operation's schema promises. */
  isOutput(agent: string, operation: string, output: Json): boolean;
  readonly agents: readonly AgentDefinition[];
}

export function loadDefinitions({ workflows, agents }: App): Definitions {
  const programs = new Map<string, Program>();
  const newest = new Map<string, Program>();
  for (const definition of workflows) {
    const key = `${definition.name}@${definition.version}`;
    const problems = check(definition).filter(({ severity }) => severity === 'error');
    const program = problems.length === 0 ? programOf(definition) : undefined;
    const missing = program ? missingOperations(program, agents) : [];
    const wrong = [...problems.map(({ path, message }) => `${path}: ${message}`), ...missing];
    if (!program || wrong.length > 0)
      throw new SetupError(
        `The workflow ${key} cannot be loaded: ${wrong.join('; ')}.`,
        'Mend the definition, or add the agent to defineApp.',
      );
    if (programs.has(key)) throw new SetupError(`Two workflows are called ${key}.`, 'Give one of them another name or version.');

    programs.set(key, program);
    const latest = newest.get(definition.name);
    if (!latest || latest.definition.version < definition.version) newest.set(definition.name, program);
  }
  const wrongCalls = callProblems(workflows);
  if (wrongCalls.length > 0)
    throw new SetupError(
      wrongCalls.map(({ workflow, path, message }) => `${workflow} ${path}: ${message}`).join('\n'),
      'Mend the calls, or add the workflow to defineApp.',
    );
  const outputs = new Map(
    agents.flatMap(({ name, operations }) =>
      Object.entries(operations).map(([operation, described]) => [`${name}.${operation}`, outputSchema(described)]),
    ),
  );
  return {
    program: (name, version) => programs.get(`${name}@${version}`),
    newest: (name) => newest.get(name),
    names: () => [...newest.keys()],
    isOutput: (agent, operation, output) => outputs.get(`${agent}.${operation}`)?.safeParse(output).success ?? false,
    agents,
  };
}

/** The schema as it is on the wire: what the agent's own schema makes of an answer, after any change of its form. */
const outputSchema = ({ output }: AnyOperation): z.ZodType =>
  z.fromJSONSchema(z.toJSONSchema(output, { io: 'output', unrepresentable: 'any' }) as Parameters<typeof z.fromJSONSchema>[0]);

const missingOperations = (program: Program, agents: readonly AgentDefinition[]): readonly string[] =>
  [...program.nodes].flatMap(([path, node]) => {
    if (node.activity !== 'step' || node.agent === workflowsAgent) return [];
    const agent = agents.find(({ name }) => name === node.agent);
    if (!agent) return [`${path} asks the agent "${node.agent}", which the app does not have`];
    return Object.hasOwn(agent.operations, node.operation)
      ? []
      : [`${path} asks "${node.agent}" for "${node.operation}", which it does not do`];
  });
