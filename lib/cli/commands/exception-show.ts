import type { CliCommand } from '#cli/command';
import { printable } from '#cli/text';

/** The state of the order and the status of its step, before or after an exception. */
interface Condition {
  readonly processState: string;
  readonly status: string | null;
}

interface ExceptionView {
  readonly id: string;
  readonly orderId: string;
  readonly workflow: { readonly name: string; readonly version: number };
  readonly path: string | null;
  readonly type: string;
  readonly class: string;
  readonly tags: readonly string[];
  readonly message: string;
  readonly data?: unknown;
  readonly before: Condition;
  readonly after: Condition;
  readonly attempt: number;
  readonly at: string;
  readonly fingerprint: string;
  readonly handling: { readonly by: string; readonly id?: string; readonly control: string; readonly at: string } | null;
  readonly causedBy?: string;
  readonly taskId?: string;
}

/** Shows one exception. */
export const exceptionShow: CliCommand<object> = {
  name: 'exception show',
  summary: 'Show an exception of an order; order get and exception list show its id',
  declare: (command) => command.argument('<id>', 'the id, such as exc_fi3b…_1: order get shows that of an order in Error'),

  async run(cli, _, [id = '']) {
    const { body } = await (await cli.api('viewer')).call<ExceptionView>('GET', `/exceptions/${encodeURIComponent(id)}`);
    cli.print(
      body,
      () =>
        `${linesOf(body)
          .map((line) => printable(line))
          .join('\n')}\n`,
    );
  },
};

const linesOf = (found: ExceptionView): readonly string[] => [
  `${found.type}: ${found.message}`,
  `  of order      ${found.orderId}, ${found.workflow.name}@${found.workflow.version}${found.path === null ? '' : `, ${found.path}`}`,
  `  at            ${found.at}${found.attempt > 0 ? `, request ${found.attempt}` : ''}`,
  `  class         ${found.class} (${found.tags.join(', ')})`,
  `  order, step   ${conditionText(found.before)}, then ${conditionText(found.after)}`,
  ...(found.data === undefined ? [] : [`  data          ${JSON.stringify(found.data)}`]),
  ...(found.causedBy === undefined ? [] : [`  caused by     ${found.causedBy}`]),
  `  fingerprint   ${found.fingerprint}`,
  `  handled       ${handlingText(found)}`,
];

const conditionText = ({ processState, status }: Condition): string => (status === null ? processState : `${processState} (${status})`);

function handlingText({ handling, taskId }: ExceptionView): string {
  if (!handling) return `not yet; task ${taskId ?? 'none'}`;
  const { by, id = by, at, control } = handling;
  const how = by === 'rule' ? ` (control: ${control})` : '';
  return `by ${id} at ${at}${how}${taskId === undefined ? '' : `; whether it helped: redress task show ${taskId}`}`;
}
