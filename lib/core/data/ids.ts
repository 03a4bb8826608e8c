import { rootPath } from '#core/definition/definition';

/** The generation that each effect of an order begins with. */
export const firstGenerationOf = ({ firstGeneration = 1 }: { readonly firstGeneration?: number | undefined }): number => firstGeneration;

/** Names one effect. The same over attempts, retries and resets: whoever keeps it applies the effect once. */
export const idempotencyKeyOf = (orderId: string, path: string, generation: number): string => `${orderId}/${path}/${generation}`;

/** From 0.8 to 1.2, the same for the same key (FNV-1a): chance would not be pure. */
export function jitterOf(idempotencyKey: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < idempotencyKey.length; at++) hash = Math.imul(hash ^ idempotencyKey.charCodeAt(at), 0x01000193);
  return 0.8 + (0.4 * (hash >>> 0)) / 0xffffffff;
}

/** One asking, apart from its order and path: `1#1.2` is generation 1, asked under claim 1 for the 2nd time. */
export const attemptIdOf = ({
  generation,
  epoch,
  attempt,
}: {
  readonly generation: number;
  readonly epoch: number;
  readonly attempt: number;
}): string => `${generation}#${epoch}.${attempt}`;

/** Names one asking: it changes with every attempt and with every claim. */
export const requestIdOf = (orderId: string, path: string, attempt: Parameters<typeof attemptIdOf>[0]): string =>
  requestIdFrom(orderId, path, attemptIdOf(attempt));

/** The request id that a journal entry means: it keeps only what can't be read from its order and path. */
export const requestIdFrom = (orderId: string, path: string, attemptId: string): string => `${orderId}/${path}/${attemptId}`;

/** The path of the step that a request id names; undefined when it belongs to another order, or is no request id. */
export const stepOfRequest = (orderId: string, requestId: string): string | undefined => {
  if (!requestId.startsWith(`${orderId}/`)) return undefined;
  const end = requestId.lastIndexOf('/');
  const path = /^\d+#\d+\.\d+$/.test(requestId.slice(end + 1)) ? requestId.slice(orderId.length + 1, end) : undefined;
  // No path begins otherwise, but every object knows a "constructor".
  return path === rootPath || path?.startsWith(`${rootPath}/`) || path?.startsWith(`${rootPath}[`) ? path : undefined;
};

/** The generation of the effect that a request id is about. */
export const generationOf = (requestId: string): number => Number(/(\d+)#\d+\.\d+$/.exec(requestId)?.[1]);

/** Which attempt a request id names. */
export const attemptOf = (requestId: string): number => Number(/#\d+\.(\d+)$/.exec(requestId)?.[1]);

/** The path of what an undo, at this path, takes back. */
export const undonePath = (undoPath: string): string => undoPath.slice(0, -'/undo'.length);
