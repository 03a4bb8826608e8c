import type { Problem } from '../api/client.ts';
import { Icon } from './icon.tsx';
import { shown } from './text.tsx';

/** A refusal of the API: its title, its detail, and every error. */
export const ProblemNote = ({ problem }: { problem: Problem }) => {
  const texts = [...new Set([problem.detail, ...problem.errors.map(({ detail }) => detail)])].filter((text) => text !== '');
  return (
    <div class="note stop" role="alert">
      <Icon name="stop" />
      <div>
        <b>{shown(problem.message)}</b>
        {texts.map((text) => (
          <div key={text} class="soft">
            {shown(text)}
          </div>
        ))}
      </div>
    </div>
  );
};
