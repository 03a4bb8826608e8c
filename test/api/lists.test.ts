import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { refuseUnserved } from '#api/parameters';
import { AuditQuery } from '#api/schemas/audit';
import { ExceptionQuery } from '#api/schemas/exceptions';
import { OrderListQuery } from '#api/schemas/orders';
import { TaskQuery } from '#api/schemas/tasks';
import { auditList, exceptionList, type ListFilters, lookedMax, orderList, servedBy, taskList } from '#ports/list-filters';

const code = (text: string): string => `\`${text}\``;

/** Returns the table of a list as `docs/reference/lists.md` shows it. */
function tableOf({ filters, indexes, ranges, needs }: ListFilters): string {
  const served = new Set(indexes.flatMap(({ serves }) => serves.filter((each) => !each.includes('='))));
  const others = filters.filter((filter) => !served.has(filter) && !ranges.includes(filter));
  const rows = [
    ...indexes.map(({ serves }) => [serves.length === 0 ? 'none' : serves.map(code).join(' and '), 'full']),
    [`one of these rows and ${ranges.map(code).join(', ')}`, 'full'],
    [`one of these rows and any other filter: ${others.map(code).join(', ')}`, `at most ${lookedMax.toLocaleString('en')} looked at`],
    ...Object.entries(needs).map(([filter, other]) => [`${code(filter)} without ${code(other)}`, '400']),
  ];
  return ['| filters | pages |', '|---|---|', ...rows.map((cells) => `| ${cells.join(' | ')} |`)].join('\n');
}

const page = readFileSync(new URL('../../docs/reference/lists.md', import.meta.url), 'utf8');

describe('the table of filters', () => {
  for (const [list, query] of [
    [orderList, OrderListQuery],
    [auditList, AuditQuery],
    [exceptionList, ExceptionQuery],
    [taskList, TaskQuery],
  ] as const) {
    test(`the reference shows the table of filters of ${list.call}`, () => {
      const section = page.split('\n## ').find((each) => each.startsWith(code(list.call))) ?? '';
      assert.ok(section.includes(tableOf(list)), `docs/reference/lists.md: put this under ${list.call}:\n${tableOf(list)}`);
    });

    test(`the table of filters names every filter of ${list.call}`, () => {
      const filters = Object.keys(query.shape).filter((name) => name !== 'limit' && name !== 'cursor');
      assert.deepEqual(list.filters.toSorted(), filters.toSorted());
    });
  }

  test('the first index whose filters are all given serves a list, and the other filters are checked on each record', () => {
    assert.deepEqual(servedBy(orderList, { state: 'Error', client: 'shop', submittedAfter: 1 }), { index: 'inError', checks: ['client'] });
    assert.deepEqual(servedBy(orderList, { state: 'Pending' }), { index: 'byDay', checks: ['state'] });
    assert.deepEqual(servedBy(auditList, { by: 'ada', kind: 'client', since: 1 }), { index: 'byPerson', checks: ['kind'] });
  });

  test('a filter without another filter that it needs is refused, and the answer names both filters', () => {
    const list = { ...auditList, needs: { target: 'kind' } };
    assert.equal(refuseUnserved(list, { target: 'o1', kind: 'client' }), undefined);
    const refused = refuseUnserved(list, { target: 'o1' });
    assert.match(JSON.stringify(refused), /"pointer":"\/target".*target: expected together with kind/);
  });
});
