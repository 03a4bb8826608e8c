import type { WorkflowDefinition } from 'redress';
import type { Json } from '#core/data/json';
import type { Decision } from '#roles/operator/instruction';
import { tea } from './shop.ts';

/** What a service does when it is asked, and what it says, after so long. */
export interface Answer {
  readonly does: boolean;
  /** `nonsense` is no answer that the operation promises; `large` one that nobody can keep. */
  readonly says: 'done' | 'refusal' | 'failure' | 'permanent failure' | 'nothing' | 'nonsense' | 'large';
  readonly afterSeconds?: number;
}

const answer =
  (does: boolean, says: Answer['says']) =>
  (afterSeconds?: number): Answer => ({ does, says, ...(afterSeconds === undefined ? {} : { afterSeconds }) });

export const done = answer(true, 'done');
/** The fault that the operation declares. */
export const refuses = answer(false, 'refusal');
export const fails = answer(false, 'failure');
export const failsForGood = answer(false, 'permanent failure');
export const silent = answer(false, 'nothing');
export const doneInSilence = answer(true, 'nothing');
export const doneButFails = answer(true, 'failure');
export const nonsense = answer(true, 'nonsense');
export const large = answer(true, 'large');

/** What people, clients and the surroundings do; `of` names the call whose order is meant, or else it is the order itself. */
export type Deed =
  | { readonly what: 'instruct'; readonly decision: Decision; readonly of?: string }
  | { readonly what: 'submit'; readonly again: boolean; readonly order: Json }
  | { readonly what: 'post'; readonly queue: string; readonly body: string }
  /** The host dies, with all that it was at; a new one starts a second later. */
  | { readonly what: 'crash' };

export interface Event {
  readonly atSeconds: number;
  readonly deed: Deed;
}

export const at = (atSeconds: number, deed: Deed): Event => ({ atSeconds, deed });

const by = 'olga';
const instruct = (decision: Decision, of?: string): Deed => ({ what: 'instruct', decision, ...(of ? { of } : {}) });
export const cancels = (of?: string): Deed => instruct({ kind: 'cancel', by, reason: 'not wanted' }, of);
export const compensates = (of?: string): Deed => instruct({ kind: 'compensate', by, reason: 'undo it' }, of);
export const terminates = (of?: string): Deed => instruct({ kind: 'terminate', by, reason: 'leave it' }, of);
export const resubmits = (of?: string): Deed => instruct({ kind: 'resubmit', by, reason: 'again' }, of);
export const resubmitsFor = (completeWithinSeconds: number): Deed =>
  instruct({ kind: 'resubmit', by, reason: 'again', completeWithinSeconds });
export const answers = (answer: Json): Deed => instruct({ kind: 'resubmit', by, reason: 'answered', answer });
export const marks = (path?: string): Deed =>
  instruct({ kind: 'mark-compensated', by, reason: 'by hand', ...(path === undefined ? {} : { path }) });
export const signals = (name: string, payload: Json = {}): Deed => instruct({ kind: 'signal', name, payload });
export const submitsAgain = (order: Json = tea): Deed => ({ what: 'submit', again: true, order });
export const posts = (queue: string, body: string): Deed => ({ what: 'post', queue, body });
export const crashes: Deed = { what: 'crash' };

/** What becomes of a message on its way: of the `nth` of this kind about an activity. */
export interface Mishap {
  readonly type: 'request' | 'reply' | 'cancel' | 'wake-up';
  readonly path?: string;
  readonly nth: number;
  readonly becomes: 'lost' | 'late' | 'double';
  /** How late it, or its copy, is. */
  readonly lateSeconds: number;
}

type Kind = Mishap['type'];
export const lost = (type: Kind, path?: string, nth = 1): Mishap => ({ type, ...about(path), nth, becomes: 'lost', lateSeconds: 0 });
export const late = (lateSeconds: number, type: Kind, path?: string, nth = 1): Mishap => ({
  type,
  ...about(path),
  nth,
  becomes: 'late',
  lateSeconds,
});
export const twice = (type: Kind, path?: string, lateSeconds = 0, nth = 1): Mishap => ({
  type,
  ...about(path),
  nth,
  becomes: 'double',
  lateSeconds,
});
const about = (path: string | undefined) => (path === undefined ? {} : { path });

/** A story as data: who answers what, who does what and when, which messages come otherwise than they should. */
export interface Scenario {
  readonly title: string;
  /** The first is the order's; the others are called. */
  readonly workflows: readonly WorkflowDefinition[];
  readonly order: Json;
  /** By the path of the step, what each of its askings is answered with; the others are done after about a second. */
  readonly answers: { readonly [path: string]: readonly Answer[] };
  readonly events: readonly Event[];
  readonly mail: readonly Mishap[];
  readonly variables: { readonly [name: string]: string };
  /** How long it is looked at. */
  readonly lastsSeconds: number;
  /** Which law it is that the story must show, so that it cannot pass by doing nothing: words that stand in its history. */
  readonly shows: readonly string[];
}

type Told = Partial<Omit<Scenario, 'title' | 'workflows' | 'shows'>>;

export const scenario = (
  title: string,
  workflow: WorkflowDefinition | readonly WorkflowDefinition[],
  shows: string | readonly string[],
  told: Told = {},
): Scenario => ({
  title,
  workflows: Array.isArray(workflow) ? workflow : [workflow as WorkflowDefinition],
  order: tea,
  answers: {},
  events: [],
  mail: [],
  variables: {},
  lastsSeconds: 60,
  ...told,
  shows: typeof shows === 'string' ? [shows] : shows,
});
