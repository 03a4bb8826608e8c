import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const page = readFileSync(`${root}docs/concepts/security.md`, 'utf8');

/** The requirements of level 1 of OWASP ASVS 5.0.0, and the risks of the OWASP API Security Top 10 of 2023. */
const required = `
  1.2.1 1.2.2 1.2.3 1.2.4 1.2.5 1.3.1 1.3.2 1.5.1 2.1.1 2.2.1 2.2.2 2.3.1 3.2.1 3.2.2 3.3.1 3.4.1 3.4.2 3.5.1 3.5.2 3.5.3 4.1.1 4.4.1
  5.2.1 5.2.2 5.3.1 5.3.2 6.1.1 6.2.1 6.2.2 6.2.3 6.2.4 6.2.5 6.2.6 6.2.7 6.2.8 6.3.1 6.3.2 6.4.1 6.4.2 7.2.1 7.2.2 7.2.3 7.2.4 7.4.1
  7.4.2 8.1.1 8.2.1 8.2.2 8.3.1 9.1.1 9.1.2 9.1.3 9.2.1 10.4.1 10.4.2 10.4.3 10.4.4 10.4.5 11.3.1 11.3.2 11.4.1 12.1.1 12.2.1 12.2.2
  13.4.1 14.2.1 14.3.1 15.1.1 15.2.1 15.3.1
  API1 API2 API3 API4 API5 API6 API7 API8 API9 API10`
  .trim()
  .split(/\s+/);

const rows = page
  .split('\n')
  .filter((line) => /^\| (\d+\.\d+\.\d+|API\d+) \|/.test(line))
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .map(([, id = '', , state = '', how = '', tests = '']) => ({ id, state: state.replaceAll('*', ''), how, tests }));

describe('docs/concepts/security.md', () => {
  test('names each requirement of ASVS 5.0 level 1 and each risk of the API Top 10 once, in the sequence of those lists', () => {
    assert.deepEqual(
      rows.map(({ id }) => id),
      required,
    );
  });

  test('says whether and how each requirement is met, and names a test for each requirement that is met', () => {
    for (const { id, state, how, tests } of rows) {
      assert.ok(['met', 'none', 'operator', 'not met'].includes(state), `${id}: ${state}`);
      assert.notEqual(how, '', id);
      if (state === 'met') assert.match(tests, /^`test\//, id);
    }
  });

  test('names test files that exist', () => {
    const named = [...page.matchAll(/`(test\/[^`]+)`/g)].map(([, file = '']) => file);
    assert.ok(named.length > 50);
    assert.deepEqual(
      named.filter((file) => !existsSync(root + file)),
      [],
    );
  });
});

describe('the code of the system', () => {
  // The synthesis of a stack loads its bundles in a process of their own, and the test kit runs on the machine of a developer.
  const sources = ['lib', 'functions']
    .flatMap((folder) => readdirSync(root + folder, { recursive: true, encoding: 'utf8' }).map((file) => `${folder}/${file}`))
    .filter((file) => file.endsWith('.ts') && !/^lib\/(infrastructure|testing)\//.test(file));
  const filesWith = (pattern: RegExp): readonly string[] => sources.filter((file) => pattern.test(readFileSync(root + file, 'utf8')));

  test('starts no program, and evaluates no text (ASVS 1.2.5, 1.3.2)', () => {
    assert.ok(sources.length > 200);
    assert.deepEqual(filesWith(/child_process|\beval\(|new Function\(/), []);
    // Its script is a constant: it calls a function of the developer under a time limit.
    assert.deepEqual(filesWith(/node:vm/), ['lib/authoring/compute-limit.ts']);
  });

  test('uses no hash function but SHA-2 (ASVS 11.4.1)', () => {
    assert.deepEqual(filesWith(/['"](md5|sha1|ripemd\w*|md4)['"]/i), []);
  });
});
