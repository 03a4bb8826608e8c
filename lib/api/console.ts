import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { consolePolicy } from './console-policy.ts';
import { type Refusal, refuse } from './problem.ts';
import type { Answer, Call } from './route.ts';
import type { AssetHeaders } from './schemas/console.ts';

/** One file of the built console. */
export interface ConsoleFile {
  readonly type: string;
  readonly etag: string;
  readonly text: string;
  readonly gzip: Uint8Array<ArrayBuffer>;
}

/** The built console: its page, and the scripts and styles that the page loads, by name. */
export interface ConsoleFiles {
  readonly page: ConsoleFile;
  readonly assets: ReadonlyMap<string, ConsoleFile>;
}

const types: { readonly [ending: string]: string } = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
};

/** The folder of the built console as seen from this module: in a Lambda bundle, in the sources, and in the package. */
const places = ['./console/', '../../dist/console/', '../../console/'];

let read: ConsoleFiles | undefined;

/** Returns the built console; undefined if nobody has built it. It is read once, by the first request for it. */
export function builtConsole(): ConsoleFiles | undefined {
  if (read) return read;
  const folder = places.map((place) => new URL(place, import.meta.url)).find((place) => existsSync(new URL('index.html', place)));
  if (!folder) return undefined;
  const names = readdirSync(folder).filter((name) => types[endingOf(name)] !== undefined);
  const files = new Map(names.map((name) => [name, fileOf(name, readFileSync(new URL(name, folder), 'utf8'))]));
  const page = files.get('index.html');
  files.delete('index.html');
  return page && (read = { page, assets: files });
}

const endingOf = (name: string): string => name.slice(name.lastIndexOf('.') + 1);

const fileOf = (name: string, text: string): ConsoleFile => ({
  type: types[endingOf(name)] ?? 'text/plain',
  etag: `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`,
  text,
  gzip: new Uint8Array(gzipSync(text, { level: 9 })),
});

/** Serves the page of the console. */
export function showConsole({ api, headers }: Call<unknown, AssetHeaders>): Answer {
  const page = api.console?.()?.page;
  const security = { 'content-security-policy': consolePolicy(api.signIn), 'cross-origin-opener-policy': 'same-origin' };
  if (!page) return { status: 200, text: missingPage, headers: { ...security, 'cache-control': 'no-store' } };
  return sent(page, headers, { ...security, 'cache-control': 'no-cache' });
}

/** Serves a script or a style. Its name has a hash of its content, so that a browser never needs to ask again. */
export function showAsset({ api, name, headers }: Call<unknown, AssetHeaders>): Answer | Refusal {
  const file = api.console?.()?.assets.get(name);
  return file ? sent(file, headers, { 'cache-control': 'public, max-age=31536000, immutable' }) : refuse('not-found');
}

function sent(file: ConsoleFile, requested: AssetHeaders, headers: Answer['headers']): Answer {
  const { type, etag, text, gzip } = file;
  const all = { ...headers, etag, vary: 'accept-encoding' };
  if (requested['if-none-match']?.split(/,\s*/).includes(etag)) return { status: 304, text: '', headers: all };
  const zips = /\bgzip\b(?!;\s*q=0(\.0*)?\b)/.test(requested['accept-encoding'] ?? '');
  return zips
    ? { status: 200, text: '', bytes: gzip, headers: { ...all, 'content-type': type, 'content-encoding': 'gzip' } }
    : { status: 200, text, headers: { ...all, 'content-type': type } };
}

const missingPage = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Redress</title>
</head>
<body>
<h1>Redress</h1>
<p>The HTTP API is served at this address: <a href="/openapi.json">/openapi.json</a> describes its calls. The operators' console is not built. Run <code>npm run build</code>, then start again.</p>
</body>
</html>
`;
