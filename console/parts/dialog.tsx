import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

/** A dialog over the page. The browser keeps the focus in it and gives it back afterwards; Escape closes it. */
export function Dialog({ title, close, children, footer, wide = false }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  // Before the next paint: the text that a person types right after the key that opens the dialog must not be lost.
  useLayoutEffect(() => {
    const dialog = element.current;
    dialog?.showModal();
    return () => dialog?.close();
  }, []);
  return (
    <dialog
      ref={element}
      class={`dialog ${wide ? 'wide-dialog' : ''}`}
      aria-label={title}
      onCancel={(event) => {
        event.preventDefault();
        close();
      }}
    >
      <header>
        <h2 class="dlg">{title}</h2>
      </header>
      <div class="body stack">{children}</div>
      {footer !== undefined && <footer>{footer}</footer>}
    </dialog>
  );
}

interface DialogProps {
  readonly title: string;
  readonly close: () => void;
  readonly children: ComponentChildren;
  readonly footer?: ComponentChildren;
  readonly wide?: boolean;
}
