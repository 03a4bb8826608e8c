import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { build, type Plugin } from 'esbuild';

/** Entry points of the package that test runners load as CommonJS. */
const entries = ['index', 'http', 'testing', 'cdk'];

/**
 * Builds `dist/lib/commonjs/`: the package in one CommonJS file, and a small file for each entry point. Test runners that load
 * CommonJS, such as jest without further settings, cannot load ES modules. All entry points share one file, because
 * each must accept a workflow that another one made. Node itself always loads the ES modules.
 */
export async function buildCommonJs(dist: string): Promise<void> {
  const folder = join(dist, 'lib/commonjs');
  const outfile = join(folder, 'redress.js');
  const contents = entries.map((entry) => `exports.${entry} = () => require('./lib/${entry}.js');`).join('\n');
  await build({
    stdin: { contents, resolveDir: dist, sourcefile: 'commonjs.js' },
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node22',
    outfile,
    // Packages that tests share with the application, and packages that are CommonJS already.
    external: ['zod', 'hono', 'hono/*', '@aws-sdk/*', 'aws-cdk-lib', 'aws-cdk-lib/*', 'constructs', 'esbuild', 'cdk-nag'],
    plugins: [asCommonJs(outfile)],
    logLevel: 'warning',
  });
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{ "type": "commonjs" }\n');
  for (const entry of entries) writeFileSync(join(folder, `${entry}.js`), `module.exports = require('./redress.js').${entry}();\n`);
}

/** Replaces what CommonJS does not have: the URL of a module, and modules that are imported by a computed name. */
const asCommonJs = (outfile: string): Plugin => ({
  name: 'commonjs',
  setup({ onLoad }) {
    onLoad({ filter: /[/\\]dist[/\\]lib[/\\].*\.js$/ }, ({ path }) => {
      const source = /runtime[/\\]host[/\\]load\.js$/.test(path) ? loadOf(path) : readFileSync(path, 'utf8');
      const place = JSON.stringify(relative(dirname(outfile), path));
      const url = `require('node:url').pathToFileURL(require('node:path').join(__dirname, ${place})).href`;
      return { contents: source.replaceAll('import.meta.url', `(${url})`) };
    });
  },
});

/** Writes the module that loads functions by their names, with each name written out. */
function loadOf(path: string): string {
  const folder = join(dirname(path), '../../../functions');
  const files = readdirSync(folder).filter((name) => name.endsWith('.js'));
  const cases = files.map((name) => `${JSON.stringify(name.slice(0, -3))}: () => import(${JSON.stringify(join(folder, name))})`);
  return `const functions = { ${cases.join(', ')} };\nexport const loadFunction = (file) => functions[file]();\n`;
}
