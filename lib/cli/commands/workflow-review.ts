import type { CliCommand } from '#cli/command';
import { wholeOption } from '#cli/options';
import { printable, table } from '#cli/text';

interface Options {
  readonly limit: number;
}

/** An instruction with which people resolved exceptions of a cluster, and how often it was used and has passed. */
interface WayView {
  readonly instruction: { readonly kind: string };
  readonly used: number;
  readonly passed: number;
}

interface ClusterView {
  readonly fingerprint: string;
  readonly type: string;
  readonly step: string | null;
  readonly count: number;
  readonly open: number;
  readonly resolutions: readonly WayView[];
  readonly proposal: {
    readonly kind: string;
    readonly path: string;
    readonly version: number;
    readonly drawnFrom: WayView;
    readonly code: string;
    readonly diff: readonly string[];
    readonly alsoTakes: readonly string[];
  } | null;
  readonly why?: string;
}

/** The figures of a replay. `fit`: orders that would have needed no person. `assumed`: those of them that depend on requests never made. */
interface Replay {
  readonly checked: number;
  readonly fit: number;
  readonly assumed: number;
}

interface Page<T> {
  readonly items: readonly T[];
  readonly next: string | null;
}

type Cli = Parameters<CliCommand<Options>['run']>[0];
type Api = Awaited<ReturnType<Cli['api']>>;

/** Shows alike exceptions of a workflow, the change that they suggest, and how many orders would then have needed no person. */
export const workflowReview: CliCommand<Options> = {
  name: 'workflow review',
  summary: 'Propose changes of a workflow from resolved exceptions',
  declare: (command) =>
    command
      .argument('<workflow>', 'name of a workflow of the running system: fulfil-order')
      .option('--limit <number>', 'stop a replay after the page that reaches so many orders', wholeOption(1, 1_000_000), 1_000),

  async run(cli, { limit }, [workflow = '']) {
    const api = await cli.api('operator');
    const path = `/workflows/${encodeURIComponent(workflow)}`;
    const reviewed: (ClusterView & { readonly replay?: Replay })[] = [];
    for (const cluster of await clustersAt(api, path)) {
      const { proposal, fingerprint } = cluster;
      if (!proposal) reviewed.push(cluster);
      // The API checks orders of the version that the proposal changes, the one before the proposed version.
      else
        reviewed.push({
          ...cluster,
          replay: await replayCluster(cli, api, `${path}/${proposal.version - 1}/check`, { fingerprint, limit }),
        });
    }
    cli.print({ items: reviewed }, () =>
      reviewed.length > 0 ? [table(headings, reviewed.map(rowOf), cli.paint), ...reviewed.map(textOf)].join('') : '',
    );
    if (!cli.json && reviewed.length === 0) cli.terminal.say(`${printable(workflow)} has had no exceptions in the last 30 days.`);
    return undefined;
  },
};

async function clustersAt(api: Api, path: string): Promise<readonly ClusterView[]> {
  const found: ClusterView[] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const query = cursor === undefined ? '' : `?cursor=${encodeURIComponent(cursor)}`;
    const { body }: { readonly body: Page<ClusterView> } = await api.call<Page<ClusterView>>('GET', `${path}/clusters${query}`);
    found.push(...body.items);
    cursor = body.next;
  }
  return found;
}

/** Replays the orders of a cluster page by page. Orders with the newest exceptions come first. */
async function replayCluster(
  cli: Cli,
  api: Api,
  path: string,
  { fingerprint, limit }: { readonly fingerprint: string; readonly limit: number },
): Promise<Replay> {
  let sum: Replay = { checked: 0, fit: 0, assumed: 0 };
  for (let cursor: string | null | undefined; cursor !== null && sum.checked < limit; ) {
    const body = { cluster: fingerprint, ...(cursor === undefined ? {} : { cursor }) };
    const { body: page }: { readonly body: Replay & Page<unknown> } = await api.call<Replay & Page<unknown>>('POST', path, { body });
    sum = { checked: sum.checked + page.checked, fit: sum.fit + page.fit, assumed: sum.assumed + page.assumed };
    cursor = page.next;
    if (!cli.json && cursor !== null) cli.terminal.say(`${sum.checked} orders replayed, ${sum.fit} need no person`);
  }
  return sum;
}

const headings = ['step', 'exception', 'count', 'open', 'resolved by', 'proposal'];

const rowOf = ({ step, type, count, open, resolutions: [first], proposal }: ClusterView): readonly string[] => [
  step ?? '',
  type,
  String(count),
  String(open),
  first ? wayText(first) : '',
  proposal?.kind ?? '',
];

const wayText = ({ instruction, used, passed }: WayView): string => `${instruction.kind}, ${passed} of ${used} passed`;

function textOf({ step, type, proposal, why, replay }: ClusterView & { readonly replay?: Replay }): string {
  const title = `\n${printable(type)}${step === null ? '' : ` at ${printable(step)}`}`;
  if (!proposal) return `${title}: no proposal. ${printable(why ?? '')}\n`;
  const { kind, code, diff, drawnFrom, alsoTakes } = proposal;
  const assumed = replay && replay.assumed > 0 ? `, ${replay.assumed} of them if requests that they never made succeed` : '';
  return [
    `${title}: ${kind === 'if' ? 'a condition' : `a ${kind}`}, drawn from ${wayText(drawnFrom)}.`,
    `  ${printable(code)}`,
    ...diff.map((line) => `  ${printable(line)}`),
    ...(alsoTakes.length > 0 ? [`  The change also handles ${printable(type)} of ${alsoTakes.map(printable).join(', ')}.`] : []),
    ...(replay ? [`  ${replay.fit} of ${replay.checked} replayed orders would have needed no person${assumed}.`] : []),
    '',
  ].join('\n');
}
