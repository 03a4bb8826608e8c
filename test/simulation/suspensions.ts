import type { Outside } from './outside.ts';
import type { Sight } from './sight.ts';

/** Somebody stops an order, and has it go on later; where he forgets, he is reminded at the end. */
export function suspend({ chance, timeline }: Sight, outside: Outside, orderId: string): void {
  const key = outside.nameFor('suspension');
  const forMs = chance.between(500, chance.happens(0.2) ? 3_600_000 : 90_000);
  const isForgotten = chance.happens(0.1);
  outside.instruct(orderId, { kind: 'suspend', by: 'operator', reason: key }, key, {
    foresees: chance.happens(0.3),
    onAnswer: (answer) => {
      if (answer === 'accepted' && !isForgotten)
        timeline.after(forMs, 'somebody resumes', () => resume(outside, orderId, chance.happens(0.3)));
    },
  });
}

/** `foresees`: he looks first at what it would do. */
export function resume(outside: Outside, orderId: string, foresees = false): void {
  const key = outside.nameFor('resumption');
  outside.instruct(orderId, { kind: 'resume', by: 'operator', reason: key }, key, { foresees });
}
