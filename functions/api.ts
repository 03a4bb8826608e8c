import { createApi } from '../lib/api/app.ts';
import { gatewayHandler } from '../lib/api/gateway.ts';
import type { FunctionContext } from '../lib/function.ts';

/** The HTTP API behind API Gateway (payload format 2.0). It checks the tokens itself, so that a refusal is problem+json too. */
export const create = ({ system, accepting }: FunctionContext) => gatewayHandler(createApi({ ...system, accepting }));
