/** jest runs the tests that a user of the package would write (docs/decisions/0002-test-runner.md). `npm test` starts it. */
export default {
  roots: ['<rootDir>/examples', '<rootDir>/test/infrastructure'],
  testMatch: ['**/*.test.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '\\.ts$': '<rootDir>/dev/tools/jest/strip-types.js' },
  // The sources, as in `node -C redress-source`.
  testEnvironmentOptions: { customExportConditions: ['redress-source', 'node', 'node-addons'] },
  testTimeout: 120_000,
  maxWorkers: 2,
  watchman: false,
  // A suite that fails before its tests does not end its emulators.
  forceExit: true,
  cacheDirectory: '<rootDir>/node_modules/.cache/jest',
  // Durations of test files depend on the machine.
  slowTestThreshold: 3600,
};
