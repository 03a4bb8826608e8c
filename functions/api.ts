import { createApi } from '#api/app';
import { gatewayHandler } from '#api/gateway';
import type { FunctionContext } from '#runtime/function';

/** The HTTP API behind API Gateway (payload format 2.0). It checks the tokens itself, so that a refusal is problem+json too. */
export const create = ({ system, accepting }: FunctionContext) => gatewayHandler(createApi({ ...system, accepting }));
