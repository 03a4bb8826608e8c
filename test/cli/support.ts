import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { type App, defineAgent, defineApp, defineWorkflow, fault, operation, sequence } from 'redress';
import * as z from 'zod';
import { type Embedded, openEmbedded } from '#adapters/sqlite/open';
import { openLocalIssuer } from '#api/local-issuer';
import { runCli } from '#cli/run';
import { systemClock } from '#ports/clock';
import { createTelemetry } from '#ports/telemetry';
import { readConfig } from '#runtime/config';
import { startHost } from '#runtime/host/host';
import { loadFunction } from '#runtime/host/load';
import { redriveIn, topologyOf } from '#runtime/topology';
import { until } from '../support/until.ts';

const Declined = fault('CardDeclined');
const Order = z.object({ item: z.string(), card: z.string() });
const Nothing = z.object({});

/** Cards that are declined; a test may remove one. */
export const declined = new Set<string>();

const stock = defineAgent('stock', { reserve: operation({ input: z.object({ item: z.string() }), output: Nothing, run: () => ({}) }) });
const till = defineAgent('till', {
  charge: operation({
    input: z.object({ card: z.string() }),
    output: Nothing,
    faults: [Declined],
    run: ({ card }, call) => (declined.has(card) ? call.failed(Declined, 'The bank says no.') : {}),
  }),
});
const sell = defineWorkflow('fulfil-order', { version: 1, order: Order, toOperator: [Declined] }, ({ order }) =>
  sequence(stock.reserve({ item: order.item }), till.charge({ card: order.card })),
);
const shop = defineApp({ workflows: [sell], agents: [stock, till] });

export interface Ran {
  readonly exitCode: number;
  readonly out: string;
  readonly err: string;
  /** The output, parsed as one JSON text. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into output of every shape
  readonly json: any;
}

export interface Around {
  readonly environment?: { readonly [name: string]: string };
  readonly input?: string;
  readonly isScreen?: boolean;
  /** Takes the output in place of `out`. */
  readonly write?: (text: string) => void;
  /** Answers the questions of the command, as a person at a terminal does. */
  readonly answers?: (question: string) => boolean;
}

/** Runs one command line in this process. */
export async function redress(
  args: readonly string[],
  { environment = {}, input = '', isScreen = false, answers, write }: Around = {},
): Promise<Ran> {
  let out = '';
  let err = '';
  const terminal = {
    write: write ?? ((text: string) => void (out += text)),
    say: (line: string) => void (err += `${line}\n`),
    readInput: async () => input,
    canAsk: answers !== undefined,
    confirm: async (question: string) => answers?.(question) ?? false,
    isScreen,
    colours: isScreen,
    size: () => ({ columns: 80, rows: 24 }),
  };
  const exitCode = await runCli(args, { environment, terminal });
  return {
    exitCode,
    out,
    err,
    get json() {
      return JSON.parse(out);
    },
  };
}

export const launcher = fileURLToPath(new URL('../../bin/redress.js', import.meta.url));

/** Runs a program in a child process, and sends it the signal once its output matches. */
export const runProcess = (
  program: string,
  args: readonly string[],
  { until, signal, cwd }: { until?: RegExp; signal?: NodeJS.Signals; cwd?: string } = {},
): Promise<{ code: number | null; out: string; err: string }> =>
  new Promise((resolve) => {
    // The hints of a command depend on what has started it. npm has started the tests.
    const child = spawn(process.execPath, [program, ...args], { cwd, env: { ...process.env, npm_execpath: undefined } });
    const said = { out: '', err: '' };
    child.stdout.on('data', (chunk) => {
      said.out += chunk;
      if (signal && until?.test(said.out)) child.kill(signal);
    });
    child.stderr.on('data', (chunk) => void (said.err += chunk));
    child.on('close', (code) => resolve({ code, ...said }));
  });

/** A folder that is deleted after the test. */
export function folderFor(context: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'redress-cli-'));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Creates a data folder with a store, in which nothing runs. */
export async function storeIn(folder: string, work: (embedded: Embedded) => Promise<void> = async () => {}): Promise<void> {
  const embedded = openEmbedded(folder, { clock: systemClock });
  await work(embedded);
  await embedded.database.close();
}

export interface RunningSystem {
  readonly folder: string;
  readonly url: string;
  /** Runs a command line against this system and its data folder. */
  redress(args: readonly string[], around?: Around): Promise<Ran>;
  /** Submits an order, waits for its end, and returns its id. */
  order(card: string): Promise<string>;
  /** Reads an order until it is as expected, and returns it. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into output of every shape
  reaches(orderId: string, is: (order: any) => boolean): Promise<any>;
  /** Stops the system and deletes its data folder. */
  stop(): Promise<void>;
}

/** Starts a whole system in a new data folder, as `redress start` does. */
export async function runningSystem(app: App = shop): Promise<RunningSystem> {
  const folder = mkdtempSync(join(tmpdir(), 'redress-cli-'));
  const { store, queues, publisher, keys, database } = openEmbedded(folder, { clock: systemClock, redriveOf: redriveIn(topologyOf(app)) });
  const { cursorKey, ...issuer } = openLocalIssuer(folder);
  const ports = {
    store,
    queues,
    publisher,
    keys,
    clock: systemClock,
    telemetry: createTelemetry({ level: 'off', auditLines: false }),
    issuer,
    cursorKey,
  };
  const host = await startHost({ app, config: readConfig({}), ports, load: loadFunction, http: { port: 0, host: '127.0.0.1' } });
  const environment = { REDRESS_URL: host.url ?? '', REDRESS_DATA: folder };
  const run = (args: readonly string[], around: Around = {}) =>
    redress(args, { ...around, environment: { ...environment, ...around.environment } });
  return {
    folder,
    url: host.url ?? '',
    redress: run,
    async order(card) {
      const { json, exitCode, err } = await run(['order', 'submit', '-', '--watch', '--json'], {
        input: JSON.stringify({ item: 'tea', card }),
      });
      assert.ok(exitCode <= 1, err);
      return json.orderId;
    },
    reaches: (orderId, is) => until(async () => (await run(['order', 'get', orderId, '--json'])).json, is),
    async stop() {
      await host.stop();
      await database.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
