import { useEffect } from 'preact/hooks';
import { signedOut } from '../api/client.ts';
import { signIn, signInAtIssuer, signInProblem, startSession } from '../api/session.ts';
import { Icon } from '../parts/icon.tsx';
import { place } from '../router.ts';
import { screens } from '../screens/index.ts';

/** The sign-in. `over`: the session has ended, and the sign-in covers the page, which keeps the typed text. */
export function Gate({ over = false }: { over?: boolean }) {
  useEffect(() => {
    if (!over) document.title = 'Sign in · Redress';
  }, [over]);
  const how = signIn.value;
  const back = screens.find(({ path }) => path === (place.value.parts[0] ?? ''))?.name ?? 'Home';
  return (
    <div
      class={over ? 'gate veil' : 'gate'}
      role={over ? 'dialog' : undefined}
      aria-modal={over ? 'true' : undefined}
      aria-label={over ? 'Sign in again' : undefined}
    >
      <main class="panel" id="main">
        <div class="body">
          <div class="row">
            <span class="brand-mark">
              <Icon name="mark" />
            </span>
            <h1>{over ? 'Sign in again' : 'Sign in to Redress'}</h1>
            <span class="where">{location.host}</span>
          </div>
          {over && <p>Your session has ended. This tab keeps your text.</p>}
          {signInProblem.value !== undefined && (
            <div class="note warn" role="alert">
              <Icon name="warn" />
              <div>{signInProblem.value}</div>
            </div>
          )}
          {how?.kind === 'issuer' && (
            <>
              <button class="btn go big" type="button" onClick={() => void signInAtIssuer(how)}>
                {`Sign in at ${new URL(how.authorizeUrl).host}`}
              </button>
              <p class="hint">{`Afterwards you are back at ${back}. The console keeps your token in memory only.`}</p>
            </>
          )}
          {how?.kind === 'local' && (
            <>
              <p>This system runs on your own machine. Open the link that this command prints:</p>
              <pre class="code">npm start</pre>
              <p class="hint">Each link signs in once, and expires after ten minutes.</p>
            </>
          )}
          {how?.kind === 'none' && <p>No sign-in is configured. Set REDRESS_SIGN_IN_CLIENT, then start the system again.</p>}
          {how === undefined && (
            <>
              <p>The system does not answer.</p>
              <button class="btn" type="button" onClick={() => void startSession()}>
                Try again
              </button>
            </>
          )}
          {over && (
            <button class="btn" type="button" onClick={() => void startSession().then(() => (signedOut.value = false))}>
              I have signed in in another tab
            </button>
          )}
        </div>
      </main>
    </div>
  );
}
