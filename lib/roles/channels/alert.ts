import type { Documents } from '#ports/documents';
import type { Publisher } from '#ports/event-bus';
import { timeText } from '#ports/messages';
import { type ChannelState, changeChannelState, withoutUnannounced } from './state.ts';

export interface ChannelAlertPorts {
  readonly documents: Pick<Documents, 'document' | 'putDocument'>;
  readonly publisher: Publisher;
}

/** Tells people of a closing, then notes that they were told: whoever repeats it, since that note is missing, gives it the same id. */
export async function announceClosing(state: ChannelState, { documents, publisher }: ChannelAlertPorts): Promise<void> {
  const { channel, rev, at, reason, failuresInRow, queues } = state;
  const detail = {
    id: `channel/${channel}/${rev}`,
    at: timeText(at),
    class: 'basic-failure',
    type: 'ChannelClosed',
    source: queues.join(' '),
    before: 'open',
    after: 'closed',
    failureCount: failuresInRow,
    message: `The channel ${channel} is closed: ${reason}. What needs it waits until an operator opens it.`,
  };
  const refused = await publisher.publish([{ id: detail.id, detailType: 'Channel Closed', detail }]);
  if (refused.failed.length > 0) throw new Error('The announcement was not taken.');
  await changeChannelState(channel, documents, (before) => withoutUnannounced(before, rev));
}
