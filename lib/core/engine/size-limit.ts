import { answersLater, stepOf } from '#core/activities/index';
import type { StepReply } from '#core/data/event';
import { engineFault, engineFaults, type Fault } from '#core/data/fault';
import { definitionPath } from '#core/data/ids';
import { type Json, utf8Bytes } from '#core/data/json';
import { isRemote, limits } from '#core/definition/definition';
import { type Next, raise } from './behavior.ts';
import { handlerAround } from './fault-routing.ts';
import { isInRetry } from './memory.ts';
import type { TransitionBuilder } from './transition-builder.ts';
import { undoInput } from './undo-list.ts';

/**
 * Returns a fault instead of an outcome of a behavior that would make the state or the journal too large. Undefined if the outcome fits, or
 * without a byte budget (see `Inputs.byteBudget`).
 */
export function refused(builder: TransitionBuilder, path: string, next: Next<unknown>): Next<unknown> | undefined {
  if (builder.byteBudget === undefined) return undefined;
  const said = isRemote(builder.node(path)) ? undefined : saidBy(next);
  if (said && !said.type.startsWith('Engine/')) return refusedFault(builder, path, said, next);
  if (next.verb === 'raise' && !next.collects) return undefined;
  const node = builder.node(path);
  const step = builder.stepAt(path);
  // An undo or a confirmation repeats until it is done. A fault would stop it.
  if (step?.mode) return undefined;
  const added = addedBy(builder, path, next);
  const fault = added && tooLargeAt(builder, path, added);
  if (!fault) return undefined;
  if (next.collects) return raise(fault, next.collects.otherwise(fault));
  if (!isRemote(node)) return raise(fault, builder.local(path));
  // A step without a local state closes with the output of an earlier run, which is not requested again and cannot be refused.
  if (next.verb === 'close') return step && raise({ ...fault, outcomeUnknown: true }, { ...step, phase: 'unknown' });
  const requested = stepOf(node, { status: 'Executing', local: next.state });
  return requested && raise(fault, { ...requested, attempt: requested.attempt - 1, phase: 'unknown', completeBy: builder.event.at });
}

/** Returns the fault that this outcome raises, or the question that it asks. */
function saidBy(next: Next<unknown>): Fault | undefined {
  if (next.verb === 'raise') return next.raise;
  return next.verb === 'ask' ? next.question : undefined;
}

/** The number of copies of a fault or question in one write: at its activity, as the reason of the block, and in notifications. */
const copiesOfFault = 6;
/** The number of journal lines with a fault: one when it is raised, one when the order is blocked for it. */
const linesOfFault = 2;

function refusedFault(builder: TransitionBuilder, path: string, said: Fault, { state }: Next<unknown>): Next<unknown> | undefined {
  const value = { message: said.message, ...(said.data === undefined ? {} : { data: said.data }) };
  const bytes = utf8Bytes(value);
  const added = { what: 'The fault or question', value, bytes: copiesOfFault * bytes, inJournal: linesOfFault * bytes };
  const fault = bytes <= smallMax ? undefined : tooLargeAt(builder, path, added);
  return fault && raise(fault, state);
}

/** Returns a reply that is only recorded, because its order is blocked or suspended. A fault replaces it if it does not fit. */
export function recordable(builder: TransitionBuilder, path: string, reply: StepReply): StepReply {
  if (builder.byteBudget === undefined || reply.status !== 'succeeded') return reply;
  const fault = tooLargeAt(builder, path, { what: 'The reply', value: reply.output, bytes: utf8Bytes(reply.output) });
  return fault ? { status: 'failed', fault: { ...fault, outcomeUnknown: true, source: path } } : reply;
}

/** Whether a signal that no activity waits for fits into the state. */
export const isKept = (builder: TransitionBuilder, payload: Json): boolean =>
  builder.byteBudget === undefined || builder.bytes() + utf8Bytes(payload) <= builder.byteBudget.state;

interface Added {
  readonly what: string;
  readonly value?: Json;
  /** Bytes by which the state grows. A value may be stored more than once. */
  readonly bytes: number;
  /** Bytes by which the journal grows, if that is more than a short line. */
  readonly inJournal?: number;
}

