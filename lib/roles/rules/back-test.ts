import type { Json } from '#core/data/json';
import { isRemote } from '#core/definition/definition';
import type { ExceptionRecord } from '#core/exceptions/exception';
import type { RuleProblem } from '#core/rules/check-rule';
import { decide } from '#core/rules/decide';
import { isOfObject, isOfPattern, isOrderOf } from '#core/rules/match';
import type { RuleMemory } from '#core/rules/memory';
import { isSameOutcome } from '#core/rules/resolution';
import { patternsOf, type Rule } from '#core/rules/rule';
import { compileRules, isAnyOutputRead, type RuleSet } from '#core/rules/rule-set';
import type { DecidedAction, RuleEvent, Situation } from '#core/rules/situation';
import type { Definitions } from '#ports/definitions';
import { collections } from '#ports/documents';
import type { Store } from '#ports/store';
import { allSettledOrThrow } from '#ports/util/all-settled';
import { listExceptions } from '#roles/exceptions/list';
import { exceptionIn, exceptionKey, isEarlyClosing } from '#roles/exceptions/records';
import type { JournalEntry } from '#roles/scheduler/instance';
import { readableOrder } from '#roles/scheduler/load';
import { outputsIn, valuesAt } from '#roles/scheduler/rule-values';
import { wholeJournal } from '#roles/scheduler/step-report';
import type { Loaded } from '#roles/scheduler/types';
import { fullTypes } from './fault-types.ts';
import { resolutionOf, type WhatHappened } from './what-happened.ts';

interface Ports {
  readonly store: Store;
  readonly definitions: Definitions;
}

/** A page of exceptions to examine. Times are milliseconds since 1970. */
interface Extent {
  readonly since: number;
  readonly now: number;
  readonly after: string | undefined;
  readonly limit: number;
}

/** An exception that the rule matches: what it would have done, and what happened. */
export interface BackTested {
  readonly orderId: string;
  readonly exceptionId: string;
  readonly at: number;
  readonly wouldHave: DecidedAction;
  /** Null while the exception is open. */
  readonly whatHappened: WhatHappened | null;
}

/** The figures of one page. `matched` is the sum of `sameOutcome` and `differs`. */
export interface BackTestPage {
  readonly examined: number;
  readonly matched: number;
  readonly sameOutcome: number;
  readonly differs: number;
  /** The newest exceptions that the rule matches, at most `itemsMax`. */
  readonly items: readonly BackTested[];
  readonly next?: string;
}

export const backTestLimits = { itemsMax: 100, pageMax: 500, daysMax: 30 } as const;
/** Orders that are read side by side. */
const readAtOnce = 25;

/** Returns why exceptions of the past cannot tell what a rule would have done. */
export function backTestProblems(rule: Pick<Rule, 'event' | 'all' | 'any'>): readonly RuleProblem[] {
  const kinds = patternsOf(rule).map(({ kind }) => kind);
  const other = kinds.find((kind) => kind !== 'exception');
  const fits = rule.all ? other === undefined : kinds.includes('exception');
  if (fits || other === undefined) return [];
  const field = rule.all ? 'all' : rule.any ? 'any' : 'event/kind';
  const detail = `A back-test examines exceptions, and cannot tell of events of kind ${other}. Use the mode dry-run instead.`;
  return [{ pointer: `/${field}`, code: 'not-applicable', detail }];
}

/** Examines a page of exceptions, newest first: what a rule in force would have done about each. Nothing is changed. */
export async function backTest(rule: Rule, { since, now, after, limit }: Extent, ports: Ports): Promise<BackTestPage> {
  const { items: examined, next } = await listExceptions(ports.store, { since }, { after, limit, now });
  const set = compileRules([{ ...rule, mode: 'enforce' }], ports.definitions);
  const typesOf = fullTypes(ports.definitions);
  const about = examined.flatMap((exception) => {
    const event = eventAbout(rule, exception, ports.definitions, typesOf(exception.type));
    return event ? [{ exception, event }] : [];
  });
  const found: BackTested[] = [];
  let same = 0;
  for (let from = 0; from < about.length; from += readAtOnce) {
    const part = about.slice(from, from + readAtOnce);
    const tested = await allSettledOrThrow(part.map((each) => testOne({ ...each, rule, set, typesOf }, ports)));
    for (const each of tested) {
      if (!each) continue;
      found.push(each);
      if (each.whatHappened && isSameOutcome(each.wouldHave, each.whatHappened)) same++;
    }
  }
  const figures = { examined: examined.length, matched: found.length, sameOutcome: same, differs: found.length - same };
  return { ...figures, items: found.slice(0, backTestLimits.itemsMax), ...(next === undefined ? {} : { next }) };
}

