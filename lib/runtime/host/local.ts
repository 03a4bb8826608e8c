import { fileURLToPath } from 'node:url';
import type { Issuer } from '#api/authentication';
import { readIssuer } from '#api/configured-issuer';
import { openLocalIssuer } from '#api/local-issuer';
import { isLoopback } from '#api/loopback';
import { createLocalSignIn, readSignIn, type SignIn } from '#api/sign-in';
import { onFunctionError } from '#authoring/function-errors';
import type { App, LocalTrial } from '#authoring/workflow';
import { systemClock } from '#ports/clock';
import { isFatal, SetupError, type StoreUnavailableError } from '#ports/errors';
import { createTelemetry } from '#ports/telemetry';
import { loadDefinitions } from '#roles/definitions/load';
import { missingVersions } from '#roles/definitions/missing-versions';
import { recordDefinitions } from '#roles/definitions/recorded-definitions';
import { importApp } from '#runtime/app-module';
import { withChaos } from '#runtime/chaos/with-chaos';
import { type Config, readConfig } from '#runtime/config';
import { onlyWorkflowOf } from '#runtime/default-workflow';
import { topologyOf } from '#runtime/topology';
import { type Host, startHost } from './host.ts';
import { loadFunction } from './load.ts';
import { createOrderLines } from './order-lines.ts';
import { openPorts } from './ports.ts';
import { samplesByName, samplesIn, submitSamples } from './samples.ts';
import { placeOf } from './stack.ts';
import { createTroublePrinter, functionErrorPrinter } from './trouble-printer.ts';

/** The app of `npm start` and `redress start` without a module: the source in the repository, the compiled form in the package. */
const sampleApp = new URL(`../../../examples/orders/app${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url);

type Environment = { readonly [name: string]: string | undefined };

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const sayOk = (what: string, how: string): void => say(`ok  ${what.padEnd(32)} ${how}`);
const complain = (line: string): void => void process.stderr.write(`redress: ${line}\n`);

/**
 * Runs the whole system in one process, with local stand-ins for the remote services unless their URLs are set.
 * Exit codes: 0 after SIGTERM or SIGINT, 2 for a configuration or setup error, 3 when the store is lost.
 */
export async function startLocal(environment: Environment): Promise<void> {
  const startedAt = performance.now();
  try {
    const configured = readConfig(environment);
    const issuer = readIssuer(environment);
    const app = await importApp(environment['REDRESS_APP'] ?? fileURLToPath(sampleApp));
    const defaultWorkflow = environment['DEFAULT_WORKFLOW'] ?? onlyWorkflowOf(app) ?? configured.defaultWorkflow;
    await run(app, { config: { ...configured, defaultWorkflow }, issuer, environment, startedAt });
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    complain(`${error.message}${error.message.includes('\n') ? '\n' : ' '}${error.remedy}`);
    process.exit(2);
  }
}

interface RunOptions {
  readonly config: Config;
  /** The configured issuer; without one, the issuer of the data folder. */
  readonly issuer: Issuer | undefined;
  readonly environment: Environment;
  readonly startedAt: number;
}

async function run(app: App, { config, issuer, environment, startedAt }: RunOptions): Promise<void> {
  const clock = systemClock;
  const isMachineReadable = config.adapters === 'aws' || environment['LOG_FORMAT'] === 'json';
  const telemetry = createTelemetry({
    level: config.logLevel,
    placeOf,
    auditLines: isMachineReadable,
    format: isMachineReadable ? 'json' : 'text',
  });
  // SIGTERM or SIGINT during the start ends the process at once: there is nothing to drain yet.
  let stop = async (code: number): Promise<void> => process.exit(code);
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void stop(0));
  const definitions = loadDefinitions(app);
  const opened = await openPorts({ app, config, environment, clock });
  const exitWithoutStore = (error: unknown) => {
    complain(`lost the store: ${(error as Error).message} ${(error as Partial<StoreUnavailableError>).remedy ?? opened.remedy}`);
    process.exit(3);
  };
  opened.onGone?.(exitWithoutStore);
  const { cursorKey, ...localIssuer } = openLocalIssuer(config.dataFolder);
  const signIn = issuer ? readSignIn(environment) : createLocalSignIn({ ...localIssuer, cursorKey }, clock.now);
  for (const [what, where] of opened.about) sayOk(what, where);
  if (issuer) sayOk('token issuer', issuer.issuer);

  const services = await startServices(app.local, config, environment, opened.isHere);
  if (services) sayOk('services', services.about);
  const { store, queues, publisher, keys, auditLog, tidy } = opened;
  const ports = { store, queues, publisher, keys, auditLog, tidy, clock, telemetry, issuer: issuer ?? localIssuer, signIn, cursorKey };
  const replaced = await recordDefinitions(app.workflows, store, { mayReplace: config.adapters === 'embedded' });
  for (const line of replaced) say(`note  ${line}`);
  const address = { port: config.port, host: config.host, names: config.hostNames };
  let url: string | undefined;
  const getCommand = (orderId: string): string => getCommandFor(orderId, config, url);
  const lines = isScreened(config, environment) ? createOrderLines({ say, clock, getCommand }) : undefined;
  const options = { app, config, definitions, ports, load: loadFunction, http: address, onRest: lines?.show };
  let read: ReturnType<typeof samplesIn> | undefined;
  const samples = () => (read ??= samplesIn(app.local?.samples));
  // Experiments with faults are possible on this machine alone, and never in a shared system.
  const host = await startHost(opened.isHere && isLoopback(config.host) ? withChaos(options, () => samplesByName(samples())) : options);
  url = host.url;
  const names = topologyOf(app).map(({ name }) => name);
  sayOk('functions', names.join(', '));
  for (const warning of host.system.definitions.warnings) say(`warn  ${warning}`);
  for (const name of missingVariables(app.local))
    say(`warn  ${name} is not set, and local.variables of the app names it. Set it, then start again.`);

  if (!isLoopback(config.host)) for (const line of exposureOf(config)) say(`warn  ${line}`);

  if (telemetry.logs('warn')) showErrors(host, (text) => void process.stderr.write(`${text}\n`));

  stop = stopOnce(async () => {
    await host.stop();
    lines?.stop();
    await services?.close();
    await opened.close();
  });
  host.on('stopped', ({ error }) => exitWithoutStore(error));

  say(`    ready in ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
  say(`ready ${host.url}`);
  say(`    console ${consoleUrl(host.url, signIn)}`);
  // This check follows the start, because it reads up to a few thousand orders. A store that is unavailable for a moment must not end the
  // process.
  const noWarningsUnlessFatal = (error: unknown): readonly string[] => (isFatal(error) ? exitWithoutStore(error) : []);
  if (opened.isHere)
    for (const missing of await missingVersions(app.workflows, store).catch(noWarningsUnlessFatal)) say(`warn  ${missing}`);
  if (opened.isNew && config.samples && samples().length > 0) await submitSamples(samples(), host);
}

