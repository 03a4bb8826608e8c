import { operatorAsked } from '#core/data/fault';
import type { JsonObject } from '#core/data/json';
import type { ActivityBase, Template } from '#core/definition/definition';
import { type People, peopleProblems } from '#core/definition/people';
import { type Behavior, close, noChildren, raise, succeeded } from '#core/engine/behavior';

export interface AskOperator extends ActivityBase {
  readonly activity: 'askOperator';
  readonly question: Template;
  /** Facts that help the person to answer. */
  readonly details?: Template;
  /** JSON Schema of the answer. */
  readonly answer?: JsonObject;
  /** The group that the question is for, and its times. Each field replaces that of the workflow's option `people`. */
  readonly people?: People;
}

/** Blocks the order until a person answers. Expressions read the answer as `steps.<name>`. */
export const askOperator: Behavior<AskOperator, Record<string, never>> = {
  children: noChildren,
  answers: true,
  problems: ({ people }) => peopleProblems(people),
  templates: ({ question, details }) => [question, ...(details === undefined ? [] : [details])],

  execute({ question, details }, { evaluate }) {
    const text = evaluate(question);
    if (!text.ok) return raise(text.fault);
    const more = details === undefined ? undefined : evaluate(details);
    if (more && !more.ok) return raise(more.fault);

    const message = typeof text.value === 'string' ? text.value : JSON.stringify(text.value);
    const data = more ? { data: more.value } : {};
    return { verb: 'ask', state: {}, question: { type: operatorAsked, class: 'expected', permanent: true, message, ...data } };
  },
  // The answer of a person closes the activity. If there is no answer, a rule has decided that people are asked again.
  repeat: (node, _, context) => (context.answer === undefined ? askOperator.execute(node, context) : close(succeeded(context.answer))),
};
