import { randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { changesBetween } from './changes.ts';
import type { Cli } from './command.ts';
import { createDemoView, type DemoRow, summaryOf } from './demo-view.ts';
import { RefusedError, UsageError } from './errors.ts';
import { followOrder } from './follow.ts';
import type { Api } from './http.ts';
import { isEnded } from './orders.ts';
import { readSubmission, type SubmissionBody } from './submission-file.ts';
import { counted } from './text.ts';

/** The demo submits invalid orders on purpose. Other refusals, such as a wrong token, end it. */
const refusesTheOrder = (error: unknown): error is RefusedError =>
  error instanceof RefusedError && [400, 413, 422].includes(error.problem.status);

/** Submits all orders of a folder together and shows how each ends. Resolves with the exit code: 0 if all have ended in time. */
export async function runDemo(cli: Cli, { samples, waitMs }: { readonly samples: string; readonly waitMs: number }): Promise<number> {
  const files = filesIn(samples);
  const submissions = await Promise.all(files.map((file) => readSubmission(join(samples, file), cli.terminal)));
  const api = await cli.api('client', 'demo');
  await api.call('GET', '/health');

  const rows: DemoRow[] = files.map((file) => ({ name: file.replace(/\.json$/, '') }));
  const watching = await cli.api('operator');
  const view = createDemoView(cli, rows);
  const run = randomUUID();
  const signal = AbortSignal.timeout(waitMs);
  await Promise.all(
    rows.map((row, index) =>
      play({ api, watching }, row, submissions[index] as SubmissionBody, { key: `demo-${run}-${index}`, view, signal }),
    ),
  );

  view.end();
  cli.print(
    { items: rows.map(({ name, order, problem }) => ({ name, ...(order ? { order } : {}), ...(problem ? { problem } : {}) })) },
    () => `${summaryOf(rows)}\n`,
  );
  const waiting = rows.filter(({ order }) => order?.processState === 'Error').length;
  if (waiting > 0)
    cli.terminal.say(
      `${counted(waiting, 'order')} ${waiting === 1 ? 'is' : 'are'} blocked: redress order list --state Error, redress order resubmit ID --reason TEXT, redress alerts`,
    );
  return rows.every(({ order, problem }) => problem !== undefined || (order !== undefined && isEnded(order))) ? 0 : 1;
}

async function play(
  { api, watching }: { readonly api: Api; readonly watching: Api },
  row: DemoRow,
  body: SubmissionBody,
  { key, view, signal }: { key: string; view: ReturnType<typeof createDemoView>; signal: AbortSignal },
): Promise<void> {
  try {
    const { body: submitted } = await api.call<{ orderId: string }>('POST', '/orders', { body, headers: { 'idempotency-key': key } });
    await followOrder(watching, submitted.orderId, {
      signal,
      seen(order, before) {
        row.order = order;
        view.changed(row, changesBetween(before, order));
      },
    });
  } catch (error) {
    if (!refusesTheOrder(error)) throw error;
    row.problem = error.problem;
    const [first] = error.problem.errors ?? [];
    view.changed(row, [`refused: ${[first?.pointer, first?.detail ?? error.problem.title].filter(Boolean).join(' ')}`]);
  }
}

function filesIn(folder: string): readonly string[] {
  const remedy = 'Name a folder of orders with --samples.';
  try {
    const files = readdirSync(folder).filter((name) => name.endsWith('.json'));
    if (files.length > 0) return files.sort();
  } catch (error) {
    if (!['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    throw new UsageError(`The folder ${folder} does not exist. ${remedy}`);
  }
  throw new UsageError(`The folder ${folder} has no orders (*.json). ${remedy}`);
}
