import { startDynamoDbLocal } from '../../support/emulators.ts';
import type { OpenPlace } from '../place.ts';
import { startAwsServers } from './aws.ts';
import { openEmbeddedPlace } from './embedded.ts';
import { openSimulatedPlace } from './simulation.ts';

interface Opened {
  readonly open: OpenPlace;
  stop(): Promise<unknown>;
}

const nothing = async (): Promise<void> => undefined;

/** All places for scenarios. `dynamodb-local` comes from Maven and runs on Java. */
export const places = {
  simulation: async (): Promise<Opened> => ({ open: openSimulatedPlace, stop: nothing }),
  embedded: async (): Promise<Opened> => ({ open: openEmbeddedPlace(), stop: nothing }),
  aws: (): Promise<Opened> => startAwsServers(),
  'dynamodb-local': (): Promise<Opened> => startAwsServers(startDynamoDbLocal),
};
export type PlaceName = keyof typeof places;
