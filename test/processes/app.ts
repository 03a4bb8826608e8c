import { appendFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { compensate, defineAgent, defineApp, defineWorkflow, operation, PermanentFailure, parallel, scope, sequence } from 'redress';
import * as z from 'zod';

const Work = z.object({ ms: z.number(), refuse: z.boolean() });

/** Logs its start and its end: `begin KEY PID`, `done KEY PID`. Work of negative length crashes the process. */
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

/** The app of these hosts: two agents, requested in sequence (`line`) or in parallel (`pair`), and `odd`, which makes `check` warn. */
export default defineApp({
  workflows: [
    defineWorkflow('line', options, ({ order }) => sequence(...stepsFor({ ms: order.ms as never, refuse: order.refuse as never }))),
    defineWorkflow('pair', options, ({ order }) => parallel(...stepsFor({ ms: order.ms as never, refuse: order.refuse as never }))),
    defineWorkflow('odd', options, () => sequence(scope('all', second.work({ ms: 0, refuse: false })), compensate('all'))),
  ],
  agents: [first, second],
});
