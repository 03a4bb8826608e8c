import { startLocal } from '../lib/host/local.ts';

/** `npm start`: the whole system in one process, until SIGTERM or SIGINT. */
await startLocal(process.env);
