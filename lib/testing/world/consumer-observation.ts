import type { ChannelState } from '#roles/channels/state';

/** An observation of a consumer: of its messages, its handlers, its failure counts and its channel. */
export type ConsumerObservation =
  /** A program is about to send a message. `isGood`: it can be handled. `isShortLived`: its consumer may drop it if it fails. */
  | {
      readonly type: 'entrusted';
      readonly queue: string;
      readonly body: string;
      readonly isGood: boolean;
      readonly isShortLived: boolean;
    }
  /** A handler began, or came to an end. `failed`: because of the content of the message. `killed`: the message ends the process. */
  | {
      readonly type: 'handler';
      readonly queue: string;
      readonly messageId: string;
      readonly batch: string;
      readonly step: 'began' | 'handled' | 'failed' | 'outage' | 'killed';
    }
  /** A call of a port failed for the function that handles this batch. */
  | { readonly type: 'call failed'; readonly batch: string; readonly site: string }
  /** A message was dropped. */
  | { readonly type: 'dropped'; readonly messageId: string }
  /** A dropped message was counted. */
  | { readonly type: 'drop counted' }
  /** The failure count of a conversation was written; 0 if it was removed. */
  | { readonly type: 'failures counted'; readonly channel: string; readonly conversation: string; readonly failures: number }
  /** The channel of a consumer was opened or closed, or its state was written again. */
  | ({ readonly type: 'consumer turned'; readonly isCanary: boolean } & Pick<ChannelState, 'channel' | 'state' | 'at' | 'reason'>);
