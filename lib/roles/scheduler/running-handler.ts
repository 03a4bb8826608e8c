import type { RuleControl } from '#core/rules/rule';

/** An order that handles an exception of another one. */
export interface RunningHandler {
  /** The number of the exception. */
  readonly seq: number;
  readonly orderId: string;
  readonly workflow: { readonly name: string; readonly version?: number };
  readonly control: RuleControl;
  /** The path of the activity that the exception is about. */
  readonly place: string;
  /** The path at which the order with the exception goes on after this handler has ended; only with `control: 'resumed'`. */
  readonly path?: string;
  /** Whether a person has given the handler to a finished order. If the handler does not complete, a person hears of it. */
  readonly ofFinished?: true;
}