/**
 * Returns the event of an exception; undefined if the rule is not about it. The record of an exception has only the last part of its
 * fault's type, so each full type with that last part is tried.
 */
function eventAbout(rule: Rule, exception: ExceptionRecord, definitions: Definitions, types: readonly string[]): RuleEvent | undefined {
  const { seq, at, class: faultClass, fingerprint, step, orderId, workflow } = exception;
  if (!isOrderOf({ orderId, workflow } as Situation, rule)) return undefined;
  const node = step === null ? undefined : definitions.program(workflow.name, workflow.version)?.nodes.get(step);
  const agent = node && isRemote(node) ? { agent: node.agent } : {};
  const event = {
    id: `exc-${seq}`,
    kind: 'exception' as const,
    at,
    class: faultClass,
    fingerprint,
    ...(step === null ? {} : { step }),
    ...agent,
  };
  if (!isOfObject(event, rule)) return undefined;
  const type = types.find((each) => patternsOf(rule).some((pattern) => isOfPattern({ ...event, type: each }, pattern)));
  return type === undefined ? undefined : { ...event, type };
}

interface Tested {
  readonly exception: ExceptionRecord;
  readonly event: RuleEvent;
  readonly rule: Rule;
  readonly set: RuleSet;
  readonly typesOf: (type: string) => readonly string[];
}

/**
 * Tests one exception. Undefined: the condition is false, the list of events of the rule is incomplete, or the order is forgotten or
 * unreadable.
 */
async function testOne({ exception, event, rule, set, typesOf }: Tested, ports: Ports): Promise<BackTested | undefined> {
  const { store, definitions } = ports;
  const { orderId, workflow, submittedAt, at, handling } = exception;
  const loaded = await readableOrder(orderId, ports);
  if (!loaded || loaded.record.submittedAt !== submittedAt) return undefined;
  const needsJournal = isAnyOutputRead(set, 'exception', workflow.name) || handling?.by === 'rule';
  const journal = needsJournal ? wholeJournal(await store.pages(orderId), loaded.instance.tail) : undefined;
  const decideAbout = (about: ExceptionRecord, of: RuleEvent, memory: RuleMemory) =>
    decide(set, { orderId, workflow, event: of, values: valuesOf(about, loaded, journal) }, memory);

  const earlier = rule.all ? await earlierOf(exception, store) : [];
  const memory = earlier.reduce<RuleMemory>((known, each) => {
    const of = eventAbout(rule, each, definitions, typesOf(each.type));
    return of ? decideAbout(each, of, known).memory : known;
  }, {});
  const [decision] = decideAbout(exception, event, memory).decisions;
  if (!decision) return undefined;
  const whatHappened = await resolutionOf(exception, loaded.program, journal, store);
  return { orderId, exceptionId: exception.id, at, wouldHave: decision.action, whatHappened };
}

/** Returns the values that the rule may read, as they were at the time of the exception, as far as they are still known. */
function valuesOf(exception: ExceptionRecord, loaded: Loaded, journal: readonly JournalEntry[] | undefined): Situation['values'] {
  const { path, after, attempt, at } = exception;
  const { step, ...values } = valuesAt({ loaded, instance: loaded.instance }, path ?? undefined, exception);
  const then = { status: after.status ?? 'Faulting', attempts: attempt, output: null };
  return {
    ...values,
    outputs: journal ? outputsIn(journal.filter((entry) => entry.at <= at)) : values.outputs,
    ...(step === undefined ? {} : { step: { ...(step as { readonly [name: string]: Json }), ...then } }),
  };
}

/** For a rule with a list of events, at most this many earlier exceptions of the order are read. */
const earlierMax = 100;

/** Returns the exceptions of the same order before this one, oldest first. */
async function earlierOf({ orderId, seq, submittedAt }: ExceptionRecord, store: Store): Promise<readonly ExceptionRecord[]> {
  const first = exceptionKey(orderId, Math.max(0, seq - earlierMax)).id;
  const documents = await store.documents(collections.order(orderId), first, Math.min(seq, earlierMax));
  return documents
    .filter((document) => document.id < exceptionKey(orderId, seq).id && !isEarlyClosing(document))
    .map(exceptionIn)
    .filter((each) => each.submittedAt === submittedAt);
}
