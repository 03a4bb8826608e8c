import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createSigning } from '#cli/access';
import { runningSystem } from './support.ts';

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
const app = (
  build: string,
  agents = 'a',
) => `import { cel, defineAgent, defineApp, defineWorkflow, forEach, ifTrue, operation, sequence, waitFor } from 'redress';
import * as z from 'zod';
import { a } from './agent.ts';
const w = defineWorkflow('w', { version: 1, order: z.object({ n: z.number(), l: z.array(z.number()).default([]) }) }, (${build}) as any);
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
    'an entry of a list, read as in JavaScript',
    'entry.ts',
    app('({ order }: any) =>\n  sequence(a.one({ n: order.l[0] }).noUndo())'),
    /order\.l is a list and has no field "0"\. Read an entry as order\.l\[0\], in TypeScript cel`\$\{order\.l\}\[0\]`\.\n.*\n.*\^\n {2}at entry\.ts:5:14\n/,
  ],
  [
    'a loop of JavaScript over a list',
    'loop.ts',
    app('({ order }: any) => {\n  for (const n of order.l) a.one({ n }); }'),
    /order\.l stands for a value .*forEach\(order\.l, \(item\) => …\).*\n {2}at loop\.ts:5:/,
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
  [
    'an agent that the app does not list',
    'no-agent.ts',
    app('({ order }: any) =>\n  sequence(a.one({ n: order.n }).noUndo())', ''),
    /w@1 order\/one: The app has no agent "a"\. List it in the agents of defineApp\.\n {2}at no-agent\.ts:5:14\n.*add the missing parts to defineApp/,
  ],
  [
    'an agent that is undefined',
    'undefined-agent.ts',
    app('({ order }: any) => sequence(a.one({ n: order.n }).noUndo())', 'undefined as any'),
    /agents\[0\] must come from defineAgent, got undefined\. Look for a missing export.*\n {2}at undefined-agent\.ts:5:/,
  ],
  [
    'a step that reads a later one',
    'later.ts',
    app('({ order }: any) => {\n  const x = a.one({ n: order.n });\n  return sequence(a.one({ n: x.output.n }).named("y"), x);\n}'),
    /w@1 order\/y: \/n: "one" \(order\/one\) may not have run before order\/y: it comes later\.\n {2}steps\.one\.n\n {2}\^\n {2}at later\.ts:6:/,
  ],
  [
    'two steps of one name',
    'alike.ts',
    app('({ order }: any) => sequence(\n  a.one({ n: order.n }),\n  a.one({ n: 2 }))'),
    /w@1 order\/one: Two activities have this path\. Give one of them another name: \.named\('…'\)\.\n {2}at alike\.ts:5:5\n {2}at alike\.ts:6:5\n/,
  ],
  [
    'a comparison of JavaScript',
    'equal.ts',
    app('({ order }: any) =>\n  sequence(ifTrue(order.n === 5, a.one({ n: 1 })))'),
    /Expected an expression .*, got false\. .*write equals\(order\.kind, "gift"\)\.\n {2}at equal\.ts:5:/,
  ],
  [
    'a turn of a loop without a return',
    'turn.ts',
    app('({ order }: any) =>\n  sequence(forEach([1], () => { a.one({ n: 1 }); }))'),
    /got undefined\. A function in braces needs a return\.\n {2}at turn\.ts:5:/,
  ],
  [
    'a list of activities in place of arguments',
    'list.ts',
    app('({ order }: any) =>\n  sequence([a.one({ n: 1 })] as any)'),
    /got an array\. Write its activities as arguments: sequence\(\.\.\.activities\)\.\n {2}at list\.ts:5:/,
  ],
  [
    'a schema of zod 3',
    'zod3.ts',
    app('({ order }: any) =>\n  sequence(waitFor("paid", { _def: {}, parse: () => 1 } as any))'),
    /waitFor\("paid"\): expected a schema of zod 4, got one of zod 3\. Run npm install zod@4\.\n {2}at zod3\.ts:5:/,
  ],
  [
    'options in place of a schema',
    'options.ts',
    app('({ order }: any) =>\n  sequence(waitFor("paid", { withinSeconds: 5 } as any))'),
    /waitFor\("paid"\): expected a zod schema such as z\.object\(\{ … \}\), got an object\.\n {2}at options\.ts:5:/,
  ],
  [
    'an operation without schemas',
    'no-schema.ts',
    "import { defineAgent } from 'redress';\n\nexport default defineAgent('b', { one: { run: () => ({}) } as any });\n",
    /b\.one input: expected a zod schema such as z\.object\(\{ … \}\), got undefined\.\n {2}at no-schema\.ts:3:/,
  ],
  [
    'a date in the body of an order',
    'date.ts',
    app('() => sequence(a.one({ n: 1 }).noUndo())').replace('z.number()', 'z.object({ at: z.date() })'),
    /w@1 order\/properties\/n\/properties\/at: Date cannot be represented in JSON Schema\. Declare the JSON value that the client sends: for a date, z\.iso\.datetime\(\) instead of z\.date\(\)\.\n {2}at date\.ts:4:/,
  ],
  [
    'an import without its file extension',
    'extension.ts',
    "import { a } from './agent';\nexport default a;\n",
    /extension\.ts imports agent, which does not exist\. Write the import with its file extension: agent\.ts\.\n$/,
  ],
  [
    'JSON without an import attribute',
    'json.ts',
    "import data from '../../package.json';\nexport default data;\n",
    /needs an import attribute of "type: json"\. Import JSON with an attribute: .* with \{ type: 'json' \}\.\n$/,
  ],
  [
    'a type that is imported as a value',
    'type.ts',
    "import { Activity } from 'redress';\nexport default Activity;\n",
    /does not provide an export named 'Activity'\n {2}at type\.ts:1\n.*If it is a type, write import type/,
  ],
  [
    'a wrong condition',
    'condition.ts',
    app('({ order }: any) => sequence(\n  ifTrue(cel`order.m > 5`, a.one({ n: 1 })))'),
    /w@1 order\/choice: order has no field "m"\. Did you mean "n"\?\n {2}order\.m > 5\n {8}\^\n {2}at condition\.ts:5:3\n/,
  ],
  [
    'a template tag with parentheses',
    'tag.ts',
    app('({ order }: any) => sequence(\n  ifTrue((cel as any)("order.n > 5"), a.one({ n: 1 })))'),
    /cel is the tag of a template: write cel`…`, without parentheses\.\n {2}at tag\.ts:5:/,
  ],
  [
    'a step in place of a function',
    'undo.ts',
    app('({ order }: any) => sequence(\n  a.one({ n: 1 }).undo(a.one({ n: 1 }) as any))'),
    /Expected a function, got object\. Write \.undo\(\(output\) => …\)\.\n {2}at undo\.ts:5:/,
  ],
  [
    'two workflows of one name and version',
    'twice.ts',
    app('({ order }: any) => sequence(\n  a.one({ n: 1 }))').replace('[w]', '[w, w]'),
    /Two workflows are called w@1\. Give one of them another name or version\.\n {2}at twice\.ts:4:/,
  ],
  [
    'modules that import each other',
    'cycle.ts',
    "import cycle from './cycle.ts';\nexport const copy = cycle;\nexport default 1;\n",
    /Cannot access 'cycle' before initialization\n {2}at cycle\.ts:2:.*\n.*Move the shared part into a module of its own/,
  ],
  ['a folder in place of a file', '.', undefined, /is a folder\. Name the file of the app, such as .*app\.ts\.\n$/],
];

for (const [title, file, source, seen] of mistakes)
  test(`a developer who starts an app with ${title} sees the place and the remedy`, () => {
    assert.match(start(file, source), seen);
  });

/** Starts an app that runs, sends one order if a body is given, stops the app, and returns what a developer sees. */
function run(name: string, source: string, { data, order }: { readonly data: string; readonly order?: object }): Promise<string> {
  writeFileSync(join(folder, name), source);
  const env = { ...process.env, PORT: '0', REDRESS_DATA: join(folder, data) };
  const child = spawn(
    process.execPath,
    ['-C', 'redress-source', '--disable-warning=ExperimentalWarning', 'bin/local.ts', join(folder, name)],
    {
      cwd: root,
      env,
    },
  );
  let seen = '';
  const sendAndStop = async (url: string) => {
    if (order) {
      const token = await createSigning({ role: 'client', client: 'acme' }, join(folder, data))();
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'idempotency-key': 'one' };
      assert.equal((await fetch(`${url}/orders`, { method: 'POST', headers, body: JSON.stringify({ order }) })).status, 202);
    }
    child.kill('SIGTERM');
  };
  return new Promise((resolve, reject) => {
    child.stderr.on('data', (chunk) => void (seen += chunk));
    child.stdout.on('data', (chunk) => {
      const wasReady = /^ready /m.test(seen);
      seen += chunk;
      const [, url] = /^ready (\S+)$/m.exec(seen) ?? [];
      if (url && !wasReady) sendAndStop(url).catch(reject);
    });
    child.on('close', () => resolve(seen));
  });
}

const waits = (
  version: number,
  waitedFor = 'paid',
  more = '',
) => `import { AnyFault, defineApp, defineWorkflow, sequence, waitFor } from 'redress';
import * as z from 'zod';
import { a } from './agent.ts';
const w = defineWorkflow('w', { version: ${version}, order: z.object({ n: z.number() }) }, ({ order }) =>
  sequence(waitFor('${waitedFor}', z.object({})), a.one({ n: order.n })).on(AnyFault, ({ compensate }) => compensate()));
