import { definitionPath } from '#core/data/ids';
import type { Json, JsonObject } from '#core/data/json';
import { wilsonLowerBound } from '#core/solutions/rank';

/** An exception that an instruction of a person has resolved, and whether that helped. */
export interface Resolved {
  readonly orderId: string;
  readonly instruction: JsonObject;
  readonly verified: 'passed' | 'failed-again' | 'failed-otherwise';
  /** Milliseconds between the exception and the instruction. */
  readonly waitedMs: number;
}

/** One way in which people have resolved alike exceptions, with its verified uses. */
export interface Way {
  readonly instruction: JsonObject & { readonly kind: string };
  readonly used: number;
  readonly passed: number;
  readonly failedAgain: number;
  readonly failedOtherwise: number;
  readonly uses: readonly Resolved[];
}

/** The fewest verified uses of a way, and the lowest share of them that passed, from which a proposal is drawn (F-161). */
export const proposalLimits = { usesMin: 5, shareMin: 0.8 } as const;

/** Whether enough uses have passed for a proposal. A use counts only after it has a verdict. */
export const isTrusted = ({ used, passed }: Pick<Way, 'used' | 'passed'>): boolean =>
  used >= proposalLimits.usesMin && passed / used >= proposalLimits.shareMin;

/**
 * Groups resolutions by what the instruction did. The way that passed most often comes first: an instruction such as `cancel` nearly always
 * passes, so its share alone would outrank what most people do.
 */
export function waysOf(resolved: readonly Resolved[]): readonly Way[] {
  const alike = Map.groupBy(resolved, ({ instruction }) => JSON.stringify(shapeOf(instruction)));
  return [...alike.values()]
    .map(wayOf)
    .toSorted(
      (one, other) =>
        other.passed - one.passed ||
        wilsonLowerBound(other.passed, other.used) - wilsonLowerBound(one.passed, one.used) ||
        (one.instruction.kind < other.instruction.kind ? -1 : 1),
    );
}

function wayOf(uses: readonly Resolved[]): Way {
  const count = (verified: Resolved['verified']): number => uses.filter((use) => use.verified === verified).length;
  const instruction = shapeOf((uses[0] as Resolved).instruction);
  const [passed, failedAgain, failedOtherwise] = [count('passed'), count('failed-again'), count('failed-otherwise')];
  return { instruction, used: uses.length, passed, failedAgain, failedOtherwise, uses };
}

/** Fields that say how an instruction was given, not what it did. */
const besides: ReadonlySet<string> = new Set(['by', 'reason', 'dryRun', 'completeWithinSeconds']);

/** Returns what an instruction does to any order: with its values, because two outputs are two ways, and with paths without turns of loops. */
function shapeOf({ kind, ...fields }: JsonObject): Way['instruction'] {
  const kept = Object.entries(fields)
    .filter(([field, value]) => !besides.has(field) && value !== undefined)
    .map(([field, value]): readonly [string, Json] => [
      field,
      field === 'path' && typeof value === 'string' ? definitionPath(value) : (value as Json),
    ])
    .toSorted(([one], [other]) => (one < other ? -1 : 1));
  return { kind: String(kind), ...Object.fromEntries(kept) };
}
