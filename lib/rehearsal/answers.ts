import * as z from 'zod';
import type { AnyOperation } from '../authoring/agent.ts';
import { operationsOf } from '../authoring/workflow.ts';
import type { AskCommand } from '../core/command.ts';
import type { WorkflowDefinition } from '../core/definition.ts';
import type { StepReply } from '../core/event.ts';
import { engineFault, engineFaults } from '../core/fault.ts';
import { sampleOf } from './sample.ts';
import type { Asking, Rule } from './when.ts';

/** Stands in for every agent: by the rules, or with a value that fits the operation's schema. */
export function createAnswers(workflow: WorkflowDefinition, rules: readonly Rule[]) {
  const operations = operationsOf(workflow);
  const counts = new Map<Rule, number>();
  /** Keys under which something was asked for that may be asked for only once. */
  const noted = new Set<string>();

  return (asking: Asking, ask: AskCommand): Rule['answer'] => {
    const operation = operations.get(asking.operation);
    if (!operation?.atMostOnce) return answerTo(operation, asking, ask);
    const isKnown = asking.purpose === 'settle' || noted.has(ask.idempotencyKey);
    if (isKnown && !operation.lookup) return unknown;
    const answer = answerTo(operation, asking, ask);
    // Not now: nothing was sent.
    if (answer === 'silence' || answer.status !== 'failed' || answer.fault.permanent) noted.add(ask.idempotencyKey);
    return answer;
  };

  function answerTo(operation: AnyOperation | undefined, asking: Asking, { input }: AskCommand): Rule['answer'] {
    const parsed = operation && z.safeParse(operation.input, input);
    if (parsed?.success === false) return refused(asking.operation, z.prettifyError(parsed.error));
    // Every rule counts what it concerns, whichever of them answers.
    const concerned = rules.filter((rule) => rule.concerns(asking));
    for (const rule of concerned) counts.set(rule, (counts.get(rule) ?? 0) + 1);
    const rule = concerned.find((each) => each.first <= (counts.get(each) ?? 0) && (counts.get(each) ?? 0) <= each.last);
    if (rule) return rule.answer;

    const sample = operation && sampleOf(operation.output, asking.operation);
    if (sample && sample.problem === undefined) return { status: 'succeeded', output: sample.value };
    const [agent = '', name = ''] = asking.operation.split('.');
    const why = sample ? `${JSON.stringify(sample.value)} does not fit: ${sample.problem}` : 'its schema is not at hand';
    throw new Error(
      `No answer could be made up for ${asking.operation} (${asking.path}): ${why}. Say what it answers, with when(${agent}.${name}).answers({…}).`,
    );
  }
}

/** As the agent itself would: it never asks again blindly. */
const unknown: StepReply = {
  status: 'failed',
  fault: engineFault(engineFaults.outcomeUnknown, 'It may be asked for only once, in a rehearsal too.', {
    class: 'application-failure',
    outcomeUnknown: true,
  }),
};

/** As the agent itself would: it asks nobody with an input that is not what it takes. */
const refused = (operation: string, issues: string): StepReply => ({
  status: 'failed',
  fault: engineFault(
    engineFaults.requestRefused,
    `The input of ${operation} is not what it takes: ${issues.replaceAll(/\s*\n\s*/g, ' ')}.`,
    {
      class: 'application-failure',
    },
  ),
});
