import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
// Inside the repository, so that apps can import `redress`.
mkdirSync(join(root, '.redress'), { recursive: true });
const folder = mkdtempSync(join(root, '.redress/mistakes-'));
after(() => rmSync(folder, { recursive: true, force: true }));

writeFileSync(
  join(folder, 'agent.ts'),
  `import { defineAgent, operation } from 'redress';
import * as z from 'zod';
const n = z.object({ n: z.number() });
export const a = defineAgent('a', { one: operation({ input: n, output: n, run: (given) => given }) });
`,
);

/** An app with one workflow. The definition begins on line 4. */
const app = (build: string, agents = 'a') => `import { cel, defineAgent, defineApp, defineWorkflow, operation, sequence } from 'redress';
import * as z from 'zod';
import { a } from './agent.ts';
const w = defineWorkflow('w', { version: 1, order: z.object({ n: z.number() }) }, (${build}) as any);
export default defineApp({ workflows: [w], agents: [${agents}] });
`;

/** Starts an app whose start fails, and returns what a developer sees. */
function start(name: string, source?: string): string {
  const file = relative(root, join(folder, name));
  if (source !== undefined) writeFileSync(join(root, file), source);
  const { stdout, stderr, status } = spawnSync('sh', ['bin/run', 'bin/local.ts', file], {
    cwd: root,
    env: { ...process.env, PORT: '0', REDRESS_DATA: join(folder, 'data') },
    encoding: 'utf8',
    timeout: 60_000,
  });
  assert.deepEqual([status, stdout], [2, ''], stderr);
  return stderr.replaceAll(`${relative(root, folder)}/`, '').replaceAll(`${folder}/`, '');
}

const mistakes: readonly (readonly [title: string, file: string, source: string | undefined, seen: RegExp])[] = [
  ['a path without a file', 'nowhere.ts', undefined, /^redress: Cannot find the module nowhere\.ts \(.*\)\. Check the path\.\n$/],
  [
    'a package that is not installed',
    'package.ts',
    "import pad from 'no-such-pad/left';\nexport default pad;\n",
    /package\.ts imports no-such-pad, which does not exist\. Run npm install no-such-pad\.\n$/,
  ],
  [
    'a file that does not exist',
    'import.ts',
    "import { x } from './x.ts';\nexport default x;\n",
    /import\.ts imports x\.ts, which does not exist\. Check the path of the import, with its file extension\.\n$/,
  ],
  ['a syntax error', 'syntax.ts', 'const good = 1;\nconst bad = ;\n', /syntax\.ts: Expression expected\n {2}at syntax\.ts:2\n/],
  [
    'an enum',
    'enum.ts',
    'export {};\nenum Color { Red }\n',
    /enum is not supported.*\n {2}at enum\.ts:2\n.*Use a const object instead of an enum/,
  ],
  ['no app', 'none.ts', 'export default 5;\n', /none\.ts does not export an app\. Its default export must come from defineApp/],
  [
    'a misspelt field, with a caret',
    'field.ts',
    app('({ order }: any) =>\n  sequence(a.one({ n: order.nn }).noUndo())'),
    /w@1 order\/one: \/n: order has no field "nn"\. Did you mean "n"\?\n {2}order\.nn\n {8}\^\n {2}at field\.ts:5:14\n/,
  ],
  [
    'an operator on a path',
    'operator.ts',
    app('({ order }: any) =>\n  sequence(a.one({ n: order.n * 2 }).noUndo())'),
    /order\.n is a path, not a value.*cel`.*\n {2}at operator\.ts:5:/,
  ],
  [
    'a path in a template literal',
    'template.ts',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the template is part of the app.
    app('({ order }: any) =>\n  sequence(a.one({ n: `${order.n}` as any }).noUndo())'),
    /order\.n is a path, not a value.*text`.*\n {2}at template\.ts:5:/,
  ],
  [
    'a forgotten return',
    'return.ts',
    app('({ order }: any) => {\n  sequence(a.one({ n: order.n }).noUndo());\n}'),
    /got undefined\. A function in braces needs a return\.\n {2}at return\.ts:4:/,
  ],
  [
    'a step that is not part of the workflow',
    'unplaced.ts',
    app('({ order }: any) => {\n  a.one({ n: order.n }).noUndo().named("lost");\n  return sequence(a.one({ n: order.n }).noUndo());\n}'),
    /w@1: The step "one" is made, but is not part of the workflow\. .*\n {2}at unplaced\.ts:5:/,
  ],
  [
    'two agents of one name',
    'agents.ts',
    app('({ order }: any) => sequence(a.one({ n: order.n }).noUndo())', "a, defineAgent('a', {})"),
    /Two agents are called "a"\..*\n {2}at agents\.ts:5:/,
  ],
];

for (const [title, file, source, seen] of mistakes)
  test(`a developer who starts an app with ${title} sees the place and the remedy`, () => {
    assert.match(start(file, source), seen);
  });

test('an order that names no workflow is refused in an app with several, and the refusal lists them', async (t) => {
  const { startSystem } = await import('redress/testing');
  const { defineAgent, defineApp, defineWorkflow, operation, sequence } = await import('redress');
  const z = await import('zod');
  const nothing = z.object({});
  const a = defineAgent('a', { one: operation({ input: nothing, output: nothing, run: () => ({}) }) });
  const named = (name: string) => defineWorkflow(name, { version: 1, order: nothing }, () => sequence(a.one({}).noUndo()));
  const system = await startSystem(defineApp({ workflows: [named('pack'), named('send')], agents: [a] }));
  t.after(() => system.stop());

  const refused = await system.submit({});
  assert.deepEqual(refused.outcome === 'invalid' && refused.problems[0], {
    pointer: '/workflow',
    code: 'missing-workflow',
    detail: 'This app has several workflows. Name one of them: pack, send.',
  });
  assert.equal((await system.submit({}, { workflow: 'send' })).outcome, 'accepted');
});
