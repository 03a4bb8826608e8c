import type { JsonObject } from '#core/data/json';
import type { Notice } from './notice.ts';

/** The task that a message shows as an example of all tasks of its notice, without secrets. All times: milliseconds since 1970. */
export interface SampleTask {
  readonly taskId: string;
  readonly kind: string;
  /** Absent for a task without an order. */
  readonly orderId?: string;
  readonly workflow?: string;
  /** Path of the activity. */
  readonly path?: string;
  readonly type?: string;
  /** The fault's message, the question, or the text of a rule. */
  readonly text?: string;
  readonly fingerprint?: string;
  readonly openedAt: number;
  readonly dueAt: number;
  readonly reminders: number;
  /** The group that should have taken the task, if the task was handed on to the group of this message. */
  readonly escalatedFrom?: string;
}

/** The figures of all exceptions with one fingerprint. */
export interface FingerprintFigures {
  readonly count: number;
  readonly open: number;
  readonly lastAt: number;
}

export interface MessageFacts {
  /** The id of the message, the same for each try and each destination. */
  readonly id: string;
  readonly at: number;
  /** The name of the group of people who get the message. */
  readonly group: string;
  readonly message: 'first' | 'summary';
  /** The notice that the message is about, before the message is counted in it. */
  readonly notice: Notice;
  readonly sample: SampleTask;
  readonly figures?: FingerprintFigures | undefined;
  /** The group gets no further message before this time. */
  readonly pausedUntil?: number | undefined;
  /** The address of the console, without a slash at its end. */
  readonly consoleUrl?: string | undefined;
}

/** A message for people, as every destination gets it. */
export interface PeopleMessage {
  readonly id: string;
  readonly type: 'task.opened' | 'task.reminder' | 'task.summary';
  readonly at: number;
  /** One line of fewer than 100 characters, without line breaks: the limit of SNS for subjects. */
  readonly subject: string;
  /** Lines of text: what happened, to what, and what to do next. */
  readonly text: string;
  readonly data: JsonObject;
}

const subjectCharactersMax = 99;
const quotedCharactersMax = 300;

/** Returns the message about a notice. It quotes nothing but what exceptions and tasks show, which have no secrets. */
export function messageOf(facts: MessageFacts): PeopleMessage {
  const { id, at, notice, sample } = facts;
  const isReminder = sample.reminders > 0 && (notice.news?.opened ?? 0) === 0;
  const type = facts.message === 'summary' && !isReminder ? 'task.summary' : isReminder ? 'task.reminder' : 'task.opened';
  const sentences = [...(type === 'task.summary' ? summaryOf(facts) : [whatHappened(sample), ...reminderText(facts)]), ...nextSteps(facts)];
  return { id, type, at, subject: subjectOf(facts, type), text: sentences.join('\n'), data: dataOf(facts) };
}

function subjectOf({ sample, notice, figures }: MessageFacts, type: PeopleMessage['type']): string {
  const what = headline(sample);
  const news = notice.news?.opened ?? 0;
  const figure =
    type === 'task.summary'
      ? ` (${news} new, ${figures?.open ?? notice.count} ${figures ? 'open' : 'in all'})`
      : type === 'task.reminder'
        ? ` (reminder ${sample.reminders})`
        : '';
  return `${shortened(oneLine(what), subjectCharactersMax - figure.length)}${figure}`;
}

/** Says what a task is about, in one line. */
function headline({ kind, workflow = 'An order', path, type, text = '' }: SampleTask): string {
  const place = path === undefined ? '' : ` at ${lastOf(path)}`;
  switch (kind) {
    case 'question':
      return `${workflow} asks${place}: ${text}`;
    case 'undo-stuck':
      return `${workflow} cannot be undone${place}: ${type}`;
    case 'dead-letter':
      return text;
    case 'rule':
      return `${workflow}: a rule asks for a person`;
    default:
      return `${workflow} is blocked${place}: ${type ?? text}`;
  }
}

