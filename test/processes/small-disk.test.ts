import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hurried } from './farm.ts';
import { mountSmallDisk } from './small-disk.ts';
import { app, complaintOf, type Node, reaches, site, startLocal, startNode, until, work } from './support.ts';

const megabyte = 1024 * 1024;

/** Submits orders until the node has refused three for lack of space. */
async function submitUntilRefused(node: Node, name: string): Promise<readonly string[]> {
  const accepted: string[] = [];
  for (let index = 0, refused = 0; refused < 3; index++) {
    assert.ok(index < 3000, 'the disk is never full');
    const answer = await node.call('submit', `${name}-${index}`, work(), 'line').catch((error: Error) => error);
    if (typeof answer === 'string') accepted.push(answer);
    else {
      assert.deepEqual({ ...answer, message: '' }, { name: 'StoreUnavailableError', fatal: false, throttled: false, message: '' });
      refused += 1;
    }
  }
  return accepted;
}

test('X-49, S9, S22: on a really full disk two hosts refuse orders and stay up; with free space all accepted orders complete', async (t) => {
  const { data, variables, open } = site(t);
  const disk = mountSmallDisk(t, data, 8 * megabyte);
  if (!disk) return t.skip('no disk can be mounted here');
  const nodes = await Promise.all([1, 2].map(() => startNode(t, { ...variables, ...hurried })));
  disk.fill(megabyte);
  const accepted = (await Promise.all(nodes.map((node, index) => submitUntilRefused(node, `host-${index}`)))).flat();
  assert.ok(accepted.length > 0);
  for (const { child } of nodes) assert.equal(child.exitCode, null);

  disk.empty();
  for (const [index, node] of nodes.entries()) {
    const again = () => node.call('submit', `with-room-${index}`, work(), 'line').catch(() => undefined);
    accepted.push(await until('it takes orders again', again));
  }
  for (const orderId of accepted) assert.equal((await reaches(open(), orderId, 'Processed')).outcome, 'completed');
  for (const node of nodes) assert.equal((await node.kill('SIGTERM')).code, 0);
});

test('F-64: a host that starts on a full disk reports the lack of space', async (t) => {
  const { data, variables } = site(t);
  const disk = mountSmallDisk(t, data, 2 * megabyte);
  if (!disk) return t.skip('no disk can be mounted here');
  disk.fill(0);
  const { code, lines } = await complaintOf(t, { ...variables, REDRESS_APP: app });
  assert.deepEqual([code, lines.length], [2, 1], lines.join('\n'));
  assert.match(
    lines[0] ?? '',
    /^redress: The data folder .*data cannot be used: .*full.* Free space on its disk, or choose another folder with REDRESS_DATA\.$/,
  );
  disk.empty();
  assert.equal((await (await startLocal(t, { ...variables, REDRESS_APP: app })).kill('SIGTERM')).code, 0);
});
