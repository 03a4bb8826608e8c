import { openEmbedded } from '#adapters/sqlite/open';
import { manualClock } from '#ports/clock';
import { sitesOf } from '#testing/world/instrumented-ports';

/** Methods without a crash here, each with the reason. */
export const leftOut: { readonly [site: string]: string } = {
  'store.list': 'only the API and bulk runs read it: bulk.test.ts',
  'store.pages': 'only the API reads it, and who rebuilds a damaged order: test/roles/rebuilding.test.ts',
  'store.orderWithoutState': 'only messages for orders that have no state need it: test/roles/missing-states.test.ts',
  'store.putMissingState': 'only an order that has lost its state needs it: test/roles/missing-states.test.ts',
  'store.putBreaker': 'a service is away when it fails more than one order, and here there is one: the simulation has several',
  'store.countDocuments': 'only the API reads it',
  'store.tallies': 'only the API and the overview read it',
  'store.countUnfinished': 'only the overview reads it',
  'store.countListed': 'only the overview reads it',
  'store.countFinished': 'only the overview reads it',
  'store.unfinished': 'only the API reads it',
  'store.eraseSecrets': 'an admin asks for it, and tries again',
  'store.clients': 'only the API reads it',
  'store.clientOfApp': 'only the API reads it',
  'store.putClient': 'an admin writes it, and tries again',
  'queues.sendWithin': 'part of a write of the store, in its own transaction',
  'publisher.publishWithin': 'part of a write of the store, in its own transaction',
  'publisher.published': 'only the local subscription reads it',
};

/** Objects that methods return have methods as well. */
const within = ['store.recordIntent.withdraw'];

/** Returns every method of the implemented ports: a workflow must reach a new one, or `leftOut` must give a reason. */
export async function sitesOfPorts(): Promise<readonly string[]> {
  const { store, queues, publisher, database } = openEmbedded(':memory:', { clock: manualClock() });
  await database.close();
  return [...within, ...sitesOf('store', store), ...sitesOf('queues', queues), ...sitesOf('publisher', publisher)];
}

/** Returns the methods that are neither reached nor left out, and the wrong entries of `leftOut`. */
export async function unreached(reached: ReadonlySet<string>): Promise<readonly string[]> {
  const sites = await sitesOfPorts();
  return [
    ...sites.filter((site) => !reached.has(site) && leftOut[site] === undefined).map((site) => `${site} is never reached`),
    ...Object.keys(leftOut).flatMap((site) =>
      !sites.includes(site)
        ? [`${site} is left out, and there is no such method`]
        : reached.has(site)
          ? [`${site} is left out, and is reached`]
          : [],
    ),
  ];
}
