import { rootPath } from '#core/definition/definition';

/*
 * Three numbers name a request within its order and path:
 * - generation: the number of the effect at this path. A new effect, after an undo or a refusal, has a new number.
 * - epoch: the number of the order's claim. A claim by a scheduler and a reset by the supervisor increment it.
 * - attempt: the number of the request of a step, from 1. It begins at 1 again if a retry starts the step for a new effect.
 * The idempotency key has the generation alone; the request id has all three.
 */

/** Returns the generation of the first effect at each path of an order. */
export const firstGenerationOf = ({ firstGeneration = 1 }: { readonly firstGeneration?: number | undefined }): number => firstGeneration;

/**
 * Returns the name of one effect: `ord_1/order/charge/1`. It stays the same over attempts and claims, so a service that
 * remembers it applies the effect once. Only a new generation changes it.
 */
export const idempotencyKeyOf = (orderId: string, path: string, generation: number): string => `${orderId}/${path}/${generation}`;

/** Returns a factor from 0.8 to 1.2, always the same for the same key (FNV-1a). A random number would not be pure. */
export function jitterOf(idempotencyKey: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < idempotencyKey.length; at++) hash = Math.imul(hash ^ idempotencyKey.charCodeAt(at), 0x01000193);
  return 0.8 + (0.4 * (hash >>> 0)) / 0xffffffff;
}

/** Returns the id of one attempt within its order and path: `1#1.2` is generation 1, epoch 1, attempt 2. */
export const attemptIdOf = ({
  generation,
  epoch,
  attempt,
}: {
  readonly generation: number;
  readonly epoch: number;
  readonly attempt: number;
}): string => `${generation}#${epoch}.${attempt}`;

/** Returns the id of one request: `ord_1/order/charge/1#1.2`. Every attempt and every claim (a new epoch) changes it. */
export const requestIdOf = (orderId: string, path: string, attempt: Parameters<typeof attemptIdOf>[0]): string =>
  requestIdFrom(orderId, path, attemptIdOf(attempt));

/** Returns the id of one request from the attempt id as text: a journal entry stores the path and the attempt id. */
export const requestIdFrom = (orderId: string, path: string, attemptId: string): string => `${orderId}/${path}/${attemptId}`;

/** Returns the path of the step that a request id names, or undefined if it belongs to another order or is malformed. */
export const stepOfRequest = (orderId: string, requestId: string): string | undefined => {
  if (!requestId.startsWith(`${orderId}/`)) return undefined;
  const end = requestId.lastIndexOf('/');
  const path = /^\d+#\d+\.\d+$/.test(requestId.slice(end + 1)) ? requestId.slice(orderId.length + 1, end) : undefined;
  // Every path begins with the root's name. Callers look the path up in a plain object, where the path "constructor"
  // would find the property that every object inherits.
  return path === rootPath || path?.startsWith(`${rootPath}/`) || path?.startsWith(`${rootPath}[`) ? path : undefined;
};

/** Returns the generation of the effect that a request id names. */
export const generationOf = (requestId: string): number => Number(/(\d+)#\d+\.\d+$/.exec(requestId)?.[1]);

/** Returns the attempt number in a request id or an attempt id. */
export const attemptOf = (id: string): number => Number(/#\d+\.(\d+)$/.exec(id)?.[1]);

/** Returns the path of a step's undo: `order/charge/undo` for `order/charge`. */
export const undoPathOf = (path: string): string => `${path}/undo`;

export const isUndoPath = (path: string): boolean => path.endsWith('/undo');

/** Returns the key of the effect that an undo reverses: `ord_1/order/charge/1` for `ord_1/order/charge/undo/1`. */
export const keyOfUndone = (undoKey: string): string => undoKey.replace(/\/undo\/(\d+)$/, '/$1');

/** Returns the path of the step that an undo reverses, from the path of the undo: `order/charge` for `order/charge/undo`. */
export const undonePath = (undoPath: string): string => undoPath.slice(0, -'/undo'.length);

/** Returns the path of the step itself, from its path or from the path of its undo. */
export const stepOfUndo = (path: string): string => (isUndoPath(path) ? undonePath(path) : path);

/** A child to start: its name or, in a loop, its name with the number of the turn. */
export type Start = string | { readonly name: string; readonly index: number };

/** Returns the path of a child that an activity starts. */
export const childPath = (path: string, start: Start): string =>
  typeof start === 'string' ? `${path}/${start}` : `${path}[${start.index}]/${start.name}`;

/** Returns the path in the definition: loops show no turn. */
export const definitionPath = (path: string): string => (path.includes('[') ? path.replace(/\[\d+\]/g, '') : path);
