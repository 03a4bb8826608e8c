import { randomBytes } from 'node:crypto';
import type { Chaos, ExpectedStep, Experiment } from '#api/chaos';
import { experimentKinds } from '#api/schemas/chaos';
import type { Clock } from '#ports/clock';
import type { Fault } from './fault.ts';
import { faults } from './faults.ts';

/** The largest number of experiments that a process remembers. */
const keptMax = 20;

export interface Experiments extends Pick<Chaos, 'list' | 'faultsFor' | 'start' | 'submitted' | 'stop'> {
  /** Returns the faults that act now. */
  readonly active: () => readonly Fault[];
}

/** Keeps the experiments of this process. They end with the process. */
export function createExperiments(clock: Clock, interrupt: () => void): Experiments {
  let known: readonly Experiment[] = [];
  const acting = new Map<string, Fault>();
  let active: readonly Fault[] = [];

  const find = (id: string): Experiment | undefined => known.find((each) => each.id === id);

  function change(id: string, by: (experiment: Experiment) => Partial<Experiment>): Experiment | undefined {
    known = known.map((each) => (each.id === id ? { ...each, ...by(each) } : each));
    const changed = find(id);
    if (changed?.endedAt !== null && acting.delete(id)) active = [...acting.values()];
    return changed;
  }

  function happened(id: string, step: number, { orderId, note }: { orderId?: string | undefined; note?: string } = {}): void {
    change(id, (experiment) => {
      const { steps, endedAt } = experiment;
      if (endedAt !== null || steps[step]?.at !== null) return {};
      const done: Partial<ExpectedStep> = { at: clock.now(), orderId: orderId ?? null, note: note ?? null };
      const now = steps.map((each, index) => (index === step ? { ...each, ...done } : each));
      const isOver = now.every(({ at }) => at !== null);
      return { steps: now, state: isOver ? 'passed' : 'running', endedAt: isOver ? clock.now() : null };
    });
  }

  return {
    active: () => active,
    list: () => known,
    faultsFor: (agent) =>
      experimentKinds.map((kind) => {
        const { create, seconds } = faults[kind];
        return { kind, seconds, steps: create({ agent, ms: seconds * 1000, clock, happened: () => {}, interrupt: () => {} }).steps };
      }),
    start(wanted, by) {
      const { kind } = wanted;
      if (known.some((each) => each.kind === kind && each.endedAt === null)) return undefined;
      const id = `exp_${randomBytes(6).toString('hex')}`;
      const agent = 'agent' in wanted ? wanted.agent : null;
      const seconds = ('seconds' in wanted ? wanted.seconds : undefined) ?? faults[kind].seconds;
      const fault = faults[kind].create({
        agent: agent ?? '',
        ms: seconds * 1000,
        clock,
        happened: (step, more) => happened(id, step, more),
        interrupt,
      });
      const steps = fault.steps.map((text) => ({ text, at: null, orderId: null, note: null }));
      const experiment = { id, kind, agent, state: 'waiting', startedAt: clock.now(), endedAt: null, by, orders: [], steps } as const;
      known = [experiment, ...known].slice(0, keptMax);
      acting.set(id, fault);
      active = [...acting.values()];
      return experiment;
    },
    submitted: (id, orders) => change(id, () => ({ orders })),
    stop: (id) => change(id, ({ endedAt, state }) => (endedAt === null ? { state: 'stopped', endedAt: clock.now() } : { state })),
  };
}
