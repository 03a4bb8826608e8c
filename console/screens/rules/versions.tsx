import { usePages } from '../../api/poll.ts';
import type { Rule, RuleVersion } from '../../api/types.ts';
import { Facts, Loaded, Panel } from '../../parts/states.tsx';
import { Ago, At, Said } from '../../parts/text.tsx';
import { VersionLine } from '../../parts/version-line.tsx';

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
              ['Hits', `the condition was true ${hits === 1 ? 'once' : `${hits} times`}`],
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

const Version = ({ version, before }: { version: RuleVersion; before: RuleVersion | undefined }) => (
  <VersionLine version={String(version.version)} reason={version.reason} before={before && text(before)} after={text(version)}>
    {version.by === null ? 'the app' : <Said>{version.by}</Said>}
    {version.at !== null && (
      <span class="muted">
        {' '}
        <At at={version.at} />
      </span>
    )}
  </VersionLine>
);
