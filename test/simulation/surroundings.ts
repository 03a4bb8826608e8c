import type { Observation } from '#testing/world/observation';
import type { Timeline } from '#testing/world/timeline';
import type { Faults } from './faults.ts';
import type { Chance } from './random.ts';

/** The interface of a world that all its parts use. */
export interface Surroundings {
  readonly timeline: Timeline;
  readonly chance: Chance;
  readonly faults: Faults;
  /** Records an observation; the laws check it at once. */
  record(observation: Observation): void;
  /** Records that a call took effect, whether or not its answer arrives. */
  carriedOut(site: string): void;
  /** Adds a line to the story; it is built only if somebody listens. */
  narrate(line: () => string): void;
}
