import { engineFault, engineFaults, type Fault } from '#core/data/fault';
import { isObject, type JsonObject } from '#core/data/json';
import type { ActivityBase, Template } from '#core/definition/definition';
import { type Behavior, type Context, close, type Next, noChildren, raise, succeeded, wait } from '#core/engine/behavior';
import { isLength, lengthWanted } from './delay.ts';

export interface WaitFor extends ActivityBase {
  readonly activity: 'waitFor';
  /** The name of the signal. */
  readonly signal: string;
  /** The seconds to wait, from 0 to a year. Default: no limit. */
  readonly withinSeconds?: Template;
  /** The JSON Schema of the signal's payload. */
  readonly payload?: JsonObject;
}

export interface WaitForState {
  readonly until?: number;
}

/** Waits for a signal from outside, or takes one that came earlier and was kept. Expressions read its payload as `steps.<name>`. */
export const waitFor: Behavior<WaitFor, WaitForState> = {
  children: noChildren,
  answers: true,
  problems: ({ signal, withinSeconds }) => [
    ...(typeof signal === 'string' && signalName.test(signal)
      ? []
      : [`"${signal}" is not a valid signal name. Use at most 64 letters, digits, "-" and "_", and begin with a letter.`]),
    ...(withinSeconds === undefined || isObject(withinSeconds) || isLength(withinSeconds) ? [] : [lengthWanted(withinSeconds)]),
  ],
  templates: ({ withinSeconds }) => (withinSeconds === undefined ? [] : [withinSeconds]),

  execute: begin,
  repeat: (activity, _, context) => begin(activity, context),
  signaled: (_, __, payload) => close(succeeded(payload)),

  woken: ({ signal }, state, { at }) => (state.until !== undefined && at >= state.until ? raise(noSignal(signal), state) : undefined),
  wakeAt: ({ until }) => until,
  postponed: ({ until }, byMs) => (until === undefined ? {} : { until: until + byMs }),
};

export const signalName = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;

function begin({ signal, withinSeconds }: WaitFor, { at, signalKept, evaluate }: Context): Next<WaitForState> {
  const kept = signalKept(signal);
  if (kept) return { ...close(succeeded(kept.payload)), takeSignal: kept };
  if (withinSeconds === undefined) return wait({});

  const length = evaluate(withinSeconds);
  if (!length.ok) return raise(length.fault);
  if (!isLength(length.value)) return raise(engineFault(engineFaults.expressionFailed, lengthWanted(length.value)));
  const state = { until: at + length.value * 1000 };
  return length.value > 0 ? wait(state) : raise(noSignal(signal), state);
}

const noSignal = (signal: string): Fault => engineFault(engineFaults.noSignal, `No signal "${signal}" came in time.`);