export default defineApp({ workflows: [w], agents: [a]${more} });
`;

test('a developer who starts an app sees which step has no undo, and which variable is not set', async () => {
  const seen = await run('warns.ts', waits(1, 'paid', ", local: { variables: ['NO_SUCH_URL'] }"), { data: 'data-warns' });
  assert.match(
    seen,
    /^warn {2}w@1, order\/one: This step has no undo, .* Give it one, \.undo\(…\), or declare that its effect stays: \.noUndo\(\)\.$/m,
  );
  assert.match(seen, /^warn {2}NO_SUCH_URL is not set, and local\.variables of the app names it\. Set it, then start again\.$/m);
});

test('a developer who changes a workflow while an order is under way sees the changed place, and the remedy', async () => {
  await run('before.ts', waits(1), { data: 'data-changed', order: { n: 1 } });
  const seen = await run('changed.ts', waits(1, 'approved'), { data: 'data-changed' });
  assert.match(
    seen,
    /w@1 has changed \(order\/.*\), and an order under way uses the former definition\. Give the changed workflow a new version/,
  );
});

test('a developer who takes a version out of the app while an order is on it sees its name, and the remedy', async () => {
  await run('first.ts', waits(1), { data: 'data-missing', order: { n: 1 } });
  const seen = await run('second.ts', waits(2), { data: 'data-missing' });
  assert.match(seen, /^warn {2}w@1 is not part of this app, and an order needs it\. Put that version back into workflows; until then/m);
});

test('a person sees the field that is wrong in an order, and the names of the signals that the order waits for', async (t) => {
  const { defineAgent, defineApp, defineWorkflow, operation, sequence, waitFor } = await import('redress');
  const z = await import('zod');
  const nothing = z.object({});
  const a = defineAgent('a', { one: operation({ input: nothing, output: nothing, run: () => ({}) }) });
  const paid = waitFor('paid', z.object({ amount: z.number() }));
  const w = defineWorkflow('fulfil-order', { version: 1, order: z.object({ n: z.number() }) }, () => sequence(paid, a.one({}).noUndo()));
  const system = await runningSystem(defineApp({ workflows: [w], agents: [a] }));
  t.after(() => system.stop());

  const wrong = await system.redress(['order', 'submit', '-'], { input: '{"n":"1","m":2}' });
  assert.equal(wrong.exitCode, 1);
  assert.match(
    wrong.err,
    /- \/order\/n {2}Invalid input: expected number, received string\n {2}- \/order\/m {2}The schema has no such field\./,
  );

  const { json } = await system.redress(['order', 'submit', '-', '--json'], { input: '{"n":1}' });
  const signal = async (...args: readonly string[]) => (await system.redress(['order', 'signal', json.orderId, ...args])).err;
  assert.match(await signal('payed', '--data', '{"amount":1}'), /will not wait for the signal "payed"\. It may still wait for: paid\./);
  assert.match(await signal('paid', '--data', '{"amount":"1"}'), /- \/amount {2}Invalid input: expected number, received string/);
  assert.equal(await signal('paid', '{"amount":1}'), `redress: The payload is an option: --data '{"amount":1}'.\n`);
});

test('an order that names no workflow is refused if the app has several, and the refusal lists the workflows', async (t) => {
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
