import { startLocal } from '#runtime/host/local';

/**
 * The entry point of `npm start`: runs the system in one process until SIGTERM or SIGINT. For another app:
 * `npm start -- examples/travel/app.ts`. With `--quiet`, it prints no lines about orders.
 */
const [, script = '', ...given] = process.argv;
// `redress start` also loads this file, and names its app in REDRESS_APP.
const args = /local\.[jt]s$/.test(script) ? given : [];
const app = args.find((arg) => !arg.startsWith('--'));
await startLocal({
  ...process.env,
  ...(app === undefined ? {} : { REDRESS_APP: app }),
  ...(args.includes('--quiet') ? { REDRESS_QUIET: 'on' } : {}),
});
