import assert from 'node:assert/strict';
import { test } from 'node:test';
import { carryOutHint } from '#cli/carry-out-hint';
import type { Cli } from '#cli/command';

const hint = (args: readonly string[], isFinal = false, canAsk = false): string =>
  carryOutHint({ args, terminal: { canAsk } as Cli['terminal'] }, isFinal);

test('the hint after a dry run repeats the command with a reason, and with --yes if the command cannot ask', () => {
  const skip = ['order', 'skip', 'ord_1', '--dry-run', '--data', `{"note": "it's"}`];
  assert.equal(hint(skip), `To carry it out: redress order skip ord_1 --data '{"note": "it'\\''s"}' --reason '…'`);
  assert.match(hint(skip, true), /--reason '…' --yes$/);
  assert.match(hint(skip, true, true), /--reason '…'$/);
  assert.equal(
    hint(['order', 'resume', 'o', '--reason=why not', '--dry-run']),
    "To carry it out: redress order resume o '--reason=why not'",
  );
});

test('the hint after a dry run contains no token and no characters that a screen cannot show', () => {
  assert.equal(
    hint(['--token', 'ey1', 'order', 'cancel', 'o', '--reason', 'r']),
    'To carry it out: redress --token TOKEN order cancel o --reason r',
  );
  assert.match(hint(['--token=ey1']), /--token=TOKEN --reason/);
  for (const text of ['a\nb', 'x'.repeat(1000)])
    assert.equal(hint(['order', 'skip', text]), 'To carry it out: the same command with --reason, and without --dry-run.');
});
