import type { Clock } from '#ports/clock';
import type { Cancel } from '#ports/messages';
import type { Telemetry } from '#ports/telemetry';
import { callOf, kindOf, type Work, withoutSecrets } from './retry.ts';
import type { ReportTrouble } from './trouble.ts';

/** A request that this process is serving, with the controller that cancels it. */
export interface AtWork extends Work {
  readonly canceling: AbortController;
}

/** The requests that one agent serves in this process, and the cancellations that it has received. */
export interface RequestsAtWork {
  /** Returns the controller of a new request. It has aborted already if the request was canceled before. */
  cancelingOf(requestId: string): AbortController;
  add(work: AtWork): void;
  remove(work: AtWork): void;
  /** Cancels a request. Aborts its operation if it runs in this process, and refuses the request if it arrives later. */
  cancel(cancel: Cancel): Promise<void>;
}

/** Number of cancellations that a process remembers, for requests that are delivered later. */
const canceledKept = 1_000;

export interface RequestsAtWorkOptions {
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly report: ReportTrouble;
}

export function createRequestsAtWork({ clock, telemetry, report }: RequestsAtWorkOptions): RequestsAtWork {
  const atWork = new Map<string, AtWork>();
  /** Ids of canceled requests, oldest first. */
  const canceled = new Set<string>();

  /** Remembers a cancellation: its request may arrive later, be requeued, or be redelivered. */
  function remember(requestId: string): void {
    canceled.add(requestId);
    const [oldest] = canceled;
    if (canceled.size > canceledKept && oldest !== undefined) canceled.delete(oldest);
  }

  /** Calls the operation's `cancel` hook with a separate abort signal, because the signal of the work aborts next. */
  async function notifyOperation(work: AtWork): Promise<void> {
    const { agent, request, secrets, operation, deadline } = work;
    if (!operation.cancel) return;
    const over = new AbortController();
    const notifying = async () => withoutSecrets(work, () => operation.cancel?.(callOf(work, { signal: over.signal }) as never));
    try {
      await Promise.race([notifying(), clock.sleep(Math.max(0, deadline.at() - clock.now()), over.signal)]);
    } catch (error) {
      const { orderId, requestId } = request;
      const about = { orderId, requestId, agent, operation: request.operation, kind: kindOf(error) };
      telemetry.log('warn', 'failed to cancel operation', about);
      report({ agent, operation, request, secrets, what: 'failed to cancel', error });
    } finally {
      over.abort();
    }
  }

  return {
    cancelingOf(requestId) {
      const canceling = new AbortController();
      if (canceled.has(requestId)) canceling.abort();
      return canceling;
    },
    add(work) {
      // If the queue delivers a request twice, a cancellation goes to the first delivery.
      if (!atWork.has(work.request.requestId)) atWork.set(work.request.requestId, work);
    },
    remove(work) {
      if (atWork.get(work.request.requestId) === work) atWork.delete(work.request.requestId);
    },
    async cancel({ requestId }) {
      remember(requestId);
      const work = atWork.get(requestId);
      if (!work) return;
      const notified = notifyOperation(work);
      work.canceling.abort();
      await notified;
    },
  };
}
