import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { comparedWith, mistakesIn, unexpecting } from '../../dev/tools/mistakes.ts';
import { installed } from '../../dev/tools/run.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const source = readFileSync(new URL('negative.types.ts', import.meta.url), 'utf8');

/** A user's project may be less strict than this one. */
const plainStrict = { exactOptionalPropertyTypes: false, noUncheckedIndexedAccess: false, noPropertyAccessFromIndexSignature: false };

/** Compiles the file without its expected errors, and returns the compiler's output. */
function outputOf(options: { readonly [option: string]: boolean }): string {
  const folder = mkdtempSync(join(tmpdir(), 'redress-types-'));
  try {
    const paths = { redress: [`${root}lib/index.ts`], 'redress/http': [`${root}lib/http.ts`] };
    const config = { extends: `${root}tsconfig.json`, compilerOptions: { ...options, paths }, include: ['*.ts'] };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module' }));
    writeFileSync(join(folder, 'negative.ts'), unexpecting(source));
    symlinkSync(realpathSync(`${root}node_modules`), join(folder, 'node_modules'));
    return spawnSync(process.execPath, [installed('tsc'), '-p', folder, '--pretty', 'false'], { encoding: 'utf8' }).stdout;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

for (const [where, options] of Object.entries({ 'this project': {}, 'a project with strict alone': plainStrict }))
  test(`F-163: in ${where}, each wrong workflow is refused at the mistake, with a message that names it`, () => {
    assert.deepEqual(comparedWith(outputOf(options), source, 'negative.ts'), { unnamed: [], others: [] });
  });

test('each wrong workflow of the examples says which name its message must contain', () => {
  const mistakes = mistakesIn(source);
  assert.ok(mistakes.length >= 20);
  assert.equal(mistakes.length, source.split('\n').filter((text) => text.includes('// @ts-expect-error')).length);
});

test('the comparison with the messages finds a message at another place, a message without the name, and a mistake without a message', () => {
  const wrong = '// @ts-expect-error a misspelt field: itms\norder.itms;\n// @ts-expect-error a missing input: items\norder;';
  const itms = "wrong.ts(2,7): error TS2339: Property 'itms' does not exist.";
  const items = "wrong.ts(4,1): error TS2345: Property 'items' is missing.";
  assert.deepEqual(comparedWith(`${itms}\n${items}\n`, wrong, 'wrong.ts'), { unnamed: [], others: [] });
  const [, missing] = mistakesIn(wrong);
  assert.deepEqual(comparedWith(itms, wrong, 'wrong.ts'), { unnamed: [missing], others: [] });
  assert.deepEqual(comparedWith(`${itms}\nwrong.ts(4,1): error TS1: Something else.`, wrong, 'wrong.ts'), {
    unnamed: [missing],
    others: [],
  });
  const elsewhere = 'order.ts(4,1): error TS1: items';
  assert.deepEqual(comparedWith(`${itms}\n${items}\n${elsewhere}`, wrong, 'wrong.ts'), { unnamed: [], others: [elsewhere] });
});
