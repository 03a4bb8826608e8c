import type { QueueDepth } from '#ports/queues';

/** A channel as the API shows it: what this command line reads of it. */
export interface ChannelView {
  readonly name: string;
  readonly open: boolean;
  readonly failuresInRow: number;
  readonly since?: string;
  readonly by?: string;
  readonly reason?: string;
  readonly letsGo?: boolean;
  readonly requests: QueueDepth;
  readonly replies?: QueueDepth;
  readonly breaker?: {
    readonly phase: string;
    readonly awaySince?: string;
    readonly failedProbes?: number;
    readonly nextProbeAt?: string;
    readonly backSince?: string;
  };
}

export const channelPath = (name: string): string => `/channels/${encodeURIComponent(name)}`;

export const channelText = ({ open, letsGo }: ChannelView): string => (open ? (letsGo ? 'open, lets go what waited' : 'open') : 'closed');
