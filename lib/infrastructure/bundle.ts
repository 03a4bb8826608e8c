import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Code } from 'aws-cdk-lib/aws-lambda';
import { buildSync } from 'esbuild';
import { SetupError } from '#ports/errors';

/** The ending of this package's own files: `.ts` for the sources in the repository, `.js` for the compiled package. */
const ending = import.meta.url.endsWith('.ts') ? '.ts' : '.js';
const own = (path: string): string => fileURLToPath(new URL(`../../${path}${ending}`, import.meta.url));

/** The folder of the built console, which lies next to the compiled code. */
const consoleFolder = fileURLToPath(new URL(ending === '.ts' ? '../../dist/console' : '../../console', import.meta.url));

/**
 * Defines `require` for CommonJS packages, which load Node's modules with it. esbuild does not rename identifiers in a banner: a
 * name that an app also imports (`createRequire`) would be declared twice, and no function would start.
 */
const banner = `import { createRequire as __redressRequire } from 'node:module'; const require = __redressRequire(import.meta.url);`;

/** Code for Lambda, and its folder. */
export interface Bundle {
  readonly code: Code;
  readonly folder: string;
}

/**
 * Bundles one file of `functions/` and the user's app for Lambda (`index.handler`). The same sources give the same bytes, so that
 * a deployment replaces only changed functions.
 *
 * @throws SetupError when the app does not exist.
 */
export function bundle(file: string, app: string): Bundle {
  const entry = resolve(app);
  if (!existsSync(entry)) throw new SetupError(`The app ${entry} does not exist.`, 'Name the module whose default export is the app.');
  const name = `${file} ${entry}`;
  const outdir = bundled.get(name) ?? build(file, entry);
  bundled.set(name, outdir);
  return { code: Code.fromAsset(outdir), folder: outdir };
}

/** Returns a stand-in for the code of a file, for commands that read the stack and deploy nothing. */
export const noBundle = (file: string): Bundle => ({ code: Code.fromInline(`// ${file}`), folder: '' });

/** Bundle folders by source: several stacks of one CDK app share them. */
const bundled = new Map<string, string>();

/** Creates a temporary folder, which is removed when the process ends. CDK copies its content. */
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
    // Package paths become part of the code. Relative to the app, they do not depend on the working directory of the deployment.
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
    // Identifiers are not minified, so that stack traces stay readable.
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: 'none',
    banner: { js: banner },
    logLevel: 'warning',
  });
  if (file === 'api' && existsSync(consoleFolder)) cpSync(consoleFolder, join(outdir, 'console'), { recursive: true });
  return outdir;
}
