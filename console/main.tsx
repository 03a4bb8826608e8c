import { render } from 'preact';
import { startSession } from './api/session.ts';
import { App } from './shell/app.tsx';

const root = document.getElementById('app');
if (root) render(<App />, root);
void startSession();
