import assert from 'node:assert/strict';
import type { Command, RequestCommand } from '#core/data/command';
import { stepOfRequest } from '#core/data/ids';
import type { CoreFact } from '#core/data/journal';
import type { State } from '#core/data/state';
import { isRemote } from '#core/definition/definition';
import { nodeAt, type Program, parentOf } from '#core/definition/program';
import { ensuredOf, inputsOf, listsOf, questionIsAnswered, signalsOf, terminatedInFullView } from './language-laws.ts';
import { FaultLaw, isInside, type Law, nothingBeginsInWhatEnds, type Progress, retryAt, wordsAreKnown } from './laws.ts';
import { UndoLaw } from './undo-law.ts';

export const requestsIn = (commands: readonly Command[]): readonly RequestCommand[] =>
  commands.filter((command) => command.type === 'request');

/** Laws over the whole run of an instance. */
export function createHistory(program: Program, orderId: string): Law {
  const progress: Progress = { handling: new Map(), failedRuns: new Map(), alive: new Set(), done: new Set() };
  const lives = livesOf(program, progress);
  const keys = keysOf(orderId);
  const inputs = inputsOf();
  const lists = listsOf(program);
  const faults = new FaultLaw(program, progress);
  const undo = new UndoLaw(program, progress);
  const signals = signalsOf(program);
  const ensured = ensuredOf(program);
  return (turn) => {
    const { before, event, after } = turn;
    nothingBeginsInWhatEnds(turn);
    wordsAreKnown(turn);
    const replied = event.type === 'replied' && after.state !== before ? stepOfRequest(orderId, event.requestId) : undefined;
    questionIsAnswered(turn);
    terminatedInFullView(program, turn);
    if (event.type === 'replied' && replied) undo.replied(replied, event.reply);
    for (const fact of after.facts) {
      faults.fact(fact, turn);
      undo.fact(fact, turn);
      signals.fact(fact);
      ensured.fact(fact);
      keys.fact(fact, before);
      inputs.fact(fact);
      lists.fact(fact);
      lives.fact(fact);
      remember(program, progress, fact);
    }
    undo.end(turn);
    faults.end(after.state);
    keys.requested(requestsIn(after.commands));
    inputs.requested(requestsIn(after.commands));
    lists.requested(requestsIn(after.commands));
    lives.end(after.state);
  };
}

function remember(program: Program, { handling, failedRuns, done }: Progress, fact: CoreFact): void {
  if (fact.type === 'FaultHandled') {
    assert.ok(!handling.has(fact.path), `${fact.path} has at most one running handler (S13)`);
    handling.set(fact.path, fact.handler);
  }
  if (fact.type === 'RunFailed') {
    const runs = (failedRuns.get(fact.path) ?? 0) + 1;
    const node = retryAt(program, fact.path);
    assert.ok(node && runs <= node.retries, `${fact.path} runs at most N + 1 times (F-93)`);
    assert.equal(fact.attempt, runs);
    failedRuns.set(fact.path, runs);
  }
  if (fact.type === 'ActivityClosed') {
    if (fact.result === 'Succeeded') done.add(fact.path);
    for (const path of done) if (isInside(path, fact.path)) done.delete(path);
    handling.delete(fact.path);
    failedRuns.delete(fact.path);
  }
}

/** Checks that each activity begins once, closes once, and never before the activities inside it. */
function livesOf(program: Program, { alive }: Progress) {
  const closed = new Set<string>();
  const start = (path: string): void => {
    assert.ok(!closed.has(path) || mayRunAgain(program, path), `${path} starts after it was closed`);
    closed.delete(path);
    alive.add(path);
  };
  const close = (path: string): void => {
    assert.ok(!closed.has(path), `${path} has a second outcome (S5)`);
    assert.deepEqual(
      [...alive].filter((each) => isInside(each, path)),
      [],
      `${path} is closed before the activities in it (F-86)`,
    );
    alive.delete(path);
    closed.add(path);
  };
  return {
    fact(fact: CoreFact): void {
      if (begins(fact)) start(fact.path);
      if (fact.type === 'ActivityClosed') close(fact.path);
    },
    end({ activities, outcome }: State): void {
      if (outcome === 'terminated') return;
      const live = Object.keys(activities).filter((path) => activities[path]?.status !== 'Compensating');
      assert.deepEqual(live.toSorted(), [...alive].toSorted(), 'exactly the activities that began and have not closed are alive');
    },
  };
}

/** Checks request ids and keys: a recorded effect is never requested again, except to confirm it or after its undo. */
function keysOf(orderId: string) {
  const requestIds = new Set<string>();
  const pathOfKey = new Map<string, string>();
  const inputOfKey = new Map<string, string>();
  const done = new Set<string>();
  return {
    fact(fact: CoreFact, before: State): void {
      if (fact.type === 'StepRequested') {
        const key = `${fact.path}/${generationIn(fact.attemptId)}`;
        assert.ok(!done.has(key), `${key} was done and is requested again (S6)`);
      }
      if (fact.type !== 'ActivityClosed' || !fact.attemptId) return;
      const key = `${fact.path}/${generationIn(fact.attemptId)}`;
      const { mode } = (before.activities[fact.path]?.local ?? {}) as { mode?: string };
      if (fact.result !== 'Succeeded' && fact.result !== 'Compensated') return;
      assert.notEqual(mode, 'confirm');
      assert.ok(!done.has(key), `${key} is done twice (S5)`);
      done.add(key);
    },
    requested(requests: readonly RequestCommand[]): void {
      for (const { path, requestId, idempotencyKey, input } of requests) {
        assert.ok(requestId.startsWith(`${orderId}/`));
        assert.ok(!requestIds.has(requestId), `${requestId} names two attempts`);
        assert.equal(pathOfKey.get(idempotencyKey) ?? path, path, `${idempotencyKey} names effects of two steps`);
        const body = JSON.stringify(input);
        assert.equal(inputOfKey.get(idempotencyKey) ?? body, body, `${idempotencyKey} is requested with one input`);
        requestIds.add(requestId);
        pathOfKey.set(idempotencyKey, path);
        inputOfKey.set(idempotencyKey, body);
      }
    },
  };
}

/** Whether the fact begins an activity. An undo without input is stuck from its beginning. */
const begins = (fact: CoreFact): fact is Extract<CoreFact, { type: 'ActivityStarted' | 'StepRequested' | 'UndoFailed' }> =>
  fact.type === 'ActivityStarted' || fact.type === 'StepRequested' || (fact.type === 'UndoFailed' && fact.attemptId.endsWith('.0'));

const generationIn = (attemptId: string): string => attemptId.slice(0, attemptId.indexOf('#'));

/** Whether the activity may run again: in a new run of a retry, or as a step that is confirmed. */
const mayRunAgain = (program: Program, path: string): boolean => {
  const node = nodeAt(program, path);
  if (isRemote(node) && node.undo) return true;
  for (let around = parentOf(path); around !== undefined; around = parentOf(around)) if (retryAt(program, around)) return true;
  return false;
};
