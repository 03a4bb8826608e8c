import type * as z from 'zod';
import { timeText } from '#ports/messages';
import { type Erased, eraseSecrets } from '#roles/secrets/erase';
import { audited } from './audited.ts';
import { conflict, type Refusal, refuse } from './problem.ts';
import { type Answer, type Call, json } from './route.ts';
import type { EraseBody } from './schemas/instructions.ts';

/** Erases the secrets of a finished order forever. */
export async function eraseOrder(call: Call<unknown, unknown, z.output<typeof EraseBody>>): Promise<Answer | Refusal> {
  const { api, id, body, caller, requestId } = call;
  const erased: Erased = await audited(
    call,
    { kind: 'instruction', target: id, action: 'erase', reason: body.reason },
    (beside) => eraseSecrets(id, () => beside({ erasedAt: null }, { erasedAt: timeText(api.clock.now()) }), api),
    ({ outcome }) => outcome === 'erased',
  );
  switch (erased.outcome) {
    case 'not-found':
      return refuse('not-found');
    case 'conflict':
      return conflict(erased.reasons);
    case 'erased-before':
      return json(200, { orderId: id, erasedAt: timeText(erased.at), orders: [], deadLetters: 0 }, { orderId: id });
    case 'erased': {
      api.telemetry.log('info', 'secrets erased', { orderId: id, requestId, by: caller.subject });
      const { orders, deadLetters } = erased;
      return json(200, { orderId: id, erasedAt: timeText(erased.at), orders, deadLetters }, { orderId: id });
    }
  }
}
