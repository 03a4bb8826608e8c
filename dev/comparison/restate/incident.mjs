import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { play } from '../play.mjs';
import { command, inParallel, insistently, Killable } from '../processes.mjs';

/** `node restate/incident.mjs [--orders 10000] …` plays the incident on Restate: the command line resumes all paused invocations. */
const base = Number(process.env.RESTATE_PORT ?? 17500);
const [ingress, admin, servicePort] = [base, base + 1, base + 2];
const folder = mkdtempSync(join(tmpdir(), 'compare-restate-'));
/** The program itself: the one in `.bin` starts it as a child, which would outlive a kill. */
const program = (name) =>
  fileURLToPath(new URL(`../node_modules/@restatedev/${name}-${process.platform}-${process.arch}/bin/${name}`, import.meta.url));
const adminUrl = `http://127.0.0.1:${admin}`;
const env = { RESTATE_ADMIN_URL: adminUrl, CI: 'true', RESTATE_CLI_CONFIG_HOME: folder, DO_NOT_TRACK: '1' };
const paused = `target_service_name = 'parcel' AND status = 'paused'`;
/** The limit of invocations. Without it, the command line takes 500 of them. */
const limit = ['--limit', '100000'];

let service;
const ids = new Map();
/** Runs of the command line: each is a process of the operator's machine, which nobody kills. */
const runs = [];

const server = new Killable({
  program: program('restate-server'),
  args: ['--no-logo', '--base-dir', join(folder, 'data'), '--node-name', 'one', '--bind-port', String(base + 3), '--listen-mode', 'tcp'],
  env: {
    RESTATE_INGRESS__BIND_PORT: String(ingress),
    RESTATE_ADMIN__BIND_PORT: String(admin),
    RESTATE_LOG_FILTER: 'warn',
    RESTATE_DISABLE_TELEMETRY: 'true',
    RESTATE_BIND_IP: '127.0.0.1',
  },
  cwd: folder,
  log: join(folder, 'server.log'),
  isReady: async () => (await fetch(`${adminUrl}/health`)).ok && (await fetch(`http://127.0.0.1:${ingress}/restate/health`)).ok,
});

await play('restate, resume of all paused invocations', {
  versions: { server: (await command(program('restate-server'), ['--version'])).out.trim(), sdk: '1.17.2' },
  canEnd: true,
  async start(url) {
    await server.start();
    service = new Killable({
      program: process.execPath,
      args: [fileURLToPath(new URL('service.mjs', import.meta.url))],
      env: { INCIDENT_URL: url, SERVICE_PORT: String(servicePort) },
      log: join(folder, 'service.log'),
      isReady: async () => true,
    });
    await service.start();
    await insistently(async () => {
      const { code, errors, out } = await cli(['deployments', 'register', `http://127.0.0.1:${servicePort}`, '--yes']);
      if (code !== 0) throw new Error(`${out}${errors}`);
    });
  },
  async kill() {
    await Promise.all([service.end('SIGKILL'), server.end('SIGKILL')]);
    await Promise.all([server.start(), service.start()]);
  },
  async stop() {
    await service?.end('SIGKILL');
    await server.end('SIGTERM');
    process.stderr.write(`logs: ${folder}\n`);
  },
  submit: (numbers) =>
    inParallel(numbers, 25, (number) =>
      insistently(async () => {
        const headers = { 'content-type': 'application/json', 'idempotency-key': `parcel-${number}` };
        const answer = await fetch(`http://127.0.0.1:${ingress}/parcel/label/send`, { method: 'POST', headers, body: String(number) });
        if (!answer.ok) throw new Error(await answer.text());
        ids.set(number, (await answer.json()).invocationId);
      }),
    ),
  waiting: countPaused,
  end: (numbers) =>
    inParallel(numbers, 10, async (number) => {
      const answer = await fetch(`${adminUrl}/invocations/${ids.get(number)}/kill`, { method: 'PATCH' });
      if (!answer.ok) throw new Error(await answer.text());
    }),
  async preview() {
    // The reason is in the events of the journal.
    const alike = `SELECT count(*) AS alike FROM sys_journal_events WHERE event_type = 'Paused' AND event_json LIKE '%LabelRefused%'`;
    process.stderr.write(`${JSON.stringify(await sql(alike))}\n`);
    return countPaused();
  },
  async canary(count) {
    for (const { id } of await sql(`SELECT id FROM sys_invocation WHERE ${paused} LIMIT ${count}`))
      await cli(['invocations', 'resume', id, '--yes']);
  },
  bulk,
  over: async () => runs.at(-1).code !== undefined,
  async lookAgain() {
    if ((await countPaused()) === 0) return false;
    await bulk();
    return true;
  },
  async told() {
    const numbers = new Map([...ids].map(([number, id]) => [id, number]));
    const states = new Map();
    for (const { id, status, completion_result, completion_failure } of await sql(
      `SELECT id, status, completion_result, completion_failure FROM sys_invocation WHERE target_service_name = 'parcel'`,
    )) {
      const isKilled = completion_result === 'failure' && /kill/i.test(completion_failure ?? '');
      states.set(numbers.get(id), completion_result === 'success' ? 'done' : isKilled ? 'ended' : `${status} ${completion_failure ?? ''}`);
    }
    return states;
  },
  record: async () => runs.map(({ code, lastLines }) => ({ code, lastLines })),
  instructedTwice: async () => 'not recorded',
});

function cli(args) {
  return command(program('restate'), [...args], { env, cwd: folder });
}

async function sql(query) {
  const headers = { 'content-type': 'application/json', accept: 'application/json' };
  const answer = await fetch(`${adminUrl}/query`, { method: 'POST', headers, body: JSON.stringify({ query }) });
  if (!answer.ok) throw new Error(await answer.text());
  return (await answer.json()).rows;
}

async function countPaused() {
  return (await sql(`SELECT count(*) AS paused FROM sys_invocation WHERE ${paused}`))[0].paused;
}

/** Begins the command, and does not wait for its end. */
async function bulk() {
  const run = {};
  runs.push(run);
  void cli(['invocations', 'resume', 'parcel', ...limit, '--yes']).then(({ code, out, errors }) => {
    run.code = code;
    run.lastLines = `${out}\n${errors}`.trim().split('\n').slice(-3).join(' | ').slice(-300);
  });
}
