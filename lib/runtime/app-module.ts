import { existsSync, statSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { placeIn, shortPath } from '#authoring/call-site';
import type { App } from '#authoring/workflow';
import { SetupError } from '#ports/errors';

/**
 * Imports a module of the user.
 *
 * @throws SetupError that names the missing file or package, or the place of the error in the user's code.
 */
export async function importModule(path: string): Promise<{ readonly [name: string]: unknown }> {
  const file = moduleOf(resolve(path));
  if (!existsSync(file)) throw new SetupError(`Cannot find the module ${path === file ? path : `${path} (${file})`}.`, 'Check the path.');
  if (statSync(file).isDirectory())
    throw new SetupError(`${path} is a folder.`, `Name the file of the app, such as ${join(path, 'app.ts')}.`);
  try {
    return (await import(pathToFileURL(file).href)) as { readonly [name: string]: unknown };
  } catch (error) {
    throw loadError(path, error);
  }
}

/** Returns the module of an app: the file itself, or the `app.ts` or `app.js` of its folder. */
const moduleOf = (path: string): string => [path, join(path, 'app.ts'), join(path, 'app.js')].find(isFile) ?? path;

const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() === true;

/** Returns the app that a module exports. @throws SetupError if the module cannot be loaded, or exports no app. */
export async function importApp(path: string): Promise<App> {
  const { default: app } = (await importModule(path)) as { readonly default?: Partial<App> };
  if (app?.workflows && app.agents) return app as App;
  throw new SetupError(`${path} does not export an app.`, 'Its default export must come from defineApp: export default defineApp({ … }).');
}

function loadError(path: string, error: unknown): SetupError {
  const { message, code } = error instanceof Error ? (error as NodeJS.ErrnoException) : { message: String(error), code: undefined };
  const missing = /^Cannot find (package|module) '([^']+)'(?: imported from (.+))?/.exec(message);
  if (code === 'ERR_MODULE_NOT_FOUND' && missing) {
    const [, kind, name = '', importer = ''] = missing;
    const shown = kind === 'module' ? shortPath(name) : name;
    return new SetupError(
      `Cannot load ${path}: ${shortPath(importer)} imports ${shown}, which does not exist.`,
      kind === 'package' ? `Run npm install ${packageOf(name)}.` : remedyForFile(name),
    );
  }
  const place = message.includes('\n  at ') ? undefined : placeOf(error);
  const sentence = place || /[.!?]$|\n/.test(message) ? message : `${message}.`;
  return new SetupError(`Cannot load ${path}: ${sentence}${place ? `\n  at ${place}` : ''}`, remedyFor(code, message));
}

/** Says how to write an import whose file does not exist. Node.js, unlike a bundler, adds no file extension. */
function remedyForFile(path: string): string {
  const stem = path.replace(/\.[cm]?js$/, '');
  const found = [`${stem}.ts`, `${stem}.js`, join(stem, 'index.ts')].find((file) => existsSync(file));
  if (!found) return 'Check the path of the import, with its file extension.';
  return `Write the import with its file extension: ${found.endsWith('index.ts') ? `${basename(stem)}/index.ts` : basename(found)}.`;
}

function remedyFor(code: string | undefined, message: string): string {
  if (code === 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX')
    return 'Node.js only removes types. Use a const object instead of an enum, and fields instead of parameter properties.';
  if (code === 'ERR_IMPORT_ATTRIBUTE_MISSING')
    return "Import JSON with an attribute: import data from './data.json' with { type: 'json' }.";
  if (/before initialization$/.test(message))
    return 'Modules that import each other are not ready while they load. Move the shared part into a module of its own.';
  if (/does not provide an export named/.test(message)) return 'Correct the name. If it is a type, write import type { … }.';
  if (/import statement outside a module|Unexpected token 'export'/.test(message)) return 'Set "type": "module" in package.json.';
  return 'Correct the module, then start again.';
}

/** Returns the first place in the user's code, such as `app.ts:12:5`. Syntax errors have it in the first line of the stack. */
function placeOf(error: unknown): string | undefined {
  const stack = error instanceof Error ? (error.stack ?? '') : '';
  const parsed = /^(?:file:\/\/)?(\/\S+?):(\d+)\n/.exec(stack);
  if (parsed) return `${shortPath(parsed[1] ?? '')}:${parsed[2]}`;
  return placeIn(stack);
}

/** Returns the name of the package of an import: `@scope/name` or `name`. */
const packageOf = (specifier: string): string =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
