import type { Command } from '#core/data/command';
import type { CoreFact } from '#core/data/journal';
import type { Json } from '#core/data/json';
import type { State } from '#core/data/state';
import type { UndoPages } from './undo-pages.ts';

/** The fixed identity of an instance. It never changes. */
export interface Subject {
  readonly orderId: string;
  readonly order: Json;
  /** The generation of the order's first effects; 1 by default. A higher one keeps the keys different from those of an earlier order with the same id. */
  readonly firstGeneration?: number | undefined;
}

/** The result of one event. Save the state before you carry out the commands. */
export interface Transition {
  readonly state: State;
  readonly commands: readonly Command[];
  /** The lines for the journal. */
  readonly facts: readonly CoreFact[];
  /** The page of the undo list that is missing. Discard this transition, load the page, and apply the event again. */
  readonly needs?: number;
}

/** The bytes that a transition may use. Given only after a first try was too large to store. */
export interface ByteBudget {
  readonly state: number;
  /** Bytes of the facts, which share one write with pages of the undo list. */
  readonly journal: number;
}

/** The inputs of an event besides the state. */
export interface Inputs {
  /** The loaded pages of the undo list, by number. */
  readonly pages?: UndoPages;
  readonly byteBudget?: ByteBudget | undefined;
}
