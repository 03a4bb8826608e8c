import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { declined, type RunningSystem, runningSystem } from './support.ts';

describe('lists at the command line', () => {
  let system: RunningSystem;
  let done = '';
  let blocked = '';
  let canceled = '';
  before(async () => {
    declined.add('empty');
    system = await runningSystem();
    done = await system.order('full');
    canceled = await system.order('empty');
    assert.equal((await system.redress(['order', 'cancel', canceled, '--reason', 'r', '--yes'])).exitCode, 0);
    await system.reaches(canceled, ({ processState }) => processState === 'Processed');
    blocked = await system.order('empty');
  });
  after(() => {
    declined.delete('empty');
    return system.stop();
  });

  const list = (...more: readonly string[]) => system.redress(['order', 'list', ...more]);

  test('the option --ids prints whole ids of orders and of exceptions, one in a line, even on a terminal', async () => {
    const { out, err } = await system.redress(['order', 'list', '--ids'], { isScreen: true });
    assert.deepEqual([out, err], [`${blocked}\n${canceled}\n${done}\n`, '']);
    const { exceptionId } = (await system.redress(['order', 'get', blocked, '--json'])).json;
    const exceptions = ['exception', 'list', '--ids'];
    assert.equal((await system.redress([...exceptions, '--state', 'open'])).out, `${exceptionId}\n`);
    assert.deepEqual((await list('--ids', '--limit', '1', '--json')).json.items.length, 1);
    const none = await list('--ids', '--workflow', 'other');
    assert.deepEqual([none.exitCode, none.out, none.err], [0, '', 'No orders match.\n']);
  });

  test('orders and exceptions are listed from an earliest time on, given as a time or as a span before now', async () => {
    assert.equal((await list('--ids', '--submitted-since', '1h')).out.split('\n').length, 4);
    assert.equal((await list('--ids', '--submitted-since', '2099-01-01T00:00:00Z')).out, '');
    assert.equal((await list('--submitted-since', 'yesterday')).exitCode, 1);
    assert.equal((await list('--submitted-since', '0h')).exitCode, 2);
    assert.notEqual((await system.redress(['exception', 'list', '--ids', '--since', '1h'])).out, '');
    assert.equal((await system.redress(['exception', 'list', '--ids', '--since', '2099-01-01T00:00:00Z'])).out, '');
  });

  test('`--state blocked` lists orders in Error, and `--fault` lists finished orders, too', async () => {
    assert.equal((await list('--ids', '--state', 'blocked')).out, `${blocked}\n`);
    assert.equal((await list('--ids', '--state', 'Error')).out, `${blocked}\n`);
    assert.equal((await list('--ids', '--fault', 'CardDeclined')).out, `${blocked}\n${canceled}\n`);
    assert.equal((await list('--ids', '--fault', 'CardDeclined', '--state', 'blocked')).out, `${blocked}\n`);
    const refused = await list('--state', 'broken');
    assert.deepEqual([refused.exitCode, /Pending, Processing, Processed, Error, blocked/.test(refused.err)], [2, true], refused.err);
  });
});
