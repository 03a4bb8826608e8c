import { difference } from './compare.ts';
import { startAwsServers } from './places/aws.ts';
import { openEmbeddedPlace } from './places/embedded.ts';
import { openSimulatedPlace } from './places/simulation.ts';
import { play } from './play.ts';
import { scenarios } from './scenarios/index.ts';

const only = process.argv[2];
const aws = process.argv.includes('aws') ? await startAwsServers() : undefined;
for (const each of scenarios) {
  if (only && only !== 'all' && !each.title.includes(only)) continue;
  const times = [];
  const timed = async (work) => { const started = performance.now(); const r = await work(); times.push(Math.round(performance.now() - started)); return r; };
  const embedded = await timed(() => play(each, openEmbeddedPlace()));
  const missing = each.shows.filter((w) => !embedded.some((l) => l.includes(w)));
  if (process.argv.includes('show') || missing.length) console.log(embedded.join('\n'));
  const sim = await timed(() => play(each, openSimulatedPlace));
  console.log(difference(['embedded', embedded], ['sim', sim]) ?? 'same');
  if (aws) console.log(difference(['embedded', embedded], ['aws', await timed(() => play(each, aws.open))]) ?? 'same');
  console.log(`# ${each.title} ${times} ms ${missing.length ? 'MISSING ' + missing : ''}`);
}
await aws?.stop();
process.exit(0);