function addedBy(builder: TransitionBuilder, path: string, next: Next<unknown>): Added | undefined {
  const { state, takeSignal, collects } = next;
  const node = builder.node(path);
  if (collects) return { what: 'The new entry of the collected list', value: collects.value, bytes: utf8Bytes(collects.value) };
  if (next.verb === 'close' && next.assign) {
    const { assign } = next;
    const before = Object.keys(assign).map((name) => builder.state.vars?.[name] ?? null);
    return { what: 'The assigned value', value: assign, bytes: utf8Bytes(assign) - utf8Bytes(before), inJournal: linesOf(path) };
  }
  // Other activities pass on the output of their children, and no expression reads it from them.
  if (next.verb === 'close' && next.close.result === 'Succeeded' && next.close.output !== undefined && answersLater(node)) {
    const freed = takeSignal ? utf8Bytes(takeSignal.payload) : 0;
    const { inState, inJournal } = bytesOfOutput(builder, path, next.close.output);
    return { what: isRemote(node) ? 'The reply' : 'The output', value: next.close.output, bytes: inState - freed, inJournal };
  }
  // Each started activity may send a request. The state of that request then counts as well.
  if (next.verb === 'run' && next.run.length > 1) {
    const { length } = next.run;
    return { what: `The start of ${length} activities`, bytes: length * (beginsBytes + path.length), inJournal: length * linesOf(path) };
  }
  const begins = isRemote(node) ? next.verb === 'request' : builder.local(path) === undefined;
  if (state === undefined || !begins) return undefined;
  const value = state as Json;
  const grows = utf8Bytes(value) - utf8Bytes((builder.local(path) ?? null) as Json);
  return grows <= smallMax ? undefined : { what: 'The local state', value, bytes: grows };
}

/** Bytes of a requested activity, without its path. */
const beginsBytes = 200;

/** Bytes of one journal line; an activity has two, for its start and its end. */
const lineBytes = 100;
const linesOf = (path: string): number => 2 * (lineBytes + path.length);

/**
 * Bytes up to which an addition is not refused: numbers and times, which are soon removed, and the work of a handler.
 * Otherwise a handler could do nothing about the fault.
 */
const smallMax = 1024;

/**
 * Returns the bytes that an output adds. The state stores it if an expression reads it and if a retry may need it, and stores the input of
 * its undo. The journal always stores it.
 */
function bytesOfOutput(builder: TransitionBuilder, path: string, output: Json): { readonly inState: number; readonly inJournal: number } {
  const bytes = utf8Bytes(output);
  const isRead = builder.program.readOutputs.get(builder.node(path).name) === definitionPath(path);
  const undo = undoInput(builder, path, output)?.input;
  const inState =
    (isRead ? bytes : 0) + (isInRetry(builder.program, builder.state, path) ? bytes : 0) + (undo === undefined ? 0 : utf8Bytes(undo));
  return { inState, inJournal: bytes <= smallMax ? 0 : bytes };
}

function tooLargeAt(builder: TransitionBuilder, path: string, { what, value, bytes, inJournal = 0 }: Added): Fault | undefined {
  const { byteBudget } = builder;
  const isHandling = handlerAround(builder, path) !== undefined || builder.state.ending !== undefined;
  if (!byteBudget || (isHandling && bytes <= smallMax && inJournal <= smallMax)) return undefined;
  const state = bytes <= 0 ? 0 : builder.bytes() + bytes;
  const journal = inJournal <= 0 ? 0 : builder.factBytes + inJournal;
  if (state <= byteBudget.state && journal <= byteBudget.journal) return undefined;
  const size = `${what} at ${path} has ${value === undefined ? bytes : utf8Bytes(value)} bytes; with it,`;
  const limit =
    state > byteBudget.state
      ? `the state of the order would have ${limits.stateBytesMax - byteBudget.state + state} bytes (maximum ${limits.stateBytesMax})`
      : `this event would add ${limits.journalBytesMax - byteBudget.journal + journal} bytes to the history (maximum ${limits.journalBytesMax} in one write)`;
  const remedy = 'Store a reference to the data instead, or move a part of the work into a called order.';
  return engineFault(engineFaults.stateTooLarge, `${size} ${limit}. ${remedy}`);
}
