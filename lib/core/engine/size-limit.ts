import { answersLater } from '#core/activities/index';
import type { StepState } from '#core/activities/step';
import type { StepReply } from '#core/data/event';
import { engineFault, engineFaults, type Fault } from '#core/data/fault';
import { type Json, utf8Bytes } from '#core/data/json';
import { isRemote, limits } from '#core/definition/definition';
import { definitionPath } from '#core/definition/program';
import type { Next } from './behavior.ts';
import { undoInput } from './compensation.ts';
import { isRetried } from './memory.ts';
import type { TransitionBuilder } from './transition-builder.ts';

/**
 * Looked at only where a transition would make the state too large (see `Handed.room`): a fault, instead of what an
 * activity would put into the state. Undefined where it has room.
 */
export function refused(builder: TransitionBuilder, path: string, next: Next<unknown>): Next<unknown> | undefined {
  if (builder.byteBudget === undefined) return undefined;
  const said = isRemote(builder.node(path)) ? undefined : (next.raise ?? next.question);
  if (said && !said.type.startsWith('Engine/')) return refusedToSay(builder, path, said, next);
  if (next.raise && !next.collects) return undefined;
  const node = builder.node(path);
  const local = builder.local(path) as StepState | undefined;
  // What undoes or settles is repeated until it is done: a fault would stop that.
  if (isRemote(node) && local?.mode) return undefined;
  const added = addedBy(builder, path, next);
  const fault = added && tooLargeAt(builder, path, added);
  if (!fault) return undefined;
  if (next.collects) return { raise: fault, state: next.collects.otherwise(fault) };
  if (!isRemote(node)) return { raise: fault, ...(local === undefined ? {} : { state: local }) };
  // What an earlier run answered is not asked for again, nor can it be refused.
  if (next.close) return local && { raise: { ...fault, outcomeUnknown: true }, state: { ...local, phase: 'unknown' } };
  const asking = next.state as StepState;
  return { raise: fault, state: { ...asking, attempt: asking.attempt - 1, phase: 'unknown', completeBy: builder.event.at } };
}

/** A fault, or a question to a person: it stands at its activity, in what the order is held for, and in what people and clients are told. */
const copiesOfFault = 6;
/** And in the journal: raised, and what the order is held for. */
const linesOfFault = 2;

function refusedToSay(builder: TransitionBuilder, path: string, said: Fault, { state }: Next<unknown>): Next<unknown> | undefined {
  const value = { message: said.message, ...(said.data === undefined ? {} : { data: said.data }) };
  const bytes = utf8Bytes(value);
  const added = { what: 'What it says', value, bytes: copiesOfFault * bytes, said: linesOfFault * bytes };
  const fault = bytes <= smallMax ? undefined : tooLargeAt(builder, path, added);
  return fault && { raise: fault, ...(state === undefined ? {} : { state }) };
}

/** An answer that is only recorded, since its order is held. */
export function recordable(builder: TransitionBuilder, path: string, reply: StepReply): StepReply {
  if (builder.byteBudget === undefined || reply.status !== 'succeeded') return reply;
  const fault = tooLargeAt(builder, path, { what: 'The answer', value: reply.output, bytes: utf8Bytes(reply.output) });
  return fault ? { status: 'failed', fault: { ...fault, outcomeUnknown: true, source: path } } : reply;
}

/** Whether a signal that nobody waits for can be kept. */
export const isKept = (builder: TransitionBuilder, payload: Json): boolean =>
  builder.byteBudget === undefined || builder.bytes() + utf8Bytes(payload) <= builder.byteBudget.state;

interface Added {
  readonly what: string;
  readonly value?: Json;
  /** By which the state grows: some of it may stand there more than once. */
  readonly bytes: number;
  /** By which the journal grows, where that is more than a short line. */
  readonly said?: number;
}

function addedBy(builder: TransitionBuilder, path: string, next: Next<unknown>): Added | undefined {
  const { assign, close, request: ask, state, takeSignal, run, collects } = next;
  const node = builder.node(path);
  if (collects) return { what: 'What a turn adds to the collected list', value: collects.value, bytes: utf8Bytes(collects.value) };
  if (assign) {
    const before = Object.keys(assign).map((name) => builder.state.vars?.[name] ?? null);
    return { what: 'What it assigns', value: assign, bytes: utf8Bytes(assign) - utf8Bytes(before), said: linesOf(path) };
  }
  // Others hand on what was inside them, and nobody reads it from them.
  if (close?.result === 'Succeeded' && close.output !== undefined && answersLater(node)) {
    const freed = takeSignal ? utf8Bytes(takeSignal.payload) : 0;
    const { kept, said } = bytesOfOutput(builder, path, close.output);
    return { what: isRemote(node) ? 'The answer' : 'What it yields', value: close.output, bytes: kept - freed, said };
  }
  // Each of them may ask for something, and then has a state of its own.
  if (run && run.length > 1)
    return {
      what: `What it begins (${run.length} activities)`,
      bytes: run.length * (beginsBytes + path.length),
      said: run.length * linesOf(path),
    };
  const begins = isRemote(node) ? ask !== undefined : builder.local(path) === undefined;
  if (state === undefined || !begins) return undefined;
  const value = state as Json;
  const grows = utf8Bytes(value) - utf8Bytes((builder.local(path) ?? null) as Json);
  return grows <= smallMax ? undefined : { what: 'What it works on', value, bytes: grows };
}

/** Of an activity that was asked, without its path. */
const beginsBytes = 200;

/** That it began and ended. */
const lineBytes = 100;
const linesOf = (path: string): number => 2 * (lineBytes + path.length);

/** Of what passes: numbers and times; and by what deals with a fault, for a handler that could do nothing would be none. */
const smallMax = 1024;

/** One that is read stays in the state, as do one that a retry may need, and what its undo needs; each goes into the journal, too. */
function bytesOfOutput(builder: TransitionBuilder, path: string, output: Json): { readonly kept: number; readonly said: number } {
  const bytes = utf8Bytes(output);
  const isRead = builder.program.readOutputs.get(builder.node(path).name) === definitionPath(path);
  const undo = undoInput(builder, path, output)?.input;
  const kept =
    (isRead ? bytes : 0) + (isRetried(builder.program, builder.state, path) ? bytes : 0) + (undo === undefined ? 0 : utf8Bytes(undo));
  return { kept, said: bytes <= smallMax ? 0 : bytes };
}

function tooLargeAt(builder: TransitionBuilder, path: string, { what, value, bytes, said = 0 }: Added): Fault | undefined {
  const { byteBudget } = builder;
  const isDealing = builder.handlerAround(path) !== undefined || builder.state.ending !== undefined;
  if (!byteBudget || (isDealing && bytes <= smallMax && said <= smallMax)) return undefined;
  const state = bytes <= 0 ? 0 : builder.bytes() + bytes;
  const journal = said <= 0 ? 0 : builder.factBytes + said;
  if (state <= byteBudget.state && journal <= byteBudget.journal) return undefined;
  const its = `${what} at ${path} has ${value === undefined ? bytes : utf8Bytes(value)} bytes; with that`;
  const limit =
    state > byteBudget.state
      ? `the state of the order would have ${limits.stateBytesMax - byteBudget.state + state}, and at most ${limits.stateBytesMax} are stored`
      : `what happens to the order at once would add ${limits.journalBytesMax - byteBudget.journal + journal} to its history, and at most ${limits.journalBytesMax} are written together`;
  const remedy = 'Keep a reference to where it lies instead, or let a part of the work be an order of its own, by call.';
  return engineFault(engineFaults.stateTooLarge, `${its} ${limit}. ${remedy}`);
}
