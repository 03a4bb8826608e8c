import type * as z from 'zod';
import type { Data } from './basic-activities.ts';
import type { Expr, In } from './expression.ts';
import { checkedSchemaOf } from './schema.ts';
import { type AnsweringActivity, recordAnswering } from './step.ts';

/** An activity that waits for a signal, which brings along an O. */
export interface SignalActivity<O> extends AnsweringActivity<never, O> {
  /** Name of the signal. */
  readonly signal: string;
}

/** An activity that asks a person, who answers with an O. */
export interface QuestionActivity<O> extends AnsweringActivity<never, O> {
  /** Its own name, by which it is answered. */
  readonly question: string;
}

const received = { io: 'input', unrepresentable: 'any' } as const;

/**
 * Waits for a signal from outside (`POST /orders/{id}/signals/{name}`); one that came before is taken. What it brings
 * along has this schema, and is read as `.output`. Without `withinSeconds` it waits for as long as it takes; else the
 * fault `NoSignal` is raised.
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

/** Holds the order until an operator answers. The answer has this schema, and is read as `.output`. */
export const askOperator = <S extends z.ZodType>(
  name: string,
  { question, answer, details }: { readonly question: In<string>; readonly answer: S; readonly details?: Data },
): QuestionActivity<z.output<S>> =>
  recordAnswering(
    {
      activity: 'askOperator',
      name,
      question,
      answer: checkedSchemaOf(answer, `askOperator("${name}")`, received),
      ...(details === undefined ? {} : { details }),
    },
    (shape) => ({ question: shape.name }),
  );
