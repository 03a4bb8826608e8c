import { randomUUID } from 'node:crypto';
import type { CloudWatchLogsClient } from '@aws-sdk/client-cloudwatch-logs';
import type { AuditLog } from '#ports/audit';
import { dayOf } from '#ports/util/days';

export interface CloudWatchAuditLogOptions {
  readonly client: () => Promise<CloudWatchLogsClient>;
  /** Name of the log group. */
  readonly group: string;
}

/** Writes the audit to a log group of its own. Each process has its own log stream, whose name begins with the day of its first line. */
export function cloudWatchAuditLog({ client: open, group: logGroupName }: CloudWatchAuditLogOptions): AuditLog {
  let opened: Promise<string> | undefined;

  async function openStream(day: string): Promise<string> {
    const [client, sdk] = await Promise.all([open(), import('@aws-sdk/client-cloudwatch-logs')]);
    const logStreamName = `${day}/${randomUUID()}`;
    try {
      await client.send(new sdk.CreateLogStreamCommand({ logGroupName, logStreamName }));
    } catch (error) {
      // An earlier attempt created the stream, and its response was lost.
      if (!(error instanceof sdk.ResourceAlreadyExistsException)) throw error;
    }
    return logStreamName;
  }

  return {
    async append(line, at) {
      const [client, sdk] = await Promise.all([open(), import('@aws-sdk/client-cloudwatch-logs')]);
      opened ??= openStream(dayOf(at).replaceAll('-', '/'));
      const logStreamName = await opened.catch((error: unknown) => {
        opened = undefined;
        throw error;
      });
      const logEvents = [{ timestamp: at, message: JSON.stringify(line) }];
      await client.send(new sdk.PutLogEventsCommand({ logGroupName, logStreamName, logEvents }));
    },
  };
}
