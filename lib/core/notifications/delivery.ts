/** A destination of the messages to a group of people. */
export type Destination =
  /** An HTTP receiver of Standard Webhooks. `credential` names the secret that signs the messages. */
  | { readonly kind: 'webhook'; readonly url: string; readonly credential: string }
  /** A topic of SNS. Without an ARN, the topic of the deployment. */
  | { readonly kind: 'sns'; readonly topicArn?: string };

/** Pauses between the tries of one message, in milliseconds: the sum is about a day. Standard Webhooks recommends such a schedule. */
export const deliveryPausesMs: readonly number[] = [5_000, 60_000, 300_000, 1_800_000, 7_200_000, 18_000_000, 36_000_000, 23_400_000];

/** Returns when a message is tried again after so many tries; undefined if no further try follows. */
export const nextTryAt = (tries: number, now: number): number | undefined => {
  const pause = deliveryPausesMs[tries - 1];
  return pause === undefined ? undefined : now + pause;
};

/** A text for logs and people. It has no path and no query: they may hold a token. */
export const destinationText = (destination: Destination): string =>
  destination.kind === 'sns' ? (destination.topicArn ?? 'the topic of the deployment') : originOf(destination.url);

const originOf = (url: string): string => (URL.canParse(url) ? new URL(url).origin : 'an invalid URL');

/** Returns the problem of a webhook's URL; undefined if it may be called. `hosts`: the names that the deployment allows, some with a port. */
export function urlProblem(url: string, hosts: readonly string[]): string | undefined {
  if (!URL.canParse(url)) return 'The URL is invalid; expected https://host/path.';
  const { protocol, host, hostname, username, password } = new URL(url);
  if (username !== '' || password !== '') return 'The URL has a user or a password; leave them out: the signature shows who sends.';
  const isLocal = hostname === '127.0.0.1' || hostname === '[::1]' || hostname === 'localhost';
  if (protocol !== 'https:' && !(protocol === 'http:' && isLocal)) return `The URL begins with ${protocol}; expected https:.`;
  if (!hosts.includes(hostname) && !hosts.includes(host))
    return `The host ${hostname} is not among NOTIFY_HOSTS. An admin of the deployment adds it there.`;
  return undefined;
}
