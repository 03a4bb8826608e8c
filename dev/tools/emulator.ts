import { type AwsEmulator, freePort } from './aws/emulator.ts';
import { localStackFolder, startLocalStack } from './aws/localstack.ts';
import { startMinistack } from './aws/ministack.ts';

/** `npm run emulator [ministack|localstack]` runs an AWS emulator for `npm run deploy:local`, on PORT or a free one, until Ctrl-C. */
const starters: { readonly [name: string]: (options: { port: number }) => Promise<AwsEmulator | undefined> } = {
  ministack: startMinistack,
  localstack: startLocalStack,
};

const [name = 'ministack'] = process.argv.slice(2);
const start = starters[name];
if (!start) {
  process.stderr.write(`There is no emulator "${name}". Known: ${Object.keys(starters).join(', ')}.\n`);
  process.exit(2);
}
const stopped = new Promise((resolve) => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, resolve);
});
const emulator = await start({ port: Number(process.env['PORT']) || (await freePort()) });
if (!emulator) {
  process.stderr.write(`There is no LocalStack in ${localStackFolder()}: name its folder with REDRESS_LOCALSTACK=..., or use ministack.\n`);
  process.exit(1);
}
process.stdout.write(`ready ${emulator.endpoint}\nAWS_ENDPOINT_URL=${emulator.endpoint} npm run deploy:local\n`);
// A promise alone does not keep a process alive.
const alive = setInterval(() => {}, 60_000);
await stopped;
clearInterval(alive);
await emulator.stop();
