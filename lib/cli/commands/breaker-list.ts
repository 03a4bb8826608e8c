import type { ChannelView } from '../channels.ts';
import type { CliCommand } from '../command.ts';
import { listed } from '../orders.ts';
import { table } from '../text.ts';

/** Lists the agents, and whether the services behind them are away. */
export const breakerList: CliCommand = {
  name: 'breaker list',
  summary: 'lists the agents, and whether the services behind them are away',

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
