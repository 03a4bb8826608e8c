import { figures } from '../../verify/figures.ts';
import { goal } from './goal.ts';
import { language } from './language.ts';
import type { SoakSubject } from './measurement.ts';
import { worlds } from './worlds.ts';

/** Goals of `npm run verify` that a soak repeats for hours. A goal that `figures` does not have is left out. */
const goals: { readonly [name: string]: string } = { 'live kills': 'G9' };

/** Everything that a soak runs, in turn. A new subject is a file and a line here, or a goal and a line above. */
export const subjects: { readonly [name: string]: () => SoakSubject } = {
  worlds,
  language,
  ...Object.fromEntries(
    Object.entries(goals)
      .filter(([, name]) => figures[name])
      .map(([words, name]) => [words, () => goal(name)]),
  ),
};
