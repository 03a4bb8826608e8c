import type { AuditLog } from '#ports/audit';
import type { Clock } from '#ports/clock';
import { timeText } from '#ports/messages';
import type { LogFields, Telemetry } from '#ports/telemetry';

export interface LogPorts {
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  /** The log of the audit; without one, its lines go to the log of the process. */
  readonly auditLog?: AuditLog | undefined;
}

/** Writes a line of the audit, at every log level. While the audit's own log is unavailable, the line goes to the log of the process. */
export async function writeLine({ clock, telemetry, auditLog }: LogPorts, message: string, fields: LogFields): Promise<void> {
  if (!auditLog) return telemetry.audit(message, fields);
  const now = clock.now();
  try {
    await auditLog.append({ time: timeText(now), message, ...(JSON.parse(JSON.stringify(fields)) as object) }, now);
  } catch (error) {
    telemetry.audit(message, fields);
    telemetry.count('auditLogFailed');
    telemetry.log('error', 'cannot write to the log of the audit', { error });
  }
}
