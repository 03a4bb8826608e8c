import { chmodSync, chownSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DBOSClient } from '@dbos-inc/dbos-sdk';
import { play } from '../play.mjs';
import { command, inParallel, insistently, Killable } from '../processes.mjs';

/**
 * `POSTGRES=/usr/lib/postgresql/15/bin node dbos/incident.mjs [--orders 10000] …` plays the incident on DBOS with a Postgres of its own.
 * Postgres does not run as root: a root user names another one with POSTGRES_UID.
 */
const bin = process.env.POSTGRES ?? '/usr/lib/postgresql/15/bin';
const port = Number(process.env.POSTGRES_PORT ?? 17600);
const uid = process.env.POSTGRES_UID ? Number(process.env.POSTGRES_UID) : undefined;
const appPort = port + 1;
const folder = mkdtempSync(join(tmpdir(), 'compare-dbos-'));
const env = { DBOS_SYSTEM_DATABASE_URL: `postgresql://postgres@127.0.0.1:${port}/dbos`, APP_PORT: String(appPort) };
const as = uid === undefined ? [] : ['setpriv', `--reuid=${uid}`, '--clear-groups'];
const postgres = async (program, args) => {
  const [first, ...rest] = [...as, `${bin}/${program}`, ...args];
  const { code, out, errors } = await command(first, rest, { cwd: folder });
  if (code !== 0) throw new Error(`${program}: ${out}${errors}`);
  return out;
};
const control = (action, ...more) =>
  postgres('pg_ctl', ['-D', join(folder, 'data'), '-l', join(folder, 'postgres.log'), '-w', action, ...more]);
const startPostgres = () => control('start', '-o', `-p ${port} -k ${folder} -c listen_addresses=127.0.0.1`);

let app;
let client;
/** Runs of the operator's script. */
const runs = [];

if (uid !== undefined) chownSync(folder, uid, uid);
chmodSync(folder, 0o755);
await postgres('initdb', ['-D', join(folder, 'data'), '-U', 'postgres', '-A', 'trust']);

await play('dbos, rewind of all failed workflows', {
  versions: { sdk: '5.3.0', postgres: (await postgres('postgres', ['--version'])).trim() },
  canEnd: false,
  async start(url) {
    await startPostgres();
    await postgres('createdb', ['-h', '127.0.0.1', '-p', String(port), '-U', 'postgres', 'dbos']);
    app = new Killable({
      program: process.execPath,
      args: [fileURLToPath(new URL('app.mjs', import.meta.url))],
      env: { ...env, INCIDENT_URL: url },
      log: join(folder, 'app.log'),
      isReady: async () => (await fetch(`http://127.0.0.1:${appPort}/ready`)).ok,
    });
    await app.start();
    await connect();
  },
  async kill() {
    await Promise.all([app.end('SIGKILL'), control('stop', '-m', 'immediate')]);
    await startPostgres();
    await app.start();
    await connect();
  },
  async stop() {
    await app?.end('SIGKILL');
    await client?.destroy().catch(() => {});
    await control('stop', '-m', 'fast').catch(() => {});
    process.stderr.write(`logs: ${folder}\n`);
  },
  submit: (numbers) =>
    inParallel(numbers, 25, (number) =>
      insistently(async () => {
        const answer = await fetch(`http://127.0.0.1:${appPort}/?number=${number}`);
        if (!answer.ok) throw new Error(await answer.text());
      }),
    ),
  waiting: failed,
  end: async () => {},
  preview: failed,
  canary: (count) => operator([String(count)]),
  bulk,
  over: async () => runs.at(-1).code !== undefined,
  async lookAgain() {
    if ((await failed()) === 0) return false;
    await bulk();
    return true;
  },
  async told() {
    const all = await client.listWorkflows({ workflowName: 'parcel', loadInput: false, loadOutput: false });
    return new Map(all.map(({ workflowID, status }) => [Number(workflowID.split('-')[1]), status === 'SUCCESS' ? 'done' : status]));
  },
  record: async () => runs,
  instructedTwice: async () => 'not recorded',
});

async function connect() {
  await client?.destroy().catch(() => {});
  client = await DBOSClient.create({ systemDatabaseUrl: env.DBOS_SYSTEM_DATABASE_URL });
}

async function failed() {
  return (await client.listWorkflows({ workflowName: 'parcel', status: 'ERROR', loadInput: false, loadOutput: false })).length;
}

function operator(args) {
  return command(process.execPath, [fileURLToPath(new URL('operator.mjs', import.meta.url)), ...args], { env });
}

/** Begins the operator's script, and does not wait for its end. */
async function bulk() {
  const run = {};
  runs.push(run);
  void operator([]).then(({ code, out, errors }) => Object.assign(run, { code, lastLines: `${out}${errors}`.trim().slice(-200) }));
}
