import type { JsonObject } from '#core/data/json';
import { backTestLimits } from '#roles/rules/back-test';
import type { Api } from './http.ts';

interface PageView {
  readonly examined: number;
  readonly matched: number;
  readonly sameOutcome: number;
  readonly differs: number;
  readonly items: readonly {
    readonly orderId: string;
    readonly exceptionId: string;
    readonly at: string;
    readonly wouldHave: { readonly kind: string };
    readonly whatHappened: { readonly by: string; readonly kind?: string; readonly verified?: string } | null;
  }[];
  readonly next: string | null;
}

/** The sums over all pages so far, and the first exceptions that the rule matches. */
export type Sums = Omit<PageView, 'next'>;

/** Back-tests a rule on the exceptions of the last `days` days, page by page, and calls `onPage` after each page. */
export async function backTested(api: Api, rule: JsonObject, days: number, onPage: (sums: Sums) => void = () => undefined): Promise<Sums> {
  let sums: Sums = { examined: 0, matched: 0, sameOutcome: 0, differs: 0, items: [] };
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const body = { rule, days, ...(cursor === undefined ? {} : { cursor }) };
    const page: PageView = (await api.call<PageView>('POST', '/rules/back-test', { body })).body;
    sums = added(sums, page);
    cursor = page.next;
    onPage(sums);
  }
  return sums;
}

const added = (sums: Sums, page: PageView): Sums => ({
  examined: sums.examined + page.examined,
  matched: sums.matched + page.matched,
  sameOutcome: sums.sameOutcome + page.sameOutcome,
  differs: sums.differs + page.differs,
  items: [...sums.items, ...page.items].slice(0, backTestLimits.itemsMax),
});

export const figuresText = ({ examined, matched, sameOutcome, differs }: Sums): string =>
  `${examined} examined, ${matched} matched: ${sameOutcome} with the same outcome, ${differs} with another one.`;
