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

/** An answer, and how long after the request it comes. */
export interface Answered {
  readonly reply: StepReply | 'silence';
  readonly afterMs: number;
}

const atOnce = (reply: Answered['reply']): Answered => ({ reply, afterMs: 0 });

/** Stands in for everybody outside of an order: agents, whoever sends signals, operators. */
export class Answers {
  private readonly rules: readonly Rule[];
  private readonly counts = new Map<Rule, number>();
  /** Keys under which something was asked for that may be asked for only once. */
  private readonly noted = new Set<string>();

  constructor(rules: readonly Rule[]) {
    this.rules = rules;
  }

  /** Every rule counts what it concerns, whichever of them answers. */
  ruleFor(asking: RequestedStep): Rule | undefined {
    const concerned = this.rules.filter((rule) => rule.concerns(asking));
    for (const rule of concerned) this.counts.set(rule, (this.counts.get(rule) ?? 0) + 1);
    return concerned.find((each) => each.first <= (this.counts.get(each) ?? 0) && (this.counts.get(each) ?? 0) <= each.last);
  }

  /** What an agent answers: by the rules, or with a value that fits the operation's schema. */
  ofAgent(asking: RequestedStep, ask: RequestCommand, workflow: WorkflowDefinition): Answered {
    const operation = operationsOf(workflow).get(asking.operation);
    if (!operation?.atMostOnce) return this.answerTo(operation, asking, ask);
    const isKnown = asking.purpose === 'confirm' || this.noted.has(ask.idempotencyKey);
    if (isKnown && !operation.lookup) return atOnce(unknown);
    const answered = this.answerTo(operation, asking, ask);
    const { reply } = answered;
    // Not now: nothing was sent.
    if (reply === 'silence' || reply.status !== 'failed' || reply.fault.permanent) this.noted.add(ask.idempotencyKey);
    return answered;
  }

  /** The answer of a called workflow that a rule stubs. */
  ofCall(asking: RequestedStep): Answered | undefined {
    const { answer, takesMs = 0 } = this.ruleFor(asking) ?? {};
    return answer === undefined || answer === 'made up' ? undefined : { reply: answer, afterMs: takesMs };
  }

  private answerTo(operation: AnyOperation | undefined, asking: RequestedStep, { input }: RequestCommand): Answered {
    const parsed = operation && z.safeParse(operation.input, input);
    if (parsed?.success === false) return atOnce(refused(`The input of ${asking.operation} is not what it takes`, parsed.error));
    const { answer = 'made up', takesMs = 0 } = this.ruleFor(asking) ?? {};
    return { reply: answer === 'made up' ? this.madeUp(operation, asking) : answer, afterMs: takesMs };
  }

  private madeUp(operation: AnyOperation | undefined, asking: RequestedStep): StepReply {
    const sample = operation && sampleOf(operation.output, asking.operation);
    if (sample && sample.problem === undefined) return { status: 'succeeded', output: sample.value };
    const [agent = '', name = ''] = asking.operation.split('.');
    const why = sample ? `${JSON.stringify(sample.value)} does not fit: ${sample.problem}` : 'its schema is not at hand';
    throw new Error(
      `No answer could be made up for ${asking.operation} (${asking.path}): ${why}. Say what it answers, with when(${agent}.${name}).answers({…}).`,
    );
  }

  /** What comes from a person or from outside, and after how long. Nothing, if no rule says so. */
  fromOutside(asking: RequestedStep, schema: JsonObject | undefined): { readonly value: Json; readonly afterMs: number } | undefined {
    const { answer = 'silence', afterMs = 0 } = this.ruleFor(asking) ?? {};
    if (answer === 'silence' || answer === 'made up' || answer.status !== 'succeeded') return undefined;
    const problem = misfit(schema, answer.output);
    if (problem !== undefined)
      throw new TypeError(`The ${asking.operation} (${asking.path}) does not take ${JSON.stringify(answer.output)}: ${problem}.`);
    return { value: answer.output, afterMs };
  }
}

/** What is wrong with a value, by a JSON Schema; undefined where it fits. */
export function misfit(schema: JsonObject | undefined, value: Json): string | undefined {
  if (schema === undefined) return undefined;
  const { error } = z.safeParse(validatorOf(schema), value);
  return error && inOneLine(error);
}

const inOneLine = (error: z.ZodError): string => z.prettifyError(error).replaceAll(/\s*\n\s*/g, ' ');

/** As the agent itself would: it never asks again blindly. */
const unknown: StepReply = {
  status: 'failed',
  fault: engineFault(engineFaults.outcomeUnknown, 'It may be asked for only once, in a rehearsal too.', {
    class: 'application-failure',
    outcomeUnknown: true,
  }),
};

/** As the agent itself would: it asks nobody with an input that is not what it takes. */
const refused = (what: string, error: z.ZodError): StepReply => ({
  status: 'failed',
  fault: engineFault(engineFaults.requestRefused, `${what}: ${inOneLine(error)}.`, { class: 'application-failure' }),
});
