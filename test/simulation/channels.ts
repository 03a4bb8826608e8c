import { agentOfRequests } from '#ports/messages';
import { closeChannel, openChannel } from '#roles/channels/operate';
import { channelOf } from '#roles/channels/policy';
import type { Clients, Reach } from './clients.ts';
import { sources } from './host.ts';
import { type Chance, chanceOf } from './random.ts';

/** The share of worlds in which an operator closes channels, at most `closingsMax` times. */
const worldsWith = 0.3;
const closingsMax = 3;
const firstMaxMs = 200_000;
const lastsMs = [20_000, 900_000] as const;
/** The interval at which the operator checks whether to open the channel. */
const looksEveryMs = 5_000;
/** The longest delay of an unanswered call: a host may pause for two minutes first. */
const strayMaxMs = 200_000;

/** Plans operators who close channels and open them again; all channels are opened once faults are over. */
export function operate(reach: Reach, clients: Clients, seed: number): void {
  // A separate random sequence: closed channels must not change the other events of a world.
  const chance = chanceOf(seed + 1_000_003);
  if (!chance.happens(worldsWith)) return;
  for (let number = chance.between(1, closingsMax); number > 0; number--) plan(reach, clients, chance, number);
}

function plan(reach: Reach, clients: Clients, chance: Chance, number: number): void {
  const { shared, around } = reach;
  const { timeline, faults } = around;
  const queue = chance.pick([...sources.keys()].filter((name) => agentOfRequests(name) !== undefined));
  const channel = channelOf(queue);
  const [closesAfterMs, staysMs, canary] = [chance.between(0, firstMaxMs), chance.between(...lastsMs), chance.happens(0.3)];
  const change = (reason: string) => ({ by: 'operator', reason, now: timeline.now });
  const open = () =>
    clients.persist('operator', `open ${channel} ${number}`, async ({ system: { store } }) => {
      const { outcome } = await openChannel(channel, { ...change('it is well'), canary }, store);
      around.narrate(() => `${channel} is opened: ${outcome}`);
      around.carriedOut(`emitted agent opened${canary ? ' with a canary' : ''}: ${outcome}`);
      return true;
    });
  // An unanswered call to close may be carried out much later, so the operator checks repeatedly.
  const look = (opensAt: number, until: number): void => {
    if ((faults.over || timeline.now >= opensAt) && shared.channels.closedForMs(channel) !== undefined) open();
    const last = faults.over ? Math.min(until, timeline.now + strayMaxMs) : Number.POSITIVE_INFINITY;
    if (timeline.now < last) timeline.after(looksEveryMs, `an operator looks at ${channel}`, () => look(opensAt, last));
  };
  timeline.after(closesAfterMs, `an operator closes ${channel}`, () => {
    if (faults.over) return;
    clients.persist('operator', `close ${channel} ${number}`, async ({ system: { store } }) => {
      const { outcome } = await closeChannel(channel, queue, change('it is ill'), store);
      around.narrate(() => `${channel} is closed: ${outcome}`);
      return true;
    });
    look(timeline.now + staysMs, Number.POSITIVE_INFINITY);
  });
}
