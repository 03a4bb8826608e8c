import { startLocal } from '#runtime/host/local';
import app from '../../examples/orders/app.ts';
import { deployed, startEmulators } from '../../test/adapters/aws/deployment.ts';

/** `npm start` with REDRESS_ADAPTERS=aws, on emulators of this machine that forget everything when they end. */
const { endpoints, stop } = await startEmulators();
process.on('exit', () => void stop());
const { variables } = await deployed(app, endpoints);
// The SDK reads its own settings from there.
Object.assign(process.env, variables);
await startLocal(process.env);
