import { apiPath } from '../api/client.ts';
import { usePages } from '../api/poll.ts';
import type { AuditEntry } from '../api/types.ts';
import { Json } from '../parts/json.tsx';
import { Empty, Loaded, PageHead, Panel } from '../parts/states.tsx';
import { At, Said, shortId } from '../parts/text.tsx';
import { href, orderLink, queried, setQuery } from '../router.ts';

const kinds = ['instruction', 'task', 'rule', 'solution', 'bulk', 'channel', 'dead-letter', 'client', 'group', 'lock', 'read'] as const;

/** The actions of people, newest first. */
export default function Audit() {
  const entries = usePages<AuditEntry>(apiPath('/audit', { by: queried('by'), kind: queried('kind'), limit: 50 }), ({ id }) => id);
  return (
    <>
      <PageHead title="Audit" lede="who changed what, and why" />
      <Panel
        label="Audit"
        footer={
          entries.hasMore && (
            <button class="btn bare sm" type="button" disabled={entries.loading} onClick={entries.more}>
              Load older entries
            </button>
          )
        }
      >
        <div class="bar">
          <label class="filter">
            <span class="muted">by</span>
            <input
              class="filter-value"
              value={queried('by')}
              placeholder="op-2"
              onChange={({ currentTarget }) => setQuery({ by: currentTarget.value.trim() })}
            />
          </label>
          <label class="filter">
            <span class="muted">kind</span>
            <select class="filter-value" value={queried('kind')} onChange={({ currentTarget }) => setQuery({ kind: currentTarget.value })}>
              <option value="">all</option>
              {kinds.map((kind) => (
                <option key={kind}>{kind}</option>
              ))}
            </select>
          </label>
        </div>
        <Loaded polled={entries} what="The audit">
          {() =>
            entries.items.length === 0 ? (
              <Empty title="No entry matches.">
                <p>The audit holds what people change, and their reads of personal data.</p>
              </Empty>
            ) : (
              <table class="list two">
                <thead>
                  <tr>
                    <th>When</th>
                    <th>By</th>
                    <th>Action</th>
                    <th>Target</th>
                    <th>Why, and what changed</th>
                  </tr>
                </thead>
                <tbody>
                  {entries.items.map((entry) => (
                    <Entry key={entry.id} entry={entry} />
                  ))}
                </tbody>
              </table>
            )
          }
        </Loaded>
      </Panel>
    </>
  );
}

/** Returns the address of an order, a task or a bulk run. */
function linkTo(id: string): string | undefined {
  if (id.startsWith('ord_')) return orderLink(id);
  if (id.startsWith('tsk_')) return href(`/tasks/${id}`);
  return id.startsWith('blk_') ? href(`/bulk/${id}`) : undefined;
}

function Target({ id }: { id: string }) {
  const link = linkTo(id);
  if (link === undefined) return <Said>{id}</Said>;
  return (
    <a class="id" href={link}>
      {shortId(id)}
    </a>
  );
}

const Entry = ({ entry: { at, by, role, kind, action, target, reason, before, after } }: { entry: AuditEntry }) => (
  <tr>
    <td class="fit">
      <At at={at} />
    </td>
    <td class="fit">
      <Said>{by}</Said> <span class="muted">{role}</span>
    </td>
    <td class="fit">
      {kind !== action && kind} <b>{action}</b>
    </td>
    <td class="fit">
      <Target id={target} />
    </td>
    <td>
      {reason !== null && <Said>{reason}</Said>}
      {(before !== null || after !== null) && (
        <details>
          <summary class="muted">Before and after</summary>
          <Json value={{ before, after }} label="Before and after" />
        </details>
      )}
    </td>
  </tr>
);
