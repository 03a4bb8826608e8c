import type { Check } from '../api/types.ts';
import { isUndo } from '../graph/look.ts';
import { Icon } from '../parts/icon.tsx';
import type { IconName } from '../parts/icons.ts';
import { counted, shown, stepName } from '../parts/text.tsx';

type Operations = Check['effects']['requests'];

const Operations = ({ of }: { of: Operations }) => (
  <>
    {of.map(({ path, operation }, index) => (
      <span key={path}>
        {index > 0 && ', '}
        <b>{stepName(path)}</b>
        {operation !== stepName(path) && <span class="mono muted">{` ${operation}`}</span>}
      </span>
    ))}
  </>
);

/** The result of a check: every reason against the instruction, or all its effects. */
export function Effects({ check }: { check: Check }) {
  const { feasible, refusals, warnings, effects, whenResumed, then, undo } = check;
  if (!feasible)
    return (
      <div class="note stop" role="status">
        <Icon name="stop" />
        <div>
          <b>Not possible. Nothing was changed.</b>
          {refusals.map(({ code, detail, path }) => (
            <div key={code + detail}>
              {shown(detail)} <span class="muted mono">{path === undefined ? code : `${code} at ${stepName(path)}`}</span>
            </div>
          ))}
        </div>
      </div>
    );
  return (
    <div class="stack" role="status">
      <ul class="effects">
        {effects.marks.length > 0 && (
          <Effect icon="undo" tone="c-undo" name="by hand">
            <b>{effects.marks.map(stepName).join(', ')}</b>
            {effects.marks.length === 1 ? ' counts as undone' : ' count as undone'}
          </Effect>
        )}
        <Effect icon="play" tone="c-work" name="requests">
          {effects.requests.length > 0 ? <Operations of={effects.requests} /> : 'nothing at once'}
        </Effect>
        {(effects.undoes.length > 0 || whenResumed.length === 0) && (
          <Effect icon="undo" tone="c-undo" name={effects.marks.length > 0 ? 'undoes next' : 'undoes'}>
            {effects.undoes.length > 0 ? <Operations of={effects.undoes} /> : effects.marks.length > 0 ? 'nothing else' : 'nothing'}
          </Effect>
        )}
        {whenResumed.length > 0 && (
          <Effect icon="undo" tone="c-undo" name="undoes next">
            <Operations of={whenResumed} /> <span class="muted">when somebody resumes the order</span>
          </Effect>
        )}
        {effects.skips.length > 0 && (
          <Effect icon="skip" tone="" name="skips">
            {effects.skips.map(stepName).join(', ')}
          </Effect>
        )}
        {then.length > 0 && (
          <Effect icon="more" tone="" name="then">
            <Operations of={then} /> <span class="muted">if each answers well</span>
          </Effect>
        )}
        {undo && undo.withoutUndo.length > 0 && (
          <Effect icon="lock" tone="" name="stays">
            {undo.withoutUndo.map(({ path }) => stepName(path)).join(', ')}: no undo
          </Effect>
        )}
        {warnings.map(({ code, detail }) => (
          <Effect key={code + detail} icon="warn" tone="c-warn" name="note">
            {shown(detail)}
          </Effect>
        ))}
      </ul>
      <p class="estimate">{estimateText(check)}</p>
    </div>
  );
}

/** Says how often the services may be asked for the same thing. It leaves out the price, which is too small to matter for one order. */
function estimateText({ effects, then, whenResumed, estimate: { attempts } }: Check): string {
  const steps = new Set([...effects.requests, ...then].map(({ path }) => path).filter((path) => !isUndo(path))).size;
  const hasUndos = effects.undoes.length > 0;
  if (steps === 0 && !hasUndos)
    return `It requests nothing of the services${whenResumed.length > 0 ? ' before somebody resumes the order' : ''}.`;
  const often = attempts === 1 ? 'once' : `at most ${counted(attempts, 'time')}`;
  const tried =
    steps === 0
      ? ''
      : steps === 1
        ? `The step is tried ${often}, under one key.`
        : `Each step is tried ${often}, under one key of its own.`;
  return `${tried} ${hasUndos ? 'An undo is requested until it succeeds.' : ''}`.trim();
}

const Effect = ({ icon, tone, name, children }: { icon: IconName; tone: string; name: string; children: preact.ComponentChildren }) => (
  <li>
    <Icon name={icon} tone={tone} />
    <span class="soft">{name}</span>
    <span>{children}</span>
  </li>
);
