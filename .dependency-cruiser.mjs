/** The arrows of the house: `lib/README.md` explains them. Each message names what should have been imported. */
const roles =
  '^lib/(scheduler|instructing|rebuild|replies|children|child-reply|agent|supervisor|submission|intake|operator|quarantine|lease|transition|order-draft|order-messages|planned|aside|channel-health|operating-channels|valve-keeper|state-size|asks|discretion|outbox|sent-along|deadlines|instance|incoming|steps)\\.ts$|^lib/(agent|poison)/';
const ports = '^lib/(store|breaker|documents|valves|channel|publisher|clock|record)\\.ts$';

export default {
  forbidden: [
    {
      name: 'no-cycles',
      comment: 'Two files that need each other are one file, or need a third.',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    {
      name: 'core-is-pure',
      comment: 'lib/core imports lib/core and its expression libraries only: pass what it needs in the event.',
      severity: 'error',
      from: { path: '^lib/core/' },
      to: { pathNot: ['^lib/core/', '^node_modules/(@marcbachmann/cel-js|re2js)/'] },
    },
    {
      name: 'ports-know-only-words',
      comment: 'A port imports other ports, lib/record.ts and lib/core types only.',
      severity: 'error',
      from: { path: ports },
      to: { pathNot: [ports, '^lib/core/'] },
    },
    {
      name: 'roles-use-ports',
      comment: 'A role gets its implementations as arguments: import lib/store.ts, lib/channel.ts, lib/publisher.ts or lib/clock.ts.',
      severity: 'error',
      from: { path: roles },
      to: { path: '^lib/(stores|channels/|publishers|valves/|host|api|cli|embedded)' },
    },
    {
      name: 'supervisor-knows-no-business',
      comment: 'The supervisor sees only what lies outside the instance: lib/record.ts.',
      severity: 'error',
      from: { path: '^lib/supervisor\\.ts$' },
      to: { path: '^lib/(core|authoring|transition|instance|definitions|agent)' },
    },
    {
      name: 'implementations-know-their-port',
      comment: 'A store, channel, publisher or valve imports its port, lib/errors.ts and its SDK.',
      severity: 'error',
      from: { path: '^lib/(stores|channels|publishers|valves)/' },
      to: { path: '^lib/(host|api|cli|authoring|scheduler|agent|supervisor|submission|transition|instance)' },
    },
    {
      name: 'nothing-needs-the-cdk',
      comment: 'Only lib/infrastructure, lib/cdk.ts and bin/redress.ts know of the CDK: what runs must not carry it along.',
      severity: 'error',
      from: { path: '^(lib|functions|examples)/', pathNot: '^lib/(infrastructure/|cdk\\.ts)' },
      to: { path: '^(lib/infrastructure/|node_modules/(aws-cdk-lib|constructs|cdk-nag|esbuild)/)' },
    },
    {
      name: 'authoring-is-apart',
      comment: 'What users write with imports lib/core only.',
      severity: 'error',
      from: { path: '^lib/authoring/' },
      to: { path: '^lib/', pathNot: '^lib/(authoring|core)/' },
    },
    {
      name: 'crash-tests-are-for-tests',
      comment: 'lib/crash-test runs the whole system with a process that dies: only lib/testing.ts hands it out.',
      severity: 'error',
      from: { path: '^(lib|functions|bin|examples)/', pathNot: '^lib/(crash-test/|testing\\.ts)' },
      to: { path: '^lib/crash-test/' },
    },
    {
      name: 'graphs-are-drawn-from-the-core',
      comment: 'lib/graph imports lib/core and the library that lays out; nobody but whoever shows a graph imports it.',
      severity: 'error',
      from: { path: '^lib/graph/' },
      to: { pathNot: ['^lib/(graph|core)/', '^node_modules/@dagrejs/'] },
    },
    {
      name: 'only-who-shows-a-graph-carries-its-layout',
      comment: 'Functions need no layout: import lib/graph from lib/cli only.',
      severity: 'error',
      from: { path: '^(lib|functions|bin|examples)/', pathNot: '^lib/(graph|cli)/' },
      to: { path: '^(lib/graph/|node_modules/@dagrejs/)' },
    },
    {
      name: 'examples-are-users',
      comment: "An example imports 'redress', 'redress/cdk' or 'redress/testing', as a user would.",
      severity: 'error',
      from: { path: '^examples/' },
      to: { path: '^(lib|functions|bin|test)/', pathNot: '^lib/(index|cdk|testing)\\.ts$' },
    },
    {
      name: 'nobody-imports-functions',
      comment: 'Functions are loaded by whoever runs them: lib/host/load.ts.',
      severity: 'error',
      from: { pathNot: '^(functions|test)/' },
      to: { path: '^functions/' },
    },
    {
      name: 'no-tests-in-code',
      comment: 'Test support stays in test/; figures may be measured on the same emulators, and tools may play the simulation.',
      severity: 'error',
      from: { pathNot: '^(test|bench|verify)/|^tools/(simulate\\.ts$|mutation/simulation/|soak/)' },
      to: { path: '^test/' },
    },
    {
      name: 'declared-dependencies',
      comment: 'Add it to package.json with an exact version.',
      severity: 'error',
      from: { path: '^(lib|functions|bin|examples)/' },
      to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown', 'unknown', 'undetermined'], pathNot: '^lib/|^aws-lambda$' },
    },
    {
      name: 'no-dev-dependencies-at-run-time',
      comment: 'What runs is a dependency; types come by `import type`.',
      severity: 'error',
      from: { path: '^(lib|functions|bin)/' },
      // The CDK and its bundler are optional peers of the package: for whoever deploys.
      to: {
        dependencyTypes: ['npm-dev'],
        dependencyTypesNot: ['type-only', 'npm-peer'],
        pathNot: '^node_modules/(@types|aws-cdk-lib|constructs|esbuild|cdk-nag)/',
      },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(dist|\\.redress)/' },
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: 'specify',
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['redress-source', 'import', 'node', 'types'],
      extensions: ['.ts', '.js'],
    },
  },
};
