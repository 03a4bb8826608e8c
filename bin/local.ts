import { startLocal } from '../lib/host/local.ts';

/** `npm start`: the whole system in one process, until SIGTERM or SIGINT; of another app, `npm start -- examples/travel/app.ts`. */
const [app] = process.argv.slice(2);
await startLocal(app === undefined ? process.env : { ...process.env, REDRESS_APP: app });
