import type { CancelCommand, RequestCommand } from '#core/data/command';
import type { StepReply } from '#core/data/event';
import type { Json } from '#core/data/json';
import type { Program } from '#core/definition/program';
import type { ByteBudget } from '#core/engine/transition';
import type { UndoPages } from '#core/engine/undo-pages';
import type { OrderRecord, OutboxEntry, StateRecord } from '#ports/records';
import type { Instruction, Signal } from '#roles/operator/instruction';
import type { Instance } from './instance.ts';

/** Something that came in for one order, and counts at most once. */
export type Incoming = { readonly id: string } & (
  | { readonly type: 'reply'; readonly requestId: string; readonly agent: string; readonly sentAt: number; readonly reply: StepReply }
  | { readonly type: 'heartbeat'; readonly requestId: string; readonly agent: string; readonly completeBy: number }
  | { readonly type: 'wake-up' }
  /** The order that called this one has it undone. */
  | { readonly type: 'compensate' }
  /** `key`: what it is remembered by, so that the same again changes nothing. */
  | { readonly type: 'instruction'; readonly instruction: Instruction; readonly key?: string }
  | { readonly type: 'signal'; readonly signal: Signal; readonly key?: string }
);

/** One order as it was loaded, with its instance decoded. */
export interface Loaded {
  readonly program: Program;
  readonly order: OrderRecord;
  readonly record: StateRecord;
  readonly instance: Instance;
  /** Made anew by the journal: another one may have put other pages aside under the same rev. */
  readonly rebuilt?: true;
  /** Pages of what can be undone that were read, because a plan needed them. */
  readonly undoPages?: UndoPages;
}

/** What a transition needs to know of the host that makes it. */
export interface Settings {
  /** Id of the host, for the claim. */
  readonly hostId: string;
  readonly announceProcessed: boolean;
  /** How far the clocks of hosts may be apart. */
  readonly clockToleranceMs: number;
  /** Whether an output is what the operation's schema promises. */
  readonly isOutput: (agent: string, operation: string, output: Json) => boolean;
  /** Given where a plan turned out to be too large. */
  readonly byteBudget?: ByteBudget | undefined;
}

/** What is to be written, and what is to be sent once it is. */
export interface PlannedWrite {
  /** The record without rev, writeId and blob: `save` adds them. */
  readonly record: StateRecord;
  readonly instance: Instance;
  readonly requests: readonly RequestCommand[];
  readonly cancels: readonly CancelCommand[];
  readonly wakeUps: readonly number[];
  /** Entries that this transition adds; they are part of the record's outbox. */
  readonly outbox: readonly OutboxEntry[];
  /** Ids of what came in that changed something. */
  readonly taken: readonly string[];
}

/** Nothing can be planned until this page of what can be undone is read. */
export interface NeedsPage {
  readonly needs: number;
}
