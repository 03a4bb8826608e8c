import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '#core/data/json';
import { collections } from '#ports/documents';
import { backTest, backTestLimits } from '#roles/rules/back-test';
import { failed, lineOf, ok, openDesk, stepsNamed, submitted, timePasses } from '../../test/roles/support.ts';
import { rule } from '../../test/support/rules.ts';

/**
 * Back-tests a rule over the exceptions of 10,000 orders in the embedded store. In each order, a step failed, and a person requested it
 * again. The rule reads an output, so the back-test must read each journal, too. All orders are copies of one that the system has run.
 */
const orders = Number(process.env['BENCH_ORDERS'] ?? 10_000);
const chunk = 500;

const ends: (() => void)[] = [];
const folder = mkdtempSync(join(tmpdir(), 'redress-bench-'));
const desk = openDesk({ after: (end) => void ends.push(end as () => void) }, lineOf(stepsNamed('one', 'two')), { dataFolder: folder });

async function example(): Promise<string> {
  const orderId = await submitted(desk);
  await desk.answer(await desk.request(), ok({ price: 7 }));
  await desk.answer(await desk.request(), failed('Declined'));
  const decision = { kind: 'resubmit', by: 'olga', reason: 'it may work now' } as const;
  await timePasses(desk.clock, desk.system.scheduler.instruct(orderId, decision, { id: 'i' }));
  await desk.answer(await desk.request());
  return orderId;
}

async function copies(orderId: string): Promise<void> {
  const found = await desk.store.load(orderId);
  const documents = await desk.store.documents(collections.order(orderId), undefined, 100);
  const pages = await desk.store.pages(orderId);
  const rest = orderId.slice('ord_'.length);
  const text = JSON.stringify({ found, documents });
  for (let from = 1; from < orders; from += chunk)
    await Promise.all(
      Array.from({ length: Math.min(chunk, orders - from) }, async (_, index) => {
        const id = `${String(from + index)
          .padStart(6, 'a')
          .replaceAll(/\d/g, (digit) => String.fromCodePoint(98 + Number(digit)))}${rest.slice(6)}`;
        const copy = JSON.parse(text.replaceAll(rest, id)) as { found: NonNullable<typeof found>; documents: typeof documents };
        await desk.store.create(copy.found.order, copy.found.state, { messages: [], announcements: [] });
        for (const [at, page] of pages.entries()) await desk.store.putPage(copy.found.order.orderId, at + 1, page);
        for (const document of copy.documents) await desk.store.putDocument(document, 0);
      }),
    );
}

const print = (figures: object): void => void process.stdout.write(`${JSON.stringify({ bench: 'back-test', ...figures } as JsonObject)}\n`);

try {
  await copies(await example());
  const object = { workflow: 'line', step: 'order/two' };
  const tested = rule({ object, event: { kind: 'exception' }, condition: 'outputs.one.price > 5.0', action: { kind: 'retry' } });
  const now = desk.clock.now();
  const started = performance.now();
  const sums = { examined: 0, matched: 0, sameOutcome: 0, pages: 0, slowestPageSeconds: 0 };
  let after: string | undefined;
  do {
    const began = performance.now();
    const extent = { since: now - 86_400_000, now, after, limit: backTestLimits.pageMax };
    const page = await backTest(tested, extent, { store: desk.store, definitions: desk.system.definitions });
    sums.examined += page.examined;
    sums.matched += page.matched;
    sums.sameOutcome += page.sameOutcome;
    sums.pages++;
    sums.slowestPageSeconds = Math.max(sums.slowestPageSeconds, Number(((performance.now() - began) / 1000).toFixed(2)));
    after = page.next;
  } while (after !== undefined);
  print({ orders, ...sums, seconds: Number(((performance.now() - started) / 1000).toFixed(1)), most: 60 });
} finally {
  for (const end of ends) end();
  rmSync(folder, { recursive: true, force: true });
}
