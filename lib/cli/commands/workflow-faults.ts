import type { Cli, CliCommand } from '#cli/command';
import { table } from '#cli/text';
import { declareWorkflows, type WorkflowOptions, workflowsOf } from '#cli/workflows';
import { engineFaults, shortType } from '#core/data/fault';
import type { WorkflowDefinition } from '#core/definition/definition';
import { type FaultEnd, type FaultPath, faultPathsOf, type RetryTaken, silence } from '#core/views/fault-paths';

/** Shows each fault of each step and its handler, for the review of a workflow. */
export const workflowFaults: CliCommand<WorkflowOptions> = {
  name: 'workflow faults',
  summary: "Show the handler of each step's faults",
  declare: declareWorkflows,

  async run(cli, options, [file = '']) {
    const workflows = (await workflowsOf(file, options)).map((workflow) => ({ workflow, faults: faultPathsOf(workflow) }));
    cli.print({ workflows: workflows.map(({ workflow: { name, version }, faults }) => ({ name, version, faults })) }, () =>
      workflows.map(({ workflow, faults }) => faultsText(workflow, faults, cli)).join('\n'),
    );
  },
};

function faultsText({ name, version }: WorkflowDefinition, faults: readonly FaultPath[], { paint }: Pick<Cli, 'paint'>): string {
  const rows = linesOf(faults).map(({ path, names, first }) => [path, names, againText(first), takerText(first), thenText(first.end)]);
  return `${paint('bold', `${name}@${version}`)}\n${table(['step', 'fault', 'retries', 'handled by', 'then'], rows, paint)}`;
}

/** A line of the table: faults of one step that end in the same way, and the first of them. */
interface Line {
  readonly path: string;
  readonly names: string;
  readonly first: FaultPath;
}

/** Returns one line for each declared fault, and one for all engine faults of a step that end in the same way. */
function linesOf(faults: readonly FaultPath[]): readonly Line[] {
  const wayOf = ({ path, retries, askedAgain, end }: FaultPath) => JSON.stringify([path, retries, askedAgain, end]);
  return [...Map.groupBy(faults, ({ path }) => path).values()].flatMap((ofStep) => {
    const [own, engine] = [ofStep.filter(({ origin }) => origin !== 'engine'), ofStep.filter(({ origin }) => origin === 'engine')];
    return [
      ...own.map((first) => ({ path: first.path, names: shortType(first.fault), first })),
      ...[...Map.groupBy(engine, wayOf).values()].flatMap((alike): readonly Line[] => {
        const [first] = alike;
        return first ? [{ path: first.path, names: alike.map(engineName).join(', '), first }] : [];
      }),
    ];
  });
}

/** Returns the name of an engine fault as workflows import it. `DeadlineExceeded` has two cases, so its name says which one. */
function engineName({ fault }: FaultPath): string {
  if (fault === silence) return 'DeadlineExceeded (no answer)';
  return fault === engineFaults.deadlineExceeded ? 'DeadlineExceeded (time limit)' : shortType(fault);
}

const againText = ({ retries, askedAgain }: FaultPath): string =>
  [...retries.map(retryText), ...(askedAgain ? ['requested again when late'] : [])].join('; ');

function retryText({ path, retries: count, intervalSeconds: interval, except, only = [], undoFirst }: RetryTaken): string {
  const excepted = except.length > 0 ? `, not after ${except.map(shortType).join(' or ')}` : '';
  const named = only.length > 0 ? `, only after ${only.map(shortType).join(' or ')}` : '';
  return `${path}: ${count} times${interval > 0 ? `, every ${interval} s` : ''}${excepted}${named}${undoFirst ? ', undone first' : ''}`;
}

function takerText({ end, origin }: FaultPath): string {
  switch (end.kind) {
    case 'handled':
      return end.handler;
    case 'operator':
      if (end.toCaller) return 'the caller, else an operator';
      return origin === 'engine' || end.foreseen ? 'an operator' : 'no handler: an operator';
    default:
      return 'onExhausted';
  }
}

function thenText(end: FaultEnd): string {
  switch (end.kind) {
    case 'operator':
      return end.toCaller ? 'an order with a caller is undone, one without is blocked' : 'the order is blocked';
    case 'waits':
      return 'the step is requested again after long waits';
    case 'undone':
      return 'the whole order is undone';
    case 'handled': {
      const acts = end.does.map((act) =>
        act.kind === 'undoes' ? `undoes ${act.scope}` : act.kind === 'raises' ? `raises ${shortType(act.fault)}` : 'terminates the order',
      );
      const on = end.at.includes('/') ? `continues after ${end.at}` : 'the order ends';
      return [...new Set([...acts, ...(end.goesOn ? [on] : [])])].join(', ');
    }
  }
}
