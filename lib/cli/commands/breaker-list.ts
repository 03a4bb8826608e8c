import type { ChannelView } from '#cli/channels';
import type { CliCommand } from '#cli/command';
import { listed } from '#cli/orders';
import { table } from '#cli/text';

/** Lists the circuit breaker of each agent. */
export const breakerList: CliCommand = {
  name: 'breaker list',
  summary: 'List the circuit breakers of all agents',

  async run(cli) {
    const channels = await listed<ChannelView>(await cli.api('operator'), '/channels');
    const items = channels.flatMap(({ name, breaker }) => (breaker ? [{ agent: name, ...breaker }] : []));
    const rows = items.map(({ agent, phase, awaySince = '', failedProbes = 0, nextProbeAt = '', backSince = '' }) => [
      agent,
      phase,
      awaySince,
      String(failedProbes),
      nextProbeAt,
      backSince,
    ]);
    cli.print({ items }, () => table(['agent', 'breaker', 'away since', 'failed probes', 'next probe', 'back since'], rows, cli.paint));
  },
};
