import { fileURLToPath } from 'node:url';

const build = '@dynoxide/linux-x64';

/**
 * The executable of dynoxide. The registry has it for Linux on x64 alone; elsewhere the file is missing, and the tests
 * say so.
 */
export const dynoxide: string = fileURLToPath(new URL(`../../../../node_modules/${build}/dynoxide`, import.meta.url));
