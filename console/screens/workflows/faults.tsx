import type { Workflow } from '../../api/types.ts';
import { Empty, Panel } from '../../parts/states.tsx';
import { Said, stepName } from '../../parts/text.tsx';

type Fault = Workflow['faults'][number];
/** The end of a fault. The API may add kinds of ends, so the console must accept a `kind` that it does not know. */
interface End {
  readonly kind: string;
  readonly foreseen?: boolean;
  readonly toCaller?: boolean;
  readonly at?: string;
  readonly handler?: string;
  readonly goesOn?: boolean;
  readonly does?: readonly { readonly kind: string; readonly scope?: string; readonly fault?: string }[];
}
interface RetryTaken {
  readonly path: string;
  readonly retries: number;
  readonly intervalSeconds: number;
}

/** A row: faults of one step with the same end. */
interface Row {
  readonly first: Fault;
  readonly names: readonly string[];
}

/** The treatment of each fault of each step. `step`: only the faults of this step. */
export function FaultTable({ faults, step }: { faults: readonly Fault[]; step: string | undefined }) {
  const shown = step === undefined ? faults : faults.filter(({ path }) => path === step);
  return (
    <Panel title="Faults" aside={step === undefined ? 'of all steps' : `of ${stepName(step)}`}>
      {shown.length === 0 ? (
        <Empty title={step === undefined ? 'No step has a fault of its own.' : 'This step has no fault of its own.'} />
      ) : (
        <table class="list two">
          <thead>
            <tr>
              <th>Step</th>
              <th>Fault</th>
              <th>Retries</th>
              <th>Then</th>
            </tr>
          </thead>
          <tbody>
            {rowsOf(shown).map(({ first, names }) => (
              <tr key={`${first.path} ${names.join()}`}>
                <td class="fit strong" title={first.path}>
                  {stepName(first.path)}
                </td>
                <td>
                  <Said>{names.join(', ')}</Said>
                  {first.origin === 'engine' && <span class="muted"> (any step)</span>}
                </td>
                <td class="soft">{retriesText(first)}</td>
                <td>{endText(first.end as End)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Panel>
  );
}

/** Faults of the engine that end alike are one row; a declared fault has a row of its own. */
function rowsOf(faults: readonly Fault[]): readonly Row[] {
  const groups = Map.groupBy(faults, ({ path, fault, origin, retries, askedAgain, end }) =>
    JSON.stringify(origin === 'engine' ? [path, retries, askedAgain, end] : [path, fault]),
  );
  return [...groups.values()].flatMap((list) =>
    list[0] ? [{ first: list[0], names: [...new Set(list.map(({ fault }) => (fault === 'silence' ? 'no reply' : typeOf(fault))))] }] : [],
  );
}

/** The type without its ancestors: `CardDeclined` of `Refused/CardDeclined`. */
const typeOf = (fault: string): string => fault.split('/').at(-1) ?? fault;

function retriesText({ retries, askedAgain }: Fault): string {
  const texts = (retries as readonly RetryTaken[]).map(
    ({ retries: count, intervalSeconds }) => `${count} times${intervalSeconds > 0 ? `, every ${intervalSeconds} s` : ''}`,
  );
  return [...texts, ...(askedAgain ? ['requested again when late'] : [])].join('; ');
}

function endText({ kind, toCaller, at = '', handler = '', goesOn, does = [] }: End): string {
  if (kind === 'operator')
    return toCaller
      ? 'An order with a caller is undone, and its caller gets the fault. Any other order is blocked.'
      : 'The order is blocked, and a person decides.';
  if (kind === 'waits') return 'The step is requested again after long waits.';
  if (kind === 'undone') return 'The whole order is undone.';
  if (kind !== 'handled') return kind;
  const acts = does.map((act) =>
    act.kind === 'undoes'
      ? `undoes ${stepName(act.scope ?? '')}`
      : act.kind === 'raises'
        ? `raises ${typeOf(act.fault ?? '')}`
        : 'ends the order',
  );
  const on = goesOn ? [at.includes('/') ? `the order goes on after ${stepName(at)}` : 'the order ends'] : [];
  return `Handled by ${stepName(handler)}${acts.length + on.length > 0 ? ': ' : ''}${[...new Set([...acts, ...on])].join(', ')}.`;
}
