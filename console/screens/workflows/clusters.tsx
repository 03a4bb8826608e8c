import { useState } from 'preact/hooks';
import { Problem, post } from '../../api/client.ts';
import { usePages } from '../../api/poll.ts';
import type { CheckedHistories, Cluster } from '../../api/types.ts';
import { Empty, Failure, Loaded, Panel } from '../../parts/states.tsx';
import { counted, Said, shown, stepName } from '../../parts/text.tsx';
import { href } from '../../router.ts';

const pollMs = 60_000;
/** The largest number of orders that the console replays. `redress workflow review` replays more. */
const replayedMax = 500;

const kinds = { retry: 'a retry', handler: 'a handler', if: 'a condition' } as const;

/** Alike exceptions of a workflow, what people did about them, and the change of the definition that follows from these decisions. */
export function Clusters({ name }: { name: string }) {
  const path = `/workflows/${encodeURIComponent(name)}`;
  const clusters = usePages<Cluster>(`${path}/clusters`, ({ fingerprint }) => fingerprint, pollMs);
  return (
    <Panel title="Proposals" aside="from exceptions of the last 30 days">
      <Loaded polled={clusters} what="The proposals">
        {() =>
          clusters.items.length === 0 ? (
            <Empty title="No order of this workflow had an exception." />
          ) : (
            <ul class="mini">
              {clusters.items.map((cluster) => (
                <li key={cluster.fingerprint}>
                  <OneCluster cluster={cluster} path={path} />
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </Panel>
  );
}

function OneCluster({ cluster, path }: { cluster: Cluster; path: string }) {
  const { fingerprint, type, step, count, open, proposal, why, resolutions } = cluster;
  // The code ends with a comment that says where it stands.
  const [code = '', place] = proposal?.code.split(' // ') ?? [];
  return (
    <div class="stack tight grow proposal">
      <div class="row">
        <a href={href('/exceptions', { state: 'all', group: fingerprint })}>
          <b>
            <Said>{type}</Said>
          </b>
        </a>
        {step !== null && <span>{`at ${stepName(step)}`}</span>}
        <span class="end soft nowrap">{`${counted(count, 'exception')}, ${open} open`}</span>
      </div>
      {resolutions.length > 0 && (
        <p class="soft">
          {`What people did: ${resolutions
            .slice(0, 2)
            .map(({ instruction, used, passed }) => `${instruction.kind}: ${passed} of ${used} passed.`)
            .join(' ')}`}
        </p>
      )}
      {proposal ? (
        <>
          <p>{`The proposal is ${kinds[proposal.kind]}${place === undefined ? '' : `, ${shown(place)}`}:`}</p>
          <pre class="code" tabIndex={0} aria-label="The proposal as code">
            {shown(code)}
          </pre>
          <details>
            <summary class="soft">What changes in the definition</summary>
            <pre class="code diff" aria-label={`What changes at ${proposal.path}`} tabIndex={0}>
              {proposal.diff.map((line, index) => (
                <span key={String(index)} class={line.startsWith('+ ') ? 'ins' : line.startsWith('- ') ? 'del' : ''}>
                  {shown(line)}
                </span>
              ))}
            </pre>
          </details>
          <Replay cluster={fingerprint} path={`${path}/${proposal.version - 1}/check`} />
        </>
      ) : (
        <div class="muted">
          <Said>{why ?? ''}</Said>
        </div>
      )}
    </div>
  );
}

type Sum = Pick<CheckedHistories, 'checked' | 'fit'> & { readonly assumed: number; readonly isDone: boolean };

/** Replays stored orders on a proposal, page by page, when a person asks for it. */
function Replay({ cluster, path }: { cluster: string; path: string }) {
  const [sum, setSum] = useState<Sum>();
  const [problem, setProblem] = useState<Problem>();
  const replay = async (): Promise<void> => {
    let total: Sum = { checked: 0, fit: 0, assumed: 0, isDone: false };
    setProblem(undefined);
    setSum(total);
    try {
      for (let cursor: string | null | undefined; !total.isDone; ) {
        const page = await post<CheckedHistories>(path, { cluster, ...(cursor ? { cursor } : {}) });
        const checked = total.checked + page.checked;
        cursor = page.next;
        total = {
          checked,
          fit: total.fit + page.fit,
          assumed: total.assumed + (page.assumed ?? 0),
          isDone: !cursor || checked >= replayedMax,
        };
        setSum(total);
      }
    } catch (error) {
      setSum(undefined);
      if (!(error instanceof Problem)) throw error;
      setProblem(error);
    }
  };
  if (problem) return <Failure what="The orders could not be replayed." problem={problem} retry={replay} />;
  if (!sum)
    return (
      <div>
        <button class="btn sm" type="button" onClick={replay}>
          Replay stored orders
        </button>
      </div>
    );
  if (sum.checked === 0 && !sum.isDone)
    return (
      <div class="note work" role="status">
        The replay of stored orders goes on.
      </div>
    );
  const assumed = sum.assumed > 0 ? `, ${sum.assumed} of them if requests that they never made succeed` : '';
  return (
    <div class={`note ${sum.isDone ? (sum.fit > 0 ? 'ok' : 'warn') : 'work'}`} role="status">
      {`${sum.fit} of ${counted(sum.checked, 'order')} would have needed no person${assumed}.`}
      {!sum.isDone && <span class="muted"> The replay goes on.</span>}
    </div>
  );
}
