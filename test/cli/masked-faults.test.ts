import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defineAgent, defineApp, defineWorkflow, fault, operation, sequence } from 'redress';
import * as z from 'zod';
import { runningSystem } from './support.ts';

const Nothing = z.object({});
const PalletFell = fault('PalletFell');
let begin = () => {};
let fall = () => {};
const begun = new Promise<void>((resolve) => {
  begin = resolve;
});
const fallen = new Promise<void>((resolve) => {
  fall = resolve;
});
const worker = defineAgent('worker', {
  book: operation({ input: Nothing, output: Nothing, run: () => ({}) }),
  unbook: operation({ input: Nothing, output: Nothing, run: () => ({}) }),
  pack: operation({
    input: Nothing,
    output: Nothing,
    faults: [PalletFell],
    run: async (_, call) => {
      begin();
      await fallen;
      return call.failed(PalletFell, 'Everything is broken.');
    },
  }),
});
const receive = defineWorkflow('receive', { version: 1, order: Nothing, toOperator: [PalletFell] }, () =>
  sequence(
    worker.book({}).undo(() => worker.unbook({})),
    worker.pack({}).noUndo(),
  ),
);

test('F-149: order get shows the faults that a recovery has masked', async () => {
  const system = await runningSystem(defineApp({ workflows: [receive], agents: [worker] }));
  try {
    const { json } = await system.redress(['order', 'submit', '-', '--json'], { input: '{"workflow":"receive","order":{}}' });
    await begun;
    const path = ['--path', 'order/book'];
    const { exitCode, err } = await system.redress(['order', 'recover', json.orderId, ...path, '--reason', 'wrong papers', '--yes']);
    assert.equal(exitCode, 0, err);
    fall();
    await system.redress(['order', 'watch', json.orderId]);
    const { out } = await system.redress(['order', 'get', json.orderId]);
    assert.match(out, /\nstate +Error, blocked: PalletFell\n/);
    assert.match(out, /\nmasked +PalletFell at order\/pack \(Everything is broken\.\), while order\/book was recovered\n/);
  } finally {
    await system.stop();
  }
});
