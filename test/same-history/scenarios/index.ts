import type { Scenario } from '../scenario.ts';
import { calls } from './calls.ts';
import { handlers } from './handlers.ts';
import { messages } from './messages.ts';
import { people } from './people.ts';
import { steps } from './steps.ts';
import { unknown } from './unknown.ts';
import { roundabout } from './ways.ts';

/** All scenarios; each is played at every place. */
export const scenarios: readonly Scenario[] = [...steps, ...handlers, ...people, ...unknown, ...roundabout, ...calls, ...messages];
