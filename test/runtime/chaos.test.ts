import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, type TestContext, test } from 'node:test';
import { defineAgent, defineApp, defineWorkflow, operation, sequence } from 'redress';
import * as z from 'zod';
import { openEmbedded } from '#adapters/sqlite/open';
import type { Chaos, Experiment } from '#api/chaos';
import { openLocalIssuer } from '#api/local-issuer';
import { manualClock } from '#ports/clock';
import { createTelemetry } from '#ports/telemetry';
import { withChaos } from '#runtime/chaos/with-chaos';
import { readConfig } from '#runtime/config';
import { startHost } from '#runtime/host/host';
import { loadFunction } from '#runtime/host/load';
import { redriveIn, topologyOf } from '#runtime/topology';

const folder = mkdtempSync(join(tmpdir(), 'redress-chaos-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const Nothing = z.object({});

/** A host with chaos, in virtual time, and a service that counts its calls and its effects. */
async function chaotic(context: TestContext) {
  const clock = manualClock();
  const calls: string[] = [];
  const run = (_: object, { idempotencyKey }: { readonly idempotencyKey: string }) => {
    calls.push(idempotencyKey);
    return {};
  };
  const work = operation({ input: Nothing, output: Nothing, run });
  const till = defineAgent('till', { charge: work });
  const stock = defineAgent('stock', { reserve: work });
  const sell = defineWorkflow('sell', { version: 1, order: Nothing }, () => sequence(till.charge({}), stock.reserve({})));
  const app = defineApp({ workflows: [sell], agents: [till, stock] });
  const { cursorKey, ...issuer } = openLocalIssuer(folder, clock);
  const embedded = openEmbedded(':memory:', { clock, redriveOf: redriveIn(topologyOf(app)) });
  const ports = { ...embedded, clock, telemetry: createTelemetry({ level: 'off' }), issuer, cursorKey };
  const config = readConfig({ DEFAULT_WORKFLOW: 'sell', STEP_COMPLETE_WITHIN_SECONDS: '10' });
  const host = await startHost(withChaos({ app, config, ports, load: loadFunction }, () => new Map()));
  context.after(async () => {
    const stopped = host.stop();
    await clock.advance(60_000);
    await stopped;
    await embedded.database.close();
  });
  const { chaos, store, submit } = host.system;
  assert.ok(chaos);
  /** Injects a fault, submits orders of as many clients, and lets two minutes pass. */
  const play = async (fault: Parameters<Chaos['start']>[0], orders = 1) => {
    assert.ok(chaos.start(fault, 'olga'));
    const ids: string[] = [];
    for (let count = 0; count < orders; count += 1) {
      const submitted = await submit({ client: `c${count}`, idempotencyKey: 'k', order: {} });
      assert.ok(submitted.outcome === 'accepted');
      ids.push(submitted.order.orderId);
    }
    await clock.advance(120_000);
    const ends = await Promise.all(ids.map(async (id) => (await store.head(id))?.outcome));
    return { experiment: chaos.list()[0] as Experiment, ends, calls };
  };
  return { play, chaos };
}

const lateBy = ({ steps, startedAt }: Experiment): readonly (number | null)[] =>
  steps.map(({ at }) => (at === null ? null : Math.floor((at - startedAt) / 5_000) * 5));

test('F-47: when an experiment drops a reply, the supervisor requests the step again under the same key, and the order completes', async (context) => {
  const { play } = await chaotic(context);
  const { experiment, ends, calls } = await play({ kind: 'drop-reply', agent: 'till' });
  assert.deepEqual([experiment.state, lateBy(experiment), experiment.steps[1]?.note], ['passed', [0, 10, 10], 'attempt 2']);
  assert.deepEqual([ends, calls.length, new Set(calls).size], [['completed'], 3, 2]);
});

test('when an experiment silences an agent, its requests wait, and the order completes when the agent is back', async (context) => {
  const { play } = await chaotic(context);
  const { experiment, ends } = await play({ kind: 'silence-agent', agent: 'stock', seconds: 20 });
  assert.deepEqual([experiment.state, lateBy(experiment), ends], ['passed', [0, 20, 20], ['completed']]);
});

test('when an experiment kills the scheduler after its write, the message is redelivered, and the order completes once', async (context) => {
  const { play } = await chaotic(context);
  const { experiment, ends, calls } = await play({ kind: 'kill-scheduler' });
  assert.deepEqual([experiment.state, lateBy(experiment), experiment.steps[2]?.note], ['passed', [0, 5, 30], 'delivery 2']);
  assert.deepEqual([ends, calls.length], [['completed'], 2]);
});

test('when an experiment duplicates a request, both have one key, and the order completes once', async (context) => {
  const { play } = await chaotic(context);
  const { experiment, ends, calls } = await play({ kind: 'double-message', agent: 'till' });
  assert.deepEqual([experiment.state, ends, calls.length, new Set(calls).size], ['passed', ['completed'], 3, 2]);
});

test('when an experiment makes a service fail, the circuit breaker opens, a probe closes it, and the orders that waited complete', async (context) => {
  const { play } = await chaotic(context);
  const { experiment, ends } = await play({ kind: 'sicken-service', agent: 'till', seconds: 15 }, 3);
  assert.deepEqual([experiment.state, ends], ['passed', ['completed', 'completed', 'completed']]);
  const [failed, opened, closed] = experiment.steps.map(({ at }) => (at ?? 0) - experiment.startedAt);
  assert.ok(failed !== undefined && opened !== undefined && opened < 15_000 && (closed ?? 0) >= 15_000, String([failed, opened, closed]));
});

test('an experiment that a person stops ends its fault, and a second one of its kind is refused while the first is active', async (context) => {
  const { chaos, play } = await chaotic(context);
  const first = chaos.start({ kind: 'drop-reply', agent: 'till' }, 'olga');
  assert.equal(chaos.start({ kind: 'drop-reply', agent: 'stock' }, 'olga'), undefined);
  assert.equal(chaos.stop(first?.id ?? '')?.state, 'stopped');
  const { experiment, ends } = await play({ kind: 'double-message', agent: 'stock' });
  assert.deepEqual([experiment.state, ends], ['passed', ['completed']]);
  assert.deepEqual(
    chaos.list()[1]?.steps.map(({ at }) => at),
    [null, null, null],
  );
});
