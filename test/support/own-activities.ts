import type { Fault } from '#core/data/fault';
import { registerActivity } from '#core/definition/custom';
import type { Activity, ActivityBase } from '#core/definition/definition';
import { registerFunction } from '#core/definition/functions';
import { type Behavior, close, raise, run, succeeded, wait } from '#core/engine/behavior';

/** Activities and a function as an app would define them. */
interface Ensure extends ActivityBase {
  readonly do: Activity;
  readonly last: Activity;
}

interface EnsureState {
  readonly last?: true;
}

/** Runs `do`, and `last` after it, even if `do` fails or is canceled. */
const ensure: Behavior<Ensure, EnsureState> = {
  children: (node) => [node.do, node.last],
  templates: () => [],
  execute: (node) => run([node.do.name], {}),
  childClosed: (node, { last }) => (last ? close(succeeded()) : run([node.last.name], { last: true })),
  handleFault: (node, { last }) => (last ? undefined : { run: [node.last.name] }),
  cancel: (node, { last }) => (last ? undefined : { run: [node.last.name] }),
};

interface Again extends ActivityBase {
  readonly do: Activity;
  readonly retries: number;
}

/** Runs `do` again at once after a fault that is not permanent, at most `retries` times: a retry of the app. */
const again: Behavior<Again, { readonly attempt: number }> = {
  children: (node) => [node.do],
  templates: () => [],
  execute: (node) => ({ ...run([node.do.name], { attempt: 1 }), resetsVariables: true }),
  retries: (node, { attempt }, fault) => !fault.permanent && attempt <= node.retries,
  childFaulted: (node, { attempt }) => ({ ...run([node.do.name], { attempt: attempt + 1 }), resetsVariables: true }),
  childClosed: (_, __, closing) => close(closing),
};

interface Fuse extends ActivityBase {
  readonly seconds: number;
  readonly faults: readonly string[];
}

/** Raises its fault after the given number of seconds. */
const fuse: Behavior<Fuse, { readonly until: number }> = {
  children: () => [],
  templates: () => [],
  execute: (node, { at }) => (node.seconds > 0 ? wait({ until: at + node.seconds * 1000 }) : raise(burnt(node), { until: at })),
  woken: (node, state, { at }) => (at >= state.until ? raise(burnt(node), state) : undefined),
  wakeAt: ({ until }) => until,
  postponed: ({ until }, byMs) => ({ until: until + byMs }),
};

const burnt = ({ faults: [type = 'Burnt'] }: Fuse): Fault => ({ type, class: 'expected', permanent: true, message: 'It is burnt.' });

registerActivity('story:ensure', ensure as unknown as Behavior);
registerActivity('story:again', again as unknown as Behavior);
registerActivity('story:fuse', fuse as unknown as Behavior);
registerFunction('double@1', (input) => {
  if (typeof input !== 'number') throw new TypeError('a number is wanted');
  return input * 2;
});
