import type { CliCommand } from '../command.ts';
import { listed } from '../orders.ts';
import { table } from '../text.ts';

interface ChannelView {
  readonly name: string;
  readonly breaker: {
    readonly phase: string;
    readonly awaySince?: string;
    readonly failedProbes?: number;
    readonly nextProbeAt?: string;
    readonly backSince?: string;
  };
}

/** Lists the agents, and whether the services behind them are away. */
export const breakerList: CliCommand = {
  name: 'breaker list',
  summary: 'lists the agents, and whether the services behind them are away',

  async run(cli) {
    const channels = await listed<ChannelView>(await cli.api('operator'), '/channels');
    const items = channels.map(({ name, breaker }) => ({ agent: name, ...breaker }));
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
