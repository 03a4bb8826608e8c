import './hooks.mjs';
import { globSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { pathToFileURL } from 'node:url';
import { declareClassPlugin, PluginKind } from '@stryker-mutator/api/plugin';
import { DryRunStatus, determineHitLimitReached, MutantRunStatus, TestStatus, toMutantRunResult } from '@stryker-mutator/api/test-runner';
import { collectFrom, errorOf, tests } from './collector.mjs';
import { coreLoaded, forget, testsLoaded } from './forgetful.mjs';

// Fast files come first, because most mutants fail there. Files that start servers or systems are left out.
const testFiles = [
  'test/scenarios/*.test.ts',
  'test/core/!(language|order-of-steps|compensation|limits).test.ts',
  'test/testing/rehearse/rehearse.test.ts',
  'test/examples/{activities,rehearsal}.test.ts',
  'test/core/{limits,compensation,order-of-steps,language}.test.ts',
];

// These tests count the results of hundreds of runs, so they keep all runs, and check only the file that they are about.
const long = {
  'fault-paths.ts': 'for any fault at any step of any workflow',
  'rebuild.ts': 'undone by its journal alone',
  'undo-plan.ts': 'its undo does what the plan said',
};
const isAbout = ({ id }, fileName) => {
  const [file] = Object.entries(long).find(([, title]) => id.includes(title)) ?? [];
  return file === undefined || fileName.endsWith(`/${file}`);
};

const stryker = (globalThis.__stryker__ ??= {});
const coverage = (stryker.mutantCoverage ??= { static: {}, perTest: {} });
const urlOf = (file) => pathToFileURL(file).href;

/** Runs the core's tests inside this process: a mutant costs milliseconds, not the start of a program. */
class InProcessRunner {
  // Loaded modules stay loaded. Stryker starts a new process for a mutant of code that runs at loading.
  capabilities = () => ({ reloadEnvironment: false });

  #load;
  #loadOnce = () => (this.#load ??= load());

  async dryRun() {
    await this.#loadOnce();
    const results = await runAll(tests, { bail: false });
    return { status: DryRunStatus.Complete, tests: results, mutantCoverage: coverage };
  }

  async mutantRun({ activeMutant, mutantActivation, testFilter, hitLimit, disableBail }) {
    stryker.activeMutant = mutantActivation === 'static' ? activeMutant.id : undefined;
    try {
      await this.#loadOnce();
    } catch (error) {
      return { status: MutantRunStatus.Killed, killedBy: [], failureMessage: `The core can't be loaded: ${error}`, nrOfTests: 0 };
    }
    // Stryker's limit is a hundred times the hits of all tests, which an endless loop reaches only after half a minute.
    Object.assign(stryker, { activeMutant: activeMutant.id, hitLimit: hitLimit && 0.03 * hitLimit + 1000 });
    const wanted = testFilter && new Set(testFilter);
    const chosen = tests.filter((test) => (!wanted || wanted.has(test.id)) && isAbout(test, activeMutant.fileName));
    const results = await runAll(chosen, { bail: !disableBail });
    return toMutantRunResult(
      determineHitLimitReached(stryker.hitCount, stryker.hitLimit) ?? { status: DryRunStatus.Complete, tests: results },
    );
  }
}

async function load() {
  Error.stackTraceLimit = 2;
  for (const file of globSync('lib/core/**/*.ts')) await import(urlOf(file));
  coreLoaded();
  // Workflows that tests prepare at loading run the core as well. That does not count, because a test must run what it shows.
  const atLoading = { ...coverage.static };
  for (const file of globSync('examples/activities/*.ts')) await import(urlOf(file));
  for (const file of testFiles.flatMap((pattern) => globSync(pattern).sort())) await collectFrom(file, urlOf(file));
  testsLoaded();
  coverage.static = atLoading;
}

async function runAll(chosen, { bail }) {
  const results = [];
  for (const test of chosen) {
    forget();
    Object.assign(stryker, { currentTestId: test.id, hitCount: stryker.hitLimit && 0 });
    globalThis.runsMax = isAbout(test, '') ? 20 : Infinity;
    const startedAt = performance.now();
    const error = await errorOf(test);
    stryker.currentTestId = undefined;
    const result = { id: test.id, name: test.id, fileName: test.file, timeSpentMs: performance.now() - startedAt };
    if (!error) results.push({ ...result, status: TestStatus.Success });
    else results.push({ ...result, status: TestStatus.Failed, failureMessage: String(error.message ?? error).slice(0, 500) });
    if ((error && bail) || stryker.hitCount > stryker.hitLimit) break;
  }
  return results;
}

export const strykerPlugins = [declareClassPlugin(PluginKind.TestRunner, 'in-process', InProcessRunner)];
