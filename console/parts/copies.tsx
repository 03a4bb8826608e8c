import type { ComponentChildren } from 'preact';
import { Icon } from './icon.tsx';
import { copy } from './toast.tsx';

interface Props {
  readonly command: () => string;
  readonly curl: () => string;
  /** Further buttons of the row. */
  readonly children?: ComponentChildren;
}

/** Buttons that copy the change which a form makes: as a command of `redress`, or as a call of curl. */
export const Copies = ({ command, curl, children }: Props) => (
  <div class="row copies">
    <button class="btn bare sm" type="button" onClick={() => copy(command(), 'the command')}>
      <Icon name="cli" />
      Copy as command
    </button>
    <button class="btn bare sm" type="button" onClick={() => copy(curl(), 'the call')}>
      as curl
    </button>
    {children}
  </div>
);
