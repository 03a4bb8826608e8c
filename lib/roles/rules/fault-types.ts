import { engineFaults, shortType } from '#core/data/fault';
import type { Definitions } from '#ports/definitions';

/** Returns the full types of a fault by the last part: `CardDeclined` may be a `Refused/CardDeclined`. */
export function fullTypes({ agents }: Pick<Definitions, 'agents'>): (type: string) => readonly string[] {
  const declared = agents.flatMap(({ operations }) =>
    Object.values(operations).flatMap(({ faults = [] }) => faults.map(({ path }) => path)),
  );
  const known = Map.groupBy(new Set([...Object.values(engineFaults), ...declared]), shortType);
  return (type) => known.get(type) ?? [type];
}
