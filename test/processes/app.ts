import { appendFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { compensate, defineAgent, defineApp, defineWorkflow, operation, PermanentFailure, parallel, scope, sequence } from 'redress';
import * as z from 'zod';

const Work = z.object({ ms: z.number(), refuse: z.boolean() });

/** Leaves a line when it begins and when it has done its work: `begin KEY PID`, `done KEY PID`. Of work below zero its process dies. */
const work = operation({
  input: Work,
  output: z.object({}),
  async run({ ms, refuse }, { idempotencyKey, signal }) {
    const write = (what: string) => appendFileSync(process.env['EFFECTS'] ?? '', `${what} ${idempotencyKey} ${process.pid}\n`);
    write('begin');
    if (ms < 0) process.kill(process.pid, 'SIGKILL');
    if (ms > 0) await sleep(ms, undefined, { signal });
    if (refuse) throw new PermanentFailure('Refused', 'The test wants it so.');
    write('done');
    return {};
  },
});

const first = defineAgent('first', { work });
const second = defineAgent('second', { work });
const options = { version: 1, order: Work } as const;
const stepsFor = (order: { readonly ms: never; readonly refuse: never }) =>
  [first.work(order).named('one'), second.work({ ms: 0, refuse: false }).named('two')] as const;

/**
 * What the hosts of these tests run: two agents, asked one after the other (`line`), or side by side (`pair`); and `odd`,
 * of which `check` warns.
 */
export default defineApp({
  workflows: [
    defineWorkflow('line', options, ({ order }) => sequence(...stepsFor({ ms: order.ms as never, refuse: order.refuse as never }))),
    defineWorkflow('pair', options, ({ order }) => parallel(...stepsFor({ ms: order.ms as never, refuse: order.refuse as never }))),
    defineWorkflow('odd', options, () => sequence(scope('all', second.work({ ms: 0, refuse: false })), compensate('all'))),
  ],
  agents: [first, second],
});
