import type { WorkflowDefinition } from 'redress';
import type { Json } from '#core/data/json';
import { type Answer, refuses } from './scenario.ts';
import { tea } from './shop.ts';
import {
  again,
  agreed,
  clumsy,
  entry,
  items,
  lines,
  pair,
  printing,
  question,
  sale,
  scopes,
  stay,
  strict,
  trip,
  turns,
  wary,
  ways,
  whole,
} from './workflows.ts';

/** An order that runs through a change of its workflow. A repeated request gets the same answer. */
export interface Story {
  readonly title: string;
  readonly workflows: readonly WorkflowDefinition[];
  readonly order: Json;
  readonly answers: { readonly [path: string]: readonly Answer[] };
  /** The signal or question that it waits for. */
  readonly signal?: { readonly name: string; readonly payload: Json };
}

const always = (answer: Answer): readonly Answer[] => Array.from({ length: 50 }, () => answer);
const story = (workflow: WorkflowDefinition, what: string, more: Partial<Omit<Story, 'title'>> = {}): Story => ({
  title: `${workflow.name}, ${what}`,
  workflows: [workflow],
  order: tea,
  answers: {},
  ...more,
});

export const stories: readonly Story[] = [
  story(sale, 'done'),
  story(sale, 'refused', { answers: { 'order/retry/charge': always(refuses()) } }),
  story(pair, 'done'),
  story(pair, 'refused', { answers: { 'order/charge': always(refuses(3)) } }),
  story(strict, 'done'),
  story(wary, 'refused', { answers: { 'order/charge': always(refuses()) } }),
  story(whole, 'done'),
  story(scopes, 'done'),
  story(scopes, 'refused', { answers: { 'order/second/sequence/charge': always(refuses()) } }),
  story(again, 'never done', { answers: { 'order/all/sequence/charge': always(refuses()) } }),
  story(clumsy, 'refused', { answers: { 'order/pay/charge': always(refuses()) } }),
  story(lines, 'done', { order: items('a', 'b', 'c', 'd') }),
  story(lines, 'refused', { order: items('a', 'b', 'c', 'd'), answers: { 'order/items[3]/reserve': always(refuses()) } }),
  story(turns, 'done', { order: { times: 2 } }),
  story(ways, 'ended by itself', { order: { amount: 20 } }),
  story(ways, 'done', { order: { amount: 50 } }),
  story(agreed, 'done', { signal: { name: 'approved', payload: { by: 'otto' } } }),
  story(question, 'done'),
  story(entry, 'done'),
  story(entry, 'refused', { answers: { 'order/charge': always(refuses()) } }),
  story(printing, 'done'),
  story(trip, 'done', { workflows: [trip, stay] }),
  story(trip, 'refused by what it calls', { workflows: [trip, stay], answers: { 'order/night': always(refuses()) } }),
  story(trip, 'undone with what it called', { workflows: [trip, stay], answers: { 'order/charge': always(refuses()) } }),
];
