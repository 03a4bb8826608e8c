import { type PlaceName, places } from './places/index.ts';
import { play } from './play.ts';
import { scenarios } from './scenarios/index.ts';

/** One scenario at one place. */
export interface Job {
  readonly index: number;
  readonly place: PlaceName;
}
export type Done = Job & ({ readonly lines: readonly string[] } | { readonly trouble: string });

/** A process that plays the scenarios it receives, one after the other, until its parent disconnects. */
const opened = new Map<PlaceName, ReturnType<(typeof places)[PlaceName]>>();

async function played({ index, place }: Job): Promise<Done> {
  const scenario = scenarios[index];
  if (!scenario) return { index, place, trouble: `There is no scenario ${index}.` };
  try {
    const at = opened.get(place) ?? places[place]();
    opened.set(place, at);
    return { index, place, lines: await play(scenario, (await at).open) };
  } catch (error) {
    return { index, place, trouble: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}

process.on('message', (job: Job) => void played(job).then((done) => process.send?.(done)));
process.on('disconnect', async () => {
  for (const place of opened.values()) await (await place).stop();
  process.exit(0);
});
