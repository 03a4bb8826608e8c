import type { StepState } from './activities/step.ts';
import type { Next } from './behaviour.ts';
import { asks, limits } from './definition.ts';
import type { Draft } from './draft.ts';
import type { StepReply } from './event.ts';
import { engineFault, engineFaults, type Fault } from './fault.ts';
import { type Json, utf8Bytes } from './json.ts';
import { isRetried } from './memory.ts';
import { definitionPath } from './program.ts';
import { undoInput } from './undoing.ts';

/**
 * Looked at only where a transition would make the state too large (see `Handed.room`): a fault, instead of what an
 * activity would put into the state. Undefined where it has room.
 */
export function refused(draft: Draft, path: string, next: Next<unknown>): Next<unknown> | undefined {
  if (draft.room === undefined) return undefined;
  const said = asks(draft.node(path)) ? undefined : (next.raise ?? next.holds);
  if (said && !said.type.startsWith('Engine/')) return refusedToSay(draft, path, said, next);
  if (next.raise) return undefined;
  const node = draft.node(path);
  const own = draft.own(path) as StepState | undefined;
  // What undoes or settles is repeated until it is done: a fault would stop that.
  if (asks(node) && own?.mode) return undefined;
  const added = addedBy(draft, path, next);
  const fault = added && tooLargeAt(draft, path, added);
  if (!fault) return undefined;
  if (!asks(node)) return { raise: fault, ...(own === undefined ? {} : { state: own }) };
  // What an earlier run answered is not asked for again, nor can it be refused.
  if (next.close) return own && { raise: { ...fault, outcomeUnknown: true }, state: { ...own, phase: 'unknown' } };
  const asking = next.state as StepState;
  return { raise: fault, state: { ...asking, attempt: asking.attempt - 1, phase: 'unknown', completeBy: draft.event.at } };
}

/** A fault, or a question to a person: it stands at its activity, in what the order is held for, and more than once in the journal. */
const copiesOfFault = 6;

function refusedToSay(draft: Draft, path: string, said: Fault, { state }: Next<unknown>): Next<unknown> | undefined {
  const value = { message: said.message, ...(said.data === undefined ? {} : { data: said.data }) };
  const bytes = utf8Bytes(value);
  const fault = bytes <= smallMax ? undefined : tooLargeAt(draft, path, { what: 'What it says', value, bytes: copiesOfFault * bytes });
  return fault && { raise: fault, ...(state === undefined ? {} : { state }) };
}

/** An answer that is only recorded, since its order is held. */
export function recordable(draft: Draft, path: string, reply: StepReply): StepReply {
  if (draft.room === undefined || reply.status !== 'succeeded') return reply;
  const fault = tooLargeAt(draft, path, { what: 'The answer', value: reply.output, bytes: utf8Bytes(reply.output) });
  return fault ? { status: 'failed', fault: { ...fault, outcomeUnknown: true, source: path } } : reply;
}

/** Whether a signal that nobody waits for can be kept. */
export const isKept = (draft: Draft, payload: Json): boolean =>
  draft.room === undefined || draft.bytes() + utf8Bytes(payload) <= draft.room;

interface Added {
  readonly what: string;
  readonly value?: Json;
  /** By which the state grows: some of it may stand there more than once. */
  readonly bytes: number;
}

function addedBy(draft: Draft, path: string, { assign, close, ask, state, takeSignal, run }: Next<unknown>): Added | undefined {
  const node = draft.node(path);
  if (assign) {
    const before = Object.keys(assign).map((name) => draft.state.vars?.[name] ?? null);
    return { what: 'What it assigns', value: assign, bytes: utf8Bytes(assign) - utf8Bytes(before) };
  }
  // Others hand on what was inside them, and nobody reads it from them.
  if (close?.result === 'Succeeded' && close.output !== undefined && draft.behaviour(path).answers) {
    const freed = takeSignal ? utf8Bytes(takeSignal.payload) : 0;
    return {
      what: asks(node) ? 'The answer' : 'What it yields',
      value: close.output,
      bytes: bytesOfOutput(draft, path, close.output) - freed,
    };
  }
  // Each of them may ask for something, and then has a state of its own.
  if (run && run.length > 1) return { what: `What it begins (${run.length} activities)`, bytes: run.length * (beginsBytes + path.length) };
  const begins = asks(node) ? ask !== undefined : draft.own(path) === undefined;
  if (state === undefined || !begins) return undefined;
  const value = state as Json;
  const grows = utf8Bytes(value) - utf8Bytes((draft.own(path) ?? null) as Json);
  return grows <= smallMax ? undefined : { what: 'What it works on', value, bytes: grows };
}

/** Of an activity that was asked, with its line in the journal, without its path. */
const beginsBytes = 280;

/** Of what passes: numbers and times, a line of the journal; and by what deals with a fault, for a handler that could do nothing would be none. */
const smallMax = 1024;

/** One that is read stays in the state, as do one that a retry may need, and what its undo needs; each goes into the journal, too. */
function bytesOfOutput(draft: Draft, path: string, output: Json): number {
  const bytes = utf8Bytes(output);
  const isRead = draft.program.readOutputs.get(draft.node(path).name) === definitionPath(path);
  const undo = undoInput(draft, path, output)?.input;
  const kept =
    (isRead ? bytes : 0) + (isRetried(draft.program, draft.state, path) ? bytes : 0) + (undo === undefined ? 0 : utf8Bytes(undo));
  return kept === 0 && bytes <= smallMax ? 0 : bytes + kept;
}

function tooLargeAt(draft: Draft, path: string, { what, value, bytes }: Added): Fault | undefined {
  const { room = Number.POSITIVE_INFINITY } = draft;
  const after = draft.bytes() + bytes;
  const isDealing = draft.handlerAround(path) !== undefined || draft.state.ending !== undefined;
  if (bytes <= 0 || after <= room || (isDealing && bytes <= smallMax)) return undefined;
  const all = limits.stateBytesMax - room + after;
  const message = `${what} at ${path} has ${value === undefined ? bytes : utf8Bytes(value)} bytes; with that the state of the order would have ${all}, and at most ${limits.stateBytesMax} are stored. Keep a reference to where it lies instead, or let a part of the work be an order of its own, by call.`;
  return engineFault(engineFaults.stateTooLarge, message);
}
