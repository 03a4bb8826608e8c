import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isLoopback } from '#api/loopback';
import { MissingStoreError } from '#cli/data';
import { SetupError } from '#ports/errors';
import { type Examine, failed, ok, skipped, warning } from './finding.ts';

/** The version of Node that runs this. If that version is too old, `bin/redress.js` looks for a newer Node. */
export const node: Examine = () => {
  const { node: version } = process.versions;
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isGood = major > 22 || (major === 22 && minor >= 18);
  return [
    isGood
      ? ok('node', version)
      : failed('node', `Node ${version} is too old.`, 'Update Node to 22.18 or newer, or run npm install node@24.'),
  ];
};

/** The files of the data folder that hold keys. No other user of the machine may read them. */
export const keyFiles: Examine = ({ dataFolder, url, givenToken }) => {
  const files = ['issuer.json', 'keys.json'].map((name) => join(dataFolder, name)).filter((path) => existsSync(path));
  if (files.length === 0) {
    if (givenToken !== undefined || !isLoopback(new URL(url).hostname)) return [skipped('keys', 'The token comes from elsewhere.')];
    return [failed('keys', `The data folder ${dataFolder} has no keys.`, 'Name the folder of the system with --data or REDRESS_DATA.')];
  }
  const open = files.filter((path) => process.platform !== 'win32' && (statSync(path).mode & 0o077) !== 0);
  return open.length === 0
    ? [ok('keys', files.join(', '))]
    : open.map((path) => warning('keys', `Others may read ${path}.`, `chmod 600 ${path}, and renew the keys if somebody has read them.`));
};

/** The store, as far as this machine can read it. */
export const store: Examine = async (cli) => {
  if (cli.config.adapters !== 'aws' && !isLoopback(new URL(cli.url).hostname))
    return [skipped('store', 'The system is on another machine.')];
  try {
    await cli.withStore((store) => store.head('ord_none'));
    return [ok('store', cli.config.adapters === 'aws' ? 'DynamoDB' : cli.dataFolder)];
  } catch (error) {
    if (error instanceof MissingStoreError && cli.givenToken !== undefined)
      return [skipped('store', 'The system may be on another machine.')];
    const { message } = error as Error;
    return [
      failed(
        'store',
        message,
        error instanceof SetupError ? error.remedy : 'Look at the table, the region and the rights of this machine.',
      ),
    ];
  }
};
