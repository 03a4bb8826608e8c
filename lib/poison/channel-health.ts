/**
 * Told of what becomes of messages, one way or the other: enough failures in a row close a channel. Only failures of handling
 * what a message says count; not a message that nobody can read, nor an outage, nor a lost race.
 */
export interface ChannelHealth {
  failed(channel: string): Promise<void>;
  succeeded(channel: string): Promise<void>;
}

/** Closes nothing. */
export const neverCloses: ChannelHealth = { failed: async () => {}, succeeded: async () => {} };
