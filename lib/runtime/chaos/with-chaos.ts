import type { SQSEvent } from 'aws-lambda';
import type { Sample } from '#api/chaos';
import { loadDefinitions } from '#roles/definitions/load';
import type { LoadFunction } from '#runtime/function';
import type { HostOptions } from '#runtime/host/host';
import { createExperiments } from './experiments.ts';
import type { Fault } from './fault.ts';
import { faultyQueues } from './queues.ts';
import { faultyServices, watchedBreakers } from './services.ts';

/**
 * Returns the options of a host with faults that a person may inject. They act between the roles and their ports, and around the function
 * of the scheduler, so no role knows of them. `samples` is called when a person asks for them: most starts do not need the files of the
 * samples.
 */
export function withChaos(options: HostOptions, samples: () => ReadonlyMap<string, Sample>): HostOptions {
  const { app, ports, load, definitions = loadDefinitions(app) } = options;
  const experiments = createExperiments(ports.clock, () => queues.interrupt());
  const { active } = experiments;
  const queues = faultyQueues(ports.queues, active, ports.clock);
  const store = { ...ports.store, ...watchedBreakers(ports.store, active) };
  const agents = definitions.agents.map(({ name }) => name).toSorted();
  return {
    ...options,
    ports: { ...ports, queues, store, chaos: { ...experiments, agents, samples } },
    load: killableScheduler(load, active),
    definitions: faultyServices(definitions, active),
  };
}

/** Loads the functions, with a scheduler that an experiment may kill. */
const killableScheduler =
  (load: LoadFunction, active: () => readonly Fault[]): LoadFunction =>
  async (file) => {
    const loaded = await load(file);
    if (file !== 'scheduler') return loaded;
    return {
      create(context) {
        const create = () => loaded.create(context) as (event: SQSEvent, invocation: unknown) => unknown;
        let handle = create();
        return async (event: SQSEvent, invocation: unknown) => {
          if (active().some((fault) => fault.restarts?.())) handle = create();
          const handled = await handle(event, invocation);
          // The queue gets no answer, so it delivers the messages of this run again.
          if (active().some((fault) => fault.kills?.())) throw new Error('An experiment has killed the scheduler after this run.');
          return handled;
        };
      },
    };
  };
