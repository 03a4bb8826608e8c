import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { askOperator, defineAgent, defineApp, defineWorkflow, fault, operation, secret, sequence, withOutput } from 'redress';
import * as z from 'zod';
import { openEmbedded } from '#adapters/sqlite/open';
import { openLocalIssuer } from '#api/local-issuer';
import { manualClock, systemClock } from '#ports/clock';
import { createTelemetry } from '#ports/telemetry';
import { readConfig } from '#runtime/config';
import { startHost } from '#runtime/host/host';
import { loadFunction } from '#runtime/host/load';
import { createOrderLines } from '#runtime/host/order-lines';
import type { OrderAtRest } from '#runtime/system';

const Declined = fault('CardDeclined');
const Order = z.object({ card: secret(z.string()), asks: z.boolean().optional() });
const till = defineAgent('till', {
  charge: operation({
    input: z.object({ card: z.string() }),
    output: z.object({ chargeId: z.string() }),
    faults: [Declined],
    run: ({ card }, call) => (card === 'empty' ? call.failed(Declined, `The bank says\nno to ${card}.`) : { chargeId: 'ch_1' }),
  }),
});
const sell = defineWorkflow('sell', { version: 1, order: Order, toOperator: [Declined] }, ({ order }) => {
  const charge = till.charge({ card: order.card }).noUndo();
  return withOutput(sequence(charge), { chargeId: charge.output.chargeId });
});
const ask = defineWorkflow('ask', { version: 1, order: z.object({}) }, () =>
  sequence(askOperator('price', { question: 'What is the price?', answer: z.number() })),
);
const app = defineApp({ workflows: [sell, ask], agents: [till] });

/** The embedded system, and the lines that its terminal prints. */
async function terminal(context: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'redress-lines-'));
  const { store, queues, publisher, database } = openEmbedded(folder, { clock: systemClock });
  const { cursorKey, ...issuer } = openLocalIssuer(folder);
  const said: string[] = [];
  const say = (line: string): void => void said.push(line);
  const lines = createOrderLines({ say, clock: systemClock, getCommand: (orderId) => `npx redress order get ${orderId}` });
  const ports = { store, queues, publisher, clock: systemClock, telemetry: createTelemetry({ level: 'off' }), issuer, cursorKey };
  const host = await startHost({ app, config: readConfig({}), ports, load: loadFunction, onRest: lines.show });
  context.after(async () => {
    await host.stop();
    await database.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const order = async (workflow: string, body: object, reference?: string): Promise<{ orderId: string; line: string }> => {
    const submission = { client: 'acme', idempotencyKey: `k${said.length}`, workflow, order: body as never };
    const submitted = await host.system.submit({ ...submission, ...(reference ? { reference } : {}) });
    assert.ok(submitted.outcome === 'accepted');
    const { orderId } = submitted.order;
    const isPrinted = () => said.some((line) => line.startsWith(orderId.slice(0, 12)));
    for (let looks = 0; looks < 1000 && !isPrinted(); looks++) await systemClock.sleep(10);
    return { orderId, line: said.at(-1) ?? '' };
  };
  return { order, said };
}

describe('the terminal of a local system', () => {
  test('prints one line for an order that completed, with its output', async (context) => {
    const { order, said } = await terminal(context);
    const { orderId, line } = await order('sell', { card: 'full' }, 'R-7');
    const [id, workflow, end, output] = line.split('  ');
    assert.deepEqual([id, workflow, output], [orderId.slice(0, 12), 'sell (R-7)', '{"chargeId":"ch_1"}']);
    assert.match(end ?? '', /^completed after \d+\.\d s$/);
    assert.equal(said.length, 1);
  });

  test('prints one line for a blocked order, with its fault, the path and the command that shows it, and without secrets', async (context) => {
    const { order } = await terminal(context);
    const { orderId, line } = await order('sell', { card: 'empty' });
    const id = orderId.slice(0, 12);
    assert.match(line, new RegExp(`^${id}  sell  blocked after \\d+\\.\\d s  CardDeclined at order/charge: `));
    assert.ok(line.endsWith(`The bank says\ufffdno to [secret].  npx redress order get ${id}`), line);
  });

  test('prints that an order waits for an answer, with its question', async (context) => {
    const { order } = await terminal(context);
    const { line } = await order('ask', {});
    assert.match(line, / {2}ask {2}waits for an answer after .* at order\/price: What is the price\? {2}npx redress order get ord_/);
  });
});

describe('a terminal with more orders than a person can read', () => {
  const rest = (number: number, outcome: 'completed' | null = 'completed') =>
    ({
      order: { orderId: `ord_${number}`, workflow: { name: 'sell', version: 1 }, submittedAt: 0 },
      record: { processState: outcome ? 'Processed' : 'Error', outcome, fault: null, updatedAt: 0 },
      output: () => undefined,
    }) as unknown as OrderAtRest;

  function lines() {
    const clock = manualClock();
    const said: string[] = [];
    return { clock, said, ...createOrderLines({ say: (line) => void said.push(line), clock, getCommand: (id) => `get ${id}` }) };
  }

  test('prints the first ten of a second, then one summary of each second', async () => {
    const { clock, said, show } = lines();
    for (let number = 1; number <= 15; number++) show(rest(number));
    assert.deepEqual(
      said.map((line) => line.split('  ')[0]),
      Array.from({ length: 10 }, (_, index) => `ord_${index + 1}`),
    );
    await clock.advance(1000);
    assert.equal(said.length, 11);
    assert.equal(said[10], '15 orders completed in the last second');
    for (let number = 0; number < 143; number++) show(rest(number));
    show(rest(1, null));
    show(rest(2, null));
    await clock.advance(1000);
    assert.deepEqual(said.slice(11), ['143 orders completed, 2 blocked in the last second']);
  });

  test('prints lines again after a second with at most ten orders', async () => {
    const { clock, said, show } = lines();
    for (let number = 0; number < 11; number++) show(rest(number));
    await clock.advance(1000);
    show(rest(1));
    await clock.advance(1000);
    assert.equal(said.at(-1), '1 order completed in the last second');
    show(rest(77));
    assert.match(said.at(-1) ?? '', /^ord_77 {2}sell {2}completed/);
    await clock.advance(5000);
    assert.match(said.at(-1) ?? '', /^ord_77/);
  });

  test('prints no summary while each second has ten orders, and prints the last summary when the system stops', async () => {
    const { clock, said, show, stop } = lines();
    for (let number = 0; number < 10; number++) show(rest(number));
    await clock.advance(1000);
    for (let number = 10; number < 20; number++) show(rest(number));
    assert.equal(said.length, 20);
    show(rest(20));
    stop();
    assert.equal(said.at(-1), '11 orders completed in the last second');
  });
});
