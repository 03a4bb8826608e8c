/** The effect of an operation at a remote service, under its idempotency key. */
export interface Effect {
  readonly operation: string;
  /** The number of times that it took effect. */
  times: number;
  undone: boolean;
}

/** Returns the order and the step of an effect's key. */
export function stepOf(key: string): { readonly orderId: string; readonly path: string } {
  const end = key.indexOf('/');
  return { orderId: key.slice(0, end), path: key.slice(end + 1, key.lastIndexOf('/')) };
}
