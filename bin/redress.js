#!/usr/bin/env node
// This file must parse on Node 14 and newer: if this Node is too old, the file starts the program with a newer one.
// So it has no dependencies and no top-level await.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { constants } from 'node:os';
import { dirname, join, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = dirname(dirname(realpathSync(fileURLToPath(import.meta.url))));
const sources = join(root, 'lib', 'cli', 'main.ts');
const compiled = join(root, 'dist', 'lib', 'cli', 'main.js');
// Node refuses to strip types below node_modules, so an installed package always runs its compiled form.
const inRepository = existsSync(sources) && !root.split(sep).includes('node_modules');

const isGood = (version) => {
  const [major, minor] = version.split('.').map(Number);
  return major > 22 || (major === 22 && minor >= 18);
};

/** Finds a path in the nearest `node_modules` that has it, beside the package or above. */
function installed(...parts) {
  for (let folder = root; ; folder = dirname(folder)) {
    const found = join(folder, 'node_modules', ...parts);
    if (existsSync(found)) return found;
    if (folder === dirname(folder)) return undefined;
  }
}

/** Returns the version of an installed package; undefined while npm is still writing it. */
function versionIn(folder) {
  try {
    return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).version;
  } catch {
    return undefined;
  }
}

function suitableNode() {
  if (isGood(process.versions.node)) return process.execPath;
  const [platform, program] = process.platform === 'win32' ? ['win', 'node.exe'] : [process.platform, 'node'];
  // The package `node`, which a user may have installed, or the package with the build for this platform.
  for (const name of ['node', `node-${platform}-${process.arch}`]) {
    const binary = installed(name, 'bin', program);
    if (binary && isGood(versionIn(dirname(dirname(binary))) ?? '0.0')) return binary;
  }
  return undefined;
}

function giveUp(message) {
  process.stderr.write(`redress ${message}\n`);
  process.exitCode = 2;
}

function start() {
  if (!installed('commander'))
    return giveUp(
      inRepository
        ? `is not installed: run npm install in ${root}, or npm start, which installs it`
        : 'is not completely installed: run npm install again',
    );
  if (!inRepository && !existsSync(compiled)) return giveUp(`is not built: run npm run build in ${root}`);
  const node = suitableNode();
  if (!node)
    return giveUp(
      `needs Node 22.18 or newer, but this is Node ${process.versions.node}: run npm install ${inRepository ? `in ${root}` : 'node@24'}, or update Node`,
    );
  if (node === process.execPath && !inRepository) return runHere();

  const program = inRepository ? ['-C', 'redress-source', sources] : [compiled];
  const child = spawn(node, ['--disable-warning=ExperimentalWarning', ...program, ...process.argv.slice(2)], { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
  child.on('error', fail);
  child.on('exit', (code, signal) => {
    process.exitCode = signal ? 128 + constants.signals[signal] : code;
  });
}

function runHere() {
  // Drops experimental warnings, as --disable-warning does for a new process.
  const { emitWarning } = process;
  process.emitWarning = (warning, ...rest) => rest[0] !== 'ExperimentalWarning' && emitWarning.call(process, warning, ...rest);
  return import(pathToFileURL(compiled).href).catch(fail);
}

function fail(error) {
  process.stderr.write(`redress: ${error.stack}\n`);
  process.exitCode = 1;
}

void start();
