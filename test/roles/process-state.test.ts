import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { defineAgent, defineApp, defineWorkflow, delay, operation, parallel, sequence } from 'redress';
import * as z from 'zod';
import type { Request } from '#ports/messages';
import type { ProcessState, StateHead } from '#ports/records';
import type { Store } from '#ports/store';
import { type Desk, failed, ok, openDesk, submitted, tea } from './support.ts';

const Any = z.object({});
const work = operation({ input: Any, output: Any, run: () => ({}) });
const worker = defineAgent('worker', { pick: work, pack: work, tell: work, ship: work });
/** A workflow with sequential and parallel steps and a wait between them. */
const workflowWith = (recover: 'step' | 'order') =>
  defineApp({
    workflows: [
      defineWorkflow(
        'line',
        { version: 1, order: z.object({ item: z.string() }), recover, maxFailures: 2, completeWithinSeconds: 600 },
        () => sequence(worker.pick({}), parallel(worker.pack({}), worker.tell({})), delay({ seconds: 20 }), worker.ship({})),
      ),
    ],
    agents: [worker],
  });

/** The legal transitions of the process state. Every state may also be written unchanged. */
const legal: { readonly [from in ProcessState]: readonly ProcessState[] } = {
  Pending: ['Processing', 'Error'],
  Processing: ['Pending', 'Processed', 'Error'],
  Error: ['Processing', 'Processed'],
  Processed: [],
};

const doings = [
  'deliver wake-ups',
  'deliver replies',
  'succeed',
  'refuse',
  'fail for now',
  'answer again',
  'answer an old request',
  'lose a request',
  'a second passes',
  'ten seconds pass',
  'supervise',
  'resubmit',
  'resubmit with time',
  'wake',
] as const;

/** A store that records every stored state, in order. */
function watching(store: Store, stored: Map<string, StateHead[]>): Store {
  async function noted<T extends { readonly outcome: string }>(head: StateHead, write: Promise<T>): Promise<T> {
    const answer = await write;
    if (answer.outcome === 'written') stored.set(head.orderId, [...(stored.get(head.orderId) ?? []), head]);
    return answer;
  }
  return {
    ...store,
    create: (order, state, along) => noted(state, store.create(order, state, along)),
    update: (state, ...rest) => noted(state, store.update(state, ...rest)),
    patch: (head, when) => noted(head, store.patch(head, when)),
  };
}

interface Player {
  readonly desk: Desk;
  readonly orderId: string;
  /** Requests that were received from the queue, oldest first. */
  readonly seen: Request[];
}

async function play({ desk, orderId, seen }: Player, doing: (typeof doings)[number], turn: number): Promise<void> {
  const { clock, system } = desk;
  const answer = async (requests: readonly (Request | undefined)[], result = ok()) => {
    for (const request of requests) if (request) await desk.answer(request, result);
  };
  const fresh = async () => {
    const requests = await desk.requests();
    seen.push(...requests);
    return requests;
  };
  const instruct = (more: object) =>
    system.scheduler.instruct(orderId, { kind: 'resubmit', by: 'olga', reason: 'why not', ...more }, { id: `i-${turn}` });
  switch (doing) {
    case 'deliver wake-ups':
      return void (await desk.deliver('wake-ups'));
    case 'deliver replies':
      return void (await desk.deliver('worker-replies'));
    case 'succeed':
      return answer(await fresh());
    case 'refuse':
      return answer(await fresh(), failed('Broken'));
    case 'fail for now':
      return answer(await fresh(), failed('Busy', 'not now', { permanent: false }));
    case 'answer again':
      return answer([seen.at(-1)], turn % 2 ? ok() : failed('Broken'));
    case 'answer an old request':
      return answer([seen[turn % Math.max(1, seen.length)]]);
    case 'lose a request':
      return void (await desk.requests());
    case 'a second passes':
      return clock.advance(1_000);
    case 'ten seconds pass':
      return clock.advance(10_000);
    case 'supervise':
      return void (await desk.supervisor.pass());
    case 'resubmit':
      return void (await instruct({}));
    case 'resubmit with time':
      return void (await instruct({ completeWithinSeconds: 600 }));
    case 'wake':
      return desk.send('wake-ups', { v: 1, type: 'wake-up', orderId, sentAt: new Date(clock.now()).toISOString() });
  }
}

describe('the process state of an order', () => {
  const histories = {
    history: fc.array(
      fc.oneof(fc.constantFrom(...doings), fc.constantFrom('succeed' as const, 'ten seconds pass' as const, 'deliver wake-ups' as const)),
      { minLength: 10, maxLength: 60 },
    ),
    writesAndSendsAtomically: fc.boolean(),
    claimed: fc.boolean(),
    recover: fc.constantFrom('step' as const, 'order' as const),
  };

  test('F-04: is always one of four, changes only along legal transitions, and ends at Processed', {
    timeout: 120_000,
  }, async (context) => {
    const ends = new Set<string>();
    await fc.assert(
      fc.asyncProperty(fc.record(histories), async ({ history, writesAndSendsAtomically, claimed, recover }) => {
        const stored = new Map<string, StateHead[]>();
        const desk = openDesk(context, workflowWith(recover), {
          writesAndSendsAtomically,
          variables: { CLAIM_ON_SUBMIT: claimed ? 'on' : 'off' },
          around: ({ store }) => ({ store: watching(store, stored) }),
        });
        const player = { desk, orderId: await submitted(desk, tea), seen: [] };
        for (const [turn, doing] of history.entries()) await play(player, doing, turn);

        const course = stored.get(player.orderId) ?? [];
        for (const [index, { processState, rev, epoch }] of course.entries()) {
          assert.ok(Object.hasOwn(legal, processState), `${processState} is not a state`);
          const before = course[index - 1];
          if (!before) continue;
          assert.ok(
            before.processState === processState || legal[before.processState].includes(processState),
            `${before.processState} to ${processState}`,
          );
          assert.equal(rev, before.rev + 1, 'rev rises by one at every write');
          assert.ok(epoch >= before.epoch, 'epoch never falls');
          if (before.processState === 'Processed') assert.equal(processState, 'Processed');
        }
        for (const { processState } of course) ends.add(processState);
      }),
      { numRuns: 300, seed: 4 },
    );
    assert.deepEqual([...ends].sort(), ['Error', 'Pending', 'Processed', 'Processing'], 'the histories reach all four');
  });
});
