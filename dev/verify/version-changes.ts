import { changeAt, type Direction } from '../../test/same-history/version-change.ts';
import { stories } from '../../test/same-history/version-stories.ts';
import { type Figure, measured } from './figure.ts';

const directions: readonly Direction[] = ['forward', 'back'];
const definitionsMin = 12;
/** The stories have 320 writes and as many changes; the short form takes a third of them. */
const changesMin = { full: 300, short: 100 };

/** G16: the app changes its workflows while orders run, at each of their steps. */
export const figure: Figure = {
  shows:
    'a second version of a workflow is deployed, or removed and deployed again, at every step of its orders: each order ends as it would under its own version',
  async measure({ form, progress }) {
    const wrong: string[] = [];
    const counts = { changes: 0, endedAlike: 0, forward: 0, back: 0, stoodBeforeAPerson: 0 };
    for (const [index, story] of stories.entries()) {
      for (const direction of directions) {
        const undisturbed = await changeAt(story, direction, Number.POSITIVE_INFINITY);
        const its = (step: number, what: readonly string[]) => what.map((each) => `${story.title}, ${direction} at step ${step}: ${each}`);
        wrong.push(...its(0, undisturbed.wrong));
        for (let step = 1; step <= undisturbed.writes; step++) {
          if (form === 'short' && (step + index) % 3 !== 0) continue;
          const changed = await changeAt(story, direction, step, undisturbed.ending);
          counts.changes += 1;
          if (changed.reached) counts[direction] += 1;
          if (changed.wrong.length === 0) counts.endedAlike += 1;
          counts.stoodBeforeAPerson += changed.stood;
          wrong.push(...its(step, changed.wrong));
        }
      }
      progress(`${index + 1} of ${stories.length} stories, ${wrong.length} wrong`);
    }
    const definitions = new Set(stories.flatMap(({ workflows }) => workflows.map(({ name }) => name))).size;
    const shortfalls = [
      ...wrong,
      ...(definitions < definitionsMin ? [`There are ${definitions} definitions; at least ${definitionsMin} are required.`] : []),
      ...(counts.changes < changesMin[form] ? [`There were ${counts.changes} changes; at least ${changesMin[form]} are required.`] : []),
      ...(counts.forward + counts.back < counts.changes ? ['An order was over before its app changed.'] : []),
      ...(counts.stoodBeforeAPerson * 5 < counts.back ? ['Too few orders had to wait until their version was back.'] : []),
    ];
    return measured(shortfalls, { definitions, stories: stories.length, ...counts, percent: (100 * counts.endedAlike) / counts.changes });
  },
};
