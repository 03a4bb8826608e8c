import type * as z from 'zod';
import type { Expr, In } from './expression.ts';
import type { Data } from './leaves.ts';
import { schemaOf } from './schema.ts';
import { type AnsweringActivity, recordAnswering } from './step.ts';

/**
 * Waits for a signal from outside (`POST /orders/{id}/signals/{name}`); one that came before is taken. What it brings
 * along has this schema, and is read as `.output`. Without `withinSeconds` it waits for as long as it takes; else the
 * fault `NoSignal` is raised.
 */
export const waitFor = <S extends z.ZodType>(
  signal: string,
  payload: S,
  { withinSeconds }: { readonly withinSeconds?: number | Expr<number> } = {},
): AnsweringActivity<never, z.output<S>> =>
  recordAnswering({
    activity: 'waitFor',
    name: signal,
    signal,
    payload: schemaOf(payload, 'input'),
    ...(withinSeconds === undefined ? {} : { withinSeconds }),
  });

/** Holds the order until an operator answers. The answer has this schema, and is read as `.output`. */
export const askOperator = <S extends z.ZodType>(
  name: string,
  { question, answer, details }: { readonly question: In<string>; readonly answer: S; readonly details?: Data },
): AnsweringActivity<never, z.output<S>> =>
  recordAnswering({
    activity: 'askOperator',
    name,
    question,
    answer: schemaOf(answer, 'input'),
    ...(details === undefined ? {} : { details }),
  });
