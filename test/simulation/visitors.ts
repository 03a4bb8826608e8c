import { queueNames as names } from '#ports/messages';
import type { Submission } from '#roles/submission/submission';
import { type Clients, clientName, type Reach, responseQueue } from './clients.ts';

/** An invalid submission, and the expected refusal. */
interface Slip {
  readonly pointer: string;
  readonly code: string;
  readonly submission: Pick<Submission, 'order'> & Partial<Submission>;
}
const slips: readonly Slip[] = [
  { pointer: '/workflow', code: 'unknown-workflow', submission: { workflow: 'no such workflow', order: { item: 'tea' } } },
  { pointer: '/order/item', code: 'invalid-type', submission: { workflow: 'sale', order: {} } },
  { pointer: '/order/item', code: 'invalid-type', submission: { order: { item: 7 } } },
  { pointer: '/order/unknown', code: 'unknown-field', submission: { workflow: 'pair', order: { item: 'tea', unknown: 'more' } } },
  { pointer: '/order/a~1b~0c', code: 'unknown-field', submission: { workflow: 'pair', order: { item: 'tea', 'a/b~c': 'more' } } },
  { pointer: '/order/items/1', code: 'invalid-type', submission: { workflow: 'lines', order: { items: ['tea', 7] } } },
  {
    pointer: '/responseChannel',
    code: 'unknown-response-channel',
    submission: { workflow: 'sale', order: { item: 'tea' }, responseChannel: 'redress-response-elsewhere' },
  },
];

/** Submits invalid orders: each client learns the reason from an answer, a message or a person. */
export function visit(reach: Reach, clients: Clients): void {
  const { chance, timeline } = reach.around;
  for (let number = chance.between(0, 2); number > 0; number--) {
    const { pointer, code, submission } = chance.pick(slips);
    const wanted = `${pointer} ${code}`;
    const idempotencyKey = `wrong-${number}`;
    const reference = chance.happens(0.5) ? { reference: `reference of ${idempotencyKey}` } : {};
    const whole = { responseChannel: responseQueue, ...submission, ...reference, client: clientName, idempotencyKey };
    const byMessage = chance.happens(0.6);
    timeline.after(chance.between(0, 60_000), `a client submits ${idempotencyKey}`, () => {
      if (byMessage) return post(reach, whole, wanted);
      clients.persist('client', `submit ${idempotencyKey}`, async ({ system }) => {
        const answer = await system.submit(whole);
        const problems = answer.outcome === 'invalid' ? answer.problems : [];
        reach.around.record({ type: 'refused', key: idempotencyKey, outcome: answer.outcome, problems, expected: wanted });
        return true;
      });
    });
  }
}

function post({ around, queues }: Reach, submission: Submission, wanted: string): void {
  const body = JSON.stringify({ v: 1, type: 'submission', ...submission });
  around.record({ type: 'posted invalid', submission, body, expected: wanted });
  queues.send([{ queue: names.submissions, body }]);
}