/** Says what happened to which order, with its message. */
function whatHappened(sample: SampleTask): string {
  const { kind, orderId, workflow, path, type, openedAt } = sample;
  const quoted = sample.text === undefined ? '' : shortened(oneLine(sample.text), quotedCharactersMax);
  const whose = orderId === undefined ? '' : `Order ${orderId}${workflow === undefined ? '' : ` of ${workflow}`}`;
  const place = path === undefined ? '' : ` at ${path}`;
  const since = ` since ${minute(openedAt)}`;
  switch (kind) {
    case 'question':
      return `${whose} waits for an answer${place}${since}: ${quoted}`;
    case 'undo-stuck':
      return `An undo of ${lowered(whose)} keeps failing${place}${since}: ${type}. ${quoted}`;
    case 'outcome-unknown':
      return `${whose} is blocked${place}${since}: ${type}. Nobody knows whether the effect of this step exists. ${quoted}`;
    case 'dead-letter':
      return quoted;
    case 'rule':
      return `A rule asks for a person about ${lowered(whose)}${since}. ${quoted}`;
    default:
      return `${whose} is blocked${place}${since}: ${type ?? 'a fault'}. ${quoted}`;
  }
}

function reminderText({ sample }: MessageFacts): readonly string[] {
  if (sample.reminders === 0) return [`The task is due at ${minute(sample.dueAt)}.`];
  const from = sample.escalatedFrom === undefined ? '' : ` The group ${sample.escalatedFrom} has not resolved it.`;
  return [
    `Nobody has resolved task ${sample.taskId}, which was due at ${minute(sample.dueAt)}. This is reminder ${sample.reminders}.${from}`,
  ];
}

function summaryOf({ notice, sample, figures }: MessageFacts): readonly string[] {
  const { opened = 0, reminded = 0, lastAt = notice.firstAt } = notice.news ?? {};
  const total = figures?.count ?? notice.count;
  return [
    `${headline(sample)}.`,
    `${opened} new ${opened === 1 ? 'task' : 'tasks'} since the last message; ${total} in all, the first at ${minute(notice.firstAt)}, the last at ${minute(figures?.lastAt ?? lastAt)}.`,
    ...(figures ? [`${figures.open} of them are still open.`] : []),
    ...(reminded > 0
      ? [`${reminded} ${reminded === 1 ? 'reminder is' : 'reminders are'} among the news: nobody has resolved these tasks.`]
      : []),
    `The last task: ${whatHappened(sample)}`,
  ];
}

function nextSteps(facts: MessageFacts): readonly string[] {
  const { pausedUntil } = facts;
  return [
    `Next: ${commandFor(facts)}`,
    ...(linkFor(facts) === undefined ? [] : [String(linkFor(facts))]),
    ...(facts.message === 'first' ? ['More tasks like this one follow in summaries, not one by one.'] : []),
    ...(pausedUntil === undefined
      ? []
      : [
          `The group ${facts.group} has got as many messages as it may, and gets no further one before ${minute(pausedUntil)}. Until then, npx redress exception groups shows which exceptions are open.`,
        ]),
  ];
}

/** Returns the command that shows what can be done. */
function commandFor({ message, sample }: MessageFacts): string {
  if (message === 'summary' && sample.fingerprint !== undefined)
    return `npx redress exception list --state open --fingerprint ${sample.fingerprint}`;
  return sample.orderId === undefined ? 'npx redress channel list' : `npx redress order get ${sample.orderId}`;
}

function linkFor({ message, sample: { orderId, fingerprint }, consoleUrl }: MessageFacts): string | undefined {
  if (consoleUrl === undefined) return undefined;
  if (message === 'summary' && fingerprint !== undefined) return `${consoleUrl}/#/exceptions?group=${encodeURIComponent(fingerprint)}`;
  return orderId === undefined ? `${consoleUrl}/#/` : `${consoleUrl}/#/orders/${encodeURIComponent(orderId)}`;
}

function dataOf(facts: MessageFacts): JsonObject {
  const { group, notice, sample, figures } = facts;
  const { openedAt, dueAt, ...known } = sample;
  const link = linkFor(facts);
  return {
    group,
    ...known,
    openedAt: iso(openedAt),
    dueAt: iso(dueAt),
    new: notice.news?.opened ?? 0,
    count: figures?.count ?? notice.count,
    ...(figures ? { open: figures.open } : {}),
    firstAt: iso(notice.firstAt),
    lastAt: iso(figures?.lastAt ?? notice.news?.lastAt ?? notice.firstAt),
    command: commandFor(facts),
    ...(link === undefined ? {} : { link }),
  };
}

const iso = (at: number): string => new Date(at).toISOString();
/** `2026-01-31 10:02 UTC` */
const minute = (at: number): string => `${iso(at).slice(0, 16).replace('T', ' ')} UTC`;
const lastOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);
const lowered = (text: string): string => text.slice(0, 1).toLowerCase() + text.slice(1);
const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim();
const shortened = (text: string, charactersMax: number): string =>
  text.length <= charactersMax ? text : `${text.slice(0, charactersMax - 1)}…`;
