import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { installed } from '../../dev/tools/run.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const lines = readFileSync(new URL('negative.types.ts', import.meta.url), 'utf8').split('\n');
const mistake = /@ts-expect-error (?<what>.+): (?<word>\S+)$/;

interface Message {
  /** Counted from 1. */
  readonly line: number;
  /** The source text at the place of the message. */
  readonly at: string;
  readonly text: string;
}

/** A user's project may be less strict than this one. */
const plainStrict = { exactOptionalPropertyTypes: false, noUncheckedIndexedAccess: false, noPropertyAccessFromIndexSignature: false };

/** Compiles the file without its expected errors, and returns the compiler's messages. */
function messages(options: { readonly [option: string]: boolean }): readonly Message[] {
  const folder = mkdtempSync(join(tmpdir(), 'redress-types-'));
  try {
    const paths = { redress: [`${root}lib/index.ts`], 'redress/http': [`${root}lib/http.ts`] };
    const config = { extends: `${root}tsconfig.json`, compilerOptions: { ...options, paths }, include: ['*.ts'] };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module' }));
    writeFileSync(join(folder, 'negative.ts'), lines.join('\n').replaceAll('@ts-expect-error', ''));
    symlinkSync(realpathSync(`${root}node_modules`), join(folder, 'node_modules'));
    const { stdout } = spawnSync(process.execPath, [installed('tsc'), '-p', folder, '--pretty', 'false'], { encoding: 'utf8' });
    return stdout.split(/\n(?=\S)/).flatMap((text): readonly Message[] => {
      const [, line = '', column = ''] = /negative\.ts\((\d+),(\d+)\): error/.exec(text) ?? [];
      return line === '' ? [] : [{ line: Number(line), at: lines[Number(line) - 1]?.slice(Number(column) - 1) ?? '', text }];
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

for (const [where, options] of Object.entries({ 'this project': {}, 'a project with strict alone': plainStrict }))
  test(`F-163: in ${where}, each wrong workflow is refused at the mistake, with a message that names it`, () =>
    everyMistakeIsNamed(options));

function everyMistakeIsNamed(options: { readonly [option: string]: boolean }): void {
  const said = messages(options);
  const mistakes = lines.flatMap((text, index) => {
    const { what = '', word = '' } = mistake.exec(text)?.groups ?? {};
    return word === '' ? [] : [{ what, word, line: index + 2 }];
  });
  assert.ok(mistakes.length >= 20);
  assert.equal(
    mistakes.length,
    lines.filter((text) => text.includes('// @ts-expect-error')).length,
    'each message contains the expected name',
  );

  const unnamed = mistakes.filter(
    ({ word, line }) => !said.some((message) => message.line === line && (message.at.startsWith(word) || message.text.includes(word))),
  );
  assert.deepEqual(unnamed, []);
  const others = said.filter(({ line }) => !mistakes.some((each) => each.line === line));
  assert.deepEqual(others, [], 'there are no other messages');
}
