import type { Command } from '#core/data/command';
import type { CoreFact } from '#core/data/journal';
import type { Json } from '#core/data/json';
import type { State } from '#core/data/state';
import type { UndoPages } from './undo-pages.ts';

/** What an instance is about. It never changes. */
export interface Subject {
  readonly orderId: string;
  readonly order: Json;
  /** Of each effect; 1 where nothing is said. The key of an effect says it, so that no effect of a former order of this id has the same. */
  readonly firstGeneration?: number | undefined;
}

/** What an event leads to. Save the state first; only then carry out the commands. */
export interface Transition {
  readonly state: State;
  readonly commands: readonly Command[];
  /** What the journal says of it. */
  readonly facts: readonly CoreFact[];
  /** Nothing of it counts until this page of the undo list is handed in. */
  readonly needs?: number;
}

/** Bytes that a transition may come to: given where it turned out to be more than can be stored. */
export interface ByteBudget {
  readonly state: number;
  /** Bytes of the facts. Pages of the same write can take them. */
  readonly journal: number;
}

/** What an event may need beside the state. */
export interface Inputs {
  /** Pages of the undo list that lie outside of the state. */
  readonly pages?: UndoPages;
  readonly byteBudget?: ByteBudget | undefined;
}
