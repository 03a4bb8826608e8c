/** Names one effect. The same over attempts, retries and resets: whoever keeps it applies the effect once. */
export const idempotencyKeyOf = (orderId: string, path: string, generation: number): string => `${orderId}/${path}/${generation}`;

/** Names one asking: it changes with every attempt and with every claim. */
export const requestIdOf = (orderId: string, path: string, { generation, epoch, attempt }: { generation: number; epoch: number; attempt: number }): string =>
  `${idempotencyKeyOf(orderId, path, generation)}#${epoch}.${attempt}`;

/** The path of the step that a request id names; undefined when it belongs to another order, or is no request id. */
export const stepOfRequest = (orderId: string, requestId: string): string | undefined => {
  if (!requestId.startsWith(`${orderId}/`)) return undefined;
  return /^(.+)\/\d+#\d+\.\d+$/.exec(requestId.slice(orderId.length + 1))?.[1];
};
