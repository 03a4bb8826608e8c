import * as z from 'zod';
import type { AnyOperation } from '#authoring/agent';
import { operationsOf } from '#authoring/workflow';
import type { RequestCommand } from '#core/data/command';
import type { StepReply } from '#core/data/event';
import { engineFault, engineFaults } from '#core/data/fault';
import type { Json, JsonObject } from '#core/data/json';
import type { WorkflowDefinition } from '#core/definition/definition';
import { validatorOf } from '#ports/util/validation';
import { sampleOf } from './sample.ts';
import type { RequestedStep, Rule } from './stubs.ts';

/** An answer, and its delay after the request. */
export interface Answered {
  readonly reply: StepReply | 'silence';
  readonly afterMs: number;
}

const atOnce = (reply: Answered['reply']): Answered => ({ reply, afterMs: 0 });

/** Stands in for agents, operators and senders of signals. */
export class Answers {
  private readonly rules: readonly Rule[];
  private readonly counts = new Map<Rule, number>();
  /** Idempotency keys of `atMostOnce` requests that may have had an effect. */
  private readonly noted = new Set<string>();

  constructor(rules: readonly Rule[]) {
    this.rules = rules;
  }

  /** Returns the first rule for a request. Every matching rule counts the request, so that `once` and `nth` are independent. */
  ruleFor(requested: RequestedStep): Rule | undefined {
    const concerned = this.rules.filter((rule) => rule.concerns(requested));
    for (const rule of concerned) this.counts.set(rule, (this.counts.get(rule) ?? 0) + 1);
    return concerned.find((each) => each.first <= (this.counts.get(each) ?? 0) && (this.counts.get(each) ?? 0) <= each.last);
  }

  /** Returns the agent's reply: from a rule, or a value made from the operation's output schema. */
  ofAgent(requested: RequestedStep, command: RequestCommand, workflow: WorkflowDefinition): Answered {
    const operation = operationsOf(workflow).get(requested.operation);
    if (!operation?.atMostOnce) return this.answerTo(operation, requested, command);
    const isKnown = requested.purpose === 'confirm' || this.noted.has(command.idempotencyKey);
    if (isKnown && !operation.lookup) return atOnce(outcomeUnknown);
    const answered = this.answerTo(operation, requested, command);
    const { reply } = answered;
    // A transient failure proves that nothing was sent, so the key stays free.
    if (reply === 'silence' || reply.status !== 'failed' || reply.fault.permanent) this.noted.add(command.idempotencyKey);
    return answered;
  }

  /** Returns the stubbed answer of a called workflow, if a rule has one. */
  ofCall(requested: RequestedStep): Answered | undefined {
    const { answer, takesMs = 0 } = this.ruleFor(requested) ?? {};
    return answer === undefined || answer === 'made up' ? undefined : { reply: answer, afterMs: takesMs };
  }

  private answerTo(operation: AnyOperation | undefined, requested: RequestedStep, { input }: RequestCommand): Answered {
    const parsed = operation && z.safeParse(operation.input, input);
    if (parsed?.success === false) return atOnce(refused(`Invalid input of ${requested.operation}`, parsed.error));
    const { answer = 'made up', takesMs = 0 } = this.ruleFor(requested) ?? {};
    return { reply: answer === 'made up' ? this.madeUp(operation, requested) : answer, afterMs: takesMs };
  }

  private madeUp(operation: AnyOperation | undefined, requested: RequestedStep): StepReply {
    const sample = operation && sampleOf(operation.output, requested.operation);
    if (sample && sample.problem === undefined) return { status: 'succeeded', output: sample.value };
    const [agent = '', name = ''] = requested.operation.split('.');
    const why = sample ? `${JSON.stringify(sample.value)} violates its schema: ${sample.problem}` : 'its schema is unknown';
    throw new Error(
      `Cannot make up an answer of ${requested.operation} (${requested.path}): ${why}. Add a stub: given(${agent}.${name}).answers({…}).`,
    );
  }

  /** Returns what a person or another system sends, and its delay. Without a rule, they send nothing. */
  fromOutside(requested: RequestedStep, schema: JsonObject | undefined): { readonly value: Json; readonly afterMs: number } | undefined {
    const { answer = 'silence', afterMs = 0 } = this.ruleFor(requested) ?? {};
    if (answer === 'silence' || answer === 'made up' || answer.status !== 'succeeded') return undefined;
    const problem = misfit(schema, answer.output);
    if (problem !== undefined)
      throw new TypeError(
        `Invalid stub: ${requested.operation} (${requested.path}) has an output schema that rejects ${JSON.stringify(answer.output)}: ${problem}.`,
      );
    return { value: answer.output, afterMs };
  }
}

/** Returns why a value violates a JSON Schema, or undefined if it is valid. */
export function misfit(schema: JsonObject | undefined, value: Json): string | undefined {
  if (schema === undefined) return undefined;
  const { error } = z.safeParse(validatorOf(schema), value);
  return error && inOneLine(error);
}

const inOneLine = (error: z.ZodError): string => z.prettifyError(error).replaceAll(/\s*\n\s*/g, ' ');

/** The reply of the agent itself: it does not run an `atMostOnce` operation again under the same key. */
const outcomeUnknown: StepReply = {
  status: 'failed',
  fault: engineFault(engineFaults.outcomeUnknown, 'Whether the atMostOnce operation had an effect is unknown, in a rehearsal.', {
    class: 'application-failure',
    outcomeUnknown: true,
  }),
};

/** Returns the reply of the agent itself to an invalid input, for which it does not call the service. */
const refused = (what: string, error: z.ZodError): StepReply => ({
  status: 'failed',
  fault: engineFault(engineFaults.requestRefused, `${what}: ${inOneLine(error)}.`, { class: 'application-failure' }),
});
