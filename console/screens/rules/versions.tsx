import { usePages } from '../../api/poll.ts';
import type { Rule, RuleVersion } from '../../api/types.ts';
import { diffOf } from '../../parts/json-text.ts';
import { Facts, Loaded, Panel } from '../../parts/states.tsx';
import { Ago, At, Said, shown } from '../../parts/text.tsx';

/** The figures of a rule, and who changed it. */
export function Versions({ rule }: { rule: Rule }) {
  const versions = usePages<RuleVersion>(`/rules/${rule.id}/versions?limit=20`, ({ version }) => String(version), 30_000);
  const { hits, acted, passed, failedAgain, lastHitAt } = rule;
  const known = passed + failedAgain;
  return (
    <div class="stack">
      <Panel title="What it did">
        <div class="body stack">
          <Facts
            facts={[
              ['Hits', `${hits}, its condition was true`],
              ['Acted', String(acted)],
              ['Passed', known === 0 ? 'not known yet' : `${passed} of ${known}`],
              [
                'Last hit',
                lastHitAt === null ? (
                  'never'
                ) : (
                  <>
                    <Ago at={lastHitAt} /> ago
                  </>
                ),
              ],
            ]}
          />
          {known > 0 && (
            <svg
              class="split-bar"
              viewBox="0 0 1000 10"
              preserveAspectRatio="none"
              role="img"
              aria-label={`passed ${passed}, failed again ${failedAgain}`}
            >
              <rect class="a" x="0" y="0" width={(1000 * passed) / known} height="10" />
              <rect class="b" x={(1000 * passed) / known} y="0" width={(1000 * failedAgain) / known} height="10" />
            </svg>
          )}
          <p class="hint">The figures of all processes are added up every ten seconds. They are approximate.</p>
        </div>
      </Panel>
      <Panel title="Versions">
        <Loaded polled={versions} what="The versions" rows={3}>
          {() => (
            <ul class="version-list">
              {versions.items.map((each, index) => (
                <Version key={each.version} version={each} before={versions.items[index + 1]} />
              ))}
            </ul>
          )}
        </Loaded>
      </Panel>
    </div>
  );
}

const text = ({ rule }: RuleVersion): string => (rule === null ? 'deleted' : JSON.stringify({ ...rule, version: undefined }, null, 2));

function Version({ version, before }: { version: RuleVersion; before: RuleVersion | undefined }) {
  const { at, by, reason } = version;
  const changes = before ? diffOf(text(before), text(version)).filter(({ sign }) => sign !== ' ') : [];
  return (
    <li>
      <b>{version.version}</b>
      <span>
        {by === null ? 'the app' : <Said>{by}</Said>}
        {at !== null && (
          <span class="muted">
            {' '}
            <At at={at} />
          </span>
        )}
        {reason !== null && (
          <div class="soft">
            <Said>{reason}</Said>
          </div>
        )}
        {changes.length > 0 && (
          <details>
            <summary>What changed</summary>
            <pre class="code diff" tabIndex={0}>
              {changes.map(({ sign, text: line }, index) => (
                <span key={index} class={sign === '-' ? 'del' : 'ins'}>{`${sign} ${shown(line.trim())}`}</span>
              ))}
            </pre>
          </details>
        )}
      </span>
    </li>
  );
}
