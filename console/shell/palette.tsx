import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { apiPath, get } from '../api/client.ts';
import { person, signOut } from '../api/session.ts';
import type { ListedOrder } from '../api/types.ts';
import { Icon } from '../parts/icon.tsx';
import type { IconName } from '../parts/icons.ts';
import { activeKeys } from '../parts/keys.ts';
import { shortId } from '../parts/text.tsx';
import { go } from '../router.ts';
import { screensHere } from '../screens/index.ts';
import { turnTheme } from './theme.ts';

interface Entry {
  readonly group: string;
  readonly icon: IconName;
  readonly name: string;
  readonly hint?: string;
  readonly run: () => void;
}

/** Finds orders by id or reference, screens, and what can be done here. */
export function Palette({ close }: { close: () => void }) {
  const element = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const found = useFound(text);
  // Before the next paint: what a person types right after the key that opens it must not be lost.
  useLayoutEffect(() => {
    const dialog = element.current;
    dialog?.showModal();
    return () => dialog?.close();
  }, []);

  const entries = useMemo(
    () => [...found, ...fixed()].filter(({ group, name }) => group === 'Orders' || name.toLowerCase().includes(text.toLowerCase())),
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
          aria-label="Search an id, or run a command"
          placeholder="An id, a reference, or a command"
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
        {entries.length === 0 && <li class="muted">Nothing found.</li>}
      </ul>
    </dialog>
  );
}

function fixed(): readonly Entry[] {
  const here = activeKeys().filter(({ key }) => !/^g |^[?/]$|^Ctrl/.test(key));
  return [
    ...here.map(({ key, what, run }): Entry => ({ group: 'Here', icon: 'play', name: what, hint: key, run })),
    ...screensHere().map(
      ({ name, icon, path, key }): Entry => ({ group: 'Go to', icon, name, hint: `g ${key}`, run: () => go(`/${path}`) }),
    ),
    { group: 'Console', icon: 'eye', name: 'Change the colors', run: turnTheme },
    ...(person.value ? [{ group: 'Console', icon: 'person', name: 'Sign out', run: () => void signOut() } satisfies Entry] : []),
  ];
}

const searchMs = 200;

/**
 * Finds orders by their reference, or by the beginning of their id among the hundred newest ones. An older order is found by its whole id.
 */
function useFound(text: string): readonly Entry[] {
  const [found, setFound] = useState<readonly Entry[]>([]);
  useEffect(() => {
    const word = text.trim();
    if (word.length < 3) return setFound([]);
    const ended = new AbortController();
    const timer = setTimeout(async () => {
      const isId = /^ord_[a-z0-9]*$/.test(word);
      const path = isId ? apiPath('/orders', { limit: 100 }) : apiPath('/orders', { reference: word, limit: 5 });
      const { items } = await get<{ items: readonly ListedOrder[] }>(path, { signal: ended.signal }).catch(() => ({ items: [] }));
      if (ended.signal.aborted) return;
      const matching = isId ? items.filter(({ orderId }) => orderId.startsWith(word)).slice(0, 5) : items;
      const entries = matching.map(entryOf);
      const isWhole = /^ord_[a-z2-7]{52}$/.test(word);
      setFound(
        entries.length === 0 && isWhole
          ? [{ group: 'Orders', icon: 'list', name: word, hint: 'Enter', run: () => go(`/orders/${word}`) }]
          : entries,
      );
    }, searchMs);
    return () => {
      clearTimeout(timer);
      ended.abort();
    };
  }, [text]);
  return found;
}

const entryOf = ({ orderId, reference, processState, outcome, fault }: ListedOrder): Entry => ({
  group: 'Orders',
  icon: 'list',
  name: `${shortId(orderId)}  ${reference ?? ''}`,
  hint: [outcome ?? processState, fault?.type].filter(Boolean).join(', '),
  run: () => go(`/orders/${orderId}`),
});
