import { cpSync, rmSync } from 'node:fs';
import { buildCommonJs } from './commonjs.ts';
import { installed, root, run } from './run.ts';

/**
 * `npm run build` writes the package's JavaScript and types and the operators' console to `dist/`, because Node runs no TypeScript
 * inside node_modules. The sample app is a part of it, for `redress start` without an app.
 */
rmSync(`${root}dist`, { recursive: true, force: true });
process.exitCode = await run(installed('tsc'), ['-p', 'tsconfig.build.json']);
if (process.exitCode === 0) process.exitCode = await run(process.execPath, [`${root}console/build.ts`]);
if (process.exitCode === 0) {
  cpSync(`${root}examples/orders/samples`, `${root}dist/examples/orders/samples`, { recursive: true });
  await buildCommonJs(`${root}dist`);
}
