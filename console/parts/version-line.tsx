import type { ComponentChildren } from 'preact';
import { diffOf } from './json-text.ts';
import { Said, shown } from './text.tsx';

interface Props {
  readonly version: string;
  /** The author of the version, and its time. */
  readonly children: ComponentChildren;
  readonly reason: string | null;
  /** The text of the version before. Undefined: it is not known. */
  readonly before: string | undefined;
  readonly after: string;
}

/** One version of a rule or a solution, with the lines that it has changed. */
export function VersionLine({ version, children, reason, before, after }: Props) {
  const changes = before === undefined ? [] : diffOf(before, after).filter(({ sign }) => sign !== ' ');
  return (
    <li>
      <b>{version}</b>
      <span>
        {children}
        {reason !== null && (
          <div class="soft">
            <Said>{reason}</Said>
          </div>
        )}
        {changes.length > 0 && (
          <details>
            <summary>What changed</summary>
            <pre class="code diff" tabIndex={0}>
              {changes.map(({ sign, text }, index) => (
                <span key={index} class={sign === '-' ? 'del' : 'ins'}>{`${sign} ${shown(text.trim())}`}</span>
              ))}
            </pre>
          </details>
        )}
      </span>
    </li>
  );
}
