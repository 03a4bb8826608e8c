import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { root } from './run.ts';

/**
 * Writes `dist/sbom.cdx.json`, the bill of materials of the package (CycloneDX), when it is packed: the packages that a user installs
 * with Redress, in the versions with which it was tested, with their hashes and licenses.
 */
interface Component {
  readonly 'bom-ref': string;
  readonly properties?: readonly { readonly name: string }[];
}
interface Dependency {
  readonly ref: string;
  readonly dependsOn: readonly string[];
}
interface Bill {
  readonly metadata: { readonly component: Component };
  readonly components: readonly Component[];
  readonly dependencies: readonly Dependency[];
}

const text = execFileSync('npm', ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only', '--loglevel=error'], {
  cwd: root,
}).toString();
const bill = JSON.parse(text) as Bill;
// `--omit dev` also omits packages that development needs as well (npm 11.19).
const isDevelopment = ({ properties = [] }: Component): boolean => properties.some(({ name }) => name === 'cdx:npm:package:development');
const components = bill.components.filter((component) => !isDevelopment(component));
const { 'bom-ref': own } = bill.metadata.component;
const refs = new Set([own, ...components.map((component) => component['bom-ref'])]);
const dependencies = bill.dependencies
  .filter(({ ref }) => refs.has(ref))
  .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((each) => refs.has(each)) }));
// npm names the package after its folder.
const component = { ...bill.metadata.component, name: 'redress' };
writeFileSync(
  `${root}dist/sbom.cdx.json`,
  `${JSON.stringify({ ...bill, metadata: { ...bill.metadata, component }, components, dependencies }, null, 2)}\n`,
);
process.stdout.write(`dist/sbom.cdx.json names ${components.length} packages\n`);
