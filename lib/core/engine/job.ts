import type { Start } from '#core/data/ids';
import type { Closing } from '#core/data/state';

/**
 * The rest of a transition, as data. `jobs.ts` carries it out. A queue instead of recursion: ten thousand activities
 * that close at once must not overflow the stack.
 */
export type Job =
  /** An activity starts one of its children. */
  | { readonly do: 'startChild'; readonly path: string; readonly start: Start }
  /** An activity starts again with its present input. */
  | { readonly do: 'start'; readonly path: string }
  | { readonly do: 'cancel'; readonly path: string }
  | { readonly do: 'childClosed'; readonly path: string; readonly child: string; readonly closing: Closing }
  | { readonly do: 'rootClosed'; readonly closing: Closing }
  /** An activity in fault or in cancellation has no open child any more. */
  | { readonly do: 'childrenClosed'; readonly path: string }
  /** An activity that waited for another activity to undo a part of its scope looks again for work to undo. */
  | { readonly do: 'undoNextIfIdle'; readonly path: string }
  /** Every activity that undoes a scope, and waits for another activity to undo a part of the scope, continues. */
  | { readonly do: 'continueUndoing' }
  /** The scope of an activity has no work left to undo. */
  | { readonly do: 'undone'; readonly path: string }
  /** An activity goes on at another activity inside it, as soon as nothing inside it is open. */
  | { readonly do: 'resume'; readonly path: string }
  /** The outputs of a turn that has closed are no longer read. */
  | { readonly do: 'forgetTurn'; readonly turn: string };
