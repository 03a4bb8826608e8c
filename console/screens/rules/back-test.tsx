import { useEffect, useState } from 'preact/hooks';
import type { JsonObject } from '#core/data/json';
import { Problem, post } from '../../api/client.ts';
import type { BackTest as Page } from '../../api/types.ts';
import { ProblemNote } from '../../parts/problem.tsx';
import { Said, shortId } from '../../parts/text.tsx';
import { orderLink } from '../../router.ts';

const said = (value: unknown): string => {
  if (typeof value === 'string') return value;
  const { kind } = (value ?? {}) as { kind?: unknown };
  return typeof kind === 'string' ? kind : JSON.stringify(value);
};

const days = 7;
const pagesMax = 20;

/** The back-test of a rule: what it would have done in the last days. It changes nothing. */
export function BackTest({ body, id }: { body: JsonObject; id: string }) {
  const [result, setResult] = useState<Page>();
  const [problem, setProblem] = useState<Problem>();
  const [busy, setBusy] = useState(false);
  const text = JSON.stringify(body);
  useEffect(() => {
    setResult(undefined);
    setProblem(undefined);
  }, [text]);
  const test = async (): Promise<void> => {
    let sum: Page = { examined: 0, matched: 0, sameOutcome: 0, differs: 0, items: [], next: null };
    let cursor: string | null = null;
    for (let pages = 0; pages < pagesMax; pages += 1) {
      const given: Page = await post<Page>('/rules/back-test', {
        rule: { id: id || 'draft', ...body },
        days,
        limit: 500,
        ...(cursor === null ? {} : { cursor }),
      });
      sum = {
        examined: sum.examined + given.examined,
        matched: sum.matched + given.matched,
        sameOutcome: sum.sameOutcome + given.sameOutcome,
        differs: sum.differs + given.differs,
        items: [...sum.items, ...given.items],
        next: given.next,
      };
      setResult(sum);
      cursor = given.next;
      if (cursor === null) return;
    }
  };
  const run = (): void => {
    setBusy(true);
    setProblem(undefined);
    test()
      .catch((error: unknown) => setProblem(error instanceof Problem ? error : undefined))
      .finally(() => setBusy(false));
  };
  const isMissing = problem?.status === 404 || problem?.status === 405;
  return (
    <div class="body stack effect-part back-test">
      <div class="row">
        <button class="btn" type="button" disabled={busy} onClick={run}>
          {`Back-test, last ${days} days`}
        </button>
        <span class="hint">
          {isMissing ? 'This version of the system has no back-test.' : 'The back-test only reads earlier exceptions. It changes nothing.'}
        </span>
      </div>
      {problem && !isMissing && <ProblemNote problem={problem} />}
      {result && <Result result={result} />}
    </div>
  );
}

function Result({ result: { examined, matched, sameOutcome, differs, items } }: { result: Page }) {
  const share = (count: number): number => (matched === 0 ? 0 : (1000 * count) / matched);
  const different = items.filter(({ wouldHave, whatHappened }) => said(wouldHave) !== said(whatHappened)).slice(0, 20);
  return (
    <>
      <p class="figure">
        <b>{matched}</b> of {examined} exceptions match. In <b>{sameOutcome}</b> of them the same kind of action was taken, and it helped.
      </p>
      <svg
        class="split-bar"
        viewBox="0 0 1000 10"
        preserveAspectRatio="none"
        role="img"
        aria-label={`same outcome ${sameOutcome}, differs ${differs}`}
      >
        <rect class="c" x="0" y="0" width="1000" height="10" />
        <rect class="a" x="0" y="0" width={share(sameOutcome)} height="10" />
        <rect class="b" x={share(sameOutcome)} y="0" width={share(differs)} height="10" />
      </svg>
      {different.length > 0 && (
        <ul class="mini">
          {different.map(({ orderId, exceptionId, wouldHave, whatHappened }) => (
            <li key={exceptionId}>
              <a class="id" href={orderLink(orderId)}>
                {shortId(orderId)}
              </a>
              <span>
                would: <Said>{said(wouldHave)}</Said>
                <br />
                <b>
                  was: <Said>{said(whatHappened)}</Said>
                </b>
              </span>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
