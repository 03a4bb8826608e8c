import { signal } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import { Icon } from './icon.tsx';

interface Toast {
  readonly id: number;
  readonly text: string;
  readonly tone: 'ok' | 'work' | 'stop';
  readonly action?: { readonly name: string; readonly run: () => void } | undefined;
}

const toasts = signal<readonly Toast[]>([]);
let count = 0;
const stayMs = 6_000;

/** Says what was done. An error stays until a person closes it. */
export function toast(text: string, tone: Toast['tone'] = 'ok', action?: Toast['action']): void {
  toasts.value = [...toasts.value.slice(-2), { id: ++count, text, tone, action }];
}

const close = (id: number): void => {
  toasts.value = toasts.value.filter((each) => each.id !== id);
};

export const Toasts = () => (
  <div class="toasts" role="status" aria-live="polite">
    {toasts.value.map((each) => (
      <OneToast key={each.id} toast={each} />
    ))}
  </div>
);

function OneToast({ toast: { id, text, tone, action } }: { toast: Toast }) {
  const [isHeld, hold] = useState(false);
  useEffect(() => {
    if (tone === 'stop' || isHeld) return;
    const timer = setTimeout(() => close(id), stayMs);
    return () => clearTimeout(timer);
  }, [id, tone, isHeld]);
  return (
    <div
      class={`toast ${tone}`}
      onMouseEnter={() => hold(true)}
      onMouseLeave={() => hold(false)}
      onFocusIn={() => hold(true)}
      onFocusOut={() => hold(false)}
    >
      <Icon name={tone === 'stop' ? 'stop' : tone === 'work' ? 'work' : 'done'} tone={tone === 'work' ? 'c-work' : `c-${tone}`} />
      <span class="grow">{text}</span>
      {action && (
        <button class="btn bare sm" type="button" onClick={action.run}>
          {action.name}
        </button>
      )}
      <button class="btn bare sm" type="button" aria-label="Close" onClick={() => close(id)}>
        <Icon name="cancel" />
      </button>
    </div>
  );
}

/** Copies a text, and says so. */
export function copy(text: string, what: string): void {
  navigator.clipboard.writeText(text).then(
    () => toast(`Copied: ${what}`),
    () => toast(`The browser does not allow copying. Select the text: ${text}`, 'work'),
  );
}
