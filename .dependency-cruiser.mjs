/** Folders of `lib` that a folder of `lib` may import. `lib/README.md` explains them. */
const may = {
  core: ['core'],
  authoring: ['authoring', 'core'],
  diagrams: ['diagrams', 'core'],
  'http-service': ['http-service', 'authoring', 'core'],
  ports: ['ports', 'authoring', 'core'],
  roles: ['roles', 'ports', 'authoring', 'core'],
  adapters: ['adapters', 'ports', 'core'],
  api: ['api', 'roles', 'ports', 'authoring', 'core'],
  runtime: ['runtime', 'adapters', 'api', 'roles', 'ports', 'authoring', 'core'],
  cli: ['cli', 'diagrams', 'runtime', 'adapters', 'api', 'roles', 'ports', 'authoring', 'core'],
  infrastructure: ['infrastructure', 'runtime', 'adapters', 'api', 'roles', 'ports', 'authoring', 'core'],
  testing: ['testing', 'runtime', 'adapters', 'api', 'roles', 'ports', 'authoring', 'core'],
};

const arrows = Object.entries(may).map(([folder, imports]) => ({
  name: `${folder}-imports`,
  comment: `lib/${folder} imports these folders only: ${imports.join(', ')}. Pass the rest as an argument, or move the word that both need.`,
  severity: 'error',
  from: { path: `^lib/${folder}/` },
  to: { path: '^lib/', pathNot: `^lib/(${imports.join('|')})/` },
}));

export default {
  forbidden: [
    ...arrows,
    {
      name: 'no-cycles',
      comment: 'Two files that need each other are one file, or need a third.',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    {
      name: 'core-is-pure',
      comment: 'lib/core imports its expression libraries and nothing else of npm or Node: pass clock, chance and I/O in the event.',
      severity: 'error',
      from: { path: '^lib/core/' },
      to: { pathNot: ['^lib/', '^node_modules/(@marcbachmann/cel-js|re2js)/'] },
    },
    {
      name: 'supervisor-knows-no-business',
      comment: 'The supervisor reads the head of an order and the records of channels and breakers, never its workflow or its instance.',
      severity: 'error',
      from: { path: '^lib/roles/supervisor/' },
      to: { path: '^lib/(core|authoring|roles/(agent|submission|operator|child-orders))/|^lib/roles/scheduler/(?!deadlines)' },
    },
    {
      name: 'agents-know-no-scheduler',
      comment: 'An agent answers messages. It imports no scheduler, no supervisor and no order.',
      severity: 'error',
      from: { path: '^lib/roles/agent/' },
      to: { path: '^lib/roles/(scheduler|supervisor|submission|operator)/' },
    },
    {
      name: 'nothing-needs-the-cdk',
      comment: 'Only lib/infrastructure, lib/cdk.ts and bin/cdk.ts know the CDK: a Lambda function must not carry it.',
      severity: 'error',
      from: { path: '^(lib|functions|examples)/', pathNot: '^lib/(infrastructure/|cdk\\.ts)' },
      to: { path: '^(lib/infrastructure/|node_modules/(aws-cdk-lib|constructs|cdk-nag|esbuild)/)' },
    },
    {
      name: 'only-the-command-line-draws',
      comment: 'Functions need no layout: import lib/diagrams from lib/cli only.',
      severity: 'error',
      from: { path: '^(lib|functions|bin|examples)/', pathNot: '^lib/(diagrams|cli)/' },
      to: { path: '^(lib/diagrams/|node_modules/@dagrejs/)' },
    },
    {
      name: 'testing-is-for-tests',
      comment: 'lib/testing runs workflows and whole systems in virtual time: only lib/testing.ts exports it.',
      severity: 'error',
      from: { path: '^(lib|functions|bin|examples)/', pathNot: '^lib/testing(/|\\.ts)' },
      to: { path: '^lib/testing/' },
    },
    {
      name: 'examples-are-users',
      comment: "An example imports 'redress', 'redress/http', 'redress/cdk' or 'redress/testing', as a user would.",
      severity: 'error',
      from: { path: '^examples/' },
      to: { path: '^(lib|functions|bin|test)/', pathNot: '^lib/(index|cdk|http|testing)\\.ts$' },
    },
    {
      name: 'nothing-imports-functions',
      comment: 'lib/runtime/host/load.ts loads functions by name.',
      severity: 'error',
      from: { pathNot: '^(functions|test)/' },
      to: { path: '^functions/' },
    },
    {
      name: 'no-tests-in-code',
      comment: 'Test support stays in test/. Tools in dev/ may play the simulation and measure on the same emulators.',
      severity: 'error',
      from: { pathNot: '^(test|dev)/' },
      to: { path: '^(test|dev)/' },
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
      comment: 'A package that runs in production is a dependency; types come by `import type`.',
      severity: 'error',
      from: { path: '^(lib|functions|bin)/' },
      // The CDK and its bundler are optional peers of the package, for people who deploy.
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
