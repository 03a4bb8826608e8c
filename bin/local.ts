import { startLocal } from '#runtime/host/local';

/** `npm start`: the whole system in one process, until SIGTERM or SIGINT; of another app, `npm start -- examples/travel/app.ts`. */
const [, script = '', app] = process.argv;
// `redress start` loads this file as well, and names its app in the environment.
const isNamed = app !== undefined && /local\.[jt]s$/.test(script);
await startLocal(isNamed ? { ...process.env, REDRESS_APP: app } : process.env);
