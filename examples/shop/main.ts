// The sample shop stands in for four remote services. It belongs to no app: a real service has its own owners, and its own contract.
import { startShop } from './server.ts';

const { PORT = '4000', HOST = '127.0.0.1', SHOP_LEDGER = '.redress/shop.sqlite' } = process.env;
const { url, environment, close } = await startShop({ port: Number(PORT), host: HOST, ledger: SHOP_LEDGER });

console.log(`shop ${url}`);
for (const [variable, value] of Object.entries(environment)) console.log(`export ${variable}=${value}`);

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, close);
