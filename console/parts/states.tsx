import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Problem } from '../api/client.ts';
import type { Polled } from '../api/poll.ts';
import { Icon } from './icon.tsx';
import type { IconName } from './icons.ts';
import { Clock, shown } from './text.tsx';

/** Placeholders for the rows to come. They appear after 150 ms, so that the page does not flicker before a quick answer. */
export function Skeleton({ rows = 5 }: { rows?: number }) {
  const [isLate, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), 150);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div class={`skeleton ${isLate ? '' : 'hidden'}`} aria-busy="true" role="status" aria-label="Loading">
      {Array.from({ length: rows }, (_, row) => (
        <div class="skeleton-row" key={row}>
          <span class="bone w1" />
          <span class="bone w3" />
          <span class={`bone ${row % 3 === 1 ? 'w4' : 'w2'}`} />
        </div>
      ))}
    </div>
  );
}

export const Empty = ({ title, children, icon }: { title: string; children?: ComponentChildren; icon?: IconName }) => (
  <div class="void small">
    {icon && <Icon name={icon} />}
    <h2>{title}</h2>
    {children}
  </div>
);

const remedies: { readonly [code: string]: string } = {
  unavailable: 'The store does not answer. Nothing is lost; orders continue when it is back.',
  'no-connection': 'The system does not answer. Check that it runs and that this machine reaches it.',
  forbidden: 'Your role does not allow it.',
  unauthenticated: 'Your session has ended. Sign in again.',
  'not-found': 'It does not exist, or it was deleted after its retention time.',
  'rate-limited': 'Too many requests. The console tries again more slowly.',
};

/** Says what failed, with the remedy and the ids that help to find it. */
export const Failure = ({ what, problem, retry }: { what: string; problem: Problem; retry?: () => void }) => (
  <div class="body stack">
    <div class="note stop" role="alert">
      <Icon name="stop" />
      <div>
        <b>{what}</b>
        <div class="soft">{remedies[problem.code] ?? shown(problem.errors[0]?.detail || problem.detail || problem.message)}</div>
        <div class="t-s muted mono">
          {`${problem.status || 'no answer'} ${problem.code}`}
          {problem.requestId && ` · request ${problem.requestId}`}
        </div>
      </div>
    </div>
    {retry && (
      <div class="row">
        <button class="btn" type="button" onClick={retry}>
          Try again
        </button>
        <span class="hint">The console also tries by itself.</span>
      </div>
    )}
  </div>
);

/** A note that the figures shown are old, because the last attempt failed. */
export const Stale = ({ what, polled }: { what: string; polled: Polled<unknown> }) =>
  polled.problem && polled.data !== undefined ? (
    <div class="note warn">
      <Icon name="warn" />
      <div class="grow">
        {what} could not be read again. Shown: as of <Clock at={polled.at} />.
      </div>
      <button class="btn sm" type="button" onClick={polled.refresh}>
        Try again
      </button>
    </div>
  ) : null;

/** Shows a polled answer: before the first one a skeleton, or its failure. If a later attempt fails, a note stands above the old answer. */
export function Loaded<T>({ polled, what, rows, children }: LoadedProps<T>) {
  const { data, problem, refresh } = polled;
  if (data === undefined)
    return problem ? <Failure what={`${what} could not be read.`} problem={problem} retry={refresh} /> : <Skeleton rows={rows ?? 5} />;
  return (
    <>
      <Stale what={what} polled={polled} />
      {children(data)}
    </>
  );
}

interface LoadedProps<T> {
  readonly polled: Polled<T>;
  /** `The orders`. */
  readonly what: string;
  readonly rows?: number;
  readonly children: (data: T) => ComponentChildren;
}

export const Panel = ({ title, aside, end, children, footer, label }: PanelProps) => (
  <section class="panel" aria-label={label ?? title}>
    {title !== undefined && (
      <header>
        <h2>{title}</h2>
        {aside !== undefined && <span class="muted">{aside}</span>}
        {end !== undefined && <span class="end">{end}</span>}
      </header>
    )}
    {children}
    {footer !== undefined && footer !== false && <footer class="row between">{footer}</footer>}
  </section>
);

interface PanelProps {
  readonly title?: string | undefined;
  readonly aside?: ComponentChildren;
  readonly end?: ComponentChildren;
  readonly children: ComponentChildren;
  readonly footer?: ComponentChildren;
  readonly label?: string;
}

export const PageHead = ({ title, lede, children }: { title: string; lede?: ComponentChildren; children?: ComponentChildren }) => (
  <div class="page-head">
    <h1>{title}</h1>
    {lede !== undefined && <span class="lede">{lede}</span>}
    <span class="grow" />
    {children}
  </div>
);

/** Facts as names and values. Facts without a value are left out. */
export const Facts = ({ facts }: { facts: readonly (readonly [string, ComponentChildren])[] }) => (
  <dl class="kv">
    {facts
      .filter(([, value]) => value !== undefined && value !== null && value !== '')
      .map(([name, value]) => (
        <>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </>
      ))}
  </dl>
);
