import { fileURLToPath } from 'node:url';

const build = '@dynoxide/linux-x64';

/** The program of dynoxide. The registry has it for Linux on x64 alone; elsewhere there is no such file, and the tests say so. */
export const dynoxide: string = fileURLToPath(new URL(`../../../../node_modules/${build}/dynoxide`, import.meta.url));
