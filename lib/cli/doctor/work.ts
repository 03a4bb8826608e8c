import { type ChannelView, deadLettersText } from '#cli/channels';
import { listed } from '#cli/orders';
import type { TaskView } from '#cli/tasks';
import { spanText } from '#cli/text';
import { type Examine, type Finding, ok, warning } from './finding.ts';

/** A message that waits longer than this shows that nothing consumes its queue, if the channel is open and its service is available. */
const waitingMsMax = 5 * 60_000;

/** Closed channels, services that are away, dead letters, and messages that nobody takes. */
export const channels: Examine = async (cli) => {
  const found = await listed<ChannelView>(await cli.api('viewer'), '/channels');
  const findings = found.flatMap(findingsOf);
  const names = found.map(({ name }) => name).join(', ');
  return findings.length > 0 ? findings : [ok('channels', `${names}: open, without dead letters.`)];
};

function findingsOf(channel: ChannelView): readonly Finding[] {
  const { name, open, since, by, reason, deadLetters, breaker, requests } = channel;
  const what = `channel ${name}`;
  const closed = `Closed${since === undefined ? '' : ` since ${since}`}${by === undefined ? '' : ` by ${by}`}${reason === undefined ? '' : `: ${reason}`}`;
  const isAway = breaker !== undefined && breaker.phase !== 'closed';
  return [
    ...(open ? [] : [warning(what, `${closed.replace(/\.$/, '')}.`, `redress channel open ${name}`)]),
    ...(isAway ? [awayFinding(name, breaker)] : []),
    ...(deadLetters > 0
      ? [warning(what, `${deadLettersText(channel)} dead letter${deadLetters === 1 ? '' : 's'}.`, `redress dead-letter list ${name}`)]
      : []),
    ...(open && !isAway && requests.oldestAgeMs > waitingMsMax && requests.visible > 0
      ? [warning(what, `A message has waited for ${spanText(requests.oldestAgeMs)}.`, 'Look at the log of the function that consumes it.')]
      : []),
  ];
}

function awayFinding(name: string, { phase, awaySince, failedProbes = 0, nextProbeAt }: NonNullable<ChannelView['breaker']>): Finding {
  if (phase !== 'open')
    return warning(`service ${name}`, 'It recovers: few requests go to it.', 'Wait. The agent raises the number of requests by itself.');
  const away = `Away${awaySince === undefined ? '' : ` since ${awaySince}`}, ${failedProbes} failed probes.`;
  const probe = nextProbeAt === undefined ? '' : ` The next probe is at ${nextProbeAt}.`;
  return warning(`service ${name}`, away, `Look at the service and its address. Its orders go on by themselves once it answers.${probe}`);
}

const countedMax = 100;

/** Tasks whose time is over. */
export const tasks: Examine = async (cli) => {
  const overdue = await listed<TaskView>(await cli.api('viewer'), '/tasks', { overdue: 'true' }, countedMax);
  const count = overdue.length === countedMax ? `${countedMax} or more` : String(overdue.length);
  return [overdue.length === 0 ? ok('tasks', 'None is overdue.') : warning('tasks', `${count} overdue.`, 'redress task list --overdue')];
};
