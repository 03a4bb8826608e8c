/** An effect in the world outside, by the key under which it was asked for. */
export interface Effect {
  readonly operation: string;
  /** How often it was done. */
  times: number;
  undone: boolean;
}
