/** The order and the client for which the service is called. Orders without a client count as those of one client. */
export interface CalledFor {
  readonly orderId: string;
  readonly client: string | undefined;
}

/** Failures in a row that may mean an outage. They must come from more than one order: a single bad order must not stop the others. */
const failuresInRow = 5;
/**
 * If the clients other than the one with the most failures have at least this many failures together, they show an outage, even if the
 * service has just answered another client.
 */
const othersMin = 2;
/** The time for which an answer to one client shows that the service is up for others. */
const answerCountsMs = 60_000;

/**
 * The latest outcomes of one agent's calls in one process. One client may send content on which the service always fails. The failures of
 * that client alone do not mean an outage while the service answers other clients.
 */
export class Outcomes {
  private failures: CalledFor[] = [];
  /** The latest answer, and the latest answer to a client other than that one. */
  private latest: { readonly client: string | undefined; readonly at: number } | undefined;
  private latestOfOthers: { readonly client: string | undefined; readonly at: number } | undefined;

  answered({ client }: CalledFor, now: number): void {
    this.failures = [];
    if (this.latest && this.latest.client !== client) this.latestOfOthers = this.latest;
    this.latest = { client, at: now };
  }

  failed(call: CalledFor): void {
    this.failures = [...this.failures, call].slice(-failuresInRow);
  }

  forgetFailures(): void {
    this.failures = [];
  }

  get failuresInRow(): number {
    return this.failures.length;
  }

  /** Whether there are enough failures in a row, from several orders, to mean an outage. `isOfOneClient` must rule out a single client. */
  get mayBeOutage(): boolean {
    return this.failures.length >= failuresInRow && new Set(this.failures.map(({ orderId }) => orderId)).size > 1;
  }

  /** Whether all failures, or all but one, belong to one client, while the service answers others. */
  isOfOneClient(now: number): boolean {
    const [client, count] = mostFrequent(this.failures.map((failure) => failure.client));
    return this.failures.length - count < othersMin && this.answersOthers(client, now);
  }

  /** The only client whose calls have failed; undefined if there are several, or none that has a name. */
  get onlyClient(): string | undefined {
    const [first, ...others] = new Set(this.failures.map(({ client }) => client));
    return others.length === 0 ? first : undefined;
  }

  private answersOthers(client: string | undefined, now: number): boolean {
    const answer = this.latest?.client === client ? this.latestOfOthers : this.latest;
    return answer !== undefined && now - answer.at < answerCountsMs;
  }
}

function mostFrequent<T>(values: readonly T[]): readonly [value: T | undefined, count: number] {
  const counts = new Map<T, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].toSorted(([, one], [, other]) => other - one)[0] ?? [undefined, 0];
}
