/** The news about tasks of one kind since the last message about them. All times: milliseconds since 1970. */
export interface News {
  /** Tasks that were opened. */
  readonly opened: number;
  /** Reminders of tasks that nobody has taken. */
  readonly reminded: number;
  readonly lastAt: number;
}

/** The notice of one group of people about alike tasks, such as those of one fingerprint. */
export interface Notice {
  /** The time at which the first task was opened after the previous notice was forgotten (`quietMs`). */
  readonly firstAt: number;
  /** The number of tasks since `firstAt`. */
  readonly count: number;
  readonly news: News | null;
  /** The number of messages since `firstAt`, and the time of the last of them. */
  readonly sent: number;
  readonly sentAt: number | null;
}

/** The pauses between two messages of one notice, in milliseconds: each is twice as long as the one before, at most `longest`. */
export const summaryPauses = { first: 900_000, longest: 86_400_000 } as const;

/** A notice without news is forgotten this long after its pause. The next task is then the first one again. */
export const quietMs = 86_400_000;

export const pauseAfter = (sent: number): number => Math.min(summaryPauses.longest, summaryPauses.first * 2 ** (sent - 1));

/** Adds news to a notice, or begins one. */
export function withNews(notice: Notice | undefined, { opened, reminded, lastAt }: News): Notice {
  const { firstAt = lastAt, count = 0, news, sent = 0, sentAt = null } = notice ?? {};
  return {
    firstAt: Math.min(firstAt, lastAt),
    count: count + opened,
    news: {
      opened: opened + (news?.opened ?? 0),
      reminded: reminded + (news?.reminded ?? 0),
      lastAt: Math.max(lastAt, news?.lastAt ?? 0),
    },
    sent,
    sentAt,
  };
}

/** Returns when the notifier must look at a notice next: to send a message, or to forget the notice. */
export function looksAt({ news, sent, sentAt, firstAt }: Notice): number {
  if (sentAt === null) return firstAt;
  return sentAt + (news ? pauseAfter(sent) : quietMs + pauseAfter(sent));
}

export type NoticeDecision =
  | { readonly kind: 'wait'; readonly until: number }
  | { readonly kind: 'forget' }
  /** The first message tells of one task, or of the few that came at the same moment. A summary tells how many there were since the last message. */
  | { readonly kind: 'send'; readonly message: 'first' | 'summary'; readonly notice: Notice };

/** Decides what to do about a notice. `mutedUntil`: until then nobody hears of it. */
export function decideNotice(notice: Notice, now: number, mutedUntil = 0): NoticeDecision {
  const at = looksAt(notice);
  if (at > now) return { kind: 'wait', until: at };
  if (!notice.news) return { kind: 'forget' };
  if (mutedUntil > now) return { kind: 'wait', until: mutedUntil };
  const { sent } = notice;
  return { kind: 'send', message: sent === 0 ? 'first' : 'summary', notice: { ...notice, news: null, sent: sent + 1, sentAt: now } };
}

/** The messages that a group of people has got in the current period. */
export interface Allowance {
  readonly since: number;
  readonly sent: number;
}

/** The most messages that one group of people gets in a period, about all kinds of tasks together. */
export const allowanceLimits = { messagesMax: 10, periodMs: 900_000 } as const;

/**
 * Takes one message from the allowance of a group, if there is one left. `pausedUntil`: the end of the period, if it was the last message
 * of it.
 */
export function takeMessage(
  allowance: Allowance | undefined,
  now: number,
): { readonly allowance: Allowance; readonly pausedUntil: number | undefined } | { readonly until: number } {
  const { messagesMax, periodMs } = allowanceLimits;
  const current = allowance && now < allowance.since + periodMs ? allowance : { since: now, sent: 0 };
  if (current.sent >= messagesMax) return { until: current.since + periodMs };
  const sent = current.sent + 1;
  return { allowance: { ...current, sent }, pausedUntil: sent === messagesMax ? current.since + periodMs : undefined };
}
