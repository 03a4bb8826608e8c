import { join } from 'node:path';
import { defineApp } from 'redress';
import { customer, inventory, payment, shipping } from './agents.ts';
import { fulfilOrder } from './workflow.ts';

export default defineApp({
  workflows: [fulfilOrder],
  agents: [inventory, payment, shipping, customer],
  local: {
    variables: ['INVENTORY_URL', 'PAYMENT_URL', 'SHIPPING_URL', 'CUSTOMER_URL'],
    samples: new URL('./samples/', import.meta.url),
    async start({ dataFolder }) {
      // Stands in for the remote services. A dynamic import keeps it out of the deployed bundle.
      const { startShop } = await import('../shop/server.ts');
      const { url, environment, close } = await startShop({ ledger: join(dataFolder, 'shop.sqlite') });
      return { environment, about: `sample shop at ${url}`, close };
    },
  },
});
