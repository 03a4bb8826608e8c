import type { Scenario } from '../scenario.ts';
import { calls } from './calls.ts';
import { handlers } from './handlers.ts';
import { messages } from './messages.ts';
import { people } from './people.ts';
import { steps } from './steps.ts';
import { unknown } from './unknown.ts';
import { roundabout } from './ways.ts';

/** Every one is played everywhere. */
export const scenarios: readonly Scenario[] = [...steps, ...handlers, ...people, ...unknown, ...roundabout, ...calls, ...messages];
