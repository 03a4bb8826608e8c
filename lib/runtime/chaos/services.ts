import type { AgentDefinition, AnyOperation } from '#authoring/agent';
import { TransientFailure } from '#authoring/fault';
import type { Breakers } from '#ports/circuit-breaker';
import type { Definitions } from '#ports/definitions';
import type { Fault } from './fault.ts';

/** Puts the active faults between the agents and their services. */
export const faultyServices = (definitions: Definitions, active: () => readonly Fault[]): Definitions => ({
  ...definitions,
  agents: definitions.agents.map((agent) => faultyAgent(agent, active)),
});

type Work = (...given: never[]) => unknown;

function faultyAgent({ name, operations }: AgentDefinition, active: () => readonly Fault[]): AgentDefinition {
  const faulty =
    (work: Work): Work =>
    async (...given) => {
      if (active().some((fault) => fault.failsCallOf?.(name)))
        throw new TransientFailure('An experiment lets every call of this service fail.', { nothingSent: true });
      return work(...given);
    };
  const wrapped = Object.entries(operations).map(([operation, each]): [string, AnyOperation] => [
    operation,
    {
      ...each,
      run: faulty((...given) => (each.run as Work)(...given)),
      ...(each.lookup ? { lookup: faulty((...given) => (each.lookup as Work)(...given)) } : {}),
    },
  ]);
  return { name, operations: Object.fromEntries(wrapped) };
}

/** Shows the active faults each write of a circuit breaker. */
export const watchedBreakers = ({ putBreaker }: Breakers, active: () => readonly Fault[]): Pick<Breakers, 'putBreaker'> => ({
  async putBreaker(breaker, loadedRev) {
    const written = await putBreaker(breaker, loadedRev);
    if (written.outcome === 'written') for (const fault of active()) fault.breakerWritten?.(breaker);
    return written;
  },
});
