import { fileURLToPath } from 'node:url';

const at = (path) => fileURLToPath(new URL(path, import.meta.url));

/** Run from the project's root: Stryker copies what is named here, changes the copy, and runs `runner.mjs` inside it. */
export default {
  mutate: ['lib/core/**/*.ts'],
  ignorePatterns: ['**', '!lib/**', '!test/**', '!examples/**', '!docs/**/*.md', '!package.json', '!tsconfig.json'],
  tempDirName: '.redress/mutation/sandbox',
  testRunner: 'in-process',
  plugins: [at('runner.mjs')],
  testRunnerNodeArgs: ['-C', 'redress-source', '--disable-warning=ExperimentalWarning'],
  coverageAnalysis: 'perTest',
  // Tables, names and patterns that loading a module creates: each would need a process of its own.
  ignoreStatic: true,
  concurrency: 1,
  timeoutMS: 4000,
  reporters: ['clear-text', 'progress-append-only', 'json'],
  clearTextReporter: { logTests: false, reportTests: false, reportScoreTable: false, allowColor: false },
  jsonReporter: { fileName: '.redress/mutation/report.json' },
  allowEmpty: false,
};
