import { rmSync } from 'node:fs';
import { installed, root, run } from './run.ts';

/** `npm run build`: the package's JavaScript and its types, in `dist/`. Node runs no TypeScript inside node_modules. */
rmSync(`${root}dist`, { recursive: true, force: true });
process.exitCode = await run(installed('tsc'), ['-p', 'tsconfig.build.json']);
