import { existsSync, globSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';

/**
 * Writes the console to `dist/console`: a page, and scripts and styles that have a hash of their content in their names.
 * `--if-needed` builds only if a source is newer than the page. `--sizes` prints the size of each file.
 */
const root = fileURLToPath(new URL('..', import.meta.url));
const folder = `${root}dist/console/`;
const flags = new Set(process.argv.slice(2));

/** Limits in bytes, after gzip. A browser loads the first page before it shows a screen, and the rest when a screen needs it. */
const budget = { firstPage: 90 * 1024, all: 200 * 1024 };

if (!flags.has('--if-needed') || !isFresh()) await buildConsole();

function isFresh(): boolean {
  if (!existsSync(`${folder}index.html`)) return false;
  const builtAt = statSync(`${folder}index.html`).mtimeMs;
  const sources = globSync(['console/**/*.{ts,tsx,css}', 'lib/diagrams/*.ts', 'package-lock.json'], { cwd: root });
  return sources.every((file) => statSync(`${root}${file}`).mtimeMs < builtAt);
}

async function buildConsole(): Promise<void> {
  const { outputFiles, metafile } = await build({
    entryPoints: { console: `${root}console/main.tsx`, style: `${root}console/styles/index.css` },
    absWorkingDir: root,
    outdir: folder,
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    bundle: true,
    splitting: true,
    minify: true,
    format: 'esm',
    target: ['es2023', 'chrome123', 'firefox120', 'safari17.5'],
    conditions: ['redress-source'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    legalComments: 'none',
    metafile: true,
    write: false,
    logLevel: 'warning',
  });
  const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);
  const entry = (source: string): string => {
    const [path = ''] = Object.entries(metafile.outputs).find(([, { entryPoint }]) => entryPoint === source) ?? [];
    return path;
  };
  const [script, style] = [entry('console/main.tsx'), entry('console/styles/index.css')];
  const statics = staticImports(metafile.outputs, script);
  const page = pageWith(nameOf(script), nameOf(style), statics.filter((path) => path !== script).map(nameOf));

  const sizes = new Map(outputFiles.map(({ path, contents }) => [nameOf(path), gzipSync(contents, { level: 9 }).length]));
  sizes.set('index.html', gzipSync(page).length);
  const sumOf = (names: Iterable<string>): number => [...names].reduce((sum, name) => sum + (sizes.get(name) ?? 0), 0);
  const firstPage = sumOf(['index.html', nameOf(style), ...statics.map(nameOf)]);
  const all = sumOf(sizes.keys());
  if (flags.has('--sizes')) console.log(JSON.stringify({ firstPage, all, budget, files: Object.fromEntries(sizes) }, null, 2));
  if (firstPage > budget.firstPage || all > budget.all)
    throw new Error(
      `The console is too large: ${firstPage} of ${budget.firstPage} bytes for the first page, ${all} of ${budget.all} in all (gzip). Load what a screen needs with that screen.`,
    );

  // Tests may build at the same time: each writes a folder of its own and puts it in place. With `--if-needed`, only the first one does.
  const own = `${root}dist/console-${process.pid}/`;
  mkdirSync(own, { recursive: true });
  for (const { path, contents } of outputFiles) writeFileSync(`${own}${nameOf(path)}`, contents);
  writeFileSync(`${own}index.html`, page);
  try {
    // Between the two calls, another process may put its own folder there. Then the rename fails, and is tried again.
    for (let triesLeft = 20; ; triesLeft -= 1)
      try {
        if (flags.has('--if-needed') && isFresh()) return;
        rmSync(folder, { recursive: true, force: true });
        return renameSync(own, folder);
      } catch (error) {
        if (triesLeft === 0) throw error;
      }
  } finally {
    rmSync(own, { recursive: true, force: true });
  }
}

/** Returns a file and all files that it imports statically, at any depth. */
function staticImports(
  outputs: { readonly [path: string]: { readonly imports: readonly { readonly path: string; readonly kind: string }[] } },
  entry: string,
): readonly string[] {
  const found = new Set([entry]);
  for (const path of found)
    for (const { path: next, kind } of outputs[path]?.imports ?? []) if (kind === 'import-statement') found.add(next);
  return [...found];
}

function pageWith(script: string, style: string, imports: readonly string[]): string {
  const preloads = imports.map((name) => `<link rel="modulepreload" href="/console/${name}">\n`).join('');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Redress</title>
<link rel="stylesheet" href="/console/${style}">
${preloads}<script type="module" src="/console/${script}"></script>
</head>
<body>
<div id="app"></div>
<noscript>The console of Redress needs JavaScript. The HTTP API at this address works without it.</noscript>
</body>
</html>
`;
}
