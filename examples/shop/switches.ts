import * as z from 'zod';
import { type ServiceName, serviceNames } from './services.ts';

const Rate = z.number().min(0).max(1);

/** The failures of a service. */
const Switch = z.strictObject({
  latencyMs: z.int().min(0).max(600_000).default(0),
  /** Share of the calls that fail without an effect. */
  failRate: Rate.default(0),
  /** Share of the calls that have their effect and fail nevertheless. */
  failAfterEffectRate: Rate.default(0),
  failStatus: z.int().min(400).max(599).default(500),
  /** Whether calls get no answer. They have no effect either, unless `failAfterEffectRate` says so. */
  silent: z.boolean().default(false),
  /** The number of calls after which the service works again; undefined for all calls. */
  times: z.int().min(1).optional(),
});

/** Body of PUT /switches. Without a service it applies to all of them. */
export const Change = Switch.extend({ service: z.enum(serviceNames).optional() });

export type Switch = z.output<typeof Switch>;

/** The result that the switches choose for one call. */
export interface Fate {
  readonly latencyMs: number;
  readonly takesEffect: boolean;
  readonly answer: 'asUsual' | 'failure' | 'never';
  readonly failStatus: number;
}

/** Creates the switches. They belong to the process, not to the ledger, so a restart resets them. */
export function createSwitches(random: () => number = Math.random) {
  const off = Switch.parse({});
  const switches = Object.fromEntries(serviceNames.map((name) => [name, off])) as Record<ServiceName, Switch>;

  return {
    list: (): Readonly<Record<ServiceName, Switch>> => switches,
    set({ service, ...setting }: z.output<typeof Change>): void {
      for (const name of service ? [service] : serviceNames) switches[name] = setting;
    },
    reset(): void {
      for (const name of serviceNames) switches[name] = off;
    },
    fateOf(service: ServiceName): Fate {
      const { latencyMs, failRate, failAfterEffectRate, failStatus, silent, times } = switches[service];
      if (times !== undefined) switches[service] = times === 1 ? off : { ...switches[service], times: times - 1 };

      const failsAfterEffect = random() < failAfterEffectRate;
      const fails = failsAfterEffect || random() < failRate;
      return {
        latencyMs,
        takesEffect: failsAfterEffect || (!fails && !silent),
        answer: silent ? 'never' : fails ? 'failure' : 'asUsual',
        failStatus,
      };
    },
  };
}

export type Switches = ReturnType<typeof createSwitches>;
