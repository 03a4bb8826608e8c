import { defineAgent, defineApp, defineWorkflow, fault, operation, sequence } from 'redress';
import { httpService, path } from 'redress/http';
import * as z from 'zod';

const OutOfStock = fault('OutOfStock');
const Item = z.object({ item: z.string() });
const Reservation = z.object({ id: z.string() });

const shopService = httpService({ name: 'shop', urlFrom: 'SHOP_URL' });

const shop = defineAgent('shop', {
  reserve: operation({ input: Item, output: Reservation, faults: [OutOfStock], run: ({ item }) => ({ id: item }) }),
  release: operation({
    input: Reservation,
    output: z.object({}),
    run: ({ id }, call) => shopService.delete(path`/reservations/${id}`, call),
  }),
});

const ordered = defineWorkflow('ordered', { version: 1, order: Item, toOperator: [OutOfStock] }, ({ order }) =>
  sequence(shop.reserve({ item: order.item }).undo(({ id }) => shop.release({ id }))),
);

export { OutOfStock, ordered, shop };
export default defineApp({ workflows: [ordered], agents: [shop] });
