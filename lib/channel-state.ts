import type { JsonObject } from './core/json.ts';
import { collections, type Document, type Documents } from './documents.ts';

/**
 * Whether a channel is open. Where nothing stands in the store, it is. Times are milliseconds since 1970. The record is what
 * counts; what feeds the functions follows it (`Valves`).
 */
export interface ChannelState {
  readonly channel: string;
  /** Rises by one at every write, from 1: its fence. */
  readonly rev: number;
  readonly state: 'open' | 'closed';
  /** When that became so, by whom (`engine` or an operator's subject), and why. */
  readonly at: number;
  readonly by: string;
  readonly reason: string;
  /** Since when it had been closed, as long as what waited is still being let go. */
  readonly closedAt: number | null;
  /** Failures in a row, of whatever conversations, with no success since that whoever failed knows of. */
  readonly failuresInRow: number;
  /** False until what feeds the functions has been told. */
  readonly settled: boolean;
}

/** Opens and shuts what feeds the functions from a channel's queues; the same again changes nothing. */
export interface Valves {
  set(queues: readonly string[], state: ChannelState['state']): Promise<void>;
}

const id = 'CHANNEL';

export async function channelState(channel: string, documents: Pick<Documents, 'document'>): Promise<ChannelState | undefined> {
  const found = await documents.document(collections.channel(channel), id);
  return found && stateIn(found);
}

/** Writes what was made of the state that was read; answers with what stands there when somebody else was faster. */
export async function putChannelState(
  state: ChannelState,
  documents: Pick<Documents, 'putDocument'>,
): Promise<{ readonly outcome: 'written' } | { readonly outcome: 'refused'; readonly current: ChannelState | undefined }> {
  const document = { collection: collections.channel(state.channel), id, rev: state.rev, content: { ...state } as unknown as JsonObject };
  const answer = await documents.putDocument(document, state.rev - 1);
  return answer.outcome === 'written' ? answer : { outcome: 'refused', current: answer.current ? stateIn(answer.current) : undefined };
}

const stateIn = ({ content }: Document): ChannelState => content as unknown as ChannelState;
