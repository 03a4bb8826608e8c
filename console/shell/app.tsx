import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Problem, signedOut } from '../api/client.ts';
import { person } from '../api/session.ts';
import { Failure, Skeleton } from '../parts/states.tsx';
import { place } from '../router.ts';
import { type Screen, screens } from '../screens/index.ts';
import { Gate } from './gate.tsx';
import { Shell } from './shell.tsx';

/** The whole console: the sign-in, or the shell around one screen. */
export function App() {
  if (person.value === undefined) return <div class="gate" aria-busy="true" />;
  if (person.value === null) return <Gate />;
  const first = place.value.parts[0] ?? '';
  const screen = screens.find(({ path }) => path === first);
  return (
    <>
      <Shell screen={screen}>{screen ? <Lazy key={screen.path} screen={screen} /> : <Unknown />}</Shell>
      {signedOut.value && <Gate over />}
    </>
  );
}

const Unknown = () => (
  <section class="panel">
    <div class="void small">
      <h1>There is no such screen.</h1>
      <p>The address names a screen that this console does not have.</p>
      <a class="btn" href="#/">
        Go to Home
      </a>
    </div>
  </section>
);

const loaded = new Map<Screen, ComponentType>();

/** Loads the code of a screen when a person first opens that screen. */
function Lazy({ screen }: { screen: Screen }) {
  const [, setDone] = useState(false);
  const [problem, setProblem] = useState<string>();
  const Component = loaded.get(screen);
  useEffect(() => {
    if (loaded.has(screen)) return;
    screen.load().then(
      (module) => {
        loaded.set(screen, module.default);
        setDone(true);
      },
      (error: unknown) => setProblem(String(error)),
    );
  }, [screen]);
  useEffect(() => {
    document.title = `${screen.name} · Redress`;
  }, [screen]);
  if (Component) return <Component />;
  if (problem === undefined) return <Skeleton rows={8} />;
  const failure = new Problem({
    status: 0,
    code: 'new-version',
    title: 'The screen could not be loaded.',
    detail: 'The system may have been updated since this page was opened. Load the page again.',
  });
  return (
    <section class="panel">
      <Failure what="The screen could not be loaded." problem={failure} retry={() => location.reload()} />
    </section>
  );
}
