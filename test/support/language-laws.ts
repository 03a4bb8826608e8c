import assert from 'node:assert/strict';
import type { RequestCommand } from '#core/data/command';
import { isQuestion } from '#core/data/fault';
import type { CoreFact } from '#core/data/journal';
import type { StepState } from '#core/data/step-state';
import { type Activity, isRemote } from '#core/definition/definition';
import { nodeAt, type Program, parentOf } from '#core/definition/program';
import type { Law, Turn } from './laws.ts';

/** Checks that waits receive the signals of one name oldest first. The payloads are rising numbers. */
export function signalsOf(program: Program) {
  const newest = new Map<string, number>();
  return {
    fact(fact: CoreFact): void {
      if (fact.type !== 'ActivityClosed' || fact.result !== 'Succeeded') return;
      const node = nodeAt(program, fact.path);
      if (node.activity !== 'waitFor' || typeof fact.output !== 'number') return;
      assert.ok(fact.output > (newest.get(node.signal) ?? 0), `the signal ${node.signal} ${fact.output} is received once, and in order`);
      newest.set(node.signal, fact.output);
    },
  };
}

/**
 * F-44, F-93: a step has succeeded only with its input in this run of the enclosing activities, not with that of an
 * earlier run. The check uses pairs of a signal and a step with the signal as its input: see `answeredFrom`.
 */
export function inputsOf() {
  const signalAt = new Map<string, unknown>();
  const inputAt = new Map<string, unknown>();
  return {
    fact(fact: CoreFact): void {
      if (fact.type !== 'ActivityClosed' || fact.result !== 'Succeeded') return;
      const [, around, part, name] = /^(.*)\/(signal|use)-([^/]+)$/.exec(fact.path) ?? [];
      if (part === 'signal') signalAt.set(`${around}/use-${name}`, fact.output);
      if (part === 'use')
        assert.deepEqual(inputAt.get(fact.path), { signal: signalAt.get(fact.path) }, `${fact.path} counts as done with another input`);
    },
    requested(requests: readonly RequestCommand[]): void {
      for (const { path, input } of requests) inputAt.set(path, input);
    },
  };
}

/**
 * F-84: a list that a loop has collected has one entry for each turn that succeeded, in their order: see `listedFrom`.
 */
export function listsOf(program: Program) {
  const turns = new Map<string, number[]>();
  const inputAt = new Map<string, unknown>();
  return {
    fact(fact: CoreFact): void {
      if (!('path' in fact) || fact.path === undefined) return;
      if (fact.type === 'ActivityStarted' && nodeAt(program, fact.path).activity === 'forEach') turns.set(fact.path, []);
      if (fact.type !== 'ActivityClosed' || fact.result !== 'Succeeded') return;
      const [, loop = '', turn] = /^(.*)\[(\d+)\]\/[^/]+$/.exec(fact.path) ?? [];
      turns.get(loop)?.push(Number(turn));
      const [, around, name] = /^(.*)\/listed-([^/]+)$/.exec(fact.path) ?? [];
      if (name === undefined) return;
      const list = turns.get(`${around}/${name}`)?.toSorted((one, other) => one - other);
      assert.deepEqual(inputAt.get(fact.path), { list }, `${fact.path} has all that ${name} has collected, in order`);
    },
    requested(requests: readonly RequestCommand[]): void {
      for (const { path, input } of requests) inputAt.set(path, input);
    },
  };
}

/** An answer goes to the question that blocked the order, and to no other. */
export const questionIsAnswered: Law = ({ before, event, after }) => {
  if (event.type !== 'resubmitted' || !before.blocked || !isQuestion(before.blocked.fault)) return;
  const { path } = before.blocked;
  const answered = after.facts.filter(
    (fact) => fact.type === 'ActivityClosed' && fact.output === event.answer && isRequested(before.activities[fact.path]),
  );
  assert.deepEqual(
    answered.map((fact) => 'path' in fact && fact.path),
    [path],
    'the answer belongs to the question that blocked the order',
  );
};

const isRequested = (activity: Turn['before']['activities'][string] | undefined): boolean =>
  activity?.fault !== undefined && isQuestion(activity.fault);

/** A terminated order cancels exactly its outstanding requests. */
export function terminatedInFullView(program: Program, { before, event, after }: Turn): void {
  if (event.type !== 'terminated' || before.phase === 'closed') return;
  const outstanding = Object.entries(before.activities).filter(([path, { local: own, reply }]) => {
    const { phase, mode, completeBy = 0 } = (own ?? {}) as Partial<StepState>;
    return (
      isRemote(nodeAt(program, path)) && phase === 'requested' && mode !== 'undo' && mode !== 'cancel' && !reply && completeBy > event.at
    );
  });
  const canceled = after.commands.flatMap((command) => (command.type === 'cancel' ? [command.path] : []));
  assert.deepEqual(canceled.toSorted(), outstanding.map(([path]) => path).toSorted(), 'exactly the outstanding requests are canceled');
}

/** A cleanup has run once when its activity closes, and before a handler of that activity begins. */
export function ensuredOf(program: Program) {
  const ended = new Set<string>();
  const ensureOf = (path: string): string | undefined => {
    const around = parentOf(path);
    const node = around === undefined ? undefined : (nodeAt(program, around) as Activity & { readonly last?: Activity });
    return node?.activity === 'story:ensure' && path === `${around}/${node.last?.name}` ? around : undefined;
  };
  return {
    fact(fact: CoreFact): void {
      if (!('path' in fact) || fact.path === undefined) return;
      const isEnsure = nodeAt(program, fact.path).activity === 'story:ensure';
      const ensure = ensureOf(fact.path);
      if (ensure !== undefined && fact.type === 'ActivityClosed') ended.add(ensure);
      if (!isEnsure) return;
      if (fact.type === 'FaultHandled') assert.ok(ended.has(fact.path), `${fact.path} cleans up before its handler begins`);
      if (fact.type !== 'ActivityClosed') return;
      assert.ok(ended.has(fact.path), `${fact.path} cleans up before it closes`);
      ended.delete(fact.path);
    },
  };
}
