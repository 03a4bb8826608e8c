import { secretWord } from '../app.ts';
import { responseQueue } from '../history.ts';
import type { Happening } from '../sight.ts';
import { type Law, on } from './law.ts';

/** S24: what is marked secret stands in no journal, announcement, message to a client, alert or log, whoever repeats it. */
export const secrets = (): Law => ({
  name: 'secrets',
  after: on(['written', 'published', 'sent', 'failed'], (happening, history) => {
    const told = textsOf(happening);
    if (happening.type === 'written') {
      const { blob: _, ...head } = happening.after;
      told.push(JSON.stringify(head), ...(history.orders.get(head.orderId)?.news ?? []).map((line) => JSON.stringify(line)));
    }
    const open = told.find((text) => text.includes(secretWord));
    return open && `for everybody to see: ${open}`;
  }),
});

function textsOf(happening: Happening): string[] {
  if (happening.type === 'published') return [JSON.stringify(happening.announcement)];
  if (happening.type === 'sent') return happening.queue === responseQueue ? [happening.body] : [];
  return happening.type === 'failed' && happening.where !== 'a booking is to be canceled' ? [happening.message] : [];
}
