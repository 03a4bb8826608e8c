import { alerts } from './alerts.ts';
import { batches } from './batches.ts';
import { children } from './children.ts';
import { damage } from './damage.ts';
import { deadlines } from './deadlines.ts';
import { effects } from './effects.ts';
import { end } from './end.ts';
import { expiry } from './expiry.ts';
import { fence } from './fence.ts';
import { journal } from './journal.ts';
import { kept } from './kept.ts';
import type { Law } from './law.ts';
import { poison } from './poison.ts';
import { processState } from './process-state.ts';
import { signals } from './signals.ts';
import { silence } from './silence.ts';
import { statuses } from './statuses.ts';
import { undoOrder } from './undo-order.ts';
import { versions } from './versions.ts';

export type { Law } from './law.ts';

/** All that must hold, anew for each world: some of them remember. */
export const lawsFor = ({ toleranceMs }: { readonly toleranceMs: number }): readonly Law[] => [
  kept(),
  batches(),
  fence(),
  processState(),
  journal(),
  effects(),
  undoOrder(),
  expiry(toleranceMs),
  children(),
  signals(),
  silence(),
  alerts(),
  statuses(),
  poison(),
  deadlines(),
  versions(),
  damage(),
  end(),
];
