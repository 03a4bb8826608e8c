import { randomUUID } from 'node:crypto';
import type * as z from 'zod';
import type { Json } from '#core/data/json';
import { timeText } from '#ports/messages';
import { badParameter, type Refusal, refuse } from './problem.ts';
import { type Answer, type Call, json } from './route.ts';
import type { ChaosBody, ChaosQuery, experimentKinds } from './schemas/chaos.ts';
import { timeOrNull } from './views.ts';

/** One line of what should happen, with the time at which it did. Times are milliseconds since 1970. */
export interface ExpectedStep {
  readonly text: string;
  readonly at: number | null;
  readonly orderId: string | null;
  readonly note: string | null;
}

/** A fault that a person has injected, and what should happen then. */
export interface Experiment {
  readonly id: string;
  readonly kind: (typeof experimentKinds)[number];
  readonly agent: string | null;
  readonly state: 'waiting' | 'running' | 'passed' | 'stopped';
  readonly startedAt: number;
  readonly endedAt: number | null;
  readonly by: string;
  readonly orders: readonly string[];
  readonly steps: readonly ExpectedStep[];
}

/** The body of a submission. */
export interface Sample {
  readonly order: Json;
  readonly workflow?: string;
}

/** Injects faults into a host on the machine of its operator. No other host has this port. */
export interface Chaos {
  readonly agents: readonly string[];
  /** Sample orders of the app, by name. */
  readonly samples: () => ReadonlyMap<string, Sample>;
  list(): readonly Experiment[];
  /** Returns the faults for an agent, each with the steps that should follow. `seconds`: its default duration; 0 if it happens once. */
  faultsFor(agent: string): readonly { readonly kind: Experiment['kind']; readonly seconds: number; readonly steps: readonly string[] }[];
  /** Starts an experiment. Returns undefined if an earlier one of this kind is not over. */
  start(fault: z.output<typeof ChaosBody>, by: string): Experiment | undefined;
  /** Sets the orders that were submitted for an experiment. */
  submitted(id: string, orders: readonly string[]): Experiment | undefined;
  /** Ends the fault; undefined if there is no such experiment. */
  stop(id: string): Experiment | undefined;
}

/** The number of sample orders by the kind of experiment (default: 1). Only failures of several orders and clients show an outage. */
const ordersOf = { 'sicken-service': 3 } as { readonly [kind: string]: number };

const localOnly = refuse('not-found', {
  errors: [
    {
      pointer: '',
      code: 'local-only',
      detail: 'Only a system that "npm start" runs on one machine, with its own store and on a loopback address, has experiments.',
    },
  ],
});

/** Shows the latest experiments, and the agents, faults and samples that a new one may name. */
export function showChaos({ api: { chaos }, query }: Call<z.output<typeof ChaosQuery>>): Answer | Refusal {
  if (!chaos) return localOnly;
  const { agents, samples } = chaos;
  const { agent = agents[0] ?? '' } = query;
  if (query.agent !== undefined && !agents.includes(agent))
    return badParameter('/agent', 'unknown-agent', unknownDetail('agent', agent, agents));
  const experiments = chaos.list().map(experimentView);
  return json(200, { agents, faults: chaos.faultsFor(agent), samples: [...samples().keys()], experiments });
}

/** Injects a fault, and then submits the sample orders that meet it. */
export async function startExperiment(call: Call<unknown, unknown, z.output<typeof ChaosBody>>): Promise<Answer | Refusal> {
  const { api, caller, body, requestId } = call;
  const { chaos } = api;
  if (!chaos) return localOnly;
  const unknown = unknownIn(body, chaos);
  if (unknown) return unknown;
  const started = chaos.start(body, caller.subject);
  if (!started) return running(body.kind);
  api.telemetry.log('info', 'started experiment', { requestId, by: caller.subject, experiment: body.kind });
  const sample = body.sample === undefined ? undefined : chaos.samples().get(body.sample);
  const orders: string[] = [];
  for (let count = 1; sample && count <= (ordersOf[body.kind] ?? 1); count += 1) {
    const submitted = await api.submit(submissionOf(body, sample, count));
    if (submitted.outcome === 'accepted') orders.push(submitted.order.orderId);
  }
  return json(201, experimentView(chaos.submitted(started.id, orders) ?? started));
}

/** Ends the fault of an experiment. */
export function stopExperiment({ api: { chaos }, id }: Call): Answer | Refusal {
  if (!chaos) return localOnly;
  const stopped = chaos.stop(id);
  return stopped ? json(200, experimentView(stopped)) : refuse('not-found');
}

const submissionOf = ({ kind, sample = '' }: z.output<typeof ChaosBody>, { order, workflow }: Sample, count: number) => ({
  client: count === 1 ? 'samples' : `samples-${count}`,
  idempotencyKey: `${kind} ${randomUUID()}`,
  order,
  reference: sample,
  ...(workflow === undefined ? {} : { workflow }),
});

const running = (kind: string): Refusal =>
  refuse('conflict', {
    errors: [{ pointer: '/kind', code: 'is-running', detail: `An experiment ${kind} is not over. Wait for its end, or stop it.` }],
  });

/** Refuses an agent or a sample that the app does not have. */
function unknownIn(body: z.output<typeof ChaosBody>, { agents, samples }: Chaos): Refusal | undefined {
  const given = { agent: 'agent' in body ? body.agent : undefined, sample: body.sample };
  const known = { agent: agents, sample: [...samples().keys()] };
  for (const what of ['agent', 'sample'] as const) {
    const name = given[what];
    if (name === undefined || known[what].includes(name)) continue;
    return refuse('invalid', {
      errors: [{ pointer: `/${what}`, code: `unknown-${what}`, detail: unknownDetail(what, name, known[what]) }],
    });
  }
  return undefined;
}

const unknownDetail = (what: string, name: string, known: readonly string[]): string =>
  `The app has no ${what} "${name}". Name one of: ${known.join(', ') || 'none is declared'}.`;

const experimentView = ({ startedAt, endedAt, steps, ...rest }: Experiment) => ({
  ...rest,
  startedAt: timeText(startedAt),
  endedAt: timeOrNull(endedAt),
  steps: steps.map(({ at, ...step }) => ({ ...step, at: timeOrNull(at) })),
});
