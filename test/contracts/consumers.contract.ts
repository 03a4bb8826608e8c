import assert from 'node:assert/strict';
import type { Consumers } from '#ports/consumers';
import { contractTest } from './contract-test.ts';

/** Consumers under test, and whether messages are consumed from a queue. */
export interface OpenConsumers {
  readonly consumers: Consumers;
  /** The consumers of another process. */
  readonly other: Consumers;
  readonly queues: readonly [string, string];
  isTaken(queue: string): Promise<boolean>;
  close(): Promise<void>;
}

/** The promises of all consumers; each implementation calls it once. */
export function consumersContract(name: string, open: () => Promise<OpenConsumers>): void {
  const it = contractTest(name, open);
  const taken = async ({ queues, isTaken }: OpenConsumers) => Promise.all(queues.map(isTaken));

  it('F-108: a queue is not consumed while it is paused, and is consumed again when it is resumed; other queues are consumed', async (opened) => {
    const { consumers, queues } = opened;
    assert.deepEqual(await taken(opened), [true, true]);
    await consumers.set([queues[0]], 'closed');
    assert.deepEqual(await taken(opened), [false, true]);
    await consumers.set([queues[0]], 'open');
    assert.deepEqual(await taken(opened), [true, true]);
  });

  it('F-108: a repeated call, by the same process or another, changes nothing', async (opened) => {
    const { consumers, other, queues } = opened;
    for (const each of [consumers, other, consumers]) await each.set(queues, 'closed');
    assert.deepEqual(await taken(opened), [false, false]);
    for (const each of [other, consumers, other]) await each.set(queues, 'open');
    assert.deepEqual(await taken(opened), [true, true]);
  });
}
