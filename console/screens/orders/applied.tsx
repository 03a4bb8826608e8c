import { useEffect, useRef, useState } from 'preact/hooks';
import type { InstructionKind, Order } from '../../api/types.ts';
import { kindFor } from '../../instructions/kinds.ts';
import { Icon } from '../../parts/icon.tsx';
import { focusOn } from '../../parts/sight.ts';
import { shortId, shown, stepName } from '../../parts/text.tsx';
import { undoneText } from './sentence.ts';

interface Given {
  readonly kind: InstructionKind;
  readonly path: string;
  readonly rev: number;
  readonly exceptionId: string | undefined;
  /** The name of the kind, as the form had it. */
  readonly name: string;
}

export interface Applied {
  /** A new object for each applied instruction, so that the note about each gets the focus. */
  readonly given: Given;
  readonly tone: 'work' | 'ok' | 'stop';
  readonly text: string;
}

/** Remembers the instruction that was applied last in this tab, and says what became of it. An applied instruction may not have helped. */
export function useApplied(order: Order): readonly [Applied | undefined, (kind: InstructionKind, path: string) => void] {
  const [given, setGiven] = useState<Given>();
  const note = (kind: InstructionKind, path: string): void => {
    setGiven({ kind, path, rev: order.rev, exceptionId: order.exceptionId, name: kindFor(kind, order).name });
  };
  return [given && { ...verdict(given, order), given }, note];
}

/** Kinds without a verdict: `Applied` is all that there is to say. */
const withoutVerdict = new Set<InstructionKind>([
  'acknowledge',
  'suspend',
  'resume',
  'amend',
  'migrate',
  'handle',
  'terminate',
  'mark-compensated',
]);

function verdict({ kind, path, rev, exceptionId, name }: Given, order: Order): Omit<Applied, 'given'> {
  const step = order.steps.find((each) => each.path === path);
  const undone = undoneText(order);
  const end = order.processState === 'Processed' ? ` The order has ended: ${order.outcome}. ${undone}`.trimEnd() : '';
  if (withoutVerdict.has(kind)) return { tone: 'ok', text: `Applied: ${name}.${undone === '' ? '' : end}` };
  if (kind === 'restart' && order.restartedAs !== null && order.outcome === 'completed')
    return { tone: 'work', text: `Applied: ${name}. The order stays as it is; ${shortId(order.restartedAs)} has begun.` };
  if (order.processState === 'Processed') return { tone: order.outcome === 'completed' ? 'ok' : 'work', text: `Applied: ${name}.${end}` };
  if (order.processState === 'Error' && order.rev > rev && order.exceptionId !== exceptionId)
    return {
      tone: 'stop',
      text: `Failed again: ${order.fault?.type ?? 'a fault'}${order.fault?.source ? ` at ${stepName(order.fault.source)}` : ''}.`,
    };
  if (step?.result === 'Succeeded') return { tone: 'ok', text: `Passed: ${step.name} is done.` };
  return { tone: 'work', text: `Applied: ${name}. It is not yet known whether it helps.` };
}

/** The outcome of the last instruction. It has the focus, and is in sight, when the instruction has just been applied. */
export function AppliedNote({ applied: { tone, text, given } }: { applied: Applied }) {
  const note = useRef<HTMLDivElement>(null);
  useEffect(() => focusOn(note.current), [given]);
  return (
    <div class={`note ${tone} applied-note`} role="status" tabIndex={-1} ref={note}>
      <Icon name={tone === 'ok' ? 'done' : tone === 'stop' ? 'stop' : 'work'} />
      <div>{shown(text)}</div>
    </div>
  );
}
