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
  readonly askings: number;
  /** Of the state as JSON, after each event. */
  readonly bytes: readonly number[];
}

/** Brings an order to its end by answering whatever it asks, in turn: the core alone, without the laws of `run.ts`, for what is large. */
export function drive(definition: WorkflowDefinition, { order = {}, measure = true }: { order?: Json; measure?: boolean } = {}): Driven {
  const program = programOf(definition);
  const subject = { orderId: 'o1', order };
  const asks: RequestCommand[] = [];
  const bytes: number[] = [];
  let state = initialState;
  let events = 0;
  const happen = (event: Event): void => {
    const transition = advance(program, subject, state, event);
    state = transition.state;
    for (const command of transition.commands) if (command.type === 'request') asks.push(command);
    events += 1;
    if (measure) bytes.push(utf8Bytes(state as unknown as Json));
  };
  happen({ type: 'started', stepMs: 30_000, at: 0, epoch: 1 });
  let askings = 0;
  for (let ask = asks[askings]; ask !== undefined && state.phase === 'running'; ask = asks[askings]) {
    askings += 1;
    happen({
      type: 'replied',
      at: askings,
      epoch: 1,
      requestId: ask.requestId,
      sentAt: askings,
      reply: { status: 'succeeded', output: { id: ask.path } },
    });
  }
  return { state, events, askings, bytes };
}
