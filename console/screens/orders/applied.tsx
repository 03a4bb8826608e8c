import { useState } from 'preact/hooks';
import type { InstructionKind, Order } from '../../api/types.ts';
import { kinds } from '../../instructions/kinds.ts';
import { Icon } from '../../parts/icon.tsx';
import { shortId, shown, stepName } from '../../parts/text.tsx';

interface Given {
  readonly kind: InstructionKind;
  readonly path: string;
  readonly rev: number;
  readonly exceptionId: string | undefined;
}

export interface Applied {
  readonly tone: 'work' | 'ok' | 'stop';
  readonly text: string;
}

/** Remembers the instruction that was applied last in this tab, and says what became of it. Applied is not solved. */
export function useApplied(order: Order): readonly [Applied | undefined, (kind: InstructionKind, path: string) => void] {
  const [given, setGiven] = useState<Given>();
  const note = (kind: InstructionKind, path: string): void => setGiven({ kind, path, rev: order.rev, exceptionId: order.exceptionId });
  return [given && verdict(given, order), note];
}

const quiet = new Set<InstructionKind>(['acknowledge', 'suspend', 'resume', 'amend', 'migrate', 'handle', 'terminate', 'mark-compensated']);

function verdict({ kind, path, rev, exceptionId }: Given, order: Order): Applied {
  const { name } = kinds[kind];
  const step = order.steps.find((each) => each.path === path);
  if (quiet.has(kind)) return { tone: 'ok', text: `Applied: ${name}.` };
  if (kind === 'restart' && order.restartedAs !== null && order.outcome === 'completed')
    return { tone: 'work', text: `Applied: ${name}. The order stays as it is; ${shortId(order.restartedAs)} has begun.` };
  if (order.processState === 'Processed')
    return { tone: order.outcome === 'completed' ? 'ok' : 'work', text: `Applied: ${name}. The order has ended: ${order.outcome}.` };
  if (order.processState === 'Error' && order.rev > rev && order.exceptionId !== exceptionId)
    return {
      tone: 'stop',
      text: `Failed again: ${order.fault?.type ?? 'a fault'}${order.fault?.source ? ` at ${stepName(order.fault.source)}` : ''}.`,
    };
  if (step?.result === 'Succeeded') return { tone: 'ok', text: `Passed: ${step.name} is done.` };
  return { tone: 'work', text: `Applied: ${name}. It is not yet known whether it helps.` };
}

export const AppliedNote = ({ applied: { tone, text } }: { applied: Applied }) => (
  <div class={`note ${tone} applied-note`} role="status">
    <Icon name={tone === 'ok' ? 'done' : tone === 'stop' ? 'stop' : 'work'} />
    <div>{shown(text)}</div>
  </div>
);
