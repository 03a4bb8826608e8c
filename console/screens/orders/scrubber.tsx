import type { HistoryEntry } from '../../api/types.ts';
import { Icon } from '../../parts/icon.tsx';
import { Clock } from '../../parts/text.tsx';

interface Props {
  readonly entries: readonly HistoryEntry[];
  /** The entry that is shown, from 1; undefined: now. */
  readonly at: number | undefined;
  readonly move: (at: number | undefined) => void;
}

const bad = new Set(['AttemptFailed', 'FaultRaised', 'OrderBlocked', 'UndoFailed', 'DeadlineExpired', 'RunFailed', 'OutcomeUnknown']);
const ticksMax = 160;

/** A line of all entries of the history. Moving along it shows the order as it was. */
export function Scrubber({ entries, at, move }: Props) {
  const last = entries.length;
  const shown = at ?? last;
  const step = Math.max(1, Math.ceil(last / ticksMax));
  const x = (index: number): number => 8 + (index * 984) / Math.max(1, last - 1);
  const to = (index: number): void => move(index >= last ? undefined : Math.max(1, index));
  return (
    <div class="scrub">
      <button class="btn bare sm" type="button" aria-label="One entry back" disabled={shown <= 1} onClick={() => to(shown - 1)}>
        <Icon name="back" />
      </button>
      <div class="scrub-line">
        <svg viewBox="0 0 1000 20" preserveAspectRatio="none" aria-hidden="true">
          <path class="track" d="M8 10H992" />
          {entries.map(({ seq, type }, index) =>
            bad.has(type) || index % step === 0 ? (
              <rect key={seq} class={`tick ${bad.has(type) ? 'bad' : ''}`} x={x(index) - 2.5} y="6" width="5" height="8" />
            ) : null,
          )}
          <rect class="now" x={x(shown - 1) - 4} y="1" width="8" height="18" rx="2" />
        </svg>
        <input
          type="range"
          min="1"
          max={last}
          value={shown}
          aria-label="Entry of the history"
          aria-valuetext={`entry ${shown} of ${last}: ${entries[shown - 1]?.type ?? ''}`}
          onInput={({ currentTarget }) => to(Number(currentTarget.value))}
        />
      </div>
      <span class="nowrap soft">{at === undefined ? `entry ${last} of ${last}, now` : `entry ${shown} of ${last}`}</span>
    </div>
  );
}

/** Says that the graph shows a past moment. */
export const PastBar = ({ entry, back }: { entry: HistoryEntry | undefined; back: () => void }) =>
  entry ? (
    <div class="note work past-bar" role="status">
      <Icon name="clock" />
      <div class="grow">
        As it was at <Clock at={entry.at} />, after <b>{entry.type}</b>
        {entry.path === undefined ? '' : ` of ${entry.path}`}. Actions are off meanwhile.
      </div>
      <button class="btn sm" type="button" onClick={back}>
        Back to now
      </button>
    </div>
  ) : null;
