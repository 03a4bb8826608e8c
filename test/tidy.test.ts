import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { behaviors } from '#core/activities/index';
import type { WorkflowDefinition } from '#core/definition/definition';
import { topologyOf } from '#runtime/topology';

const root = fileURLToPath(new URL('..', import.meta.url));
const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { cwd: root }).toString().trim().split('\n');
const read = (file: string) => readFileSync(`${root}${file}`, 'utf8');
const under = (...folders: string[]) => files.filter((file) => file.endsWith('.ts') && folders.some((folder) => file.startsWith(folder)));

/** Returns the lines that match a pattern, as `file:line`. */
const places = (which: readonly string[], pattern: RegExp): readonly string[] =>
  which.flatMap((file) =>
    read(file)
      .split('\n')
      .flatMap((line, index) => (pattern.test(line) ? [`${file}:${index + 1}: ${line.trim()}`] : [])),
  );

/** Returns the titles of the tests in a file. */
const titlesIn = (file: string): readonly string[] =>
  [...read(file).matchAll(/\b(?:test|it|describe)\(\s*(['"`])((?:(?!\1)[\s\S])*)\1/g)].map(([, , title = '']) => title);

describe('the repository is tidy', () => {
  test('the core reads no clock, no random numbers and no timers: they arrive in events', () => {
    assert.deepEqual(
      places(under('lib/core/'), /Date\.now|new Date\(\)|Math\.random|setTimeout|setInterval|setImmediate|process\.|crypto/),
      [],
    );
  });

  test('roles use the clock that they are given', () => {
    const roles = under('lib/').filter(
      (file) =>
        !/^lib\/(runtime\/(host\/|lambda\.ts)|cli|api|adapters|http-service)|^lib\/(ports\/(clock|telemetry)|testing)\.ts$/.test(file),
    );
    assert.deepEqual(places(roles, /Date\.now|new Date\(\)|setTimeout|setInterval|performance\.now/), []);
  });

  test('only the configuration and the entry points read the environment', () => {
    // bundle.ts writes the first lines of each Lambda function. http-service.ts and credentials.ts read the variables that an app names.
    const starts =
      /^lib\/(runtime\/(config|credentials)\.ts|runtime\/host\/local\.ts|cli\/|infrastructure\/bundle\.ts|http-service\/http-service\.ts)/;
    const others = under('lib/', 'functions/').filter((file) => !starts.test(file));
    assert.deepEqual(places(others, /process\.env/), []);
  });

  test('every activity type has its own file and its entry in the table', () => {
    const inFolder = under('lib/core/activities/')
      .map((file) => basename(file, '.ts').replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase()))
      // The table, and the module for the activities of apps.
      .filter((name) => name !== 'index' && name !== 'custom');
    assert.deepEqual(Object.keys(behaviors).sort(), inFolder.sort());
  });

  test('every function has its entry in the topology', () => {
    const agent = { name: 'one', operations: {} };
    const consumer = { name: 'two', types: {} };
    const calling = { root: { activity: 'call' } } as WorkflowDefinition;
    const used = new Set(topologyOf({ agents: [agent], consumers: [consumer], workflows: [calling] }).map(({ file }) => file));
    assert.deepEqual(
      [...used].sort(),
      under('functions/')
        .map((file) => basename(file, '.ts'))
        .sort(),
    );
  });

  test('a function has at most 40 lines', () => {
    assert.deepEqual(
      under('functions/').filter((file) => read(file).split('\n').length > 40),
      [],
    );
  });

  test('a file has at most 400 lines', () => {
    const long = under('lib/', 'functions/', 'bin/', 'examples/').map((file) => ({ file, lines: read(file).split('\n').length }));
    assert.deepEqual(
      long.filter(({ lines }) => lines > 400),
      [],
    );
  });

  test('no TODO is left, and no check is switched off without a reason', () => {
    const all = under('lib/', 'functions/', 'bin/', 'examples/', 'dev/');
    assert.deepEqual(places(all, /\b(TODO|FIXME|XXX)\b|@ts-ignore|@ts-nocheck|biome-ignore(?!.*: )/), []);
  });

  test('no test is skipped, and none is marked to run alone', () => {
    assert.deepEqual(
      places(
        under('test/').filter((file) => !file.endsWith('tidy.test.ts')),
        /\b(test|it|describe)\.(skip|only|todo)\b|\b(skip|only|todo): true/,
      ),
      [],
    );
  });

  test('test titles cite requirements that exist', () => {
    const known = new Set([...read('docs/reference/requirements.md').matchAll(/^\| (F-\d+) /gm)].map(([, id]) => id));
    const named = under('test/').flatMap((file) => titlesIn(file).flatMap((title) => title.match(/F-\d+/g) ?? []));
    assert.deepEqual(
      [...new Set(named)].filter((id) => !known.has(id)),
      [],
    );
  });

  test('test titles cite laws, fault kinds and figures that docs/reference/laws.md lists', () => {
    const listed = new Set([...read('docs/reference/laws.md').matchAll(/^\| ([SLG]\d+|X-\d+) /gm)].map(([, id]) => id));
    const cited = under('test/').flatMap((file) => titlesIn(file).flatMap((title) => title.match(/\b(?:[SLG]\d{1,2}|X-\d+)\b/g) ?? []));
    assert.deepEqual(
      [...new Set(cited)].filter((id) => !listed.has(id)),
      [],
    );
  });

  test('a test title cites its ids before a colon, and then says what happens', () => {
    const id = '(?:[FWX]-\\d+|[ALSG]\\d{1,2})';
    // A contract begins with the name of its adapter: `${name}: F-01: …`.
    const cited = new RegExp(`^(?:\\$\\{\\w+\\}: )?${id}(?:(?:, |–)${id})*: (?!(?:and|${id})\\b)`);
    const citing = under('test/', 'examples/', 'dev/').flatMap((file) =>
      titlesIn(file).flatMap((title) => (new RegExp(`\\b${id}\\b`).test(title) ? [{ file, title }] : [])),
    );
    assert.ok(citing.length > 1500, `${citing.length} titles`);
    assert.deepEqual(
      citing.filter(({ title }) => !cited.test(title)),
      [],
    );
  });

  test('the glossary is one table, in alphabetical order', () => {
    const [head, , ...rows] = readFileSync('docs/reference/glossary.md', 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('|'));
    assert.match(head ?? '', /^\| word \|/);
    const words = rows.map((row) => (row.split('|')[1] ?? '').trim().replaceAll('`', '').toLowerCase());
    assert.deepEqual(words, words.toSorted());
  });

  test('docs/internals/findings.md quotes the titles of tests as they are now', () => {
    const quoted = [...read('docs/internals/findings.md').matchAll(/`(test\/[^`]+\.ts)`: ("[^"|]+"(?:(?:,| and) "[^"|]+")*)/g)];
    const pairs = quoted.flatMap(([, file = '', quotes = '']) =>
      [...quotes.matchAll(/"([^"]+)"/g)].map(([, quote = '']) => ({ file, quote })),
    );
    assert.ok(pairs.length > 50, `${pairs.length} quotes`);
    // "…" stands for words that are left out, and "(…)" at the end for the case of a test in a loop.
    const parts = (quote: string) =>
      quote
        .replace(/ \([^)]*\)$/, '')
        .split('…')
        .map((part) => part.trim());
    assert.deepEqual(
      pairs.filter(({ file, quote }) => !titlesIn(file).some((title) => parts(quote).every((part) => title.includes(part)))),
      [],
    );
  });

  test('lib has no loose files except the exports of the package', () => {
    assert.deepEqual(
      files.filter((file) => /^lib\/[^/]+$/.test(file)),
      ['lib/README.md', 'lib/cdk.ts', 'lib/http.ts', 'lib/index.ts', 'lib/testing.ts'],
    );
  });

  // dev/tools/package-check.ts compiles and tests the project of a user, and runs the commands of its page.
  for (const [page, folder] of [
    ['README.md', 'examples/'],
    ['docs/guides/your-own-project.md', 'dev/tools/user-projects/onboarding/'],
    ['docs/guides/agents.md', 'dev/tools/user-projects/onboarding/'],
    ['docs/reference/configuration.md', 'dev/tools/user-projects/onboarding/'],
  ] as const)
    test(`the code that ${page} shows is code of ${folder}`, () => {
      const squeezed = (text: string) => text.replaceAll(/\s+/g, ' ').trim();
      const sources = files.filter((file) => file.startsWith(folder)).map((file) => squeezed(read(file)));
      const blocks = [...read(page).matchAll(/```(?:ts|json)\n([\s\S]*?)```/g)].map(([, code = '']) => squeezed(code));
      assert.ok(blocks.length > 0);
      assert.deepEqual(
        blocks.filter((block) => !sources.some((code) => code.includes(block))),
        [],
      );
    });

  test('links in the documents lead to a file, and to a heading in it', () => {
    const pages = files.filter((file) => /^(docs\/.*|lib\/.*|[A-Z]+)\.md$/.test(file));
    const known = new Set(files);
    const isFolder = (path: string): boolean => files.some((file) => file.startsWith(`${path}/`));
    const slugOf = (heading: string): string =>
      heading
        .toLowerCase()
        .replaceAll(/[^\w\s-]/g, '')
        .replaceAll(' ', '-');
    const broken = pages.flatMap((page) =>
      [...read(page).matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, target = '']) => {
        if (/^[a-z]+:/.test(target)) return [];
        const [path = '', anchor] = target.split('#');
        const linked = path === '' ? page : new URL(path, `file:///${page}`).pathname.slice(1).replace(/\/$/, '');
        if (!known.has(linked)) return isFolder(linked) && !anchor ? [] : [`${page}: ${target}`];
        const headings = anchor ? [...read(linked).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => slugOf(heading)) : [];
        return !anchor || headings.includes(anchor) ? [] : [`${page}: ${target}`];
      }),
    );
    assert.ok(pages.length > 40);
    assert.deepEqual(broken, []);
  });

  test('links in the documents of the package lead to files of the package', () => {
    const shipped = (JSON.parse(read('package.json')) as { files: readonly string[] }).files;
    const isShipped = (path: string): boolean => shipped.some((each) => path === each || path.startsWith(`${each}/`));
    const broken = files
      .filter((file) => file.endsWith('.md') && isShipped(file))
      .flatMap((page) =>
        [...read(page).matchAll(/\]\(([^)\s#]+)[^)]*\)/g)]
          .map(([, target = '']) => target)
          .filter((target) => !/^[a-z]+:/.test(target))
          .filter((target) => !isShipped(new URL(target, `file:///${page}`).pathname.slice(1).replace(/\/$/, '')))
          .map((target) => `${page}: ${target}`),
      );
    assert.deepEqual(broken, []);
  });

  for (const folder of ['', 'dev/comparison/', 'dev/tools/mutation/', 'dev/tools/user-projects/']) {
    test(`versions in ${folder}package.json are exact, and its lockfile names only the public registry`, () => {
      const { dependencies, devDependencies } = JSON.parse(read(`${folder}package.json`)) as { [key: string]: { [name: string]: string } };
      const loose = Object.entries({ ...dependencies, ...devDependencies }).filter(
        // A folder of this repository has only the version of the repository.
        ([, version]) => !/^(npm:.+@)?\d+\.\d+\.\d+$|^file:(test|dev)\//.test(version),
      );
      assert.deepEqual(loose, []);
      const hosts = new Set([...read(`${folder}package-lock.json`).matchAll(/"resolved": "https?:\/\/([^/"]+)/g)].map(([, host]) => host));
      assert.deepEqual(
        [...hosts].filter((host) => host !== 'registry.npmjs.org'),
        [],
      );
    });
  }

  for (const folder of ['', 'dev/comparison/', 'dev/tools/mutation/', 'dev/tools/user-projects/', 'dev/tools/other-node/'])
    test(`the lockfile ${folder}package-lock.json has a hash for each package, and names no registry`, () => {
      const text = read(`${folder}package-lock.json`);
      assert.doesNotMatch(text, /"resolved": "https?:/);
      // A link is a folder of this repository. The hash of a bundle covers the packages in it.
      const unverified = Object.entries(
        (JSON.parse(text) as { packages: { [path: string]: { [field: string]: unknown } } }).packages,
      ).filter(
        ([path, { integrity, link, inBundle }]) =>
          /(^|\/)node_modules\//.test(path) && !link && !inBundle && !/^sha512-/.test(String(integrity)),
      );
      assert.deepEqual(unverified, []);
    });

  test('each package that users install has a license that lets them use it in any product', () => {
    const allowed = ['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'ISC', 'MIT', 'Unlicense'];
    const { packages } = JSON.parse(read('package-lock.json')) as {
      packages: { [path: string]: { dev?: true; link?: true; license?: string } };
    };
    const installed = Object.entries(packages).filter(([path, { dev, link }]) => path.startsWith('node_modules/') && !dev && !link);
    assert.ok(installed.length > 20);
    assert.deepEqual(
      installed.filter(([, { license = 'none' }]) => !allowed.includes(license)),
      [],
    );
  });

  test('no package runs a script when the packages of this repository are installed', () => {
    const { allowScripts } = JSON.parse(read('package.json')) as { allowScripts: { [name: string]: boolean } };
    assert.deepEqual(new Set(Object.values(allowScripts)), new Set([false]));
    assert.match(read('bin/run'), /npm ci --ignore-scripts /);
  });
});
