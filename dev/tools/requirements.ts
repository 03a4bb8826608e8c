import { globSync, readFileSync } from 'node:fs';
import { root } from './run.ts';

/** `npm run requirements` lists each requirement with the tests whose titles cite it, so that gaps are visible. */
const requirements = [...readFileSync(`${root}docs/reference/requirements.md`, 'utf8').matchAll(/^\| (F-\d+) \| (\w+) \| (.+?) \|/gm)].map(
  ([, id = '', source = '', text = '']) => ({ id, source, text }),
);
const titles = globSync('test/**/*.{test,contract}.ts', { cwd: root }).flatMap((file) =>
  [...readFileSync(`${root}${file}`, 'utf8').matchAll(/\b(?:test|it|describe)(?:\.\w+)?\(\s*(['"`])((?:(?!\1)[\s\S])*)\1/g)].map(
    ([, , title = '']) => ({ file, title }),
  ),
);
/** The first lines of a transcript are its title. */
const stories = globSync('test/scenarios/*.txt', { cwd: root }).map((file) => {
  const lines = readFileSync(`${root}${file}`, 'utf8').split('\n');
  const title = lines
    .slice(
      0,
      lines.findIndex((line) => !line.startsWith('#')),
    )
    .map((line) => line.replace(/^#\s*/, ''))
    .join(' ');
  return { file, title };
});

/** `F-15 to F-20` cites all ids in between as well. */
const idsIn = (title: string): readonly string[] =>
  [...title.matchAll(/F-(\d+)(?:\s*(?:to|–|-)\s*F-(\d+))?/g)].flatMap(([, from, to]) =>
    Array.from({ length: Number(to ?? from) - Number(from) + 1 }, (_, index) => `F-${String(Number(from) + index).padStart(2, '0')}`),
  );

const shown = new Map<string, { file: string; title: string }[]>();
for (const title of [...titles, ...stories]) for (const id of idsIn(title.title)) shown.set(id, [...(shown.get(id) ?? []), title]);

const json = process.argv.includes('--json');
const rows = requirements.map((requirement) => ({ ...requirement, tests: shown.get(requirement.id) ?? [] }));
if (json) process.stdout.write(`${JSON.stringify(rows, null, 2)}\n`);
else {
  for (const { id, source, text, tests } of rows) {
    process.stdout.write(`${tests.length > 0 ? '✓' : '·'} ${id} (${source}) ${text.length > 110 ? `${text.slice(0, 109)}…` : text}\n`);
    for (const { file, title } of tests) process.stdout.write(`      ${file}: ${title}\n`);
  }
  process.stdout.write(`\n${rows.filter(({ tests }) => tests.length > 0).length} of ${rows.length} requirements are named by a test.\n`);
}
