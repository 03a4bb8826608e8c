import type { Task } from '../../api/types.ts';
import { Chip } from '../../parts/chip.tsx';
import type { IconName } from '../../parts/icons.ts';

type Verified = NonNullable<Task['verified']>;

const looks: {
  readonly [verified in Verified]: { readonly text: string; readonly tone: 'ok' | 'work' | 'stop' | 'off'; readonly icon: IconName };
} = {
  running: { text: 'not known yet', tone: 'work', icon: 'clock' },
  passed: { text: 'it worked', tone: 'ok', icon: 'done' },
  'failed-again': { text: 'the same failed again', tone: 'stop', icon: 'stop' },
  'failed-otherwise': { text: 'something else failed', tone: 'stop', icon: 'stop' },
  void: { text: 'the order ended otherwise', tone: 'off', icon: 'off' },
};

/** The verdict on the resolution of a task: whether the instruction has helped. */
export const Verdict = ({ verified }: { verified: Verified }) => (
  <Chip tone={looks[verified].tone} icon={looks[verified].icon} tinted>
    {looks[verified].text}
  </Chip>
);
