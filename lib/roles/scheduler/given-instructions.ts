import type { Json, JsonObject } from '#core/data/json';
import { withoutSealed } from '#core/definition/sealed';
import { mask, withoutTexts } from '#core/definition/secrets';
import type { StateRecord } from '#ports/records';
import type { Instruction } from '#roles/operator/instruction';
import type { Instance, JournalEntry } from './instance.ts';

/** The state of an order before or after an instruction. */
export type Standing = Pick<StateRecord, 'processState' | 'outcome' | 'suspended'>;

export const standing = ({ processState, outcome, suspended }: StateRecord): Standing => ({ processState, outcome, suspended });

/** Returns what an instruction says, without secrets. */
export function saidBy({ kind: _, by: __, reason: ___, ...said }: Instruction, secrets: readonly string[]): JsonObject {
  // The body of a new order is shown by that order.
  const shown = 'order' in said ? { ...said, order: mask } : said;
  return withoutSealed(withoutTexts(shown as { readonly [field: string]: Json }, secrets));
}

/** Adds to the journal line of each instruction of this write how the order stands after the write. */
export function withStandingAfter(instance: Instance, since: number, record: StateRecord): Instance {
  const isNew = (entry: JournalEntry): boolean => entry.type === 'InstructionGiven' && entry.seq > since;
  if (!instance.tail.some(isNew)) return instance;
  return { ...instance, tail: instance.tail.map((entry) => (isNew(entry) ? withAfter(entry, record) : entry)) };
}

const withAfter = (entry: JournalEntry, record: StateRecord): JournalEntry =>
  entry.type === 'InstructionGiven' ? { ...entry, after: { ...standing(record), ...entry.after } } : entry;
