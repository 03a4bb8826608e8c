import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { commands } from '#cli/commands/index';
import { folderFor, redress } from './support.ts';

const run = (shell: string, args: readonly string[]) =>
  spawnSync(shell, args, { encoding: 'utf8', env: { ...process.env, HOME: '/nonexistent' } });
const isThere = (shell: string): boolean => run(shell, ['--version']).status === 0;

/** Writes the script of a shell to a file that the test deletes. */
async function scriptOf(shell: string, context: TestContext) {
  const { exitCode, out } = await redress(['completion', shell]);
  assert.equal(exitCode, 0);
  const file = join(folderFor(context), `redress.${shell}`);
  writeFileSync(file, out);
  return { file, out };
}

describe('the script with which a shell completes commands', () => {
  for (const shell of ['bash', 'zsh', 'fish']) {
    test(`names every command of the table, for ${shell}`, async (t) => {
      const { out } = await scriptOf(shell, t);
      for (const { name, alias, summary } of commands) {
        const [group, leaf] = name.split(' ');
        assert.ok(out.includes(`'${name}'`), name);
        for (const word of [leaf ?? group, ...(alias ? [alias] : [])]) assert.match(out, new RegExp(`[ '(]${word}[ ':)]`), name);
        if (shell !== 'bash') assert.ok(out.replaceAll(/'\\''|\\'/g, "'").includes(summary), name);
      }
    });

    test(`is one that ${shell} can read`, { skip: !isThere(shell) }, async (t) => {
      const { file } = await scriptOf(shell, t);
      const { status, stderr } = run(shell, ['-n', file]);
      assert.deepEqual([status, stderr], [0, '']);
    });
  }

  test('completes a command after options of the program, and an option after a command, in bash', {
    skip: !isThere('bash'),
  }, async (t) => {
    const { file } = await scriptOf('bash', t);
    const completed = (...words: readonly string[]) => {
      const typed = ['redress', ...words].map((word) => `'${word}'`).join(' ');
      const asked = `source ${file}; COMP_WORDS=(${typed}); COMP_CWORD=${words.length}; _redress; echo "\${COMPREPLY[@]}"`;
      return run('bash', ['--norc', '-c', asked]).stdout.trim();
    };
    assert.equal(completed('--url', 'order', 'completi'), 'completion');
    assert.equal(completed('order', 'li'), 'list');
    assert.equal(completed('order', 'list', '--st'), '--state');
    assert.equal(completed('order', 'list', 'or'), '');
  });

  test('completes a command after options of the program, and an option after a command, in fish', {
    skip: !isThere('fish'),
  }, async (t) => {
    const { file } = await scriptOf('fish', t);
    const completed = (line: string) =>
      run('fish', ['--no-config', '-c', `source ${file}; complete -C '${line}'`])
        .stdout.trim()
        .split('\t')[0];
    assert.equal(completed('redress --url order completi'), 'completion');
    assert.equal(completed('redress order li'), 'list');
    assert.equal(completed('redress order list --st'), '--state');
  });

  test('is refused for another shell, and the message lists the known shells', async () => {
    const { exitCode, err, out } = await redress(['completion', 'tcsh']);
    assert.deepEqual([exitCode, out], [2, '']);
    assert.match(err, /Allowed choices are bash, zsh, fish/);
  });
});
