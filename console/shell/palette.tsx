import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { person, signOut } from '../api/session.ts';
import type { ListedOrder } from '../api/types.ts';
import { Icon } from '../parts/icon.tsx';
import type { IconName } from '../parts/icons.ts';
import { activeKeys } from '../parts/keys.ts';
import { shortId } from '../parts/text.tsx';
import { go } from '../router.ts';
import { screensHere } from '../screens/index.ts';
import { useFound } from './find.ts';
import { turnTheme } from './theme.ts';

interface Entry {
  readonly group: string;
  readonly icon: IconName;
  readonly name: string;
  readonly hint?: string;
  readonly run: () => void;
}

/** The hint of the search field: the same words while it is closed and while it is open. */
export const searchText = 'An id, a reference, or a command';

/** Finds orders by id or reference, screens, and what can be done here. */
export function Palette({ start, close }: { start: string; close: () => void }) {
  const element = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState(start);
  const [at, setAt] = useState(0);
  const found = useFound(text);
  // Before the next paint: the text that a person types right after the key that opens the palette must not be lost.
  useLayoutEffect(() => {
    const dialog = element.current;
    dialog?.showModal();
    return () => dialog?.close();
  }, []);

  const entries = useMemo(
    () => [...found.orders.map(entryOf), ...fixed().filter(({ name }) => name.toLowerCase().includes(text.toLowerCase()))],
    [found, text],
  );
  const chosen = Math.min(at, entries.length - 1);
  const run = (entry: Entry | undefined): void => {
    if (!entry) return;
    close();
    entry.run();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) setAt((chosen + step + entries.length) % Math.max(1, entries.length));
    else if (event.key === 'Enter') run(entries[chosen]);
    else return;
    event.preventDefault();
  };

  return (
    <dialog
      ref={element}
      class="palette"
      aria-label="Search or run a command"
      onCancel={(event) => {
        event.preventDefault();
        close();
      }}
    >
      <div class="q">
        <Icon name="search" />
        <input
          class="grow"
          aria-label={searchText}
          placeholder={searchText}
          value={text}
          role="combobox"
          aria-expanded="true"
          aria-controls="palette-list"
          aria-activedescendant={entries.length > 0 ? `palette-${chosen}` : undefined}
          onInput={({ currentTarget }) => {
            setText(currentTarget.value);
            setAt(0);
          }}
          onKeyDown={onKeyDown}
        />
        <kbd>Esc</kbd>
      </div>
      <ul id="palette-list" role="listbox" aria-label="Found">
        {entries.map((entry, index) => (
          <li
            key={`${entry.group} ${entry.name}`}
            id={`palette-${index}`}
            role="option"
            aria-selected={index === chosen}
            class={index === chosen ? 'on' : ''}
            onClick={() => run(entry)}
            onMouseMove={() => setAt(index)}
          >
            <Icon name={entry.icon} />
            <span class="clip grow">{entry.name}</span>
            <span class="end">{entry.hint ?? entry.group}</span>
          </li>
        ))}
        {entries.length === 0 && <li class="muted">{found.note ?? 'Nothing found.'}</li>}
      </ul>
    </dialog>
  );
}

function fixed(): readonly Entry[] {
  const here = activeKeys().filter(({ key }) => !/^g |^[?/]$|^Ctrl/.test(key));
  return [
    // An accidental click or Enter runs the first entry, so the first entries only open a screen and change nothing.
    ...screensHere().map(
      ({ name, icon, path, key }): Entry => ({ group: 'Go to', icon, name, hint: `g ${key}`, run: () => go(`/${path}`) }),
    ),
    ...here.map(({ key, what, run }): Entry => ({ group: 'Here', icon: 'play', name: what, hint: key, run })),
    { group: 'Console', icon: 'eye', name: 'Change the colors', run: turnTheme },
    ...(person.value ? [{ group: 'Console', icon: 'person', name: 'Sign out', run: () => void signOut() } satisfies Entry] : []),
  ];
}

const entryOf = ({ orderId, reference, processState, outcome, fault }: ListedOrder): Entry => ({
  group: 'Orders',
  icon: 'list',
  name: `${shortId(orderId)}  ${reference ?? ''}`,
  hint: [outcome ?? processState, fault?.type].filter(Boolean).join(', '),
  run: () => go(`/orders/${orderId}`),
});
