import type { Clients } from './clients.ts';
import type { Surroundings } from './surroundings.ts';

/** An operator suspends an order and resumes it later; an operator who forgets it is reminded at the end. */
export function suspend({ chance, timeline }: Surroundings, clients: Clients, orderId: string): void {
  const key = clients.nameFor('suspension');
  const forMs = chance.between(500, chance.happens(0.2) ? 3_600_000 : 90_000);
  const isForgotten = chance.happens(0.1);
  clients.instruct(orderId, { kind: 'suspend', by: 'operator', reason: key }, key, {
    foresees: chance.happens(0.3),
    onAnswer: (answer) => {
      if (answer === 'accepted' && !isForgotten)
        timeline.after(forMs, 'somebody resumes', () => resume(clients, orderId, chance.happens(0.3)));
    },
  });
}

/** `foresees`: the operator reads the preview first. */
export function resume(clients: Clients, orderId: string, foresees = false): void {
  const key = clients.nameFor('resumption');
  clients.instruct(orderId, { kind: 'resume', by: 'operator', reason: key }, key, { foresees });
}
