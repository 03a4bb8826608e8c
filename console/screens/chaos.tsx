import { apiPath } from '../api/client.ts';
import { usePoll } from '../api/poll.ts';
import { has } from '../api/session.ts';
import type { Chaos as Shown } from '../api/types.ts';
import { Loaded, PageHead } from '../parts/states.tsx';
import { queried, setQuery } from '../router.ts';
import { Experiment } from './chaos/experiment.tsx';

const pollMs = 1_000;

/** Faults that a person injects on this machine: what should happen, and when it did. */
export default function Chaos() {
  const asked = queried('agent');
  const polled = usePoll<Shown>(apiPath('/chaos', { agent: asked }), pollMs);
  const { agents = [], samples = [] } = polled.data ?? {};
  const agent = asked === '' ? (agents[0] ?? '') : asked;
  const isGiven = queried('sample') !== '';
  const sample = isGiven ? queried('sample').replace(/^none$/, '') : samples.includes('ok') ? 'ok' : (samples[0] ?? '');
  return (
    <>
      <PageHead title="Chaos" lede="break something on this machine, and see the system handle it">
        <label class="filter">
          <span class="muted">agent</span>
          <select class="filter-value" value={agent} onChange={({ currentTarget }) => setQuery({ agent: currentTarget.value })}>
            {agents.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        <label class="filter">
          <span class="muted">with a new order</span>
          <select class="filter-value" value={sample} onChange={({ currentTarget }) => setQuery({ sample: currentTarget.value || 'none' })}>
            <option value="">none: wait for one</option>
            {samples.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
      </PageHead>
      {!has('operator') && <p class="hint">You read here. Only an operator breaks something.</p>}
      <Loaded polled={polled} what="Chaos">
        {({ faults, experiments }) => (
          <div class="chaos">
            {faults.map((fault) => (
              <Experiment
                key={fault.kind}
                fault={fault}
                last={experiments.find(({ kind }) => kind === fault.kind)}
                agent={agent}
                sample={sample}
                refresh={polled.refresh}
              />
            ))}
            <section class="panel" aria-label="What this is not">
              <header>
                <h2>What this is not</h2>
              </header>
              <div class="body soft">
                <p>
                  The scheduler is a function of this process. It ends at its crash point, takes nothing for a time and starts again; the
                  process lives on. For the real thing, run <code>kill -9</code> on the process of <code>npm start</code> while orders run,
                  and start it again.
                </p>
                <p>Only npm start on one machine has this page. A shared system refuses these calls.</p>
              </div>
            </section>
          </div>
        )}
      </Loaded>
    </>
  );
}
