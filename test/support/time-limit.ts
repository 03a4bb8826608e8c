/**
 * Ends a test file that runs for half an hour, so that a wait without an end fails, and the results of the other files are shown. The
 * time limit of `node --test` covers tests only: a process that a failed `before` has left alive would keep the run waiting.
 */
const fileMaxMinutes = 30;
const end = (): void => {
  process.stderr.write(
    `${process.argv[1]} has run for ${fileMaxMinutes} minutes. A process, server or timer that it started may be left.\n`,
  );
  process.exit(1);
};
// The process that starts the files has no context, and may take longer.
if (process.env['NODE_TEST_CONTEXT']) setTimeout(end, fileMaxMinutes * 60_000).unref();
