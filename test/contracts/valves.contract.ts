import assert from 'node:assert/strict';
import type { Consumers } from '#ports/consumers';
import { contractTest } from './contract-test.ts';

/** Consumers under test, and whether messages are consumed from a queue. */
export interface OpenValves {
  readonly valves: Consumers;
  /** The consumers of another process. */
  readonly other: Consumers;
  readonly queues: readonly [string, string];
  isTaken(queue: string): Promise<boolean>;
  close(): Promise<void>;
}

/** The promises of all consumers; each implementation calls it once. */
export function valvesContract(name: string, open: () => Promise<OpenValves>): void {
  const it = contractTest(name, open);
  const taken = async ({ queues, isTaken }: OpenValves) => Promise.all(queues.map(isTaken));

  it('F-108: a paused queue is consumed no more, while others are; resumed, it is consumed again', async (opened) => {
    const { valves, queues } = opened;
    assert.deepEqual(await taken(opened), [true, true]);
    await valves.set([queues[0]], 'closed');
    assert.deepEqual(await taken(opened), [false, true]);
    await valves.set([queues[0]], 'open');
    assert.deepEqual(await taken(opened), [true, true]);
  });

  it('F-108: repeating the call, here or elsewhere, changes nothing', async (opened) => {
    const { valves, other, queues } = opened;
    for (const each of [valves, other, valves]) await each.set(queues, 'closed');
    assert.deepEqual(await taken(opened), [false, false]);
    for (const each of [other, valves, other]) await each.set(queues, 'open');
    assert.deepEqual(await taken(opened), [true, true]);
  });
}
