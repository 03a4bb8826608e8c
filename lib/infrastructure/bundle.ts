import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Code } from 'aws-cdk-lib/aws-lambda';
import { buildSync } from 'esbuild';
import { SetupError } from '#ports/errors';

/** The sources here, or the compiled form in the package. */
const ending = import.meta.url.endsWith('.ts') ? '.ts' : '.js';
const own = (path: string): string => fileURLToPath(new URL(`../../${path}${ending}`, import.meta.url));

/**
 * Packages written for CommonJS ask for Node's own modules with `require`, which a module does not have. esbuild does not see a
 * banner: a name in it that an app imports as well (`createRequire`) would be declared twice, and no function would start.
 */
const banner = `import { createRequire as __redressRequire } from 'node:module'; const require = __redressRequire(import.meta.url);`;

/** Code for Lambda, and the folder it lies in. */
export interface Bundle {
  readonly code: Code;
  readonly folder: string;
}

/**
 * One file of `functions/` with the user's app as code for Lambda: `index.handler`. The same sources give the same
 * bytes, so that a deployment replaces no function that did not change.
 *
 * @throws SetupError when there is no such app.
 */
export function bundle(file: string, app: string): Bundle {
  const entry = resolve(app);
  if (!existsSync(entry)) throw new SetupError(`There is no app at ${entry}.`, 'Name the module whose default export is the app.');
  const name = `${file} ${entry}`;
  const outdir = bundled.get(name) ?? build(file, entry);
  bundled.set(name, outdir);
  return { code: Code.fromAsset(outdir), folder: outdir };
}

/** Folders: several stacks of one program share what they have in common. */
const bundled = new Map<string, string>();

/** CDK copies what is in it; it is gone when the program ends. */
function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'redress-bundle-'));
  if (bundled.size === 0) process.once('exit', () => [...bundled.values()].map((each) => rmSync(each, { recursive: true, force: true })));
  return folder;
}

function build(file: string, entry: string): string {
  const outdir = newFolder();
  const contents = [
    `import app from ${JSON.stringify(entry)};`,
    `import { create } from ${JSON.stringify(own(`functions/${file}`))};`,
    `import { inLambda } from ${JSON.stringify(own('lib/runtime/lambda'))};`,
    'export const handler = inLambda({ app, create, environment: process.env });',
  ].join('\n');
  buildSync({
    stdin: { contents, resolveDir: dirname(entry), sourcefile: 'index.ts', loader: 'ts' },
    // Paths of packages get into the code: as seen from the app they are the same wherever somebody stands who deploys.
    absWorkingDir: dirname(entry),
    outdir,
    entryNames: 'index',
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    conditions: ending === '.ts' ? ['redress-source'] : [],
    mainFields: ['module', 'main'],
    // Names stay as they are written: a stack trace in a log must say where it was.
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: 'none',
    banner: { js: banner },
    logLevel: 'warning',
  });
  return outdir;
}
