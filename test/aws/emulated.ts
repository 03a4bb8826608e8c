import app from '../../examples/orders/app.ts';
import { startLocal } from '../../lib/host/local.ts';
import { deployed, startEmulators } from './deployment.ts';

/** `npm start` with REDRESS_ADAPTERS=aws, on servers of this machine that forget everything when they end. */
const { endpoints, stop } = await startEmulators();
process.on('exit', () => void stop());
const { variables } = await deployed(app, endpoints);
// The SDK reads its own there.
Object.assign(process.env, variables);
await startLocal(process.env);
