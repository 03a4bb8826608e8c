import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import { play } from '../play.mjs';
import { command, inParallel, insistently, Killable } from '../processes.mjs';

/**
 * `TEMPORAL=path/to/temporal node temporal/incident.mjs [--orders 10000] …` plays the incident on Temporal: a batch of signals, or with
 * `COMPARE=reset` a batch of resets. A reset to the last workflow task would only replay the failure that the history has by then, so these
 * are resets to the first one, which repeat all activities.
 */
const temporal = process.env.TEMPORAL ?? 'temporal';
const isReset = process.env.COMPARE === 'reset';
const port = Number(process.env.TEMPORAL_PORT ?? 17233);
const address = `127.0.0.1:${port}`;
const folder = mkdtempSync(join(tmpdir(), 'compare-temporal-'));
const workflowType = isReset ? 'failingParcel' : 'parcel';
const query = isReset
  ? `WorkflowType = "${workflowType}" AND ExecutionStatus = "Failed"`
  : `WorkflowType = "${workflowType}" AND ExecutionStatus = "Running" AND Fault = "LabelRefused"`;
const idOf = (number) => `parcel-${number}`;
const cli = (args) => command(temporal, [...args, '--address', address]);

let connection;
let client;
let worker;
const jobs = [];

const server = new Killable({
  program: temporal,
  args: [
    'server',
    'start-dev',
    '--headless',
    '--port',
    String(port),
    '--db-filename',
    join(folder, 'temporal.db'),
    '--log-level',
    'error',
  ].concat(['--search-attribute', 'Fault=Keyword', '--dynamic-config-value', 'worker.BatcherRPS=100']),
  log: join(folder, 'server.log'),
  isReady: async () => (await cli(['operator', 'cluster', 'health'])).out.includes('SERVING'),
});

async function startWorker() {
  const marker = { since: Date.now() };
  await worker.start();
  return marker;
}

await play(isReset ? 'temporal, batch of resets' : 'temporal, batch of signals', {
  versions: { cli: (await command(temporal, ['--version'])).out.trim(), sdk: '1.24.0' },
  canEnd: !isReset,
  async start(url) {
    await server.start();
    worker = new Killable({
      program: process.execPath,
      args: [fileURLToPath(new URL('worker.mjs', import.meta.url))],
      env: { TEMPORAL_ADDRESS: address, INCIDENT_URL: url },
      log: join(folder, 'worker.log'),
      isReady: async () => true,
    });
    await startWorker();
    connection = await Connection.connect({ address });
    client = new Client({ connection });
  },
  async kill() {
    await Promise.all([worker.end('SIGKILL'), server.end('SIGKILL')]);
    await server.start();
    await startWorker();
  },
  async stop() {
    await worker?.end('SIGKILL');
    await server.end('SIGTERM');
    process.stderr.write(`logs: ${folder}\n`);
  },
  submit: (numbers) =>
    inParallel(numbers, 25, (number) =>
      insistently(() =>
        client.workflow
          .start(workflowType, { taskQueue: 'parcels', workflowId: idOf(number), args: [number] })
          .catch((error) => (error.name === 'WorkflowExecutionAlreadyStartedError' ? undefined : Promise.reject(error))),
      ),
    ),
  waiting: async () => (await client.workflow.count(query)).count,
  end: (numbers) => inParallel(numbers, 10, (number) => client.workflow.getHandle(idOf(number)).terminate('The customer has called.')),
  preview: async () => (await client.workflow.count(query)).count,
  async canary(count) {
    const numbers = [];
    for await (const { workflowId } of client.workflow.list({ query })) if (numbers.push(workflowId) === count) break;
    const one = isReset
      ? ['workflow', 'reset', '--type', 'FirstWorkflowTask', '--reason', 'canary']
      : ['workflow', 'signal', '--name', 'again'];
    for (const id of numbers) await checked([...one, '--workflow-id', id]);
  },
  bulk,
  async over() {
    const { out } = await cli(['batch', 'describe', '--job-id', jobs.at(-1), '-o', 'json']);
    return /Completed|Failed/.test(JSON.parse(out).state);
  },
  async lookAgain() {
    if ((await client.workflow.count(query)).count === 0) return false;
    await bulk();
    return true;
  },
  async told() {
    const states = new Map();
    for await (const { workflowId, status } of client.workflow.list({ query: `WorkflowType = "${workflowType}"` })) {
      const number = Number(workflowId.split('-')[1]);
      const word = { COMPLETED: 'done', TERMINATED: isReset ? 'replaced' : 'ended' }[status.name] ?? status.name;
      // A reset leaves the earlier run of a workflow beside its new one.
      if (states.get(number) !== 'done') states.set(number, word);
    }
    return states;
  },
  async record() {
    const described = [];
    for (const job of jobs) described.push(JSON.parse((await cli(['batch', 'describe', '--job-id', job, '-o', 'json'])).out));
    return described.map(({ state, totalOperationCount, completeOperationCount, failureOperationCount }) => ({
      state,
      total: Number(totalOperationCount),
      complete: Number(completeOperationCount),
      failed: Number(failureOperationCount ?? 0),
    }));
  },
  async instructedTwice() {
    let twice = 0;
    if (isReset) {
      const runs = new Map();
      for await (const { workflowId } of client.workflow.list({ query: `WorkflowType = "${workflowType}"` }))
        runs.set(workflowId, (runs.get(workflowId) ?? 0) + 1);
      return [...runs.values()].filter((count) => count > 2).length;
    }
    const ids = [];
    for await (const { workflowId } of client.workflow.list({ query: `WorkflowType = "${workflowType}"` })) ids.push(workflowId);
    await inParallel(ids, 25, async (id) => {
      const { events } = await client.workflow.getHandle(id).fetchHistory();
      if (events.filter((event) => event.workflowExecutionSignaledEventAttributes).length > 1) twice += 1;
    });
    return twice;
  },
});
await connection.close();

async function checked(args) {
  const { code, out, errors } = await cli(args);
  if (code !== 0) throw new Error(`temporal ${args.join(' ')}: ${errors}`);
  return out;
}

/** Begins a batch job over all orders that match the query now. The rate: `--rps` for signals; the server's limit for resets. */
async function bulk() {
  const operation = isReset
    ? ['workflow', 'reset', '--type', 'FirstWorkflowTask']
    : ['workflow', 'signal', '--name', 'again', '--rps', '100'];
  const out = await checked([...operation, '--query', query, '--reason', 'The printer has paper.', '--yes', '-o', 'json']);
  const [id] = /[0-9a-f]{8}-[0-9a-f-]{27}/.exec(out) ?? [];
  if (!id) throw new Error(`No job id in: ${out}`);
  jobs.push(id);
}
