import type { QueueDepth } from '#ports/queues';

/** A channel in the API's response, with the fields that the command line reads. */
export interface ChannelView {
  readonly name: string;
  readonly open: boolean;
  readonly failuresInRow: number;
  /** The time at which the channel was last opened or closed, by whom and why. */
  readonly since?: string;
  readonly by?: string;
  readonly reason?: string;
  /** Whether the channel is open, and some of its waiting messages are not released yet. */
  readonly releasing?: boolean;
  readonly deadLetters: number;
  readonly moreDeadLetters?: true;
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

/** Formats the number of dead letters: `100+` if there are more than the API counts. */
export const deadLettersText = ({ deadLetters, moreDeadLetters }: ChannelView): string => `${deadLetters}${moreDeadLetters ? '+' : ''}`;

export const channelPath = (name: string): string => `/channels/${encodeURIComponent(name)}`;

export const channelText = ({ open, releasing }: ChannelView): string =>
  open ? (releasing ? 'open, releasing messages' : 'open') : 'closed';
