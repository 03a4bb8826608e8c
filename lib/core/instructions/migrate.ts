import { firstOf, type InstructionKind, type InstructionRefusal, type Judged, refusal, whenFinished, whenUndone } from './kind.ts';

/**
 * Moves an order to another version of its workflow. The order stays at the same activity, nothing is started, and the version holds from
 * the next write on. The role that applies this has checked that the journal of the order fits that version. Source: requirements.md F-156.
 */
export interface Migrate {
  readonly kind: 'migrate';
  readonly version: number;
}

export const migrate: InstructionKind<Migrate> = {
  refusals: (order, instruction) =>
    firstOf(
      () => whenFinished(order),
      () => whenUndone(order),
      () => ofVersion(order, instruction),
    ),
  staysStopped: () => true,
};

function ofVersion({ program, programs }: Judged, { version }: Migrate): readonly InstructionRefusal[] {
  const { name, version: present } = program.definition;
  const about = { pointer: '/version' };
  if (version === present) return [refusal('nothing-to-do', `The order has version ${version} of ${name} already.`, about)];
  if (programs(name, version)) return [];
  return [refusal('version-differs', `The app has no version ${version} of ${name}. The order stays with version ${present}.`, about)];
}
