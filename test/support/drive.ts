import { advance } from '#core/advance';
import type { RequestCommand } from '#core/data/command';
import type { Event } from '#core/data/event';
import { type Json, utf8Bytes } from '#core/data/json';
import { initialState, type State } from '#core/data/state';
import type { WorkflowDefinition } from '#core/definition/definition';
import { programOf } from '#core/definition/program';

export interface Driven {
  readonly state: State;
  readonly events: number;
  readonly requests: number;
  /** Size of the state as JSON, after each event. */
  readonly bytes: readonly number[];
}

/**
 * Brings an order to its end by answering its requests in turn. It runs the core alone, without the laws of `run.ts`,
 * for large orders.
 */
export function drive(definition: WorkflowDefinition, { order = {}, measure = true }: { order?: Json; measure?: boolean } = {}): Driven {
  const program = programOf(definition);
  const subject = { orderId: 'o1', order };
  const sent: RequestCommand[] = [];
  const bytes: number[] = [];
  let state = initialState;
  let events = 0;
  const happen = (event: Event): void => {
    const transition = advance(program, subject, state, event);
    state = transition.state;
    for (const command of transition.commands) if (command.type === 'request') sent.push(command);
    events += 1;
    if (measure) bytes.push(utf8Bytes(state as unknown as Json));
  };
  happen({ type: 'started', stepMs: 30_000, at: 0, epoch: 1 });
  let requests = 0;
  for (let ask = sent[requests]; ask !== undefined && state.phase === 'running'; ask = sent[requests]) {
    requests += 1;
    happen({
      type: 'replied',
      at: requests,
      epoch: 1,
      requestId: ask.requestId,
      sentAt: requests,
      reply: { status: 'succeeded', output: { id: ask.path } },
    });
  }
  return { state, events, requests, bytes };
}
