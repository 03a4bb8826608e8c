import type { CoreFact } from '#core/data/journal';
import type { Run } from './run.ts';

/** Prints all facts of an event, one line each: times count from the event, and a fault shows its type and source. */
export function after(run: Run, happen: () => unknown): readonly string[] {
  happen();
  const turn = run.turns.at(-1);
  return turn?.facts.map((fact) => lineOf(fact, turn.at)) ?? [];
}

function lineOf(fact: CoreFact, now: number): string {
  const { type, path, ...more } = { path: undefined, ...fact };
  const words = Object.entries(more).map(([name, value]) => {
    if (name === 'completeBy') return `by +${(Number(value) - now) / 1000}s`;
    if (name === 'fault') return value.source ? `${value.type} of ${value.source}` : value.type;
    return typeof value === 'string' ? value : `${name} ${JSON.stringify(value)}`;
  });
  return [type, path, ...words].filter((word) => word !== undefined).join(' ');
}
