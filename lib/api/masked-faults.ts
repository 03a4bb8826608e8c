import { shortType } from '#core/data/fault';
import { timeText } from '#ports/messages';
import { inconsistencyFault } from '#roles/exceptions/causes';
import { inconsistencyReport } from '#roles/scheduler/inconsistency-report';
import type { JournalEntry } from '#roles/scheduler/instance';

/** A fault that a recovery has masked, so that it is not an exception (F-149). */
interface MaskedFault {
  readonly at: string;
  /** The step that has failed, or that has read an undone write. */
  readonly path: string | null;
  readonly type: string;
  readonly message: string;
  /** The activity that is recovered. */
  readonly maskedBy: string;
}

export interface MaskedFaults {
  readonly count: number;
  /** The newest ones, newest first. */
  readonly newest: readonly MaskedFault[];
}

/** The most masked faults that an order shows. */
const newestMax = 10;

/** Returns what recoveries have masked; undefined if nothing was. */
export function maskedFaultsIn(journal: readonly JournalEntry[]): MaskedFaults | undefined {
  const found = journal.flatMap(maskedIn);
  return found.length === 0 ? undefined : { count: found.length, newest: found.slice(-newestMax).reverse() };
}

function maskedIn(entry: JournalEntry): readonly MaskedFault[] {
  const at = timeText(entry.at);
  if (entry.type === 'FaultMasked') {
    const { path, fault, maskedBy } = entry;
    return [{ at, path, type: shortType(fault.type), message: fault.message, maskedBy }];
  }
  if (entry.type !== 'InconsistencyFound' || entry.maskedBy === undefined) return [];
  const { cause, maskedBy, masked = { uses: [] } } = entry;
  const { message, path = null } = inconsistencyReport({ cause, ...masked });
  return [{ at, path, type: inconsistencyFault, message, maskedBy }];
}
