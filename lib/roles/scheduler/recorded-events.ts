import { isDeepStrictEqual } from 'node:util';
import type { EventContent } from '#core/data/event';
import type { CoreFact } from '#core/data/journal';
import type { Json } from '#core/data/json';
import type { State } from '#core/data/state';
import { essentialEvent, impliedEvent, type Known } from '#core/engine/implied-event';
import type { ByteBudget } from '#core/engine/transition';
import type { Draft } from './draft.ts';
import { type Instance, journal } from './instance.ts';
import type { Loaded } from './types.ts';

/** An event as the journal keeps it. Its epoch is that of the last claim. */
export type RecordedEvent = EventContent & {
  /** Milliseconds since 1970, if it differs from the time of its line. */
  readonly at?: number;
  /** The byte budget under which the event was applied, because the write was too large without one. */
  readonly budget?: ByteBudget;
};

/**
 * The part of a journal line from which the instance can be rebuilt. No view shows it: it may hold secrets, in the form in which the state
 * holds them.
 */
export interface Recorded {
  /** The event whose first fact this line is; absent if `impliedEvent` returns it. */
  readonly event?: RecordedEvent;
  /** The events after this line that changed the state without a line of their own. */
  readonly further?: readonly RecordedEvent[];
  /** Changes to the instance, beside its state, by the write whose last line this is. Null: the field was removed. */
  readonly also?: { readonly [field: string]: Json };
}

/** The version of the journal that keeps events. Orders of an older release have no version. */
export const journalVersion = 2;

export const knownOf = ({ program, order, record }: Pick<Loaded, 'program' | 'order' | 'record'>): Known => ({
  orderId: order.orderId,
  program,
  stepMs: record.stepMs,
  called: order.caller !== undefined,
});

interface Applied {
  readonly event: EventContent;
  readonly before: State;
  /** The facts of the event, as the journal shows them. */
  readonly facts: readonly CoreFact[];
  readonly budget: ByteBudget | undefined;
}

/** Adds an event to the journal unless its facts tell it. `draft` contains these facts already. */
export function recordEvent(draft: Draft, { event, before, facts, budget }: Applied): Draft {
  const known = knownOf(draft.loaded);
  const [first] = facts;
  const essential = essentialEvent(known, before, event, first);
  if (first && !budget && isDeepStrictEqual(impliedEvent(known, before, first), essential)) return draft;
  const recorded: RecordedEvent = { ...essential, ...(budget ? { budget } : {}) };
  return { ...draft, instance: first ? withEvent(draft.instance, facts.length, recorded) : withFurther(draft, recorded) };
}

/** Adds an event to the line of its first fact. The lines of its facts are the last ones of the journal. */
function withEvent(instance: Instance, facts: number, event: RecordedEvent): Instance {
  const at = instance.tail.length - facts;
  return { ...instance, tail: instance.tail.map((line, index) => (index === at ? { ...line, event } : line)) };
}

/** Adds an event without facts to the last line of this write, or to a line of its own. */
function withFurther(draft: Draft, event: RecordedEvent): Instance {
  const { last, instance } = lastLine(draft);
  const { further = [], at } = last;
  const timed = at === draft.now ? event : { ...event, at: draft.now };
  return { ...instance, tail: [...instance.tail.slice(0, -1), { ...last, further: [...further, timed] }] };
}

/** Returns the last line of this write. If the write has no line, it gets the line `StateChanged`. */
function lastLine({ instance, loaded, now }: Draft) {
  const isNew = instance.seq > loaded.instance.seq;
  const lined = isNew ? instance : journal(instance, [{ type: 'StateChanged' }], now);
  const last = lined.tail.at(-1);
  if (!last) throw new Error(`The journal of order ${loaded.order.orderId} is empty.`);
  return { last, instance: lined };
}

/** Fields that `also` never has: a rebuild derives them from the journal itself. */
const ownFields: ReadonlySet<string> = new Set(['state', 'tail', 'seq', 'lastRequested', 'pagedKeys'] satisfies (keyof Instance)[]);

/** Adds to the last line of a write what it changed in the instance beside its state. */
export function recordFields(draft: Draft): Draft {
  const also = changedFields(draft.loaded.instance, draft.instance);
  if (!also) return draft;
  const { last, instance } = lastLine(draft);
  return { ...draft, instance: { ...instance, tail: [...instance.tail.slice(0, -1), { ...last, also }] } };
}

function changedFields(before: Instance, after: Instance): Recorded['also'] {
  const [old, now] = [before, after] as unknown as readonly { readonly [field: string]: Json | undefined }[];
  const names = [...new Set([...Object.keys(old ?? {}), ...Object.keys(now ?? {})])].filter((name) => !ownFields.has(name));
  const changed = names.flatMap((name): readonly (readonly [string, Json])[] => {
    if (name === 'keys') return after.keys === before.keys ? [] : [[name, newKeys(before, after)]];
    return isDeepStrictEqual(old?.[name], now?.[name]) ? [] : [[name, now?.[name] ?? null]];
  });
  return changed.length === 0 ? undefined : Object.fromEntries(changed);
}

const newKeys = (before: Instance, { keys = [] }: Instance): readonly string[] => keys.filter((key) => !before.keys?.includes(key));

/** Returns a journal line as it is shown. */
export function shownLine<L extends Recorded>(line: L): Omit<L, keyof Recorded> {
  if (line.event === undefined && line.further === undefined && line.also === undefined) return line;
  const { event: _, further: __, also: ___, ...shown } = line;
  return shown;
}
