import { handle } from 'hono/aws-lambda';
import { createApi } from '../lib/api/app.ts';
import type { FunctionContext } from '../lib/function.ts';

/** The HTTP API behind API Gateway (payload format 2.0). It checks the tokens itself, so that a refusal is problem+json too. */
export const create = ({ system }: FunctionContext) => handle(createApi(system));