/** Returns the address of the console. On this machine it carries a code, which signs in once and expires soon. */
const consoleUrl = (url = '', signIn: SignIn | undefined): string =>
  signIn?.kind === 'local' ? `${url}/#/sign-in?code=${signIn.code()}` : `${url}/`;

/** Returns warnings about protection that is missing if other machines can reach the API. */
const exposureOf = ({ host, hostNames }: Config): readonly string[] => [
  `The API listens on ${host} without TLS, so its tokens cross the network in clear. Put a proxy with TLS in front of it.`,
  ...(hostNames.length === 0 ? ['The API accepts any Host header. Set HOST_NAMES to the names by which callers reach it.'] : []),
];

/** Shows errors of the app's code to its developer. */
function showErrors(host: Host, print: (text: string) => void): void {
  const { store, definitions } = host.system;
  const showTrouble = createTroublePrinter({ store, definitions, print });
  host.on('operationFailed', ({ trouble }) => showTrouble(trouble));
  onFunctionError(functionErrorPrinter(print));
}

async function startServices(local: LocalTrial | undefined, config: Config, environment: Environment, isHere: boolean) {
  const { start, variables = [] } = local ?? {};
  if (!start || variables.some((name) => environment[name])) return undefined;
  if (!isHere)
    throw new SetupError(
      'The URLs of the remote services are not set, and local stand-ins would answer for orders of a shared system.',
      `Set the URLs of the services in the environment: ${variables.join(', ')}.`,
    );
  const services = await start({ dataFolder: config.dataFolder });
  // The agents are the user's code and read the URLs of their services from the environment.
  Object.assign(process.env, services.environment);
  return services;
}

/** Returns the variables that the agents of the app read, and that neither the environment nor a stand-in has set. */
const missingVariables = ({ variables = [] }: LocalTrial = {}): readonly string[] => variables.filter((name) => !process.env[name]);

const stopMs = 9_500;

/** Drains once, however often it is called, and ends the process within `stopMs` even if the drain hangs. */
function stopOnce(drain: () => Promise<void>): (code: number) => Promise<void> {
  let stopping = false;
  return async (code) => {
    if (stopping) return;
    stopping = true;
    setTimeout(() => process.exit(code), stopMs).unref();
    // If a part cannot drain because its store is unavailable, the next start continues the work.
    await drain().catch((error: unknown) => complain(`stopped without draining: ${(error as Error).message}`));
    process.exit(code);
  };
}

/**
 * Whether a person watches this process in a terminal, so that it prints a line for each order. In production, logs and metrics replace
 * these lines.
 */
const isScreened = ({ adapters, quiet }: Config, environment: Environment): boolean =>
  adapters === 'embedded' && !quiet && environment['LOG_FORMAT'] !== 'json';

/** Returns the command that shows an order of this process. */
function getCommandFor(orderId: string, { dataFolder }: Config, url: string | undefined): string {
  const place = url === undefined || url === 'http://127.0.0.1:3000' ? [] : [`--url ${url}`];
  const data = dataFolder === '.redress' ? [] : [`--data ${dataFolder}`];
  return [`npx redress order get ${orderId}`, ...place, ...data].join(' ');
}
