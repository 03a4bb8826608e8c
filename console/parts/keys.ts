import { signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { stored } from '../stored.ts';

/** Whether single letters work as keys (WCAG 2.1.4 wants a switch). */
export const singleKeys = stored('redress-single-keys', true);

/** One key with what it does, for the help and the palette. */
export interface Key {
  readonly key: string;
  readonly what: string;
  readonly run: () => void;
  /** Whether the key also works while a person types, and with single letters switched off. */
  readonly always?: boolean;
}

/** The keyboard shortcuts in force: those of the shell, then of the screen, then of a dialog. The last one wins. */
const layers = signal<readonly (readonly Key[])[]>([]);
export const activeKeys = (): readonly Key[] => layers.value.flat();

/** Registers keys while a component is shown. A key runs the function of the latest rendering, even before its effects have run. */
export function useKeys(keys: readonly Key[], dependencies: readonly unknown[]): void {
  const latest = useRef(keys);
  latest.current = keys;
  useEffect(() => {
    const layer = latest.current.map((each) => ({ ...each, run: () => latest.current.find(({ key }) => key === each.key)?.run() }));
    layers.value = [...layers.peek(), layer];
    return () => {
      layers.value = layers.peek().filter((each) => each !== layer);
    };
  }, dependencies);
}

let prefix = '';
let prefixTimer: ReturnType<typeof setTimeout> | undefined;
const prefixMs = 1_200;

const isTyping = ({ target }: KeyboardEvent): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) && !isBox(target);
const isBox = (target: HTMLElement): boolean => target instanceof HTMLInputElement && /^(checkbox|radio)$/.test(target.type);

/** The field into which a person types a text, and the time of the last key. Other keys, such as Enter, and the mouse end the text. */
let typed: { readonly field: EventTarget | null; readonly at: number } | undefined;
const typingPauseMs = 2_000;

const isOfText = ({ key, ctrlKey, metaKey }: KeyboardEvent): boolean => !ctrlKey && !metaKey && (key.length === 1 || key === 'Backspace');
// A field may handle its keys itself, so these listeners come first.
addEventListener('pointerdown', () => (typed = undefined), { capture: true });
addEventListener(
  'keydown',
  (event) => {
    if (isTyping(event)) typed = isOfText(event) ? { field: event.target, at: event.timeStamp } : undefined;
  },
  { capture: true },
);

/** Whether a person goes on typing into a field that a refresh has removed. Such a key is part of a text until the person pauses. */
function isTypedOn({ timeStamp }: KeyboardEvent): boolean {
  if (!(typed?.field instanceof HTMLElement) || typed.field.isConnected || timeStamp - typed.at > typingPauseMs) return false;
  typed = { field: typed.field, at: timeStamp };
  return true;
}

/** `Ctrl+k`, `g h`, `?`. */
function nameOf(event: KeyboardEvent): string {
  const name = event.ctrlKey || event.metaKey ? `Ctrl+${event.key}` : event.key;
  return prefix === '' ? name : `${prefix} ${name}`;
}

addEventListener('keydown', (event) => {
  if (event.defaultPrevented || event.altKey || event.isComposing) return;
  const name = nameOf(event);
  const wasPrefixed = prefix !== '';
  clearTimeout(prefixTimer);
  prefix = '';
  const found = layers
    .peek()
    .flat()
    .findLast(({ key }) => key === name);
  if (isTyping(event) && !found?.always) {
    if (event.key === 'Escape') (event.target as HTMLElement).blur();
    return;
  }
  if (isTypedOn(event) && !found?.always) return;
  if (document.querySelector('dialog[open]') && !found?.always) return;
  if (found && (found.always || singleKeys.peek() || name.length > 1)) {
    event.preventDefault();
    return found.run();
  }
  if (!wasPrefixed && event.key === 'g' && singleKeys.peek() && !event.ctrlKey && !event.metaKey) {
    prefix = 'g';
    prefixTimer = setTimeout(() => (prefix = ''), prefixMs);
  }
});
