import type { Scenario } from '../scenario.ts';
import { steps } from './steps.ts';

/** Every one is played everywhere. */
export const scenarios: readonly Scenario[] = [...steps];
