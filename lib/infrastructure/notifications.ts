import { type FunctionSpec, runsAppCode } from '#runtime/topology';
import type { AgentCredentials } from './credentials.ts';
import type { OrderProcessingProps } from './order-processing-props.ts';

/** The destinations that messages for people may go to, in addition to the topic of the deployment. */
export interface NotificationSettings {
  /** The hosts that the notifier may call, in addition to that of `url`; each may have a port: `['hooks.example.com']`. */
  readonly hosts?: readonly string[];
  /** The webhook of groups that have no destination of their own. Its credential is `NOTIFY_SECRET`. */
  readonly url?: string;
  /** The secrets that sign messages, by the names that destinations give: `{ NOTIFY_SECRET: { secret } }`. */
  readonly credentials?: AgentCredentials;
  /** The address of the console, for links in messages. */
  readonly consoleUrl?: string;
}

/** Returns the variables of the notifier's function. */
export const variablesOf = ({ hosts = [], url, consoleUrl }: NotificationSettings = {}): { readonly [name: string]: string } => ({
  ...(hosts.length > 0 ? { NOTIFY_HOSTS: hosts.join(',') } : {}),
  ...(url === undefined ? {} : { NOTIFY_URL: url }),
  ...(consoleUrl === undefined ? {} : { CONSOLE_URL: consoleUrl }),
});

/** Returns the credentials of a function: agents and consumers have those of their services, and the notifier those that sign. */
export function credentialsFor(
  spec: FunctionSpec,
  { agentCredentials, functions: settings = {}, notifications }: OrderProcessingProps,
): AgentCredentials {
  if (spec.file === 'notifier') return notifications?.credentials ?? {};
  return runsAppCode(spec) ? { ...agentCredentials, ...settings[spec.name]?.credentials } : {};
}
