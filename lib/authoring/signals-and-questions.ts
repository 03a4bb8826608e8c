import type * as z from 'zod';
import type { People } from '#core/definition/people';
import type { Data } from './basic-activities.ts';
import type { Expr, In } from './expression.ts';
import { checkedSchemaOf } from './schema.ts';
import { type AnsweringActivity, recordAnswering } from './step.ts';

/** An activity that waits for a signal with an O as its payload. */
export interface SignalActivity<O> extends AnsweringActivity<never, O> {
  /** The name of the signal. */
  readonly signal: string;
}

/** An activity that asks a person, who answers with an O. */
export interface QuestionActivity<O> extends AnsweringActivity<never, O> {
  /** The name of the question, which the answer refers to. */
  readonly question: string;
}

const received = { io: 'input', unrepresentable: 'any' } as const;

/**
 * Waits for a signal from outside (`POST /orders/{id}/signals/{name}`), or takes one that is already there. `.output` is its payload,
 * checked against the schema. After `withinSeconds` it raises `NoSignal`; without that option it waits without a limit.
 */
export const waitFor = <S extends z.ZodType>(
  signal: string,
  payload: S,
  { withinSeconds }: { readonly withinSeconds?: number | Expr<number> } = {},
): SignalActivity<z.output<S>> =>
  recordAnswering(
    {
      activity: 'waitFor',
      name: signal,
      signal,
      payload: checkedSchemaOf(payload, `waitFor("${signal}")`, received),
      ...(withinSeconds === undefined ? {} : { withinSeconds }),
    },
    () => ({ signal }),
  );

/**
 * Blocks the order until an operator answers. `.output` is the answer, checked against the schema. `people` says whom the question is for,
 * when it is due, and who hears of it if nobody takes it.
 */
export const askOperator = <S extends z.ZodType>(
  name: string,
  {
    question,
    answer,
    details,
    people,
  }: { readonly question: In<string>; readonly answer: S; readonly details?: Data; readonly people?: People },
): QuestionActivity<z.output<S>> =>
  recordAnswering(
    {
      activity: 'askOperator',
      name,
      question,
      answer: checkedSchemaOf(answer, `askOperator("${name}")`, received),
      ...(details === undefined ? {} : { details }),
      ...(people === undefined ? {} : { people }),
    },
    (shape) => ({ question: shape.name }),
  );
