/** The effect of an operation at a remote service, under its idempotency key. */
export interface Effect {
  readonly operation: string;
  /** How often it took effect. */
  times: number;
  undone: boolean;
}
