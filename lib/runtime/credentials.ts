import { readFile } from 'node:fs/promises';
import type { Credentials } from '#ports/credentials';

type Environment = { readonly [name: string]: string | undefined };

/**
 * Credentials of a process outside of Lambda: the variable `PAYMENT_KEY` holds the credential of this name, or `PAYMENT_KEY_FILE`
 * names the file that holds it, as container platforms mount it. The file is read at each call, so a new value needs no restart.
 */
export const environmentCredentials = (environment: Environment = process.env): Credentials => ({
  async read(name) {
    const path = environment[`${name}_FILE`];
    if (environment[name] !== undefined || path === undefined) return environment[name];
    return (await readFile(path, 'utf8')).replace(/\r?\n$/, '');
  },
});
