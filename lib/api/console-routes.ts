import { showAsset, showConsole } from './console.ts';
import { type Route, route } from './route.ts';
import { AssetHeaders, Session, SessionEndHeaders, SessionHeaders, SessionStarted, SignInKind } from './schemas/console.ts';
import { endSession, showSession, showSignIn, startSession } from './session.ts';

/** The console, and the calls with which it signs people in. */
export const consoleRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/sign-in',
    roles: 'anyone',
    summary: 'Say how people sign in to the console',
    answers: { 200: { description: 'The kind of sign-in, with the endpoints of the issuer', schema: SignInKind } },
    refusals: [],
    handle: showSignIn,
  }),
  route({
    method: 'GET',
    path: '/session',
    roles: ['client', 'viewer', 'operator', 'admin'],
    summary: 'Say as whom the caller is signed in',
    answers: { 200: { description: 'The caller', schema: Session } },
    refusals: [],
    handle: showSession,
  }),
  route({
    method: 'POST',
    path: '/session',
    roles: 'anyone',
    summary: 'Start a session of the console on this machine, with the code of a sign-in',
    headers: SessionHeaders,
    answers: { 200: { description: 'The session is in a cookie', schema: SessionStarted } },
    refusals: ['unauthenticated', 'forbidden', 'bad-parameter'],
    handle: startSession,
  }),
  route({
    method: 'DELETE',
    path: '/session',
    roles: 'anyone',
    summary: 'End the session of this browser',
    headers: SessionEndHeaders,
    answers: { 200: { description: 'The cookie is deleted', schema: SessionStarted } },
    refusals: [],
    handle: endSession,
  }),
  route({
    method: 'GET',
    path: '/console/{name}',
    roles: 'anyone',
    summary: 'Get a script or a style of the console',
    headers: AssetHeaders,
    answers: { 200: { description: 'The file' }, 304: { description: 'Unchanged since the ETag in If-None-Match' } },
    produces: 'text/javascript',
    refusals: ['not-found'],
    handle: showAsset,
  }),
  route({
    method: 'GET',
    path: '/',
    roles: 'anyone',
    summary: 'Show the console',
    headers: AssetHeaders,
    answers: { 200: { description: 'A page' }, 304: { description: 'Unchanged since the ETag in If-None-Match' } },
    produces: 'text/html',
    refusals: [],
    handle: showConsole,
  }),
];
