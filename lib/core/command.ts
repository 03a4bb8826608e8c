import type { Json } from './json.ts';

/** What to do about an event, once the new state is saved. */
export type Command =
  | {
      readonly type: 'ask';
      readonly path: string;
      readonly agent: string;
      readonly operation: string;
      readonly requestId: string;
      readonly idempotencyKey: string;
      readonly attempt: number;
      readonly epoch: number;
      /** Milliseconds since 1970. */
      readonly completeBy: number;
      readonly input: Json;
    }
  /** A hint only: whoever is woken looks at the state to see what is due. */
  | { readonly type: 'wake'; readonly at: number };

export type AskCommand = Extract<Command, { type: 'ask' }>;
