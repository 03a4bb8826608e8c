import type { SteadyPages } from '../api/steady.ts';

/** The button that shows the waiting rows. The page keeps room for it, so that nothing moves when it appears. */
export const WaitingRows = ({
  list: { waiting, isReordered, showAll },
}: {
  list: Pick<SteadyPages<unknown>, 'waiting' | 'isReordered' | 'showAll'>;
}) => (
  <span class="waiting-rows" aria-live="polite">
    {(waiting > 0 || isReordered) && (
      <button class="btn sm" type="button" onClick={showAll}>
        {waiting > 0 ? `Show ${waiting} new` : 'Sort again'}
      </button>
    )}
  </span>
);
