import { startShop } from '../../../examples/shop/server.ts';
import { serviceEnvironment } from '../../../examples/shop/services.ts';

/** The port of the sample shop for functions on an emulator. Their environment contains its address. */
const port = Number(process.env['SHOP_PORT'] || 4000);
const url = `http://127.0.0.1:${port}`;

export const shopUrl = url;

export const shopEnvironment = serviceEnvironment(url);

/** Starts the shop, unless one already listens there. */
export async function shopHere(): Promise<{ close(): Promise<void> }> {
  const answers = await fetch(`${url}/switches`).catch(() => undefined);
  return answers?.ok ? { close: async () => {} } : startShop({ port });
}
