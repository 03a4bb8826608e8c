import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { connection, serverNow } from '../api/client.ts';
import { usePoll } from '../api/poll.ts';
import { person, roleOf, signOut } from '../api/session.ts';
import type { Overview } from '../api/types.ts';
import { Icon } from '../parts/icon.tsx';
import { useKeys } from '../parts/keys.ts';
import { shown } from '../parts/text.tsx';
import { Toasts } from '../parts/toast.tsx';
import { go, href, place } from '../router.ts';
import { groups, type Screen, screens, screensHere } from '../screens/index.ts';
import { clockTime, inUtc, now } from '../time.ts';
import { counts, countText, overview, setCount, waitingTasks } from './counts.ts';
import { Help } from './help.tsx';
import { Palette, searchText } from './palette.tsx';
import { theme, turnTheme } from './theme.ts';

/** The dialog or menu that is open over the page. */
export const overlay = signal<'none' | 'palette' | 'help'>('none');
/** The text with which the palette opens. */
const searched = signal('');
const close = (): void => {
  overlay.value = 'none';
  searched.value = '';
};

/** The rail, the top bar and the keys around a screen. */
export function Shell({ screen, children }: { screen: Screen | undefined; children: ComponentChildren }) {
  const main = useRef<HTMLElement>(null);
  useOverview();
  useKeys(
    [
      { key: '?', what: 'Show the keys', run: () => (overlay.value = 'help') },
      { key: '/', what: 'Search an id, or run a command', run: () => (overlay.value = 'palette') },
      { key: 'Ctrl+k', what: 'Search an id, or run a command', run: () => (overlay.value = 'palette'), always: true },
      { key: 'u', what: 'Show times in UTC, or in local time', run: () => (inUtc.value = !inUtc.value) },
      ...screensHere().map(({ name, path, key }) => ({ key: `g ${key}`, what: `Go to ${name}`, run: () => go(`/${path}`) })),
    ],
    [],
  );
  return (
    <>
      <button class="skip" type="button" onClick={() => main.current?.focus()}>
        Skip to the page
      </button>
      <div class="app">
        <Rail screen={screen} />
        <Top />
        <main class="main" id="main" tabIndex={-1} ref={main} data-place={place.value.path}>
          <Lost />
          {children}
        </main>
      </div>
      <Bottom screen={screen} />
      <Toasts />
      {overlay.value === 'palette' && <Palette start={searched.value} close={close} />}
      {overlay.value === 'help' && <Help close={close} />}
    </>
  );
}

/** Polls the figures of the system, on every screen. */
function useOverview(): void {
  const polled = usePoll<Overview>('/overview');
  const { data, problem, at } = polled;
  useEffect(() => {
    overview.value = polled;
    if (!data) return;
    setCount('tasks', countText(waitingTasks(data.tasks)));
    setCount('exceptions', countText(data.exceptions.open));
  }, [data, problem, at]);
}

const Rail = ({ screen }: { screen: Screen | undefined }) => (
  <nav class="rail" aria-label="Screens">
    <div class="brand">
      <Icon name="mark" />
      <span>Redress</span>
    </div>
    <div class="where" title="The system that this console belongs to">
      {location.host}
    </div>
    {groups.map(([group, title]) => {
      const mine = screensHere().filter((each) => each.group === group);
      return (
        <>
          {title !== '' && mine.length > 0 && <h3>{title}</h3>}
          {mine.map((each) => (
            <a key={each.path} href={href(`/${each.path}`)} aria-current={each === screen ? 'page' : undefined} title={each.name}>
              <Icon name={each.icon} />
              <span>{each.name}</span>
              <Count screen={each} />
            </a>
          ))}
        </>
      );
    })}
    <div class="foot">
      <button class="btn bare sm" type="button" onClick={() => (overlay.value = 'help')}>
        <kbd>?</kbd>
        <span>keys</span>
      </button>
    </div>
  </nav>
);

function Count({ screen: { path } }: { screen: Screen }) {
  const count = counts.value[path];
  if (count === undefined || count === '0') return null;
  return <span class="n need">{count}</span>;
}

/** Opens the palette with the text of the search field, which loses the focus: the keys of the screen work again afterwards. */
function openSearch({ currentTarget }: Event & { readonly currentTarget: HTMLInputElement }): void {
  searched.value = currentTarget.value;
  currentTarget.value = '';
  currentTarget.blur();
  overlay.value = 'palette';
}

const Top = () => (
  <header class="top">
    <span class="phone strong">Redress</span>
    <label class="find">
      <Icon name="search" />
      <input type="search" aria-label={searchText} placeholder={searchText} value="" onClick={openSearch} onInput={openSearch} />
      <kbd>/</kbd>
    </label>
    <Live />
    <button class="btn bare sm opt-top" type="button" title="Press u to change" onClick={() => (inUtc.value = !inUtc.value)}>
      {inUtc.value ? 'UTC' : 'Local time'}
    </button>
    <button class="btn bare sm opt-top" type="button" title="Colors: those of the system, light or dark" onClick={turnTheme}>
      {{ system: 'System colors', light: 'Light', dark: 'Dark' }[theme.value]}
    </button>
    {person.value && (
      <details class="who opt-top">
        <summary class="soft row">
          <Icon name="person" />
          <bdi class="clip">{shown(person.value.subject)}</bdi>
          <span class="muted">{roleOf(person.value)}</span>
        </summary>
        <div class="who-menu">
          <p class="hint">{person.value.groups.length > 0 ? `Groups: ${person.value.groups.join(', ')}` : 'You belong to no group.'}</p>
          <button class="btn sm" type="button" onClick={() => void signOut()}>
            Sign out
          </button>
        </div>
      </details>
    )}
  </header>
);

function Live() {
  const { answeredAt, lostSince } = connection.value;
  const isLost = lostSince !== undefined;
  return (
    <span class="live end opt-top">
      <i class={`dot ${isLost ? 'lost' : ''}`} />
      {isLost ? 'No connection' : 'Live'}
      <span class="muted">{answeredAt === undefined ? '' : clockTime(answeredAt + serverNow() - Date.now())}</span>
    </span>
  );
}

function Lost() {
  const { lostSince, nextTryAt } = connection.value;
  if (lostSince === undefined) return null;
  const left = nextTryAt === undefined ? undefined : Math.max(0, Math.ceil((nextTryAt - (now.value - serverNow() + Date.now())) / 1_000));
  return (
    <div class="note warn lost-bar" role="status">
      <Icon name="clock" />
      <div class="grow">{`No connection since ${clockTime(lostSince)}. Shown: what was true then. Changes are not possible meanwhile.`}</div>
      {left !== undefined && <span class="nowrap">{`Next try in ${left} s`}</span>}
    </div>
  );
}

function Bottom({ screen }: { screen: Screen | undefined }) {
  const shownThere = ['', 'tasks', 'exceptions', 'orders'].flatMap((path) => screens.filter((each) => each.path === path));
  return (
    <nav class="bottom" aria-label="Screens, phone">
      {shownThere.map((each) => (
        <a key={each.path} href={href(`/${each.path}`)} aria-current={each === screen ? 'page' : undefined}>
          <Icon name={each.icon} />
          {each.name}
          {counts.value[each.path] !== undefined && counts.value[each.path] !== '0' && <span class="need">{counts.value[each.path]}</span>}
        </a>
      ))}
      <button type="button" onClick={() => (overlay.value = 'palette')}>
        <Icon name="more" />
        More
      </button>
    </nav>
  );
}
