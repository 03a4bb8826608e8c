import { startLocal } from '#runtime/host/local';

/** The program of `npm start`: runs the system in one process until SIGTERM or SIGINT. For another app: `npm start -- examples/travel/app.ts`. */
const [, script = '', app] = process.argv;
// `redress start` also loads this file, and names its app in REDRESS_APP.
const isNamed = app !== undefined && /local\.[jt]s$/.test(script);
await startLocal(isNamed ? { ...process.env, REDRESS_APP: app } : process.env);
