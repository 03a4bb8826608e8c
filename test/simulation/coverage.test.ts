import assert from 'node:assert/strict';
import { test } from 'node:test';
import { coveragePage } from './coverage.ts';
import { nothing, type Summary } from './simulate.ts';

const summary: Summary = {
  ...nothing(),
  runs: 3,
  landed: {
    'crash before|store.update|scheduler|Processing': 4,
    'crash before|store.update|agent|Pending': 1,
    'crash after|service bank.charge|agent|Processing': 2,
    'service fails|bank.charge|agent|Error': 3,
    'message twice|wake-ups|scheduler|none': 5,
    // `coverage.ts` takes this combination for impossible.
    'clock jumps|host|nobody|Processed': 6,
  },
};
const page = coveragePage(summary, { seed: 10, commit: 'abc1234', file: 'docs/internals/coverage.md' });

/** Returns the cells of one line of one table, by the names of its columns. */
function line(title: string, name: string): { readonly [column: string]: string } {
  const part = page.split('\n## ').find((each) => each.startsWith(title)) ?? '';
  const rows = part.split('\n').filter((each) => each.startsWith('| '));
  const cells = (row = '') => row.split('|').slice(1, -1);
  const values = cells(rows.find((row) => row.startsWith(`| ${name} |`)));
  return Object.fromEntries(cells(rows[0]).map((column, index) => [column.trim(), values[index]?.trim() ?? '']));
}

test('the first line of the page names the worlds and the commit', () => {
  assert.match(page, /^# What went wrong in 3 worlds, seeds 10 to 12, at `abc1234`\n\n21 faults /);
  assert.ok(page.includes('`npm run simulate -- --seed 10 --runs 3 --coverage docs/internals/coverage.md`'));
});

test('faults are counted by the role that was running, the state of the order, and the call', () => {
  const { scheduler, agent, client } = line('Which role was at work', 'crash before');
  assert.deepEqual({ scheduler, agent, client }, { scheduler: '4', agent: '1', client: '0' });
  const { none, Pending, Processing } = line('In which state the order was', 'crash before');
  assert.deepEqual({ none, Pending, Processing }, { none: '0', Pending: '1', Processing: '4' });
  assert.equal(line('At which call of a port or a service', 'store.update')['crash before'], '5');
  assert.equal(line('At which call of a port or a service', 'service bank.charge')['crash after'], '2');
  assert.equal(line('At which operation', 'bank.charge')['service fails'], '3');
  assert.equal(line('On which queue', 'wake-ups')['message twice'], '5');
});

test('each kind of fault at each call has a line with the state of the order', () => {
  assert.ok(page.includes('\n| service fails | bank.charge |  |  |  |  | 3 |  |\n'));
});

test('an impossible combination is marked, unless it happened', () => {
  assert.equal(line('Which role was at work', 'service fails')['scheduler'], '–');
  const { none, Pending } = line('In which state the order was', 'index late');
  assert.deepEqual({ none, Pending }, { none: '–', Pending: '0' });
  const { throttled, ...others } = line('At which call of a port or a service', 'store.load');
  assert.deepEqual([throttled, others['written twice'], others['older process']], ['0', '–', '0']);
  const index = line('At which call of a port or a service', 'store.due');
  assert.deepEqual([index['crash before'], index['throttled'], index['index never']], ['–', '–', '0']);
  const stood = line('In which state the order was', 'clock jumps');
  assert.deepEqual([stood['Processed'], stood['Error']], ['6', '–']);
});
