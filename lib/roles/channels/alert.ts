import type { Documents } from '#ports/documents';
import type { Publisher } from '#ports/event-bus';
import { alertOf, publishAlert } from '#ports/util/alert';
import { type ChannelState, changeChannelState, withoutUnannounced } from './state.ts';

export interface ChannelAlertPorts {
  readonly documents: Pick<Documents, 'document' | 'putDocument'>;
  readonly publisher: Publisher;
}

/**
 * Announces that a channel was closed, then records the announcement. If a crash prevents the record, the channel is announced again under
 * the same id.
 */
export async function announceClosing(state: ChannelState, { documents, publisher }: ChannelAlertPorts): Promise<void> {
  const { channel, rev, at, reason, failuresInRow, queues } = state;
  const alert = alertOf('Channel Closed', {
    id: `channel/${channel}/${rev}`,
    at,
    type: 'ChannelClosed',
    source: queues.join(' '),
    before: 'open',
    after: 'closed',
    failureCount: failuresInRow,
    message: `Channel ${channel} was closed: ${reason}. Steps that need it wait. Correct the cause, then open the channel.`,
  });
  await publishAlert(publisher, alert);
  await changeChannelState(channel, documents, (before) => withoutUnannounced(before, rev));
}
