import { firstOf, type InstructionKind, type InstructionRefusal, type Judged, refusal, whenFinished } from './kind.ts';

/** Has another workflow handle the open exceptions of a finished order. The order stays as it is. Source: decision 35. */
export interface Handle {
  readonly kind: 'handle';
  readonly workflow: string;
  /** The version of the workflow. Default: the newest one. */
  readonly version?: number;
}

/** The most handlers of one order that run at the same time. */
export const handlersMax = 4;

export const handle: InstructionKind<Handle> = {
  refusals: (order, instruction) =>
    firstOf(
      () => whenNoneIsOpen(order),
      () => [...ofWorkflow(order, instruction), ...whenTooMany(order)],
    ),
  staysStopped: () => true,
  apply: () => undefined,
};

/** Returns the reason against an order that is not finished, or that has no open exception from outside. */
function whenNoneIsOpen(order: Judged): readonly InstructionRefusal[] {
  if (order.processState === 'Processed') return order.openReports > 0 ? [] : whenFinished(order);
  return [
    refusal(
      'nothing-to-do',
      'The order is not finished. Use the instruction "amend" with the field "handle" to have a workflow handle its exceptions.',
    ),
  ];
}

/** Returns the reasons against a workflow that the app does not have. */
export function ofWorkflow(
  { programs, newest }: Judged,
  { workflow, version }: Pick<Handle, 'workflow' | 'version'>,
  pointer = '',
): readonly InstructionRefusal[] {
  if (!newest(workflow)) return [refusal('input-invalid', `The app has no workflow "${workflow}".`, { pointer: `${pointer}/workflow` })];
  if (version === undefined || programs(workflow, version)) return [];
  return [refusal('version-differs', `The app has no version ${version} of ${workflow}.`, { pointer: `${pointer}/version` })];
}

const whenTooMany = ({ openReports, handlers = 0 }: Judged): readonly InstructionRefusal[] =>
  openReports + handlers <= handlersMax
    ? []
    : [
        refusal(
          'too-large',
          `Cannot start a handler: an order has at most ${handlersMax} handlers. ${handlers} are running, and each of the ${openReports} open exceptions from outside reserves one. Wait until handlers have ended, or give another instruction.`,
        ),
      ];
