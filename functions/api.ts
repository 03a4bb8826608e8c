import { createApi } from '#api/app';
import { builtConsole } from '#api/console';
import { gatewayHandler } from '#api/gateway';
import type { FunctionContext } from '#runtime/function';

/** Serves the HTTP API behind API Gateway. The function itself verifies tokens, so that refusals are problem+json, too. */
export const create = ({ system, accepting }: FunctionContext) =>
  gatewayHandler(createApi({ ...system, accepting, console: builtConsole }));
