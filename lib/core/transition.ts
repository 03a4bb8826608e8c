import type { Command } from './command.ts';
import type { CoreFact } from './journal.ts';
import type { Json } from './json.ts';
import type { State } from './state.ts';
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

/** What an event may need beside the state. */
export interface Handed {
  /** Pages of the undo list that lie outside of the state. */
  readonly pages?: UndoPages;
  /** Bytes that the state and these facts may have: given where they turned out to be more than can be stored. */
  readonly room?: number | undefined;
}
