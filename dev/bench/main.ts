/** `npm run bench [-- NAME]` prints figures, one JSON object per line. */
const benches: { readonly [name: string]: () => Promise<unknown> } = {
  advance: () => import('./advance.ts'),
  'back-test': () => import('./back-test.ts'),
  bulk: () => import('./bulk.ts'),
  'bulk-cost': () => import('./bulk-cost.ts'),
  console: () => import('./console.ts'),
  lists: () => import('./lists.ts'),
  'objects-cost': () => import('./objects-cost.ts'),
  orders: () => import('./orders.ts'),
  requests: () => import('./requests.ts'),
  rules: () => import('./rules.ts'),
};

const chosen = process.argv.slice(2).filter((argument) => !argument.startsWith('-'));
for (const name of chosen.length > 0 ? chosen : Object.keys(benches)) {
  const bench = benches[name];
  if (!bench) {
    process.stderr.write(`There is no bench "${name}". Known: ${Object.keys(benches).join(', ')}.\n`);
    process.exit(2);
  }
  await bench();
}
