import { openDatabase } from '#adapters/sqlite/database';
import { sqliteStore } from '#adapters/sqlite/store';
import type { WorkflowDefinition } from '#core/definition/definition';
import { programOf } from '#core/definition/program';
import { workflowRef } from '#core/definition/workflow-ref';
import type { Check } from '#core/instructions/check';
import { compileRules } from '#core/rules/rule-set';
import { manualClock } from '#ports/clock';
import type { Definitions } from '#ports/definitions';
import { createTelemetry } from '#ports/telemetry';
import { issuesIn, validatorOf } from '#ports/util/validation';
import type { OrderCase } from '#roles/cases/case';
import { createInstructing } from '#roles/operator/instruct';
import type { Instruction } from '#roles/operator/instruction';
import { encodeInstance, newRecord } from '#roles/scheduler/instance';
import { createOrders } from '#roles/scheduler/orders';
import type { Loaded } from '#roles/scheduler/types';
import type { TestInstruction } from '#testing/rehearse/stubs';
import type { Past } from './head-at.ts';

interface Fork extends Past {
  readonly given: OrderCase;
  readonly head: OrderCase['head'];
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Other versions of the workflow, for instructions that name one. */
  readonly workflows: readonly WorkflowDefinition[];
}

const hostId = 'replay';

/**
 * Checks an instruction to an order at a past moment, with the code that checks the instructions of operators.
 *
 * @throws TypeError with the pointers of values that do not fit their schema.
 */
export async function dryRun(fork: Fork, { by = 'test', reason = 'Instruction of a test.', ...given }: TestInstruction): Promise<Check> {
  const { order, record } = recordsOf(fork);
  const definitions = definitionsOf(fork);
  const clock = manualClock(fork.at);
  const database = openDatabase(':memory:');
  try {
    const store = sqliteStore(database);
    await store.create(order, record, { messages: [], announcements: [] });
    const { isValidOutput, isValidInput } = definitions;
    const settings = { hostId, announceProcessed: false, clockToleranceMs: 0, isValidOutput, isValidInput };
    const rules = compileRules(fork.given.rules);
    const orders = createOrders({ store, clock, definitions, settings, rules: async () => rules });
    const telemetry = createTelemetry({ level: 'off', write: () => undefined });
    const instruct = createInstructing({ store, clock, telemetry, definitions, hostId }, orders, { save: nothingIsWritten });
    const answer = await instruct(order.orderId, { ...given, by, reason } as Instruction, { id: hostId, dryRun: true });
    if (answer.outcome === 'planned') return answer.check;
    const problems = answer.outcome === 'invalid' ? answer.problems.map(({ pointer, detail }) => `${pointer} ${detail}`) : [answer.outcome];
    throw new TypeError(`Cannot check ${given.kind}: ${problems.join('; ')}`);
  } finally {
    await database.close();
  }
}

const nothingIsWritten = (): never => {
  throw new Error('A check writes nothing.');
};

/** Returns the records of the order as they were, with its whole journal in the state. */
function recordsOf({ given, head, instance, program }: Fork): Pick<Loaded, 'order' | 'record'> {
  const order = { ...given.order, hash: '', answer: '' };
  const { stepMs, maxFailures, longWaitMs, definition: hash } = head;
  const first = newRecord(order, program.definition, { stepMs, maxFailures, longWaitMs, hash });
  return { order, record: { ...first, ...head, blob: encodeInstance(instance) } };
}

function definitionsOf({ given, program, workflows }: Fork): Definitions {
  const own = program.definition;
  const programs = new Map([...workflows, own].map((each) => [workflowRef(each), each === own ? program : programOf(each)]));
  const schemasOf = (agent: string, operation: string) => given.schemas[`${agent}.${operation}`];
  const newest = [...programs.values()].toSorted((one, other) => other.definition.version - one.definition.version);
  const fits = (schema: NonNullable<ReturnType<typeof schemasOf>>['input'], value: Parameters<Definitions['isValidInput']>[2]) =>
    schema === undefined || issuesIn(validatorOf(schema), value).length === 0;
  return {
    program: (name, version) => programs.get(workflowRef({ name, version })),
    programOf: () => program,
    newest: (name) => newest.find(({ definition }) => definition.name === name),
    names: () => [own.name],
    workflows: [...workflows, own],
    catalog: { schemasOf },
    rules: given.rules,
    isValidOutput: (agent, operation, output) => fits(schemasOf(agent, operation)?.output, output),
    isValidInput: (agent, operation, input) => fits(schemasOf(agent, operation)?.input, input),
    agents: [],
    consumers: [],
    warnings: [],
  };
}
