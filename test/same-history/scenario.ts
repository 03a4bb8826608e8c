import type { WorkflowDefinition } from 'redress';
import type { Json } from '#core/data/json';
import type { Decision } from '#roles/operator/instruction';
import { tea } from './shop.ts';

/** The reaction of a service to a request: its effect, its answer and its delay. */
export interface Answer {
  readonly does: boolean;
  /** `nonsense` is an answer outside the operation's schema; `large` one that exceeds the size limit. */
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

/**
 * Actions of people, clients and the environment; `of` names the call whose order is meant, or else it is the order
 * itself.
 */
export type Action =
  | { readonly what: 'instruct'; readonly decision: Decision; readonly of?: string }
  | { readonly what: 'submit'; readonly again: boolean; readonly order: Json }
  | { readonly what: 'post'; readonly queue: string; readonly body: string }
  /** The host crashes, with all its work in progress; a new one starts a second later. */
  | { readonly what: 'crash' };

export interface Event {
  readonly atSeconds: number;
  readonly action: Action;
}

export const at = (atSeconds: number, action: Action): Event => ({ atSeconds, action: action });

const by = 'olga';
const instruct = (decision: Decision, of?: string): Action => ({ what: 'instruct', decision, ...(of ? { of } : {}) });
export const cancels = (of?: string): Action => instruct({ kind: 'cancel', by, reason: 'not wanted' }, of);
export const compensates = (of?: string): Action => instruct({ kind: 'compensate', by, reason: 'undo it' }, of);
export const terminates = (of?: string): Action => instruct({ kind: 'terminate', by, reason: 'leave it' }, of);
export const resubmits = (of?: string): Action => instruct({ kind: 'resubmit', by, reason: 'again' }, of);
export const resubmitsFor = (completeWithinSeconds: number): Action =>
  instruct({ kind: 'resubmit', by, reason: 'again', completeWithinSeconds });
export const answers = (answer: Json): Action => instruct({ kind: 'resubmit', by, reason: 'answered', answer });
export const marks = (path?: string): Action =>
  instruct({ kind: 'mark-compensated', by, reason: 'by hand', ...(path === undefined ? {} : { path }) });
export const signals = (name: string, payload: Json = {}): Action => instruct({ kind: 'signal', name, payload });
export const submitsAgain = (order: Json = tea): Action => ({ what: 'submit', again: true, order });
export const posts = (queue: string, body: string): Action => ({ what: 'post', queue, body });
export const crashes: Action = { what: 'crash' };

/** A disturbance of a message on its way: of the `nth` of this kind about an activity. */
export interface Disturbance {
  readonly type: 'request' | 'reply' | 'cancel' | 'wake-up';
  readonly path?: string;
  readonly nth: number;
  readonly becomes: 'lost' | 'late' | 'double';
  /** Delay of the message, or of its copy. */
  readonly lateSeconds: number;
}

type Kind = Disturbance['type'];
export const lost = (type: Kind, path?: string, nth = 1): Disturbance => ({ type, ...about(path), nth, becomes: 'lost', lateSeconds: 0 });
export const late = (lateSeconds: number, type: Kind, path?: string, nth = 1): Disturbance => ({
  type,
  ...about(path),
  nth,
  becomes: 'late',
  lateSeconds,
});
export const twice = (type: Kind, path?: string, lateSeconds = 0, nth = 1): Disturbance => ({
  type,
  ...about(path),
  nth,
  becomes: 'double',
  lateSeconds,
});
const about = (path: string | undefined) => (path === undefined ? {} : { path });

/**
 * A scenario as data: the answers of services, the actions of people with their times, and the disturbed messages.
 */
export interface Scenario {
  readonly title: string;
  /** The first one is the order's workflow; the others are called. */
  readonly workflows: readonly WorkflowDefinition[];
  readonly order: Json;
  /** Answers to the requests of each step, by its path; other requests succeed after about a second. */
  readonly answers: { readonly [path: string]: readonly Answer[] };
  readonly events: readonly Event[];
  readonly mail: readonly Disturbance[];
  readonly variables: { readonly [name: string]: string };
  /** The duration of the scenario. */
  readonly lastsSeconds: number;
  /** Words that must stand in the history, so that the scenario cannot pass without its effect. */
  readonly shows: readonly string[];
}

type ScenarioDetails = Partial<Omit<Scenario, 'title' | 'workflows' | 'shows'>>;

export const scenario = (
  title: string,
  workflow: WorkflowDefinition | readonly WorkflowDefinition[],
  shows: string | readonly string[],
  details: ScenarioDetails = {},
): Scenario => ({
  title,
  workflows: Array.isArray(workflow) ? workflow : [workflow as WorkflowDefinition],
  order: tea,
  answers: {},
  events: [],
  mail: [],
  variables: {},
  lastsSeconds: 60,
  ...details,
  shows: typeof shows === 'string' ? [shows] : shows,
});
