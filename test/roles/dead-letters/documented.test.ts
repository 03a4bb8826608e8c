import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { runInNewContext } from 'node:vm';
import { routes } from '#api/routes';
import { commands } from '#cli/commands/index';
import { policyDefaults } from '#roles/channels/policy';

const docs = ['concepts/channels.md', 'operations/dead-letters.md'];
const page = docs.map((name) => readFileSync(new URL(`../../../docs/${name}`, import.meta.url), 'utf8')).join('\n');

test('F-117: the documented channel policy has the real defaults', () => {
  const [, written = ''] = /payment: (\{[\s\S]*?\n {4}\})/.exec(page) ?? [];
  assert.deepEqual({ ...(runInNewContext(`(${written})`) as object), drop: policyDefaults.drop }, policyDefaults);
  assert.ok(written.includes(`drop: ['${policyDefaults.drop.join("', '")}']`));
});

test('F-120: the documentation lists every call and every command for dead letters, and no other', () => {
  const calls = [...page.matchAll(/^\| `(GET|POST|DELETE) (\/channels[^`?]*)/gm)].map(([, method, path]) => `${method} ${path}`);
  assert.deepEqual(
    calls.filter((call) => call.includes('dead-letter')).toSorted(),
    routes
      .filter(({ path }) => path.includes('dead-letter'))
      .map(({ method, path }) => `${method} ${path}`)
      .toSorted(),
  );
  const typed = new Set([...page.matchAll(/redress (dead-letter \w+)/g)].map(([, command]) => command));
  const known = commands.map(({ name }) => name).filter((name) => name.startsWith('dead-letter'));
  assert.deepEqual([...typed].toSorted(), known.toSorted());
});
