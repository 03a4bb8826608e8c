import { engineFault, engineFaults } from '#core/data/fault';
import { isObject } from '#core/data/json';
import { type ActivityBase, limits, type Template } from '#core/definition/definition';
import { type Behavior, close, noChildren, raise, succeeded, wait } from '#core/engine/behavior';

export interface Delay extends ActivityBase {
  readonly activity: 'delay';
  /** The seconds to wait: from 0 to a year. */
  readonly seconds: Template;
}

export interface DelayState {
  readonly until: number;
}

/** Waits durably. No host holds the order meanwhile, and any scheduler can continue it. */
export const delay: Behavior<Delay, DelayState> = {
  children: noChildren,
  problems: ({ seconds }) => (isObject(seconds) || isLength(seconds) ? [] : [lengthWanted(seconds)]),
  templates: ({ seconds }) => [seconds],

  execute({ seconds }, { at, evaluate }) {
    const length = evaluate(seconds);
    if (!length.ok) return raise(length.fault);
    if (!isLength(length.value)) return raise(engineFault(engineFaults.expressionFailed, lengthWanted(length.value)));

    return length.value > 0 ? wait({ until: at + length.value * 1000 }) : close(succeeded());
  },

  // Wake-ups are delivered at least once and may come early, so only the clock decides whether the wait is over.
  woken: (_, { until }, { at }) => (at >= until ? close(succeeded()) : undefined),
  wakeAt: ({ until }) => until,
  postponed: ({ until }, byMs) => ({ until: until + byMs }),
};

export const isLength = (value: unknown): value is number => typeof value === 'number' && value >= 0 && value <= limits.secondsMax;
export const lengthWanted = (value: unknown): string =>
  `Expected 0 to ${limits.secondsMax} seconds (a year), got ${JSON.stringify(value)}.`;
