import { type Json, utf8Bytes } from '#core/data/json';
import type { ActivityState } from '#core/data/state';

/**
 * The stored form of a step that waits for its reply. `since` is the time of the request, and `forMs` the time from then to its deadline.
 * A wide loop consists mostly of such steps, and DynamoDB bills their bytes at each write.
 */
type Short = readonly [generation: number, attempt: number, epoch: number, since: number, forMs: number, mode?: 'cancel'];
type Stored = { readonly [path: string]: ActivityState | Short };
type Activities = { readonly [path: string]: ActivityState };

export const shortened = (activities: Activities): Stored => mapped(activities, (activity) => shortOf(activity) ?? activity);

export const lengthened = (stored: Stored): Activities => mapped(stored, (activity) => (isShort(activity) ? longOf(activity) : activity));

/** Returns the bytes that short forms save. Size limits ignore this saving, because all steps may need their long form. */
export const savedBytes = (activities: Activities): number =>
  utf8Bytes(activities as unknown as Json) - utf8Bytes(shortened(activities) as unknown as Json);

function mapped<From, To>(values: { readonly [path: string]: From }, how: (value: From) => To): { readonly [path: string]: To } {
  return Object.fromEntries(Object.entries(values).map(([path, value]) => [path, how(value)]));
}

const isShort = (activity: ActivityState | Short): activity is Short => Array.isArray(activity);

const longOf = ([generation, attempt, epoch, since, forMs, mode]: Short): ActivityState => ({
  status: mode === undefined ? 'Executing' : 'Canceling',
  local: { generation, attempt, epoch, since, phase: 'requested', completeBy: since + forMs, ...(mode === undefined ? {} : { mode }) },
});

const fields = ['generation', 'attempt', 'epoch', 'since', 'completeBy'] as const;

/** Returns the short form of a step; undefined if the step has any other field. */
function shortOf({ status, local, ...others }: ActivityState): Short | undefined {
  if (Object.keys(others).length > 0 || typeof local !== 'object' || local === null) return undefined;
  const { phase, mode, ...numbers } = local as { readonly [field: string]: unknown };
  const isExecuting = status === 'Executing' && mode === undefined;
  const isCanceling = status === 'Canceling' && mode === 'cancel';
  if (!(isExecuting || isCanceling) || phase !== 'requested' || Object.keys(numbers).length !== fields.length) return undefined;
  const [generation, attempt, epoch, since, completeBy] = fields.map((field) => numbers[field]);
  if (!isNumber(generation) || !isNumber(attempt) || !isNumber(epoch) || !isNumber(since) || !isNumber(completeBy)) return undefined;
  const forMs = completeBy - since;
  return isCanceling ? [generation, attempt, epoch, since, forMs, 'cancel'] : [generation, attempt, epoch, since, forMs];
}

const isNumber = (value: unknown): value is number => Number.isSafeInteger(value);
