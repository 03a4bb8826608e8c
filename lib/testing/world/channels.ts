import { collections, type Document } from '#ports/documents';
import { channelOf } from '#roles/channels/policy';
import { type ChannelState, isShut } from '#roles/channels/state';
import type { Timeline } from './timeline.ts';

/** The channels that are closed now, by their stored records. */
export class Channels {
  private readonly states = new Map<string, ChannelState>();
  private readonly timeline: Timeline;

  constructor(timeline: Timeline) {
    this.timeline = timeline;
  }

  stored({ collection, content }: Document): void {
    // The document that records forgotten orders has no content.
    const state = content as unknown as ChannelState | undefined;
    if (state && collection === collections.channel(state.channel)) this.states.set(state.channel, state);
  }

  /** Whether no function receives from the queue. */
  isShut(queue: string): boolean {
    return isShut(this.states.get(channelOf(queue)), queue, this.timeline.now);
  }

  /** Returns the time for which an agent's channel has been closed; undefined if it is open. */
  closedForMs(agent: string | undefined): number | undefined {
    const state = agent === undefined ? undefined : this.states.get(agent);
    return state?.state === 'closed' ? this.timeline.now - state.at : undefined;
  }
}
