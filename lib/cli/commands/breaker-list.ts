import type { ChannelView } from '#cli/channels';
import type { CliCommand } from '#cli/command';
import { listed } from '#cli/orders';
import { table } from '#cli/text';

/** States of a service. The words open and closed are for channels, where they mean the opposite of an open and a closed breaker. */
const states: { readonly [phase: string]: string } = { closed: 'available', open: 'away', 'half-open': 'recovering' };

/** Lists the circuit breaker of each agent and each consumer. */
export const breakerList: CliCommand = {
  name: 'breaker list',
  summary: 'List the circuit breakers of all agents',

  async run(cli) {
    const channels = await listed<ChannelView>(await cli.api('operator'), '/channels');
    const items = channels.flatMap(({ name, breaker }) => (breaker ? [{ agent: name, ...breaker }] : []));
    const rows = items.map(({ agent, phase, awaySince = '', failedProbes = 0, nextProbeAt = '', backSince = '' }) => [
      agent,
      states[phase] ?? phase,
      awaySince,
      String(failedProbes),
      nextProbeAt,
      backSince,
    ]);
    cli.print({ items }, () => table(['agent', 'service', 'away since', 'failed probes', 'next probe', 'back since'], rows, cli.paint));
  },
};
