import { existsSync } from 'node:fs';
import { environmentAt, localOutputs, loopbackEndpoint } from './aws/emulator.ts';
import { shopHere, shopUrl } from './aws/shop.ts';
import { root, run } from './run.ts';

/** `npm run test:deployed [FILE ...]` sends orders through the deployment of `npm run deploy:local` at AWS_ENDPOINT_URL. */
const endpoint = loopbackEndpoint(process.env['AWS_ENDPOINT_URL']);
const outputs = `${root}${localOutputs}`;
if (!endpoint || !existsSync(outputs)) {
  process.stderr.write('Nothing is deployed here. Set AWS_ENDPOINT_URL to an emulator (npm run emulator) and run npm run deploy:local.\n');
  process.exit(2);
}
const shop = await shopHere();
const files = process.argv.slice(2);
const args = ['-C', 'redress-source', '--disable-warning=ExperimentalWarning', '--test', '--test-concurrency=1', '--test-reporter=spec'];
process.exitCode = await run(process.execPath, [...args, ...(files.length > 0 ? files : ['test/deployed/*.deployed.ts'])], {
  env: {
    ...environmentAt(endpoint, process.env['AWS_REGION'] || 'us-east-1'),
    REDRESS_OUTPUTS: outputs,
    REDRESS_SHOP: shopUrl,
    REDRESS_DATA: process.env['REDRESS_DATA'] || '.redress',
  },
});
await shop.close();
