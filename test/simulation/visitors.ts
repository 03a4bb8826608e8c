import { queues as names } from '../../lib/messages.ts';
import type { Submission } from '../../lib/submission.ts';
import { responseQueue } from './history.ts';
import { clientName, type Outside, type Reach } from './outside.ts';

/** What is wrong with a submission, and the pointer with which it must be refused. */
interface Slip {
  readonly pointer: string;
  readonly submission: Pick<Submission, 'order'> & Partial<Submission>;
}
const slips: readonly Slip[] = [
  { pointer: '/workflow', submission: { workflow: 'no such workflow', order: { item: 'tea' } } },
  { pointer: '/order/item', submission: { workflow: 'sale', order: {} } },
  { pointer: '/order/item', submission: { order: { item: 7 } } },
  { pointer: '/order/unknown', submission: { workflow: 'pair', order: { item: 'tea', unknown: 'more' } } },
  { pointer: '/responseChannel', submission: { workflow: 'sale', order: { item: 'tea' }, responseChannel: 'redress-response-elsewhere' } },
];

/** Clients who ask for what is not to be had: each is told why, by an answer, by a message, or through a person. */
export function visit(reach: Reach, outside: Outside): void {
  const { chance, timeline } = reach.sight;
  for (let number = chance.between(0, 2); number > 0; number--) {
    const { pointer, submission } = chance.pick(slips);
    const idempotencyKey = `wrong-${number}`;
    const reference = chance.happens(0.5) ? { reference: `reference of ${idempotencyKey}` } : {};
    const whole = { responseChannel: responseQueue, ...submission, ...reference, client: clientName, idempotencyKey };
    const byMessage = chance.happens(0.6);
    timeline.after(chance.between(0, 60_000), `a client submits ${idempotencyKey}`, () => {
      if (byMessage) return post(reach, whole, pointer);
      outside.persist('client', `submit ${idempotencyKey}`, async ({ system }) => {
        const answer = await system.submit(whole);
        const pointers = answer.outcome === 'invalid' ? answer.problems.map((problem) => problem.pointer) : [];
        reach.sight.saw({ type: 'refused', key: idempotencyKey, outcome: answer.outcome, pointers, wanted: pointer });
        return true;
      });
    });
  }
}

function post({ sight, queues }: Reach, submission: Submission, pointer: string): void {
  const body = JSON.stringify({ v: 1, type: 'submission', ...submission });
  sight.saw({ type: 'posted wrongly', submission, body, pointer });
  queues.send([{ queue: names.submissions, body }]);
}
