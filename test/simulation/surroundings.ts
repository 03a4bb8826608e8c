import type { Observation } from '#testing/world/observation';
import type { Timeline } from '#testing/world/timeline';
import type { Faults } from './faults.ts';
import type { Chance } from './random.ts';

/** What every part of a world needs of it. */
export interface Surroundings {
  readonly timeline: Timeline;
  readonly chance: Chance;
  readonly faults: Faults;
  /** Laws are checked at once. */
  record(observation: Observation): void;
  /** A call of something outside was carried out, whether or not anybody hears of it. */
  carriedOut(site: string): void;
  /** A line of the story; put together only where somebody listens. */
  narrate(line: () => string): void;
}
